/* What a run writes while it goes on: series, snapshots, averages, images, each at its own
 * interval. */
#ifndef TAGFLOW_OUTPUT_H
#define TAGFLOW_OUTPUT_H

#include "solver/flow.h"
#include "solver/state.h"

struct output;

/* Is something due every so many steps due at `step`? The first state counts, never is never. */
bool output_due(int64_t step, int64_t every);

/* Ready what the case asks for; what it remembers from step to step is registered in `state`.
 * Collective, as the others below: one status on all ranks, failures reported. */
enum status output_create(struct output **out, const struct flow_case *c, struct solver *s,
                          struct state *state, const char *dir);

/* Start the files; after a restart from step `resumed` (< 0: a new run) go on with them. */
enum status output_start(struct output *o, int64_t resumed);

/* Steps from `step` to the next at which output_write has something to do; INT64_MAX: none. */
int64_t output_next(const struct output *o, int64_t step);

/* Are snapshots or images, which nobody should see of a diverged flow, due at `step`? */
bool output_files_due(const struct output *o, int64_t step);

/* Do the series due at this step need sums, and enstrophy among them? */
bool output_needs_sums(const struct output *o, int64_t step, bool *enstrophy);

/* Write what is due at the solver's step, snapshots, averages and images also if this is the `last`
 * one. sums: as output_needs_sums asked for them. */
enum status output_write(struct output *o, const struct flow_sums *sums, bool last);

/* All that was written is on disk after this. */
enum status output_sync(struct output *o);

/* NULL: nothing. */
enum status output_close(struct output *o);

/* One lattice unit of velocity in m/s: 1 for a case without units. */
double output_velocity_unit(const struct flow_case *c);

/* Attributes that say where an HDF5 file comes from, in its group /provenance: program, commit,
 * case, backend, date, ranks, step, time. What rank 0 gives counts. */
struct h5file;
void output_provenance(struct h5file *file, const struct flow_case *c, const struct solver *s);

#endif
