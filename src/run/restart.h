/* Where a run that is started again goes on. */
#ifndef TAGFLOW_RESTART_H
#define TAGFLOW_RESTART_H

#include "run/checkpoint.h"
#include "run/folder.h"

enum restart_from {
    RESTART_BEGINNING,  /* there is no checkpoint */
    RESTART_CHECKPOINT, /* from *k, read from `path` */
    RESTART_DONE,       /* there is nothing left to do */
};

/* which: "auto", for which dir has to be there and locked, the newest checkpoint in dir that
 * verifies; or a file. Collective, one status on all ranks; nothing is changed in dir.
 *
 *   auto: STATUS_DIVERGED when that is how the run in dir ended; STATUS_MACHINE when there are
 *   checkpoints and none verifies; STATUS_USAGE for a case that is not the one of the run in dir
 *   a file: STATUS_USAGE when it is damaged, foreign or of another case than this one or that of a
 *   run in dir */
enum status restart_choose(const char *which, const struct flow_case *c, const char *dir,
                           MPI_Comm comm, enum restart_from *from, struct checkpoint *k,
                           char path[FOLDER_PATH]);

#endif
