/* Output of a run: all kinds (output_kind.h), each at its own interval. */
#ifndef TAGFLOW_OUTPUT_H
#define TAGFLOW_OUTPUT_H

#include <jansson.h>

#include "run/output_kind.h"

struct output;

/* Prepare the output of the case and register its memory in `state`. Collective, as the others
 * below: one status on all ranks, failures reported. */
enum status output_create(struct output **out, const struct flow_case *c, struct grid *g,
                          struct state *state, const char *dir);

/* Start the files; after a restart continue them. */
enum status output_start(struct output *o, const struct output_start *from);

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

/* NULL: nothing. *files, unless that is NULL: on rank 0 the counts of the files, tally_json(). */
enum status output_close(struct output *o, json_t **files);

/* Rank 0, of a run that has ended: warns of files in its folder that were lost or have changed
 * their size since its end. */
void output_check_files(const struct flow_case *c, const char *dir);

#endif
