/* Sums that do not depend on the order of their terms: fixed-point integers in steps of 2^-80.
 *
 * A term is rounded once to that step, whatever the other terms are; then everything is integer.
 * So every cut of the domain, thread count and backend gives the same sum to the bit. */
#ifndef TAGFLOW_EXACT_H
#define TAGFLOW_EXACT_H

#include <stdint.h>

#include "platform.h"

__extension__ typedef __int128 exact_units;

struct exact_sum {
    exact_units units; /* of 2^-80: room for sums up to 2^47 */
};

/* Finite terms, |x| < 2^22, on their way into a sum, in units of 2^-40 and of 2^-80. Both are 64
 * bits, so that loops over them can be vectors: as many terms fit as leave the sum of |x| below
 * 2^23, at most 2^22. */
struct exact_terms {
    int64_t high, low;
};

TAGFLOW_FN void exact_gather(struct exact_terms *t, double x)
{
    const double scaled = x * 0x1p40;
    const int64_t high = (int64_t)scaled;
    t->high += high;
    t->low += (int64_t)((scaled - (double)high) * 0x1p40);
}

TAGFLOW_FN void exact_add_terms(struct exact_sum *s, struct exact_terms t)
{
    s->units += (exact_units)t.high * ((int64_t)1 << 40) + t.low;
}

/* Add one of them. */
TAGFLOW_FN void exact_add(struct exact_sum *s, double x)
{
    struct exact_terms t = {0, 0};
    exact_gather(&t, x);
    exact_add_terms(s, t);
}

/* The sum as three numbers that can be added over up to 2^22 ranks as they are. */
TAGFLOW_FN void exact_split(const struct exact_sum *s, int64_t parts[3])
{
    const exact_units step = (int64_t)1 << 40;
    parts[0] = (int64_t)(s->units % step);
    parts[1] = (int64_t)(s->units / step % step);
    parts[2] = (int64_t)(s->units / step / step);
}

TAGFLOW_FN struct exact_sum exact_join(const int64_t parts[3])
{
    const exact_units step = (int64_t)1 << 40;
    struct exact_sum s;
    s.units = ((exact_units)parts[2] * step + parts[1]) * step + parts[0];
    return s;
}

/* The sum as a double. */
TAGFLOW_FN double exact_value(const struct exact_sum *s)
{
    return (double)s->units * 0x1p-80;
}

#endif
