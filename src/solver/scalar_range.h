/* The values between which the limiter keeps a scalar (include/scalar.h): those that the case
 * gives.
 *
 * Where a source, a flux or a reaction leads beyond them, that side follows the flow: at the
 * multiples of SCALAR_RANGE_EVERY steps the bound is the largest value of all cells, plus what can
 * be added until the next multiple. Closed sides do not follow the flow, as its small divergence
 * changes values, too. Initial values of an earlier result are looked at once, at step 0.
 *
 * All levels of a grid have the range of level 0. Extremes are exact, so the bits are the
 * same for every decomposition. */
#ifndef TAGFLOW_SCALAR_RANGE_H
#define TAGFLOW_SCALAR_RANGE_H

#include "solver/state.h"

struct solver;

enum { SCALAR_RANGE_EVERY = 128 };

/* Sets the ranges of all levels, if the step of level 0 is a multiple. Collective. STATUS_MACHINE,
 * reported, when the backend failed; the other ranks do not hang then. */
enum status scalar_range_adjust(struct solver *const level[], int levels);

/* Gives all levels the ranges of level 0, which a restart sets. */
void scalar_range_share(struct solver *const level[], int levels);

/* Steps to the next look; 0: there is none. */
int64_t scalar_range_next(const struct solver *s);

/* Registers the ranges in a run's state, if a scalar has the limiter. */
enum status scalar_range_register(struct solver *s, struct state *state);

#endif
