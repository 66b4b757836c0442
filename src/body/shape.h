/* Shapes by formulas. Coordinates of the whole grid, lattice units; cell i spans [i, i + 1].
 *
 * All of it is + - x / and sqrt, so that every machine and rank finds the same. */
#ifndef TAGFLOW_BODY_SHAPE_H
#define TAGFLOW_BODY_SHAPE_H

#include "case/case.h"

bool shape_holds(const struct case_shape *s, const double at[3]);

/* A box that holds all of it; infinite where the shape is. */
void shape_bounds(const struct case_shape *s, double lo[3], double hi[3]);

#endif
