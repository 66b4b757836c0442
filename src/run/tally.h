/* How many files each output has written, and their bytes. A checkpoint holds it, so that a restart
 * notices files that were lost or cut. Rank 0 counts. */
#ifndef TAGFLOW_TALLY_H
#define TAGFLOW_TALLY_H

#include "case/case.h"
#include "run/results.h"
#include "solver/state.h"

struct tally;

/* Prepare the counts of all outputs of files and register them. STATUS_MACHINE, reported: no
 * memory. `root`: this is rank 0. */
enum status tally_create(struct tally **out, const struct flow_case *c, const char *dir, bool root,
                         struct state *state);
void tally_destroy(struct tally *t);

/* Before the first output: -1, a new run; or the step of the checkpoint. If `here`, it is one of
 * this folder: warns of files that were lost or have changed their size since. */
void tally_start(struct tally *t, int64_t resumed, bool here);

/* Rank 0, of a run that has ended: warns of files that were lost or have changed their size since
 * its newest checkpoint. */
void tally_check(const struct flow_case *c, const char *dir);

/* The output has written its file of this step; tally_later(): it is complete only when
 * tally_complete() is called. */
void tally_add(struct tally *t, enum results_part part, const char *name, int64_t step);
void tally_later(struct tally *t, enum results_part part, const char *name, int64_t step);
void tally_complete(struct tally *t);

#endif
