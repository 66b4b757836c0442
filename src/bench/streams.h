/* One sweep over 19 streams of numbers, in place: every number is loaded, changed and stored once,
 * in one of several orders, with the best instruction set of this processor. */
#ifndef TAGFLOW_BENCH_STREAMS_H
#define TAGFLOW_BENCH_STREAMS_H

#include <stddef.h>

enum { STREAMS = 19, STREAMS_LINE = 64 };

struct streams_order {
    /* "5x1_ahead4": accesses of 5 streams x 1 cache line at a time, prefetched 4 lines ahead. */
    const char *name;
    /* Adds 1 to the 64-bit words from byte `lo` up to byte `hi` (multiples of 2 cache lines) of
     * each stream, block after block of `block` bytes (a multiple of 2 cache lines). The streams
     * begin at `base` and lie `stride` bytes apart (both whole cache lines). */
    void (*sweep)(char *base, size_t stride, size_t lo, size_t hi, size_t block);
};

/* The orders; the last one has the name NULL. */
const struct streams_order *streams_orders(void);

#define STREAMS_ORDERS(isa) streams_orders_##isa
#define X(isa) extern const struct streams_order STREAMS_ORDERS(isa)[];
#include "cpu_isas.h"
#undef X

#endif
