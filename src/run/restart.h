/* Where a restarted run continues. */
#ifndef TAGFLOW_RESTART_H
#define TAGFLOW_RESTART_H

#include "run/checkpoint.h"
#include "run/folder.h"

enum restart_from {
    RESTART_BEGINNING,  /* there is no checkpoint */
    RESTART_CHECKPOINT, /* from *k, read from `path` */
    RESTART_DONE,       /* the run is complete */
};

/* Choose where to continue. Collective, one status on all ranks; nothing is changed in dir.
 * which: "auto", the newest checkpoint in dir that verifies (dir must exist and be locked); or a
 * checkpoint's file. results: names of those in dir, on rank 0.
 *
 *   auto: STATUS_DIVERGED when the run in dir has diverged; STATUS_MACHINE when there are
 *   checkpoints and none verifies; STATUS_USAGE when the run in dir has another case, or when it
 * has no checkpoint but results that a new beginning would lose a file: STATUS_USAGE when it is
 * damaged, foreign or has another case than this one, or when the run in dir has another case */
enum status restart_choose(const char *which, const struct flow_case *c, const char *dir,
                           const struct results *results, MPI_Comm comm, enum restart_from *from,
                           struct checkpoint *k, char path[FOLDER_PATH]);

#endif
