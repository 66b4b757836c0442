/* Sums that do not depend on the order of their terms: fixed-point integers in steps of 2^-80.
 *
 * A term is rounded once to that step, whatever the other terms are; then everything is integer.
 * So every cut of the domain, thread count and backend gives the same sum to the bit. */
#ifndef TAGFLOW_EXACT_H
#define TAGFLOW_EXACT_H

#include <stdint.h>

/* High part in units of 2^-40, low part in units of 2^-80; not normalised while adding. */
struct exact_sum {
    int64_t high, low;
};

/* Add a finite term, |x| < 2^22; call exact_carry at least every 2^22 terms. */
static inline void exact_add(struct exact_sum *s, double x)
{
    const double scaled = x * 0x1p40;
    const int64_t high = (int64_t)scaled;
    s->high += high;
    s->low += (int64_t)((scaled - (double)high) * 0x1p40);
}

/* Move what is whole in `low` to `high`. */
static inline void exact_carry(struct exact_sum *s)
{
    const int64_t whole = s->low / ((int64_t)1 << 40);
    s->high += whole;
    s->low -= whole * ((int64_t)1 << 40);
}

/* The sum as a double, correctly rounded but for the last bit. */
static inline double exact_value(const struct exact_sum *s)
{
    struct exact_sum t = *s;
    exact_carry(&t);
    return (double)t.high * 0x1p-40 + (double)t.low * 0x1p-80;
}

#endif
