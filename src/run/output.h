/* What a run writes while it goes on: series, snapshots, images, each at its own interval. */
#ifndef TAGFLOW_OUTPUT_H
#define TAGFLOW_OUTPUT_H

#include "io/series.h"
#include "solver/flow.h"

struct output {
    const struct flow_case *c;
    struct solver *solver;
    const char *dir;
    struct series **series; /* [c->series_count], on rank 0 */
};

/* Is something due every so many steps due at `step`? The first state counts, never is never. */
bool output_due(int64_t step, int64_t every);

/* Do the series due at this step need sums, and enstrophy among them? */
bool output_needs_sums(const struct output *o, int64_t step, bool *enstrophy);

/* Start the series' files. Collective, as the others below: one status on all ranks. */
enum status output_open(struct output *o, const struct flow_case *c, struct solver *s,
                        const char *dir);

/* Write what is due at the solver's step, snapshots and images also if this is the `last` one.
 * sums: as output_needs_sums asked for them. */
enum status output_write(struct output *o, const struct flow_sums *sums, bool last);

enum status output_close(struct output *o);

/* One lattice unit of velocity in m/s: 1 for a case without units. */
double output_velocity_unit(const struct flow_case *c);

#endif
