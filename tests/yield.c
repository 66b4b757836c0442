/* Preloaded (LD_PRELOAD) in tests: a rank that waits long sleeps, and its core is free for others.
 * There are more ranks than cores, and other tests. Open MPI calls sched_yield(), after which Linux
 * lets the rank go on at once; most of the processor's time of some tests was spent so. Debian's
 * MPICH does not even yield: its ranks look for messages by a function of UCX. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int sched_yield(void);
unsigned ucp_worker_progress(void *worker);

/* Nanoseconds: a rank that did something for so long waits anew; it yields for so long, then it
 * sleeps, so long each time. */
enum { WORKED = 10000, PATIENCE = 200000, MOMENT = 20000 };

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int sched_yield(void)
{
    static _Thread_local int64_t since, last;
    const int64_t here = now();
    if (here - last > WORKED)
        since = here;
    if (here - since < PATIENCE)
        syscall(SYS_sched_yield);
    else
        nanosleep(&(struct timespec){0, MOMENT}, NULL);
    last = now();
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
