/* Warnings about openings and bodies that depend on the cells which bodies leave. */
#ifndef TAGFLOW_ADVICE_H
#define TAGFLOW_ADVICE_H

#include "domain/domain.h"

/* After domain_create. */
void advice_say(const struct domain *d, const struct flow_case *c);

/* Warns if only a small part of the body's mesh is in the box. cells: those in the box; of the size
 * in which *body is given. */
void advice_outside(const struct case_body *body, double cells);

#endif
