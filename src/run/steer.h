/* Factors that the caller of a run sets from step to step: `steer` in the case.
 *
 * A factor acts from the next step on, on all levels, and stays until it is set again. It is part
 * of the run's state, so a run that goes on from a checkpoint has the factor of that step. */
#ifndef TAGFLOW_STEER_H
#define TAGFLOW_STEER_H

#include "solver/grid.h"
#include "solver/state.h"

struct steering {
    int count;
    const struct case_signal *signal[SIGNALS]; /* one of each name, in order of the case */
    double factor[SIGNALS];
};

/* Finds the names of the case, and registers the factors. */
enum status steer_create(struct steering *s, const struct flow_case *c, struct state *state);

/* Gives the factors to the solvers of all levels: after the state was read from a checkpoint. */
void steer_apply(const struct steering *s, struct grid *g);

/* STATUS_USAGE, reported: there is no such name, or the factor is out of its range. */
enum status steer_known(const struct steering *s, const char *name, double factor);

/* Sets the factor of a known name, which steer_apply() gives to the solvers. */
void steer_set(struct steering *s, const char *name, double factor);

/* The factor of a name; NULL: there is no such name. */
const double *steer_get(const struct steering *s, const char *name);

#endif
