/* Regions with a method of their own. */
#ifndef TAGFLOW_ZONES_H
#define TAGFLOW_ZONES_H

#include "domain/domain.h"

/* Give the fluid cells of the case's regions rows of their own, which are those that they have with
 * the region's operator, rates and sponge in place of the whole case's: rules of faces stay. The
 * same rows on all ranks. Collective; STATUS_USAGE, reported, when there are more than TAG_ROWS. */
enum status domain_zones(struct domain *d, const struct flow_case *c);

#endif
