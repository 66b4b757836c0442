/* Loads and stores of a scalar's populations by vectors. */
#ifndef TAGFLOW_CPU_SET_LANES_H
#define TAGFLOW_CPU_SET_LANES_H

#include "cpu/lanes.h" /* first: it defines `real` */

#include "scalar.h"

typedef set_stored set_lanes __attribute__((vector_size(LANES * sizeof(set_stored))));
typedef set_stored unaligned_sets __attribute__((vector_size(LANES * sizeof(set_stored)),
                                                 aligned(sizeof(set_stored)), may_alias));

TAGFLOW_FN real load_set(const set_stored *p)
{
    return __builtin_convertvector(*(const unaligned_sets *)p, real);
}

/* Stores the first `count` lanes. */
TAGFLOW_FN void store_set(set_stored *p, real value, int count)
{
    const set_lanes s = __builtin_convertvector(value, set_lanes);
    if (count == LANES) {
        *(unaligned_sets *)p = s;
        return;
    }
    for (int k = 0; k < LANES; k++)
        if (k < count)
            p[k] = s[k];
}

TAGFLOW_FN real load_number(const number *p)
{
    return *(const unaligned_reals *)p;
}

TAGFLOW_FN void store_number(number *p, real value)
{
    *(unaligned_reals *)p = value;
}

#endif
