/* run.stop: ends a run before its last step, when a value hardly changes any more.
 *
 * The value is taken every `every` steps. The criterion is met when, over a window of values, the
 * largest less the smallest is a small part of the last one. The residual, itself a change, must
 * stay small over the window. */
#ifndef TAGFLOW_STOP_H
#define TAGFLOW_STOP_H

#include "measure/flow.h"
#include "measure/residual.h"
#include "solver/grid.h"
#include "solver/state.h"

struct stop {
    const struct case_stop *wanted;
    int size; /* number of values in the window */
    struct residual residual;
    /* State, also in checkpoints: */
    int64_t met;  /* 1: run.stop has ended the run */
    double *kept; /* see stop.c; NULL without run.stop */
};

/* Prepare it and register its state. Collective, one status on all ranks, as below. */
enum status stop_create(struct stop *s, const struct flow_case *c, struct grid *grid,
                        struct state *state);
void stop_destroy(struct stop *s);

/* After a restart: clears s->met if the run had ended by a criterion that is gone or was less
 * strict. Begins anew if the series that is watched measured something else in the case `before`,
 * of the checkpoint (NULL: none). Warns if the run ends at once, at `step`, because the criterion is
 * still met. */
void stop_resume(struct stop *s, const struct flow_case *c, const char *before, int64_t step);

/* Is a value taken at this step? */
bool stop_due(const struct stop *s, int64_t step);

/* Take a value at the solver's step; may set s->met. sums: of the flow; column: the value of the
 * watched column, if any. */
enum status stop_look(struct stop *s, const struct flow_case *c, struct grid *grid,
                      const struct flow_sums *sums, double column);

/* The relative change over the window; NaN: not known, because there are too few values, one is not
 * finite, or all are 0. */
double stop_change(const struct stop *s);

/* The last value; false: none yet. */
bool stop_value(const struct stop *s, double *value);

/* Estimated relative distance of the value from its limit, if its changes keep falling by the same
 * ratio as the last two; NaN: they do not fall. */
double stop_remaining(const struct stop *s);

#endif
