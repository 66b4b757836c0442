/* What flows through a plane of cells. */
#ifndef TAGFLOW_FLOW_RATE_H
#define TAGFLOW_FLOW_RATE_H

#include "solver/solver.h"

/* Lattice units; of the state before the next step, half of a step's force included. A plane with a
 * number that is not one, or out of all bounds, has NaN for all but the area. */
struct flow_rate {
    double volume;   /* sum of u along the axis over the plane's fluid cells */
    double mass;     /* sum of rho u */
    double pressure; /* mean of (rho - 1) / 3 over them; NaN without any */
    double area;     /* their number */
};

/* Through the plane of cells `at`, a coordinate of the whole box, across `axis`. Collective, the
 * same on all ranks and to the bit for every cut of the box. STATUS_MACHINE when the backend
 * failed. */
enum status flow_rate_measure(struct solver *s, int axis, int at, struct flow_rate *rate);

#endif
