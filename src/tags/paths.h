/* Checks whether mass that enters through faces can leave again. */
#ifndef TAGFLOW_PATHS_H
#define TAGFLOW_PATHS_H

#include "tags/level_parts.h"

/* Every part of the fluid with a net given inflow or outflow must touch an open face that holds a
 * density. If the case has no such face, the given velocities may change the part's density by at
 * most PATHS_DRIFT in the run. A sponge takes up mass: with one in the case this is not checked. If
 * there are several open faces, fluid must join at least two of them. Parts are as in pores.h;
 * without bodies all of the fluid is one part. With `refine` parts lead through all levels; all
 * open faces are on level 0.
 *
 * After domain_create. Collective. STATUS_USAGE, reported at the face; STATUS_MACHINE, reported. */
enum status paths_check(const struct paths_level *level, int levels);

#define PATHS_DRIFT 0.01

/* Largest relative change of the density of a fluid of so many cells, in which nothing holds it, by
 * the given velocities at any time of the run, with their time functions. *step: when. */
double paths_drift(const struct domain *d, const struct flow_case *c, double cells, int64_t *step);

#endif
