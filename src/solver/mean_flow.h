/* The mean velocity of the fluid, which scalars with a mean gradient need.
 *
 * Fluid that moves at U along a gradient G brings -(G . U) a step to a place, everywhere. The step
 * gives this back (scalar.h), so that only the deviation from it is stored. Without, the mean of
 * the deviation would grow for ever. It must stay near 0: where the grid is coarse, a uniform
 * scalar does not quite flow at U, and a large mean would change dispersion.
 *
 * At the multiples of MEAN_FLOW_EVERY steps, U is measured on the links of the scalar's lattice.
 * The means of the deviations tell how far the fluid has moved meanwhile beside what was given
 * back: a vector a, with G . a the mean of each scalar. The next steps give back G . (U - a /
 * MEAN_FLOW_EVERY).
 *
 * All sums are exact, so the bits are the same for every decomposition. */
#ifndef TAGFLOW_MEAN_FLOW_H
#define TAGFLOW_MEAN_FLOW_H

#include "solver/state.h"

struct solver;

enum { MEAN_FLOW_EVERY = 128 };

/* Means per fluid cell in the coming step of a scalar with a gradient; lattice units. NaN if a term
 * is not sane. See measure/dispersion.h. */
struct link_means {
    double flux[3], velocity[3]; /* on links */
    double value;                /* the deviation */
    int64_t cells;               /* fluid cells */
};

/* Collective, the same on all ranks. STATUS_MACHINE, reported, when the backend failed. */
enum status link_means_measure(struct solver *s, int set, struct link_means *m);

/* Sets the view's mean velocity, if a scalar has a gradient and the step is a multiple. Collective.
 * STATUS_MACHINE, reported, when the backend failed; the other ranks do not hang then. */
enum status mean_flow_adjust(struct solver *s);

/* Steps to the next measurement; 0: there is none. */
int64_t mean_flow_next(const struct solver *s);

/* Registers the velocity in a run's state, if a scalar has a gradient. */
enum status mean_flow_register(struct solver *s, struct state *state);

#endif
