/* Force and torque of the fluid on a body. */
#ifndef TAGFLOW_FORCES_H
#define TAGFLOW_FORCES_H

#include "solver/solver.h"

/* Lattice units, in the step to come: the momentum that links exchange with the body's surface (see
 * surface.h). */
struct body_forces {
    double force[3];
    double pressure[3]; /* the part of it that the density beside the surface makes; the rest is
                         * viscous */
    double torque[3];   /* about `about` */
};

/* On body number `body` of the case, which has cells in the list (struct domain.near) as a series
 * of forces is of it; `about` NULL: about the body's pivot. Collective, the same on all ranks and
 * to the bit for every cut of the box. STATUS_MACHINE when the backend failed. */
enum status forces_measure(struct solver *s, int body, const double *about,
                           struct body_forces *forces);

#endif
