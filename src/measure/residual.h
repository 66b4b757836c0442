/* Relative change of the velocity field since the last call. */
#ifndef TAGFLOW_RESIDUAL_H
#define TAGFLOW_RESIDUAL_H

#include "solver/levels.h"
#include "solver/state.h"

/* The stored velocity field. After residual_register this struct must not move. */
struct residual {
    struct levels all;
    void *velocity[LEVELS]; /* memory of the level's backend: of this rank's cells, [3][z][y][x],
                             * lattice units; float, for populations narrower than double; else
                             * double */
    int64_t step;           /* step of `velocity`; RESIDUAL_NO_STEP: none stored yet */
};

enum { RESIDUAL_NO_STEP = -1 };

/* Collective: one status on all ranks, failures reported. */
enum status residual_create(struct residual *r, const struct levels *all);
void residual_destroy(struct residual *r); /* before the solver */

/* Registers it for checkpoints, as arrays NAME/velocity, with levels NAME/velocity/level_0
 * and so on, and NAME/step. */
enum status residual_register(struct residual *r, struct state *state, const char *name);

/* *value = sqrt(sum of |u - u_before|^2 / sum of |u|^2) over all fluid cells, each by its
 * volume; then stores u. u is
 * the velocity of the state before the next step, u_before the stored one, both rounded to the
 * stored precision. NaN at the first call and if a velocity is NaN or out of bounds; 0 if u =
 * u_before everywhere; infinite if u is 0 everywhere and u_before is not. Collective, the same on
 * all ranks, bit-identical for every decomposition. STATUS_MACHINE when the backend failed. */
enum status residual_measure(struct residual *r, double *value);

/* The same, but does not store u. */
enum status residual_compare(struct residual *r, double *value);

#endif
