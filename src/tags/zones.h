/* Regions with their own operator, rates or sponge. */
#ifndef TAGFLOW_ZONES_H
#define TAGFLOW_ZONES_H

#include "domain/domain.h"

/* Gives the fluid cells of the case's regions new cell types: copies of their types, with the
 * region's operator, rates and sponge. Rules of faces stay. The same types on all ranks.
 * Collective; STATUS_USAGE, reported, when there are more than TAG_ROWS. */
enum status domain_zones(struct domain *d, const struct flow_case *c);

#endif
