/* Force and torque of the fluid on a body. */
#ifndef TAGFLOW_FORCES_H
#define TAGFLOW_FORCES_H

#include "solver/levels.h"

/* Momentum that links exchange with the body's surface in a step (see surface.h): the force in the
 * middle of the step. Lattice units of level 0; NaN if a term is not finite. */
struct body_forces {
    double force[3];
    double pressure[3]; /* the part of the force due to the density beside the surface; the rest is
                         * viscous */
    double torque[3];   /* about `about` */
};

/* Forces of a step of level 0. */
struct forces_step {
    struct forces all[LEVELS]; /* this rank's sums over the steps of each level until now */
    struct body_forces first;  /* from the first step of each level */
    bool more;                 /* there were later ones */
};

/* Begins a step of forces on body number `body` of the case. Each level gives the momentum of its
 * own next step. The list of cells (struct domain.near) must hold the cells beside this body; it
 * does if a series asks for its forces. about: point of reference of the torque; NULL: the body's
 * pivot. Collective, the same on all ranks, bit-identical for every decomposition. STATUS_MACHINE
 * when the backend failed. */
enum status forces_begin(const struct levels *all, int body, const double *about,
                         struct forces_step *step);

/* Adds the next step of a level, later in the same step of level 0. A rank may fail alone. */
enum status forces_add_later(const struct levels *all, int level, int body,
                             struct forces_step *step);

/* The mean of all steps that were added. Collective, as forces_begin. Without later steps it is the
 * first. */
void forces_mean(const struct levels *all, int body, const double *about,
                 const struct forces_step *step, struct body_forces *mean);

#endif
