/* The flow-rate controller: the acceleration along an axis that holds the mean velocity.
 *
 * At every multiple of `every` it measures U, the mean over all fluid cells of the velocity along
 * the axis (half of a step's force included), and sets the acceleration a of the steps to come:
 *
 *   a += (U_wanted - U) / time - (U - U_before) / every
 *
 * The second term is what the friction was short of a in the last interval, so that the new a is
 * that friction and (U_wanted - U) / time: were the friction to stay, U would go to what is wanted
 * as exp(-t / time), without overshoot (the law of Benocci and Pinelli, Engineering Turbulence
 * Modelling and Experiments, 1990, with a time of its own in place of one interval). It is a PI
 * controller in velocity form: a is held, and no more, where U is what is wanted.
 *
 * U is summed up exactly, so that a is the same to the bit for every cut of the box. */
#ifndef TAGFLOW_DRIVE_H
#define TAGFLOW_DRIVE_H

#include "solver/state.h"

struct solver;

/* What it remembers. All zero: nothing measured yet. */
struct drive {
    double acceleration; /* of the steps to come, lattice units */
    double velocity;     /* U at the last look */
    double looks;
};

/* Measure and set, if it is time to. Collective; STATUS_MACHINE, reported, when the backend failed:
 * what others need of this rank was done all the same. */
enum status drive_adjust(struct solver *s);

/* Register in a run's state, if there is a controller. */
enum status drive_register(struct solver *s, struct state *state);

#endif
