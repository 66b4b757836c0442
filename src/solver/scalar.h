/* Scalars at step 0. */
#ifndef TAGFLOW_SOLVER_SCALAR_H
#define TAGFLOW_SOLVER_SCALAR_H

#include "case/case.h"
#include "solver/levels.h"

/* Sets the populations of all scalars, when the flow has its own; given: values from elsewhere, or
 * NULL. STATUS_MACHINE, reported. Collective. */
enum status scalar_initialise(struct solver *s, const struct flow_case *c,
                              const struct given_flow *given);

/* Adds to the density of the cells of each level's block, [z][y][x], what balances the mean
 * buoyancy of each plane across gravity at step 0: without it sound would run through the box for
 * thousands of steps. Does nothing if gravity is not along an axis, or the box is periodic along
 * it. With a flow from elsewhere: what balances the difference from the buoyancy that its pressure
 * balances, along each axis that is not periodic. c, given, drho: of each level; given: NULL, or as
 * for scalar_initialise. STATUS_MACHINE, reported. Collective. */
enum status scalar_balance(const struct levels *all, const struct flow_case *const c[],
                           const struct given_flow given[], double *const drho[]);

#endif
