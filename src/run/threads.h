/* How many threads each rank has, and what is said of it. */
#ifndef TAGFLOW_THREADS_H
#define TAGFLOW_THREADS_H

#include "base/cores.h"
#include "case/case.h"

/* Reason for the number of threads. */
enum threads_by {
    THREADS_BY_CASE,        /* run.threads */
    THREADS_BY_ENVIRONMENT, /* OMP_NUM_THREADS */
    THREADS_BY_CORES,       /* the cores that the ranks of a host may use */
    THREADS_BY_CELLS,       /* more would not pay in so small a box */
};

struct threads {
    struct cores cores;
    enum threads_by by;
};

/* Sets c->run.threads where the case leaves it to the program. The same on all ranks; collective.
 */
void threads_choose(struct flow_case *c, MPI_Comm comm, struct threads *t);

/* Say how many cores this host's ranks use, and what would use more; warn if there are more threads
 * than cores. */
void threads_say(const struct threads *t, int threads);

#endif
