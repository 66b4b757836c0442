/* Fluids whose viscosity depends on the shear rate: the rate of a cell from its populations.
 *
 * The shear rate g = sqrt(2 S:S) follows from N, the non-equilibrium second moments, and the
 * relaxation time tau, which depends on it:
 *
 *   g tau = 3/sqrt(2) X,   X = sqrt(N:N) / rho,   tau = 3 viscosity(g) + 1/2
 *
 * X alone determines tau. A table has 1 / tau for all X; src/tags/laws.c solves the equation for
 * it. So a step costs the same for every law, and no iteration. */
#ifndef TAGFLOW_LAW_H
#define TAGFLOW_LAW_H

#include <stdint.h>

/* The table has LAW_SEGMENTS segments of equal length for each factor of two in X, from
 * 2^LAW_LEAST on. A segment has LAW_TERMS coefficients of a polynomial in t, the distance from its
 * start, where X is (1 + k/LAW_SEGMENTS + t) 2^n. One more segment before all, and one behind, are
 * constant. */
enum {
    LAW_LEAST = -36,
    LAW_OCTAVES = 37,
    LAW_BITS = 5,
    LAW_SEGMENTS = 1 << LAW_BITS,
    LAW_INNER = LAW_OCTAVES * LAW_SEGMENTS,
    LAW_TERMS = 3,
    LAW_VALUES = (LAW_INNER + 2) * LAW_TERMS,
};

#ifdef TAGFLOW_STORAGE

#include "platform.h"

/* Bits of a number, and of a real. */
#if TAGFLOW_ARITHMETIC == 64
typedef int64_t law_bit;
enum { LAW_FRACTION = 52, LAW_BIAS = 1023 };
#else
typedef int32_t law_bit;
enum { LAW_FRACTION = 23, LAW_BIAS = 127 };
#endif
#ifdef TAGFLOW_LANES
typedef law_bit law_bits __attribute__((vector_size(TAGFLOW_LANES * sizeof(law_bit))));
#else
typedef law_bit law_bits;
#endif

/* Segment of a number by its bits. Not-a-number gives the first or the last one. */
TAGFLOW_FN int law_segment(law_bit bits)
{
    const int place =
        (int)(bits >> (LAW_FRACTION - LAW_BITS)) - ((LAW_BIAS + (int)LAW_LEAST) << LAW_BITS) + 1;
    return place < 0 ? 0 : place > (int)LAW_INNER ? (int)LAW_INNER + 1 : place;
}

/* 1 / tau of each cell. */
TAGFLOW_FN real law_rate(const double *table, real x)
{
    union {
        real value;
        law_bits bits;
    } whole, part;
    real c[LAW_TERMS];
    whole.value = x;
    part.bits = (whole.bits & (((law_bit)1 << (LAW_FRACTION - LAW_BITS)) - 1)) |
                (law_bit)LAW_BIAS << LAW_FRACTION;
    const real t = part.value - (number)1;
#ifdef TAGFLOW_LANES
    for (int k = 0; k < TAGFLOW_LANES; k++) {
        const double *const from = table + law_segment(whole.bits[k]) * (int)LAW_TERMS;
        for (int i = 0; i < LAW_TERMS; i++)
            c[i][k] = (number)from[i];
    }
#else
    const double *const from = table + law_segment(whole.bits) * (int)LAW_TERMS;
    for (int i = 0; i < LAW_TERMS; i++)
        c[i] = (number)from[i];
#endif
    return c[0] + t * (c[1] + t * c[2]);
}

#endif
#endif
