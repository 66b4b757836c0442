/* Averages over time: means and Reynolds stresses of the cells of a region, sampled at intervals
 * within a window of steps. Their sums are registered in the run's state, so that a restart does
 * not change them. */
#ifndef TAGFLOW_AVERAGE_H
#define TAGFLOW_AVERAGE_H

#include "solver/grid.h"
#include "solver/state.h"

struct average;

/* Allocate, and register in `state`:
 *   averages/<name>          float64, of the cells of the region: the means of velocity (3) and of
 *                            density - 1 (1), then the sums of products of the deviations of
 *                            velocity from its mean, xx yy zz xy xz yz (6), then of each scalar
 *                            its mean and sum of squares and, with a velocity, its products with
 *                            the velocity's deviations (3); only those needed
 *                            with several levels averages/<name>/level_<k>, for each level that has
 *                            cells in the region
 *   averages/<name>/samples  int64, the number of samples
 *   averages/<name>/steps    int64, the first and the last step sampled; -1: none
 * Collective; the same status on all ranks, failures reported; *out is set only on success. */
enum status average_create(struct average **out, const struct flow_case *c,
                           const struct case_average *what, struct grid *g, struct state *state);
void average_destroy(struct average *a); /* NULL: nothing; before the grid */

/* Is a sample to be taken at this step? */
bool average_due(const struct average *a, int64_t step);

/* Sample the state of all levels. If the backend fails, the next function that waits for it says
 * so. */
void average_sample(struct average *a);

/* The first step after `step` with a sample to take, or with a file to write because the window has
 * ended; INT64_MAX: none. */
int64_t average_next(const struct average *a, int64_t step);

/* Is the average written at this step, because its window has ended (average_ends), or because the
 * window is still open at the `last` step of the run (average_open)? */
bool average_ends(const struct average *a, int64_t step);
bool average_open(const struct average *a, int64_t step);

/* After a restart: warn of samples after the window's end, which was later before. */
void average_resume(const struct average *a);

/* Write dir/fields/<name>_<step>.vtkhdf; without a sample only say so. Collective; the same status
 * on all ranks, failures reported. */
enum status average_write(struct average *a, const char *dir);

#endif
