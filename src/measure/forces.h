/* Force and torque of the fluid on a body. */
#ifndef TAGFLOW_FORCES_H
#define TAGFLOW_FORCES_H

#include "solver/grid.h"

/* Momentum that links exchange with the body's surface in the next step (see surface.h): the force
 * half a step after the solver's time. Lattice units of level 0; NaN if a term is not finite. */
struct body_forces {
    double force[3];
    double pressure[3]; /* the part of the force due to the density beside the surface; the rest is
                         * viscous */
    double torque[3];   /* about `about` */
};

/* Force on body number `body` of the case. Each level gives the momentum of its own next step: half
 * a step of the level after the grid's time. The list of cells (struct domain.near) must hold the
 * cells beside this body; it does if a series asks for its forces. about: point of reference of the
 * torque; NULL: the body's pivot. Collective, the same on all ranks, bit-identical for every
 * decomposition. STATUS_MACHINE when the backend failed. */
enum status forces_measure(const struct levels *all, int body, const double *about,
                           struct body_forces *forces);

/* The finest level with fluid beside the body; 0: none has. Lists as above. Collective. */
int forces_level(const struct grid *g, int body);

#endif
