/* Steps at which something that is repeated is due: the multiples of an interval. */
#ifndef TAGFLOW_SCHEDULE_H
#define TAGFLOW_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* Is it due at `step`? Step 0 counts; interval 0: never. */
static inline bool schedule_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

/* The smaller one of `next` and the steps from `step` to the next one due; interval 0: `next`. */
static inline int64_t schedule_nearer(int64_t next, int64_t step, int64_t every)
{
    const int64_t away = every > 0 ? every - step % every : INT64_MAX;
    return away < next ? away : next;
}

#endif
