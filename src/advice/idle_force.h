/* Forces that can drive no flow. */
#ifndef TAGFLOW_IDLE_FORCE_H
#define TAGFLOW_IDLE_FORCE_H

#include "domain/domain.h"

/* The work of a uniform force along a closed path is zero, unless the path goes round a periodic
 * axis of the force or leaves the box through openings. A part of the fluid (pores.h) without such
 * a path stays at rest: the pressure balances the force. *idle: no part has such a path, and
 * nothing else drives a flow or is carried by it. On a refined grid only the faces are looked at.
 *
 * After domain_create. Collective. STATUS_MACHINE, reported, the same on all ranks. */
enum status idle_force_find(const struct domain *d, const struct flow_case *c, bool *idle);

void idle_force_warn(const struct flow_case *c);

#endif
