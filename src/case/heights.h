/* Profiles by height or by distance from a point: a table, the logarithmic law, the power law. */
#ifndef TAGFLOW_HEIGHTS_H
#define TAGFLOW_HEIGHTS_H

#include "case/case.h"

/* The factor of a profile with PROFILE_HAS_height or PROFILE_HAS_radius at a position along its
 * axis, or at a distance from its point, in cells. Laws are 0 at and below height 0. Bit-identical
 * on every machine.
 *
 * log: ln((z + z0) / z0) / ln((r + z0) / z0) at height z, with roughness length z0 and reference
 * height r: the velocity of Richards and Hoxey (J. Wind Eng. Ind. Aerodyn. 46 & 47, 1993, 145),
 * over its value at r. shear: (z / r)^exponent. */
double heights_at(enum profile profile, const struct case_heights *h, double at);

/* The same at a position of a face, along the face's axes. */
double heights_on_face(enum profile profile, const struct case_heights *h, int face,
                       const double at[2]);

#endif
