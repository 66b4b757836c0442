/* How many files each output has written, and their bytes. A checkpoint holds it, so that a restart
 * notices files that were lost or cut, and so does report.json, for a run that has ended. Rank 0
 * counts. */
#ifndef TAGFLOW_TALLY_H
#define TAGFLOW_TALLY_H

#include <jansson.h>

#include "run/output_kind.h"

/* Register the counts of all outputs of files. STATUS_MACHINE, reported: no memory. */
enum status tally_register(struct output_entry *entry, int count, struct state *state);

/* Rank 0, before the first output: -1, a new run; or the step of the checkpoint. If `here`, it is
 * one of this folder: warns of files that were lost or have changed their size since. */
void tally_start(struct output_entry *entry, int count, int64_t resumed, bool here);

/* Rank 0: the counts, {"fields/main": {"files": 4, "bytes": .., "last": 20, "last_bytes": ..}};
 * NULL: no memory. */
json_t *tally_json(const struct output_entry *entry, int count);

/* Rank 0, of a run that has ended: warns of files that were lost or have changed their size since
 * its end, as its report.json has them, or its newest checkpoint. */
void tally_check(struct output_entry *entry, int count, const char *dir);

/* Rank 0: the output has written its file of this step. */
void tally_add(struct output_entry *e, int64_t step);

#endif
