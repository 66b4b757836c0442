/* One sweep over 19 streams of numbers, in place: every number is loaded, changed and stored once,
 * in one of several orders, with the best instruction set of this processor. */
#ifndef TAGFLOW_BENCH_STREAMS_H
#define TAGFLOW_BENCH_STREAMS_H

#include <stddef.h>

enum { STREAMS = 19, STREAMS_LINE = 64 };

/* Adds 1 to the 64-bit words from byte `lo` up to byte `hi` (multiples of 2 cache lines) of each
 * stream, block after block of `block` bytes (a multiple of 2 cache lines). The streams begin at
 * `base` and lie `stride` bytes apart (both whole cache lines). */
typedef void streams_sweep(char *base, size_t stride, size_t lo, size_t hi, size_t block);

/* Number of orders. */
int streams_orders(void);

/* "5x1_ahead4": accesses of 5 streams x 1 cache line at a time, prefetched 4 lines ahead. */
const char *streams_order_name(int order);

/* The sweep in that order. */
streams_sweep *streams_order(int order);

#endif
