/* Time for measuring; see clock.h. */
#include "base/clock.h"

#include <sched.h>
#include <time.h>

static double started;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_start(void)
{
    started = now();
}

bool clock_started(void)
{
    return started > 0;
}

double clock_seconds(void)
{
    return now() - started;
}

void clock_rest(int *looks)
{
    enum { LOOKS = 20, YIELDS = 2000 }; /* some us, some ms */
    const struct timespec nap = {.tv_nsec = 50 * 1000};
    if (++*looks > YIELDS)
        nanosleep(&nap, NULL);
    else if (*looks > LOOKS)
        sched_yield();
}
