/* The series of a case: which columns each kind has, and the rows that are due. */
#ifndef TAGFLOW_TABLES_H
#define TAGFLOW_TABLES_H

#include "solver/flow.h"
#include "solver/state.h"

struct tables;

/* Ready the series of the case; what they remember from row to row is registered in `state`.
 * Collective, as all below: one status on all ranks, failures reported. */
enum status tables_create(struct tables **out, const struct flow_case *c, struct solver *s,
                          struct state *state, const char *dir);

/* Start the files, dir/series/<name>.csv; after a restart go on with them: rows after step
 * `resumed` are dropped first. resumed < 0: a new run. */
enum status tables_start(struct tables *t, int64_t resumed);

/* Do rows due at this step need sums over the flow, and enstrophy among them? Sets *enstrophy, or
 * leaves it alone. */
bool tables_need_sums(const struct tables *t, int64_t step, bool *enstrophy);

/* Add the rows due at the solver's step. */
enum status tables_write(struct tables *t, const struct flow_sums *sums);

/* All rows are on disk after this. */
enum status tables_sync(struct tables *t);

/* Sync, close, free. NULL: nothing. */
enum status tables_close(struct tables *t);

#endif
