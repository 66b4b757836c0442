/* Output of a run: series, snapshots, averages, surfaces, images, each at its own interval. */
#ifndef TAGFLOW_OUTPUT_H
#define TAGFLOW_OUTPUT_H

#include "measure/flow.h"
#include "solver/grid.h"
#include "solver/state.h"

struct output;

/* Is output with this interval due at `step`? Step 0 counts; interval 0: never. */
bool output_due(int64_t step, int64_t every);

/* The smaller one of `next` and the steps from `step` to the next one due; interval 0: `next`. */
int64_t output_nearer(int64_t next, int64_t step, int64_t every);

/* Prepare the output of the case and register its memory in `state`. Collective, as the others
 * below: one status on all ranks, failures reported. */
enum status output_create(struct output **out, const struct flow_case *c, struct grid *g,
                          struct state *state, const char *dir);

/* Start the files; after a restart from step `resumed` (< 0: a new run) continue them. before: the
 * resolved case of the checkpoint, if any; here:
 * the checkpoint is one of this folder; over: the run has no more steps. */
enum status output_start(struct output *o, const char *before, bool here, int64_t resumed,
                         bool over);

/* Steps from `step` to the next output or sample; INT64_MAX: none. */
int64_t output_next(const struct output *o, int64_t step);

/* Measure what the output of the next step needs from this one. Call it before each advance. */
enum status output_sample(struct output *o);

/* Are snapshots, surfaces, averages or images due at `step`? The flow is checked before, so that
 * none shows a diverged flow. */
bool output_files_due(const struct output *o, int64_t step);

/* Do the series due at this step need sums, and enstrophy among them? */
bool output_needs_sums(const struct output *o, int64_t step, bool *enstrophy);

/* Write the rows of series that are due at the solver's step (output_rows); because the run ends
 * early, also a row of all others (output_last_rows). Before output_write(). sums: as
 * output_needs_sums() asked for. */
enum status output_rows(struct output *o, const struct flow_sums *sums);
enum status output_last_rows(struct output *o);

/* A value in the row of this step, of a series with one row a step; the same on all ranks. */
double output_value(const struct output *o, int series, int column);

/* Write all other output that is due at the solver's step; at the `last` step all of it. */
enum status output_write(struct output *o, bool last);

/* Some files come to disk, and images are drawn, beside the next steps. Is this rank still doing
 * it? Not collective. */
bool output_busy(const struct output *o);

/* Wait for them; then they have their names. Quick if no rank is busy. */
enum status output_complete(struct output *o);

/* The longest time that they took so far, in seconds. */
double output_seconds(const struct output *o);

/* Put all that was written on disk, with output_complete(). */
enum status output_sync(struct output *o);

/* NULL: nothing. */
enum status output_close(struct output *o);

/* One lattice unit of velocity in m/s: 1 for a case without units. */
double output_velocity_unit(const struct flow_case *c);

/* Attributes of an HDF5 file's origin, in its group /provenance: program, commit, case, backend,
 * date, ranks, step, time. The values of rank 0 count. */
struct h5file;
void output_provenance(struct h5file *file, const struct flow_case *c, const struct solver *s);

#endif
