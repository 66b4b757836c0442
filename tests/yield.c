/* Preloaded (LD_PRELOAD) in tests: a rank that waits sleeps for a moment, and its core is free for
 * others. There are more ranks than cores, and other tests. Open MPI calls sched_yield(), after which
 * Linux lets the rank go on at once; most of the processor's time of a test was spent so. Debian's
 * MPICH does not even yield: its ranks look for messages by a function of UCX. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int sched_yield(void);
unsigned ucp_worker_progress(void *worker);

int sched_yield(void)
{
    const struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
    return 0;
}

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
