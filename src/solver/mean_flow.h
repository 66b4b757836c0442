/* The mean velocity of the fluid, which scalars with a mean gradient need.
 *
 * Fluid that moves at U along a gradient G brings -(G . U) a step to a place, everywhere. The step
 * gives this back (scalar.h), so that only the deviation from it is stored: without, the stored
 * values would grow for ever, and lose digits. A U that is a little too old is no error: the same
 * is then added everywhere, and dispersion does not depend on it. So U is measured at the multiples
 * of MEAN_FLOW_EVERY steps alone.
 *
 * The sum for U is exact, so U is bit-identical for every decomposition. */
#ifndef TAGFLOW_MEAN_FLOW_H
#define TAGFLOW_MEAN_FLOW_H

#include "solver/state.h"

struct solver;

enum { MEAN_FLOW_EVERY = 128 };

/* Sets the view's mean velocity, if a scalar has a gradient and the step is a multiple. Collective.
 * STATUS_MACHINE, reported, when the backend failed; the other ranks do not hang then. */
enum status mean_flow_adjust(struct solver *s);

/* Steps to the next measurement; 0: there is none. */
int64_t mean_flow_next(const struct solver *s);

/* Registers the velocity in a run's state, if a scalar has a gradient. */
enum status mean_flow_register(struct solver *s, struct state *state);

#endif
