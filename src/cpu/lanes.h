/* Vectors of neighbouring cells: lane k of a `real` is cell x + k. Here: loads, stores of all or
 * some lanes, selection of lanes. For files compiled once per variant, with TAGFLOW_STORAGE,
 * TAGFLOW_ARITHMETIC and TAGFLOW_VECTOR (bytes of a vector register) set. Include it before other
 * headers. */
#ifndef TAGFLOW_CPU_LANES_H
#define TAGFLOW_CPU_LANES_H

#define TAGFLOW_LANES (TAGFLOW_VECTOR * 8 / TAGFLOW_ARITHMETIC)

#include <stdint.h>

#include "stored.h"

/* Operations that the compiler's vectors lack: conversion of halves by instructions, and stores of
 * some lanes. Other instruction sets do without. */
#ifdef __x86_64__
#define LANES_F16C (TAGFLOW_VECTOR == 32)
#define LANES_AVX512 (TAGFLOW_VECTOR == 64)
#else
#define LANES_F16C 0
#define LANES_AVX512 0
#endif
#ifdef __ARM_FEATURE_SVE_BITS
#define LANES_SVE (__ARM_FEATURE_SVE_BITS == 8 * TAGFLOW_VECTOR)
#else
#define LANES_SVE 0
#endif
#ifdef TAGFLOW_NEON
#define LANES_NEON 1
#else
#define LANES_NEON 0
#endif

#if LANES_F16C || LANES_AVX512
#include <immintrin.h>
#elif LANES_NEON
#include <arm_neon.h>
#elif LANES_SVE
#include <arm_sve.h>
#endif

enum { LANES = TAGFLOW_LANES };

/* Element of vectors of stored populations; for halves their bits. */
#if TAGFLOW_STORAGE == 16
typedef uint16_t stored_word;
#else
typedef stored stored_word;
#endif
typedef stored_word stored_lanes __attribute__((vector_size(LANES * sizeof(stored))));
typedef stored_word unaligned_lanes
    __attribute__((vector_size(LANES * sizeof(stored)), aligned(sizeof(stored)), may_alias));
typedef number unaligned_reals
    __attribute__((vector_size(LANES * sizeof(number)), aligned(sizeof(number)), may_alias));
typedef double unaligned_doubles
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef float unaligned_floats
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
#if TAGFLOW_STORAGE == 64
#define STORED_BIT int64_t
#elif TAGFLOW_STORAGE == 16
#define STORED_BIT int16_t
#else
#define STORED_BIT int32_t
#endif
typedef uint32_t mask_lanes
    __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));

/* Results of comparing reals: all bits of a lane are set, or none. */
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

/* b in the lanes where m is set, else a. */
TAGFLOW_FN real choose(lane_bits m, real a, real b)
{
    return (real)(((lane_bits)a & ~m) | ((lane_bits)b & m));
}

/* Is x above 0 in any lane? */
TAGFLOW_FN int real_any_above_0(real x)
{
#if LANES_AVX512 && TAGFLOW_ARITHMETIC == 32
    return _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_GT_OQ) != 0;
#elif LANES_AVX512
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_setzero_pd(), _CMP_GT_OQ) != 0;
#elif LANES_F16C && TAGFLOW_ARITHMETIC == 32
    return _mm256_movemask_ps(_mm256_cmp_ps((__m256)x, _mm256_setzero_ps(), _CMP_GT_OQ)) != 0;
#elif LANES_F16C
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, _mm256_setzero_pd(), _CMP_GT_OQ)) != 0;
#else
    const lane_bits above = x > real_of(0);
    lane_bit any = 0;
    for (int k = 0; k < LANES; k++)
        any |= above[k];
    return any != 0;
#endif
}

#if TAGFLOW_STORAGE == 16 && LANES_F16C
TAGFLOW_FN real half_lanes(stored_lanes s)
{
    return (real)_mm256_cvtph_ps((__m128i)s);
}

TAGFLOW_FN stored_lanes lanes_half(real x)
{
    return (stored_lanes)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
}
#elif TAGFLOW_STORAGE == 16 && LANES_AVX512
TAGFLOW_FN real half_lanes(stored_lanes s)
{
    return (real)_mm512_cvtph_ps((__m256i)s);
}

TAGFLOW_FN stored_lanes lanes_half(real x)
{
    return (stored_lanes)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT);
}
#elif TAGFLOW_STORAGE == 16 && LANES_NEON
TAGFLOW_FN real half_lanes(stored_lanes s)
{
    return (real)vcvt_f32_f16((float16x4_t)s);
}

TAGFLOW_FN stored_lanes lanes_half(real x)
{
    return (stored_lanes)vcvt_f16_f32((float32x4_t)x);
}
#elif TAGFLOW_STORAGE == 16 && LANES_SVE
/* Each half lies in the lower part of 32 bits. */
typedef uint32_t half_bits __attribute__((vector_size(LANES * sizeof(uint32_t))));

TAGFLOW_FN real half_lanes(stored_lanes s)
{
    const half_bits h = __builtin_convertvector(s, half_bits);
    return (real)svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32((svuint32_t)h));
}

TAGFLOW_FN stored_lanes lanes_half(real x)
{
    const svfloat16_t h = svcvt_f16_f32_x(svptrue_b32(), (svfloat32_t)x);
    return __builtin_convertvector((half_bits)svreinterpret_u32_f16(h), stored_lanes);
}
#elif TAGFLOW_STORAGE == 16
/* The same integer code as in stored.h. */
typedef uint32_t half_bits __attribute__((vector_size(LANES * sizeof(uint32_t))));

TAGFLOW_FN real half_lanes(stored_lanes s)
{
    const half_bits h = __builtin_convertvector(s, half_bits), size = h & 0x7fff;
    const half_bits finite = (half_bits)((real)(size << 13) * 0x1p112f);
    const half_bits infinite = (half_bits)(size >= 0x7c00) & 0x7f800000;
    const half_bits quiet = (half_bits)(size > 0x7c00) & 0x400000;
    return (real)((h & 0x8000) << 16 | finite | infinite | quiet);
}

TAGFLOW_FN stored_lanes lanes_half(real x)
{
    const half_bits bits = (half_bits)x, all = bits & 0x7fffffff, most = all - all + 0x47800000;
    const half_bits size = (half_bits)choose((lane_bits)(all < most), (real)most, (real)all);
    const half_bits normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    const half_bits small = (half_bits)((real)size + 0.5f) - 0x3f000000;
    const half_bits finite =
        (half_bits)choose((lane_bits)(size < 0x38800000), (real)normal, (real)small);
    const half_bits bad = (half_bits)(all > 0x7f800000) & (0x200 | (all >> 13 & 0x3ff));
    return __builtin_convertvector((bits >> 16 & 0x8000) | finite | bad, stored_lanes);
}
#endif

/* raw_of and stored_raw of all lanes. */
TAGFLOW_FN real raw_lanes(stored_lanes s)
{
#if TAGFLOW_STORAGE == 16
    return half_lanes(s);
#else
    return __builtin_convertvector(s, real);
#endif
}

TAGFLOW_FN stored_lanes lanes_of(real x)
{
#if TAGFLOW_STORAGE == 16
    return lanes_half(x);
#else
    return __builtin_convertvector(x, stored_lanes);
#endif
}

TAGFLOW_FN real load_lanes(const stored *p)
{
    return raw_lanes(*(const unaligned_lanes *)p);
}

#if LANES_AVX512
/* Stores the lanes whose bits are set in `mask`. */
TAGFLOW_FN void store_masked(stored *p, stored_lanes s, unsigned mask)
{
#if TAGFLOW_STORAGE == 16
    _mm256_mask_storeu_epi16(p, (__mmask16)mask, (__m256i)s);
#elif TAGFLOW_ARITHMETIC == 32
    _mm512_mask_storeu_ps(p, (__mmask16)mask, (__m512)s);
#elif TAGFLOW_STORAGE == 32
    _mm256_mask_storeu_ps(p, (__mmask8)mask, (__m256)s);
#else
    _mm512_mask_storeu_pd(p, (__mmask8)mask, (__m512d)s);
#endif
}
#else
/* Stores the first `count` lanes only. A function, as it would be inlined hundreds of times. */
static __attribute__((noinline)) void store_some(stored *restrict p, const stored *restrict value,
                                                 int count)
{
    for (int k = 0; k < LANES; k++)
        if (k < count)
            p[k] = value[k];
}
#endif

/* Stores the first `count` lanes: memory beyond may belong to another thread. */
TAGFLOW_FN void store_lanes(stored *p, real value, int count)
{
    const stored_lanes s = lanes_of(value);
    if (count == LANES)
        *(unaligned_lanes *)p = s;
    else
#if LANES_AVX512
        store_masked(p, s, (1u << count) - 1);
#else
        store_some(p, (const stored *)&s, count);
#endif
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

/* Reads or replaces one lane. */
TAGFLOW_FN stored lane(real value, int k)
{
    const stored_lanes s = lanes_of(value);
#if TAGFLOW_STORAGE == 16
    return (stored){s[k]};
#else
    return s[k];
#endif
}

TAGFLOW_FN real with_lane(real value, int k, stored x)
{
    return choose(lane_numbers == (lane_bits){0} + k, value, (real){0} + raw_of(x));
}

/* Stores the lanes where `active` is set. Without masked stores the other lanes are read and
 * written back, so their memory must belong to this thread. */
TAGFLOW_FN void store_active(stored *p, real value, lane_bits active)
{
    const stored_lanes s = lanes_of(value);
#if LANES_AVX512 && TAGFLOW_ARITHMETIC == 32
    store_masked(p, s, _mm512_movepi32_mask((__m512i)active));
#elif LANES_AVX512
    store_masked(p, s, _mm512_movepi64_mask((__m512i)active));
#else
    *(unaligned_lanes *)p = keep_lanes(s, *(const unaligned_lanes *)p, active);
#endif
}

#endif
