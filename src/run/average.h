/* Averages over time: means and Reynolds stresses of the cells of a region, sampled every so many
 * steps of a window. What they have summed up so far is registered in the run's state, so that they
 * go on after a restart as if nothing had happened. */
#ifndef TAGFLOW_AVERAGE_H
#define TAGFLOW_AVERAGE_H

#include "solver/solver.h"
#include "solver/state.h"

struct average;

/* Make room, register in `state`:
 *   averages/<name>          float64, of the cells of the region: the means of velocity (3) and of
 *                            density - 1 (1), then the sums of products of the deviations of
 *                            velocity from its mean, xx yy zz xy xz yz (6); those that are needed
 *   averages/<name>/samples  int64, how many samples these are of
 *   averages/<name>/steps    int64, the first and the last step sampled; -1: none
 * Collective; the same status on all ranks, failures reported; *out is set only on success. */
enum status average_create(struct average **out, const struct flow_case *c,
                           const struct case_average *what, struct solver *s, struct state *state);
void average_destroy(struct average *a); /* NULL: nothing */

/* Is a sample to be taken at this step? */
bool average_due(const struct average *a, int64_t step);

/* Take the sample of the solver's state. STATUS_MACHINE, reported, on the ranks where the backend
 * failed: the average is of no use any more. */
enum status average_sample(struct average *a);

/* The first step after `step` at which there is a sample to take or, the window being over, a file
 * to write; INT64_MAX: none. */
int64_t average_next(const struct average *a, int64_t step);

/* Is it to be written at this step: is its window over, or is it open and this the `last` step of
 * the run? */
bool average_ends(const struct average *a, int64_t step);
bool average_open(const struct average *a, int64_t step);

/* After a restart: warn of samples beyond the window, which had a later end before. */
void average_resume(const struct average *a);

/* Write dir/fields/<name>_<step>.vtkhdf; without a sample say so in its place. Collective; the same
 * status on all ranks, failures reported. */
enum status average_write(struct average *a, const char *dir);

#endif
