/* Flow rate through a plane of cells. */
#ifndef TAGFLOW_FLOW_RATE_H
#define TAGFLOW_FLOW_RATE_H

#include "solver/levels.h"

/* Lattice units of level 0; of the state before the next step, half of a step's force included. If
 * a value in the plane is NaN or out of bounds, all but the area are NaN. */
struct flow_rate {
    double volume;   /* sum of u along the axis over the plane's fluid cells */
    double mass;     /* sum of rho u */
    double pressure; /* mean of (rho - 1) / 3 over these cells; NaN without fluid cells */
    double area;     /* number of fluid cells */
};

/* Flow rate through the plane of cells at coordinate `at` of the whole box, in cells of level 0,
 * normal to `axis`. On level l the plane is 2^l cells thick, and its cells count by their volume:
 * so it is the mean over 2^l planes. Collective, the same on all ranks, bit-identical for every
 * decomposition. STATUS_MACHINE when the backend failed. */
enum status flow_rate_measure(const struct levels *all, int axis, int at, struct flow_rate *rate);

#endif
