/* Sums that do not depend on the order of their terms: fixed-point integers in steps of 2^-80.
 *
 * Each term is rounded once to this step, independently of the other terms. All further arithmetic
 * is on integers. So the sum is bit-identical for every decomposition, thread count and backend. */
#ifndef TAGFLOW_EXACT_H
#define TAGFLOW_EXACT_H

#include <stdint.h>

#include "platform.h"

__extension__ typedef __int128 exact_units;

struct exact_sum {
    exact_units units; /* multiples of 2^-80; sums up to 2^47 fit */
};

/* Partial sum of finite terms, |x| < 2^22, in units of 2^-40 (high) and 2^-80 (low). Both are
 * 64-bit integers, so that loops over terms vectorise. The sum of all |x| must stay below 2^23, and
 * there may be at most 2^22 terms. */
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

/* Adds one term, |x| < 2^22. */
TAGFLOW_FN void exact_add(struct exact_sum *s, double x)
{
    struct exact_terms t = {0, 0};
    exact_gather(&t, x);
    exact_add_terms(s, t);
}

/* The sum as three numbers, which can be added element by element over up to 2^22 ranks. */
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

TAGFLOW_FN double exact_value(const struct exact_sum *s)
{
    return (double)s->units * 0x1p-80;
}

#endif
