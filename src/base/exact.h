/* Sums that do not depend on the order of their terms: fixed-point integers in steps of 2^-80.
 *
 * A term is rounded once to that step, whatever the other terms are; then everything is integer.
 * So every cut of the domain, thread count and backend gives the same sum to the bit. */
#ifndef TAGFLOW_EXACT_H
#define TAGFLOW_EXACT_H

#include <stdint.h>

__extension__ typedef __int128 exact_units;

struct exact_sum {
    exact_units units; /* of 2^-80: room for sums up to 2^47 */
};

/* Add a finite term, |x| < 2^22. */
static inline void exact_add(struct exact_sum *s, double x)
{
    const double scaled = x * 0x1p40;
    const int64_t high = (int64_t)scaled;
    const int64_t low = (int64_t)((scaled - (double)high) * 0x1p40);
    s->units += (exact_units)high * ((int64_t)1 << 40) + low;
}

/* The sum as three numbers that can be added over up to 2^22 ranks as they are. */
static inline void exact_split(const struct exact_sum *s, int64_t parts[3])
{
    const exact_units step = (int64_t)1 << 40;
    parts[0] = (int64_t)(s->units % step);
    parts[1] = (int64_t)(s->units / step % step);
    parts[2] = (int64_t)(s->units / step / step);
}

static inline struct exact_sum exact_join(const int64_t parts[3])
{
    const exact_units step = (int64_t)1 << 40;
    return (struct exact_sum){((exact_units)parts[2] * step + parts[1]) * step + parts[0]};
}

/* The sum as a double. */
static inline double exact_value(const struct exact_sum *s)
{
    return (double)s->units * 0x1p-80;
}

#endif
