/* The step of a solver; see step.c. */
#ifndef TAGFLOW_STEP_H
#define TAGFLOW_STEP_H

#include "solver/solver.h"

/* Advances by one step: shell, then exchange while the interior runs. On a GPU the step may still
 * be running on return; solver_wait and every function that returns results wait for it. When the
 * backend fails (STATUS_MACHINE, reported), this still counts the step and exchanges messages. So
 * ranks may agree on the status later, after the same number of steps on all. */
enum status solver_step(struct solver *s);
enum status solver_advance(struct solver *s); /* without solver_adjust */

/* Updates after a step, and at step 0: the mean velocity for scalars, and their ranges. */
enum status solver_adjust(struct solver *s);

/* Advances by as many steps as one sweep over memory makes: at least 1, at most `most`. Otherwise
 * as solver_step. */
enum status solver_sweep(struct solver *s, int64_t most);

/* The same, but waits until the steps are done; adds the time of each phase to `seconds`. */
enum status solver_sweep_timed(struct solver *s, int64_t most, double seconds[PHASES]);

#endif
