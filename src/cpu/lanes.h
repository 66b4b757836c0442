/* Vectors of neighbouring cells: `real` is one, lane k cell x + k. How they are loaded, stored
 * whole or in part, and chosen from. For what is compiled per variant, with TAGFLOW_STORAGE,
 * TAGFLOW_ARITHMETIC and TAGFLOW_VECTOR, the bytes of a vector register; before other headers. */
#ifndef TAGFLOW_CPU_LANES_H
#define TAGFLOW_CPU_LANES_H

#define TAGFLOW_LANES (TAGFLOW_VECTOR * 8 / TAGFLOW_ARITHMETIC)

#include <stdint.h>

#include "platform.h"

#if TAGFLOW_VECTOR == 64
#include <immintrin.h>
#endif

enum { LANES = TAGFLOW_LANES };

typedef stored stored_lanes __attribute__((vector_size(LANES * sizeof(stored))));
typedef stored unaligned_lanes
    __attribute__((vector_size(LANES * sizeof(stored)), aligned(sizeof(stored)), may_alias));
typedef double unaligned_doubles
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
#if TAGFLOW_STORAGE == 64
#define STORED_BIT int64_t
#else
#define STORED_BIT int32_t
#endif
typedef uint32_t mask_lanes
    __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));

/* Comparison results of reals: all bits of a lane set or none. */
#if TAGFLOW_ARITHMETIC == 64
typedef int64_t lane_bit;
#else
typedef int32_t lane_bit;
#endif
typedef STORED_BIT stored_bits __attribute__((vector_size(LANES * sizeof(STORED_BIT))));
typedef lane_bit lane_bits __attribute__((vector_size(LANES * sizeof(lane_bit))));

static const lane_bit first_numbers[16]
    __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#define lane_numbers (*(const lane_bits *)first_numbers)

TAGFLOW_FN real load_lanes(const stored *p)
{
    return __builtin_convertvector(*(const unaligned_lanes *)p, real);
}

/* The first `count` lanes, and nothing beyond them: that may belong to another thread. Its own
 * function, as it would be inlined hundreds of times; where there are masked stores it is one. */
static __attribute__((noinline)) void store_some(stored *restrict p, const stored *restrict value,
                                                 int count)
{
    for (int k = 0; k < LANES; k++)
        if (k < count)
            p[k] = value[k];
}

TAGFLOW_FN void store_lanes(stored *p, real value, int count)
{
    const stored_lanes s = __builtin_convertvector(value, stored_lanes);
    if (count == LANES)
        *(unaligned_lanes *)p = s;
    else
        store_some(p, (const stored *)&s, count);
}

/* b in the lanes where m is set, else a. */
TAGFLOW_FN real choose(lane_bits m, real a, real b)
{
    return (real)(((lane_bits)a & ~m) | ((lane_bits)b & m));
}

TAGFLOW_FN lane_bits has_bit(lane_bits mask, int bit)
{
    return (mask & ((lane_bits){0} + (1 << bit))) != 0;
}

/* a in the lanes where m is set, else b. */
TAGFLOW_FN stored_lanes keep_lanes(stored_lanes a, stored_lanes b, lane_bits m)
{
    const stored_bits keep = __builtin_convertvector(m, stored_bits);
    return (stored_lanes)(((stored_bits)a & keep) | ((stored_bits)b & ~keep));
}

/* One lane, read or replaced. */
TAGFLOW_FN stored lane(real value, int k)
{
    const stored_lanes s = __builtin_convertvector(value, stored_lanes);
    return s[k];
}

TAGFLOW_FN real with_lane(real value, int k, stored x)
{
    return choose(lane_numbers == (lane_bits){0} + k, value, (real){0} + (scalar)x);
}

/* The lanes where `active` is set. Without masked stores the others get back what is there: it must
 * be this thread's. */
enum { MASKED_STORES = TAGFLOW_VECTOR == 64 };

TAGFLOW_FN void store_active(stored *p, real value, lane_bits active)
{
    const stored_lanes s = __builtin_convertvector(value, stored_lanes);
#if TAGFLOW_VECTOR == 64 && TAGFLOW_ARITHMETIC == 32
    _mm512_mask_storeu_ps(p, _mm512_movepi32_mask((__m512i)active), (__m512)s);
#elif TAGFLOW_VECTOR == 64 && TAGFLOW_STORAGE == 32
    _mm256_mask_storeu_ps(p, _mm512_movepi64_mask((__m512i)active), (__m256)s);
#elif TAGFLOW_VECTOR == 64
    _mm512_mask_storeu_pd(p, _mm512_movepi64_mask((__m512i)active), (__m512d)s);
#else
    *(unaligned_lanes *)p = keep_lanes(s, *(const unaligned_lanes *)p, active);
#endif
}

#endif
