/* The flow-rate controller: it adjusts the acceleration along an axis to hold the mean velocity.
 *
 * At every multiple of `every` it measures U, the mean over all fluid cells of the velocity along
 * the axis (half of a step's force included), and sets the acceleration a of the next steps:
 *
 *   a += (U_wanted - U) / time - (U - U_before) / every
 *
 * The friction (per mass) in the last interval was a - (U - U_before) / every. So the new a is that
 * friction plus (U_wanted - U) / time. With constant friction U approaches U_wanted as
 * exp(-t / time), without overshoot. This is the law of Benocci and Pinelli, Engineering Turbulence
 * Modelling and Experiments, 1990, with a separate time instead of one interval. It is a PI
 * controller in velocity form: a stays constant while U = U_wanted. After an earlier result
 * (initial.from) there is one more measurement after the first step, so that the friction is known
 * at once.
 *
 * The sum for U is exact, so a is bit-identical for every decomposition. */
#ifndef TAGFLOW_DRIVE_H
#define TAGFLOW_DRIVE_H

#include "solver/state.h"

struct grid;
struct levels;

/* State of the controller. All zero: nothing measured yet. */
struct drive {
    double acceleration; /* of the next steps, lattice units of level 0 */
    double velocity;     /* U of the last measurement */
    double looks;        /* number of measurements */
};

/* Measures U and sets the acceleration if the step is one of these. Collective.
 * STATUS_MACHINE, reported, when the backend failed; the other ranks do not hang then. */
enum status drive_adjust(struct grid *g);

/* Steps to the next measurement; 0: there is no controller. */
int64_t drive_next(const struct grid *g);

/* Exact sums of the velocity components over all fluid cells of all ranks, and the number of these
 * cells, each by its volume in cells of level 0. NaN if a velocity is NaN or out of bounds.
 * Collective: one status on all ranks. */
enum status drive_velocity(const struct levels *all, double sum[3], double *fluid);

/* Registers the controller in a run's state, if there is one. */
enum status drive_register(struct grid *g, struct state *state);

#endif
