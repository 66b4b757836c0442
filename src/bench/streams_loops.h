/* The orders of a sweep, made once per instruction set: a table that ends with a name of NULL. */
#ifndef TAGFLOW_BENCH_STREAMS_LOOPS_H
#define TAGFLOW_BENCH_STREAMS_LOOPS_H

#include "bench/streams.h"

struct streams_order {
    const char *name;
    streams_sweep *sweep;
};

#define STREAMS_ORDERS(isa) streams_orders_##isa
#define X(isa) extern const struct streams_order STREAMS_ORDERS(isa)[];
#include "cpu_isas.h"
#undef X

#endif
