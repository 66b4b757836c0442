/* What the accesses of a warp touch: the lines of 128 bytes are its requests to the L2 cache, and
 * these consist of sectors of 32 bytes. */
#ifndef TAGFLOW_VARIANT_TOUCHED_H
#define TAGFLOW_VARIANT_TOUCHED_H

#include <stdint.h>

enum { REQUEST = 128, SECTOR = 32 };

/* Accesses of an instruction, at most two of each lane. */
struct accesses {
    int count;
    struct {
        uintptr_t at;
        int bytes;
    } access[64];
};

static inline void accesses_add(struct accesses *a, const void *at, int bytes)
{
    if (a->count < 64) {
        a->access[a->count].at = (uintptr_t)at;
        a->access[a->count++].bytes = bytes;
    }
}

/* Blocks of so many bytes that they touch. */
static inline int accesses_touch(const struct accesses *a, int bytes)
{
    uintptr_t seen[128];
    int count = 0;
    for (int k = 0; k < a->count; k++) {
        const uintptr_t first = a->access[k].at, last = first + (uintptr_t)a->access[k].bytes - 1;
        for (uintptr_t at = first / (uintptr_t)bytes; at <= last / (uintptr_t)bytes; at++) {
            int m = 0;
            while (m < count && seen[m] != at)
                m++;
            if (m == count && count < 128)
                seen[count++] = at;
        }
    }
    return count;
}

#endif
