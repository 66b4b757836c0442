/* Sums over the whole range of a double, in limbs of 32 bits. No term is rounded: so the sum is
 * bit-identical for every decomposition, thread count and backend.
 *
 * Near convergence differences of velocities are 1e-16 or less, in creeping flows much less. Their
 * squares are far below the steps of exact.h. */
#ifndef TAGFLOW_WIDE_H
#define TAGFLOW_WIDE_H

#include <math.h>
#include <stdint.h>

#include "platform.h"

enum {
    WIDE_LIMBS = 36,     /* of 32 bits each */
    WIDE_LOWEST = -1088, /* exponent of the first limb's unit, below the smallest double; sums to
                          * 2^64 */
};

/* sum of limb[k] 2^(WIDE_LOWEST + 32 k); each may grow to 2^63 before it must be carried. */
struct wide_sum {
    int64_t limb[WIDE_LIMBS];
};

TAGFLOW_FN uint64_t double_bits(double x)
{
    union {
        double x;
        uint64_t bits;
    } u;
    u.x = x;
    return u.bits;
}

/* Adds 0 <= x < 2^31; for at most 2^30 calls between two calls of wide_carry. */
TAGFLOW_FN void wide_add(struct wide_sum *s, double x)
{
    const uint64_t bits = double_bits(x);
    const int exponent = (int)(bits >> 52);
    if (exponent == 0)
        return; /* 0 or denormal (below 1e-307) */
    const uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    const int shift = exponent - 1075 - WIDE_LOWEST; /* x is mantissa 2^(exponent - 1075) */
    int64_t *const limb = s->limb + shift / 32;
    const uint64_t low = (mantissa & 0xffffffffu) << (shift % 32),
                   high = (mantissa >> 32) << (shift % 32); /* 64 bits each at most */
    limb[0] += (int64_t)(low & 0xffffffffu);
    limb[1] += (int64_t)(low >> 32) + (int64_t)(high & 0xffffffffu);
    limb[2] += (int64_t)(high >> 32);
}

/* Makes all limbs but the last smaller than 2^32: limbs of many workers and ranks can then be
 * added. */
TAGFLOW_FN void wide_carry(struct wide_sum *s)
{
    for (int k = 0; k + 1 < WIDE_LIMBS; k++) {
        s->limb[k + 1] += s->limb[k] >> 32;
        s->limb[k] &= 0xffffffff;
    }
}

/* Adds a carried sum. */
TAGFLOW_FN void wide_join(struct wide_sum *s, const struct wide_sum *other)
{
    for (int k = 0; k < WIDE_LIMBS; k++)
        s->limb[k] += other->limb[k];
}

/* The sum as a double. The limbs must be carried. */
TAGFLOW_FN double wide_value(const struct wide_sum *s)
{
    double value = 0; /* smallest limb first, to round least */
    for (int k = 0; k < WIDE_LIMBS; k++)
        value += ldexp((double)s->limb[k], WIDE_LOWEST + 32 * k);
    return value;
}

/* The first sum minus the other one, both carried, rounded once their difference is exact. */
TAGFLOW_FN double wide_difference(const struct wide_sum *one, const struct wide_sum *other)
{
    struct wide_sum d;
    double sign = 1;
    for (int k = 0; k < WIDE_LIMBS; k++)
        d.limb[k] = one->limb[k] - other->limb[k];
    wide_carry(&d);
    if (d.limb[WIDE_LIMBS - 1] < 0) {
        sign = -1;
        for (int k = 0; k < WIDE_LIMBS; k++)
            d.limb[k] = -d.limb[k];
        wide_carry(&d);
    }
    return sign * wide_value(&d);
}

#endif
