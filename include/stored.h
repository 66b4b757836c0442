/* How a population is stored; no other file knows.
 *
 * In fp32 and fp64 it is f_i - w_i. In fp16 it is 2^15 (f_i - w_i) as an IEEE half with subnormal
 * numbers, rounded to nearest, ties to even: |f_i - w_i| < 2 fits, and the smallest step is 2^-39.
 * Larger values become infinite, and the run then reports that the flow has diverged.
 *
 * Hardware conversions (F16C, AVX-512, GPUs) and the integer code below give the same bits
 * (tests/unit/test_stored.c); only the payload of a NaN may differ. */
#ifndef TAGFLOW_STORED_H
#define TAGFLOW_STORED_H

#include <stdint.h>

#include "platform.h"

#define HALF_SCALE 0x1p15f

/* Bits of a float and back. */
TAGFLOW_FN uint32_t float_bits(float x)
{
    union {
        float x;
        uint32_t bits;
    } u;
    u.x = x;
    return u.bits;
}

TAGFLOW_FN float float_of_bits(uint32_t bits)
{
    union {
        uint32_t bits;
        float x;
    } u;
    u.bits = bits;
    return u.x;
}

/* Exact conversion of a half to a float. A product shifts the exponent, which also converts
 * subnormal halves. */
TAGFLOW_FN float half_float(struct half h)
{
#ifdef __CUDA_ARCH__
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h.bits));
    return x;
#elif defined TAGFLOW_ON_GPU
    return (float)__builtin_bit_cast(_Float16, h.bits);
#else
    const uint32_t size = h.bits & 0x7fffu, sign = (uint32_t)(h.bits & 0x8000u) << 16;
    const uint32_t finite = float_bits(float_of_bits(size << 13) * 0x1p112f);
    const uint32_t infinite = size >= 0x7c00 ? 0x7f800000u : 0,
                   quiet = size > 0x7c00 ? 0x400000 : 0;
    return float_of_bits(sign | finite | infinite | quiet);
#endif
}

/* The nearest half. A subnormal result is rounded by adding 1/2, a float whose last bit is the step
 * of subnormal halves. */
TAGFLOW_FN struct half float_half(float x)
{
    struct half h;
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
#elif defined TAGFLOW_ON_GPU
    h.bits = __builtin_bit_cast(unsigned short, (_Float16)x);
#else
    const uint32_t bits = float_bits(x), all = bits & 0x7fffffffu, most = 0x47800000;
    const uint32_t size = all < most ? all : most;
    const uint32_t normal = (size - 0x38000000u + 0xfff + (size >> 13 & 1)) >> 13;
    const uint32_t small = float_bits(float_of_bits(size) + 0.5f) - 0x3f000000u;
    const uint32_t finite = size < 0x38800000u ? small : normal;
    const uint32_t bad = all > 0x7f800000u ? 0x200 | (all >> 13 & 0x3ff) : 0;
    h.bits = (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)(finite | bad);
#endif
    return h;
}

/* Conversion between fp16 storage and f_i - w_i. */
TAGFLOW_FN float half_value(struct half h)
{
    return half_float(h) * (1 / HALF_SCALE);
}

TAGFLOW_FN struct half half_of(float x)
{
    return float_half(x * HALF_SCALE);
}

#ifdef TAGFLOW_STORAGE

/* The step computes in the unit of the storage, in which a density of 1 is STORED_ONE: it needs no
 * product for each load and store. Powers of two change no bit of the results. */
#define STORED_ONE ((number)(TAGFLOW_STORAGE == 16 ? HALF_SCALE : 1))

TAGFLOW_FN number raw_of(stored s)
{
#if TAGFLOW_STORAGE == 16
    return half_float(s);
#else
    return (number)s;
#endif
}

TAGFLOW_FN stored stored_raw(number x)
{
#if TAGFLOW_STORAGE == 16
    return float_half(x);
#else
    return (stored)x;
#endif
}

/* Conversion between the variant's storage and f_i - w_i in its arithmetic. */
TAGFLOW_FN number value_of(stored s)
{
    return raw_of(s) * (1 / STORED_ONE);
}

TAGFLOW_FN stored stored_of(number x)
{
    return stored_raw(x * STORED_ONE);
}

/* The same as stored_of, from double precision in one rounding to the stored float. */
TAGFLOW_FN stored stored_of_double(double x)
{
#if TAGFLOW_STORAGE == 16
    return half_of((float)x);
#else
    return (stored)x;
#endif
}

#endif
#endif
