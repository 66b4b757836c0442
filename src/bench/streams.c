/* The orders of a sweep for this processor; see streams.h. */
#include "bench/streams.h"

#include "base/isa.h"
#include "bench/streams_loops.h"

static const struct streams_order *const orders[ISAS] = {
#define X(isa) [ISA_##isa] = STREAMS_ORDERS(isa),
#include "cpu_isas.h"
#undef X
};

int streams_orders(void)
{
    int count = 0;
    while (orders[isa_best()][count].name)
        count++;
    return count;
}

const char *streams_order_name(int order)
{
    return orders[isa_best()][order].name;
}

streams_sweep *streams_order(int order)
{
    return orders[isa_best()][order].sweep;
}
