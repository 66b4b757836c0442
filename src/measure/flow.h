/* Sums and extrema of the flow over all fluid cells of all ranks, bit-identical for every
 * decomposition. */
#ifndef TAGFLOW_FLOW_H
#define TAGFLOW_FLOW_H

#include "solver/levels.h"

/* Lattice units of level 0; of the state before the next step, half of a step's force included. If
 * the flow is not finite, all but the acceleration are NaN. */
struct flow_sums {
    double mass;           /* sum of rho */
    double kinetic_energy; /* sum of rho u^2 / 2 */
    double enstrophy;      /* sum of |curl u|^2 / 2 of curl.h; 0 unless asked for */
    double max_velocity;   /* largest |u| */
    double acceleration;   /* of body force or controller in this step, along its direction */
    int max_level;         /* level of max_cell */
    int max_cell[3];       /* global coordinates of the first cell with the largest |u|, in cells of
                            * its level */
    bool finite;           /* false: bad_cell has a value that is NaN or out of bounds */
    int bad_level;         /* level of bad_cell */
    int bad_cell[3];       /* the first such cell, in cells of its level */
};

/* First cells are of the coarsest level that has one. Enstrophy is of differences within each
 * level. Collective: one status on all ranks. STATUS_MACHINE, reported, when memory or the backend
 * failed. */
enum status flow_measure(const struct levels *all, bool enstrophy, struct flow_sums *sums);

#endif
