/* How much the velocity field has changed since it was last looked at. */
#ifndef TAGFLOW_RESIDUAL_H
#define TAGFLOW_RESIDUAL_H

#include "solver/solver.h"
#include "solver/state.h"

/* Remembers the velocity field. It must stay where it is once it is registered. */
struct residual {
    bool narrow;    /* float, as the populations are; else double */
    void *velocity; /* of this rank's cells, [3][z][y][x], lattice units */
    int64_t step;   /* at which it was remembered; RESIDUAL_NO_STEP: none */
};

enum { RESIDUAL_NO_STEP = -1 };

/* Collective: one status on all ranks, failures reported. */
enum status residual_create(struct residual *r, const struct solver *s);
void residual_destroy(struct residual *r);

/* Make it part of what a checkpoint holds, as arrays NAME/velocity and NAME/step. */
enum status residual_register(struct residual *r, const struct solver *s, struct state *state,
                              const char *name);

/* *value = sqrt(sum of |u - u_before|^2 / sum of |u|^2) over all fluid cells, u the velocity of the
 * state before the next step and u_before that at the call before, both rounded to the precision
 * that is remembered; then remember u. NaN at the first call and where a velocity is not a number
 * or out of all bounds, 0 if nothing moves or moved, infinite if nothing moves any more.
 * Collective, the same on all ranks and to the bit for every cut of the box. STATUS_MACHINE when
 * the backend failed. */
enum status residual_measure(struct residual *r, struct solver *s, double *value);

#endif
