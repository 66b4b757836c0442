/* The series of a case: their columns, and the rows that are due. */
#ifndef TAGFLOW_TABLES_H
#define TAGFLOW_TABLES_H

#include "measure/flow.h"
#include "solver/grid.h"
#include "solver/state.h"

struct tables;

/* Prepare the series of the case and register their state in `state`. Collective, as all below: one
 * status on all ranks, failures reported. */
enum status tables_create(struct tables **out, const struct flow_case *c, struct grid *g,
                          struct state *state, const char *dir);

/* Start the files, dir/series/<name>.csv. After a restart (resumed >= 0) continue them: rows after
 * step `resumed` are dropped, and also the last row of a run that ended there, if it now continues.
 * A series that measured something else in the case `before`, of the checkpoint (NULL: unknown),
 * begins anew; its file is kept under another name. over: the run has no more steps. */
enum status tables_start(struct tables *t, const char *before, int64_t resumed, bool over);

/* Do rows due at this step need sums over the flow, and enstrophy among them? Sets *enstrophy, or
 * leaves it alone. */
bool tables_need_sums(const struct tables *t, int64_t step, bool *enstrophy);

/* A row of forces is the mean of two steps. tables_sample() measures the first of them; call it
 * before the solver leaves a step, also the one of a restart. tables_next_sample(): steps from
 * `step` to the next step that has something to sample; INT64_MAX: none. */
enum status tables_sample(struct tables *t);
int64_t tables_next_sample(const struct tables *t, int64_t step);

/* Add the rows due at the solver's step. */
enum status tables_write(struct tables *t, const struct flow_sums *sums);

/* Add a row of the solver's step to the series that have none due. */
enum status tables_end(struct tables *t);

/* A value of the row just written, as in its file, of a series with one row a step; column 0 is the
 * step. */
double tables_value(const struct tables *t, int series, int column);

/* Put all rows on disk. */
enum status tables_sync(struct tables *t);

/* Sync, close, free. NULL: nothing. */
enum status tables_close(struct tables *t);

#endif
