/* What the flow does as a whole: sums and extrema over all fluid cells of all ranks, the same to
 * the bit for every cut of the box. */
#ifndef TAGFLOW_FLOW_H
#define TAGFLOW_FLOW_H

#include "solver/solver.h"

/* Lattice units; of the state before the next step, half of a step's force included. */
struct flow_sums {
    double mass;           /* sum of rho */
    double kinetic_energy; /* sum of rho u^2 / 2 */
    double enstrophy;      /* sum of |curl u|^2 / 2 of curl.h; 0 unless asked for */
    double max_velocity;   /* largest |u| */
    double acceleration;   /* of the force at this step, along its direction or its controller's */
    int max_cell[3];       /* global coordinates of the first such cell */
    bool finite;     /* false: bad_cell holds a number that is not one, or out of all bounds */
    int bad_cell[3]; /* the first such cell; sums leave such cells out */
};

/* Collective; the same status on all ranks. STATUS_MACHINE, reported, when memory or the backend
 * failed. */
enum status flow_measure(struct solver *s, bool enstrophy, struct flow_sums *sums);

/* The sums of the velocity's components over them; likewise. */
enum status flow_drift(struct solver *s, double sum[3]);

#endif
