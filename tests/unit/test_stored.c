/* How populations are stored: by definition, one by one and in the vectors of every instruction set
 * that this processor has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "stored.h"
#include "stored_lanes.h"

#define X(isa, storage, arithmetic)                                                                \
    extern const struct stored_variant stored_variant_##isa##_##storage##_##arithmetic;
#include "cpu_variants.h"
#undef X

static const struct stored_variant *const variants[] = {
#define X(isa, storage, arithmetic) &stored_variant_##isa##_##storage##_##arithmetic,
#include "cpu_variants.h"
#undef X
};
enum { VARIANTS = sizeof variants / sizeof *variants, MOST_LANES = 16 };

static bool runs_here(const struct stored_variant *v)
{
    for (int isa = ISA_FIRST; isa < ISAS; isa++)
        if (strcmp(v->isa, isa_name((enum isa)isa)) == 0)
            return isa_runs((enum isa)isa);
    return false;
}

static uint64_t draw(uint64_t *state) /* splitmix64 */
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The number that a half is, IEEE 754, 3.4: sign, 5 bits of exponent, 10 of mantissa. */
static double half_by_definition(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 0x3ff);
    const double size = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                        : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                       : ldexp(mantissa, -24);
    return bits & 0x8000 ? -size : size;
}

/* The half nearest to a number, of two the even one. */
static unsigned nearest_half(double x)
{
    const unsigned sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x))
        return 0x7e00;
    const double size = fabs(x);
    if (size >= 65520) /* half-way between the largest and 2^16, which is even */
        return sign | 0x7c00;
    frexp(size, &exponent); /* size in [2^(exponent - 1), 2^exponent) */
    if (size == 0 || exponent < -13)
        exponent = -13;
    /* In steps of 2^(exponent - 11): exact but for the rounding, which is to even. */
    const unsigned steps = (unsigned)nearbyint(ldexp(size, 11 - exponent));
    /* 1024 to 2048 of them, less where it is subnormal: a carry goes into the exponent. */
    return sign | (steps + ((unsigned)(exponent + 13) << 10));
}

/* ---- halves ---- */

static void every_half_is_its_value(void **state)
{
    enum { ALL = 1 << 16 };
    static uint16_t half[ALL], back[ALL];
    static float value[ALL];
    (void)state;
    for (unsigned k = 0; k < ALL; k++)
        half[k] = (uint16_t)k;
    for (int n = 0; n < VARIANTS; n++) {
        const struct stored_variant *const v = variants[n];
        if (v->storage != 16 || !runs_here(v))
            continue;
        for (int vectors = 0; vectors < 2; vectors++) {
            memset(value, 0xff, sizeof value);
            memset(back, 0xff, sizeof back);
            (vectors ? v->lanes_values : v->values)(half, value, ALL);
            (vectors ? v->lanes_store : v->store)(back, value, ALL);
            for (unsigned k = 0; k < ALL; k++) {
                const double wanted = half_by_definition(k);
                const bool number = !isnan(wanted);
                if (number ? (double)value[k] != wanted || !signbit(value[k]) != !signbit(wanted) ||
                                 back[k] != k
                           : !isnan(value[k]) || (back[k] & 0x7fff) <= 0x7c00)
                    fail_msg("%s, vectors %d: half %04x is %g and back %04x, not %g", v->isa,
                             vectors, k, (double)value[k], (unsigned)back[k], wanted);
            }
        }
    }
}

/* Floats that are told apart badly: around every half and between any two, subnormal numbers of
 * both kinds, what is too large; then any. */
enum { TOLD = 3 * 5 * 0x7c00 * 2, ANY = 1 << 21, FLOATS = (TOLD + ANY + 63) / 64 * 64 };

static void fill_floats(float *x)
{
    uint64_t seed = 7;
    size_t n = 0;
    for (unsigned half = 0; half < 0x7c00; half++)
        for (int sign = 0; sign < 2; sign++)
            for (int between = 0; between < 3; between++) {
                const double here = half_by_definition(half), next = half_by_definition(half + 1);
                const double at = between == 0   ? here
                                  : isinf(next)  ? between * 65520.0
                                  : between == 1 ? 0.5 * (here + next)
                                                 : 0.25 * here + 0.75 * next;
                const float middle = (float)(sign ? -at : at);
                const float lower = nextafterf(middle, -INFINITY),
                            upper = nextafterf(middle, INFINITY);
                const float all[5] = {lower, middle, upper, nextafterf(lower, -INFINITY),
                                      nextafterf(upper, INFINITY)};
                memcpy(x + n, all, sizeof all);
                n += 5;
            }
    assert_int_equal(n, TOLD);
    for (; n < FLOATS; n++) {
        const uint32_t bits = (uint32_t)draw(&seed);
        /* every other of an exponent that matters: 2^-27 to 2^19 */
        const uint32_t near = (bits & 0x807fffff) | (uint32_t)(100 + draw(&seed) % 47) << 23;
        x[n] = float_of_bits(n % 2 ? bits : near);
    }
}

static void floats_become_the_nearest_half(void **state)
{
    static float x[FLOATS];
    static uint16_t got[FLOATS], other[FLOATS];
    const struct stored_variant *first = NULL;
    (void)state;
    fill_floats(x);
    for (int n = 0; n < VARIANTS; n++) {
        const struct stored_variant *const v = variants[n];
        if (v->storage != 16 || !runs_here(v))
            continue;
        v->store(got, x, FLOATS);
        for (size_t k = 0; k < FLOATS && !first; k++) {
            const unsigned wanted = nearest_half((double)x[k]);
            if (isnan(x[k]) ? (got[k] & 0x7fff) <= 0x7c00 : got[k] != wanted)
                fail_msg("%a is stored as %04x, not %04x", (double)x[k], (unsigned)got[k], wanted);
        }
        first = first ? first : v;
        v->lanes_store(other, x, FLOATS);
        for (size_t k = 0; k < FLOATS; k++)
            if (got[k] != other[k])
                fail_msg("%s: %a is stored as %04x, in a vector as %04x", v->isa, (double)x[k],
                         (unsigned)got[k], (unsigned)other[k]);
    }
    assert_non_null(first);
}

/* ---- other storage ---- */

/* fp32 under fp64: C's own rounding, ties to even. */
static void doubles_become_the_nearest_float(void **state)
{
    enum { COUNT = 1 << 16 };
    static double x[COUNT], value[COUNT];
    static float got[2][COUNT];
    uint64_t seed = 11;
    (void)state;
    for (size_t k = 0; k < COUNT; k++) {
        const uint32_t bits = (uint32_t)draw(&seed) & 0xbfffffff; /* below 2, or subnormal */
        const double one = (double)float_of_bits(bits);
        const double next = (double)float_of_bits(bits + 1);
        x[k] = k % 3 == 0 ? one : k % 3 == 1 ? 0.5 * (one + next) : one + 0.3 * (next - one);
    }
    for (int n = 0; n < VARIANTS; n++) {
        const struct stored_variant *const v = variants[n];
        if (v->storage != 32 || v->arithmetic != 64 || !runs_here(v))
            continue;
        v->store(got[0], x, COUNT);
        v->lanes_store(got[1], x, COUNT);
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        v->lanes_values(got[0], value, COUNT);
        for (size_t k = 0; k < COUNT; k++) {
            const double below = (double)nextafterf(got[0][k], -INFINITY);
            const double above = (double)nextafterf(got[0][k], INFINITY), is = (double)got[0][k];
            const double off = fabs(x[k] - is);
            const bool even = (float_bits(got[0][k]) & 1) == 0;
            assert_true(value[k] == is);
            assert_true(off < fabs(x[k] - below) || (even && off == fabs(x[k] - below)));
            assert_true(off < fabs(x[k] - above) || (even && off == fabs(x[k] - above)));
        }
    }
}

/* ---- parts of a vector ---- */

static void only_what_is_asked_for_is_stored(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int n = 0; n < VARIANTS; n++) {
        const struct stored_variant *const v = variants[n];
        const size_t size = (size_t)v->storage / 8, lanes = (size_t)v->lanes;
        if (!runs_here(v))
            continue;
        for (int round = 0; round < 500; round++) {
            unsigned char before[3 * MOST_LANES * 8], is[sizeof before], wanted[sizeof before];
            unsigned char whole[MOST_LANES * 8];
            union {
                float single[MOST_LANES];
                double wide[MOST_LANES];
            } x;
            for (size_t k = 0; k < lanes; k++) {
                const double number = 0.1 * (double)(int64_t)draw(&seed) * 0x1p-63;
                if (v->arithmetic == 64)
                    x.wide[k] = number;
                else
                    x.single[k] = (float)number;
            }
            for (size_t k = 0; k < sizeof before; k++)
                before[k] = (unsigned char)draw(&seed);
            v->store(whole, &x, lanes);
            const bool mask = round % 2;
            const uint32_t active = mask ? (uint32_t)draw(&seed) & ((1u << lanes) - 1)
                                         : (1u << (1 + (size_t)round / 2 % lanes)) - 1;
            /* at any place, as stored populations are: no vector is aligned */
            const size_t at = (lanes + (size_t)round % 7) * size;
            memcpy(is, before, sizeof is);
            memcpy(wanted, before, sizeof wanted);
            for (size_t k = 0; k < lanes; k++)
                if (active >> k & 1)
                    memcpy(wanted + at + k * size, whole + k * size, size);
            if (mask)
                v->store_active(is + at, &x, active);
            else
                v->store_first(is + at, &x, 1 + round / 2 % v->lanes);
            if (memcmp(is, wanted, sizeof is) != 0)
                fail_msg("%s, fp%d: lanes %x of %d", v->isa, v->storage, (unsigned)active,
                         v->lanes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_is_its_value),
        cmocka_unit_test(floats_become_the_nearest_half),
        cmocka_unit_test(doubles_become_the_nearest_float),
        cmocka_unit_test(only_what_is_asked_for_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
