/* Fluids whose viscosity depends on the shear rate: the rate 1 / tau of a cell.
 *
 * The shear rate g = sqrt(2 S:S) follows from N, the non-equilibrium second moments, and the
 * relaxation time tau, which depends on it:
 *
 *   g tau = 3/sqrt(2) X,   X = sqrt(N:N) / rho,   tau = 3 viscosity(g) + 1/2
 *
 * X alone determines tau. A table has 1 / tau for all X; src/tags/laws.c solves the equation for
 * it. So a step costs the same for every law, and no iteration. A second table, behind it, has 1 /
 * tau for all g, where a velocity gradient is known: at openings beside walls and in a start state.
 */
#ifndef TAGFLOW_LAW_H
#define TAGFLOW_LAW_H

#include <stdint.h>

#include "platform.h"
#include "slot.h"
#include "tag.h"

/* A table has LAW_SEGMENTS segments of equal length for each factor of two in its argument, from
 * 2^LAW_LEAST on. A segment has LAW_TERMS coefficients of a polynomial in t, the distance from its
 * start, where the argument is (1 + k/LAW_SEGMENTS + t) 2^n. One more segment before all, and one
 * behind, are constant. */
enum {
    LAW_LEAST = -36,
    LAW_OCTAVES = 37,
    LAW_BITS = 5,
    LAW_SEGMENTS = 1 << LAW_BITS,
    LAW_INNER = LAW_OCTAVES * LAW_SEGMENTS,
    LAW_TERMS = 3,
    LAW_TABLE = (LAW_INNER + 2) * LAW_TERMS,
    LAW_VALUES = 2 * LAW_TABLE, /* of both tables */
};

/* The tables of a cell type; NULL: the viscosity does not depend on the shear rate. */
TAGFLOW_FN const double *law_of(const struct view *v, const struct tag_row *row)
{
    return row->law ? v->table + (row->law - 1) : (const double *)0;
}

/* Start of a segment. place: its number, from LAW_PLACE; below and above the table the first and the
 * last segment, and one of these for not-a-number. */
TAGFLOW_FN const double *law_segment(const double *table, int place)
{
    const int segment = place < 0 ? 0 : place >= (int)LAW_INNER ? (int)LAW_INNER + 1 : place + 1;
    return table + segment * (int)LAW_TERMS;
}

/* LAW_PLACE: number of an argument's segment, from its bits; 0 begins at 2^LAW_LEAST. LAW_PART: bits
 * of 1 + t. digits: of the fraction. */
#define LAW_PLACE(bits, digits, bias)                                                              \
    ((int)((bits) >> ((digits) - (int)LAW_BITS)) - (((bias) + (int)LAW_LEAST) << (int)LAW_BITS))
#define LAW_PART(bits, digits, bias, word)                                                         \
    (((bits) & (((word)1 << ((digits) - (int)LAW_BITS)) - 1)) | (word)(bias) << (digits))

/* 1 / tau in double precision, whatever the variant. */
TAGFLOW_FN double law_rate_double(const double *table, double x)
{
    union {
        double value;
        int64_t bits;
    } whole, part;
    whole.value = x;
    part.bits = LAW_PART(whole.bits, 52, 1023, int64_t);
    const double *const c = law_segment(table, LAW_PLACE(whole.bits, 52, 1023));
    const double t = part.value - 1;
    return c[0] + t * (c[1] + t * c[2]);
}

#ifdef TAGFLOW_STORAGE

/* Bits of a number, and of a real. */
#if TAGFLOW_ARITHMETIC == 64
typedef int64_t law_bit;
enum { LAW_DIGITS = 52, LAW_BIAS = 1023 };
#else
typedef int32_t law_bit;
enum { LAW_DIGITS = 23, LAW_BIAS = 127 };
#endif
#ifdef TAGFLOW_LANES
typedef law_bit law_bits __attribute__((vector_size(TAGFLOW_LANES * sizeof(law_bit))));
#else
typedef law_bit law_bits;
#endif

/* 1 / tau of each cell. */
TAGFLOW_FN real law_rate(const double *table, real x)
{
    union {
        real value;
        law_bits bits;
    } whole, part;
    real c[LAW_TERMS];
    whole.value = x;
    part.bits = LAW_PART(whole.bits, (int)LAW_DIGITS, (int)LAW_BIAS, law_bit);
    const real t = part.value - (number)1;
#ifdef TAGFLOW_LANES
    for (int k = 0; k < TAGFLOW_LANES; k++) {
        const double *const from =
            law_segment(table, LAW_PLACE(whole.bits[k], (int)LAW_DIGITS, (int)LAW_BIAS));
        for (int i = 0; i < LAW_TERMS; i++)
            c[i][k] = (number)from[i];
    }
#else
    const double *const from =
        law_segment(table, LAW_PLACE(whole.bits, (int)LAW_DIGITS, (int)LAW_BIAS));
    for (int i = 0; i < LAW_TERMS; i++)
        c[i] = (number)from[i];
#endif
    return c[0] + t * (c[1] + t * c[2]);
}

/* The same by the shear rate g. */
TAGFLOW_FN real law_rate_sheared(const double *table, real g)
{
    return law_rate(table + LAW_TABLE, g);
}

#endif
#endif
