/* Caps of a mesh that holds the fluid: the cells behind them, and what their links give. */
#ifndef TAGFLOW_CAPS_H
#define TAGFLOW_CAPS_H

#include "tags/bodies.h"

/* Gives solid cells behind caps the cap's cell type: those of which more links from inside of the
 * mesh cross the cap than the rest of the surface. After bodies_place(). Collective. STATUS_USAGE
 * or STATUS_MACHINE, reported, the same on all ranks. */
enum status caps_place(const struct bodies *b, struct domain *d);

/* On a refined grid: has each cap links on a level? links: the sums of d->cap[].links of all
 * levels. STATUS_USAGE, reported. */
enum status caps_found(const struct flow_case *c, const int64_t links[CASE_CAPS]);

/* The velocities of links into caps: view.near.speed. They have the profile's ratios and together
 * bring the given flow rate. After near_list_make(). Collective. Errors as before. */
enum status caps_links(const struct bodies *b, struct domain *d);

#endif
