/* Sums and extrema of the flow over all fluid cells of all ranks, bit-identical for every
 * decomposition. */
#ifndef TAGFLOW_FLOW_H
#define TAGFLOW_FLOW_H

#include "solver/solver.h"

/* Lattice units; of the state before the next step, half of a step's force included. If the flow is
 * not finite, all but the acceleration are NaN. */
struct flow_sums {
    double mass;           /* sum of rho */
    double kinetic_energy; /* sum of rho u^2 / 2 */
    double enstrophy;      /* sum of |curl u|^2 / 2 of curl.h; 0 unless asked for */
    double max_velocity;   /* largest |u| */
    double acceleration;   /* of body force or controller in this step, along its direction */
    int max_cell[3];       /* global coordinates of the first cell with the largest |u| */
    bool finite;           /* false: bad_cell has a value that is NaN or out of bounds */
    int bad_cell[3];       /* the first such cell */
};

/* Collective: one status on all ranks. STATUS_MACHINE, reported, when memory or the backend failed.
 */
enum status flow_measure(struct solver *s, bool enstrophy, struct flow_sums *sums);

#endif
