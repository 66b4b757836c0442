/* Scalars at step 0. */
#ifndef TAGFLOW_SOLVER_SCALAR_H
#define TAGFLOW_SOLVER_SCALAR_H

#include "case/case.h"
#include "solver/solver.h"

/* Sets the populations of all scalars, when the flow has its own. STATUS_MACHINE, reported.
 * Collective. */
enum status scalar_initialise(struct solver *s, const struct flow_case *c);

/* Adds to the density of the block's cells, [z][y][x], what balances the mean buoyancy of each
 * plane across gravity at step 0: without it sound would run through the box for thousands of
 * steps. Does nothing if gravity is not along an axis, or the box is periodic along it.
 * STATUS_MACHINE, reported. Collective. */
enum status scalar_balance(struct solver *s, const struct flow_case *c, double *drho);

#endif
