/* For ranks of MPICH: one that waits leaves its core to others, as Open MPI's do if they are asked
 * to. Debian's MPICH never does, and tests have more ranks than cores. Preloaded (LD_PRELOAD), it
 * stands before the function of UCX by which MPICH looks for messages. */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!progress)
        abort();
    const unsigned found = progress(worker);
    if (!found)
        sched_yield();
    return found;
}
