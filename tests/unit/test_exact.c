/* Order-independent sums: the same bits whatever the order or grouping, and the right value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "exact.h"
#include "reference.h"
#include "solver/levels.h"

enum { TERMS = 5000 };

static double term[TERMS];

/* Of both signs and of all magnitudes from 1e-24 to 1e4. */
static void make_terms(uint64_t seed)
{
    for (int k = 0; k < TERMS; k++)
        term[k] = reference_uniform(&seed) * pow(10, 14 * reference_uniform(&seed) - 10);
}

static void shuffle(uint64_t *random)
{
    for (int k = TERMS - 1; k > 0; k--) {
        const int other = (int)(reference_random(random) % (uint64_t)(k + 1));
        const double swap = term[k];
        term[k] = term[other];
        term[other] = swap;
    }
}

static void order_and_grouping_do_not_matter(void **state)
{
    uint64_t random = 1;
    double first = 0;
    (void)state;
    make_terms(7);
    for (int round = 0; round < 200; round++) {
        /* as ranks do: parts, each split into three integers, which MPI adds */
        struct exact_sum part[5] = {{0}};
        int64_t parts[3] = {0, 0, 0};
        shuffle(&random);
        for (int k = 0; k < TERMS; k++)
            exact_add(&part[reference_random(&random) % 5], term[k]);
        for (int p = 0; p < 5; p++) {
            int64_t split[3];
            exact_split(&part[p], split);
            for (int k = 0; k < 3; k++)
                parts[k] += split[k];
        }
        const struct exact_sum all = exact_join(parts);
        const double value = exact_value(&all);
        if (round == 0)
            first = value;
        assert_memory_equal(&value, &first, sizeof value);
    }
}

#ifdef __x86_64__
typedef __float128 quad;
#else /* 113 bits on aarch64 */
typedef long double quad;
_Static_assert(LDBL_MANT_DIG >= 106, "numbers of twice the precision of a double");
#endif

/* Terms are rounded to 2^-80 each; the value to the last bit of a double. */
static void the_sum_is_that_of_wide_arithmetic(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct exact_sum s = {0};
        quad sum = 0;
        make_terms(seed);
        for (int k = 0; k < TERMS; k++) {
            exact_add(&s, term[k]);
            sum += term[k];
        }
        const double value = exact_value(&s), expected = (double)sum;
        assert_true(fabs(value - expected) <= 0x1p-52 * fabs(expected) + TERMS * 0x1p-80);
    }
}

static void what_cancels_leaves_what_is_small(void **state)
{
    struct exact_sum s = {0};
    (void)state;
    assert_true(exact_value(&s) == 0);
    exact_add(&s, 4e6);
    exact_add(&s, 0x1p-79);
    exact_add(&s, -4e6);
    assert_true(exact_value(&s) == 0x1p-79);
    exact_add(&s, -0x1p-78);
    assert_true(exact_value(&s) == -0x1p-79);
    for (int k = 0; k < 1000; k++) {
        exact_add(&s, 0.1);
        exact_add(&s, -0.1);
    }
    assert_true(exact_value(&s) == -0x1p-79);
}

/* The sums of a large box on many ranks: the kinetic energy of 1300^3 cells at u = 0.1 alone is
 * more than 2^23. Each term stands for many cells. */
static void holds_the_sum_of_a_large_box(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct exact_sum s = {0};
        int64_t split[3], parts[3] = {0, 0, 0};
        for (int k = 0; k < 1 << 14; k++)
            exact_add(&s, sign * (0x1p20 + 0x1p-30)); /* 2^34 in all */
        assert_true(exact_value(&s) == sign * (0x1p34 + 0x1p-16));
        exact_split(&s, split);
        for (int rank = 0; rank < 4096; rank++)
            for (int k = 0; k < 3; k++)
                parts[k] += split[k];
        s = exact_join(parts);
        assert_true(exact_value(&s) == sign * (0x1p46 + 0x1p-4));
    }
}

/* Integers in units of the finest level, and the nearest double but for its last bit. */
static void levels_add_up_to_the_wide_sum(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const int count = 1 + (int)(seed % LEVELS), bits = (int)(seed % 5),
                  most = bits * (count - 1);
        struct exact_sum sum[LEVELS] = {{0}};
        exact_units whole = 0;
        uint64_t random = seed;
        for (int l = 0; l < count; l++) {
            for (int k = 0; k < 50; k++)
                exact_add(&sum[l], reference_uniform(&random));
            if (seed % 5 == 0) /* nearly nothing is left */
                sum[l].units %= 1000;
            whole += sum[l].units * ((exact_units)1 << (most - bits * l));
        }
        const double value = levels_sum_bits(sum, count, bits);
        const double expected = ldexp((double)((quad)whole), -80 - most);
        assert_true(fabs(value - expected) <= 0x1p-52 * fabs(expected));
        if (seed % 5 == 0) /* few digits: exact */
            assert_true(value == expected);
        assert_true(levels_sum_bits(sum, 1, bits) == exact_value(&sum[0]));
        for (int more = 0; more <= 3; more++) { /* flat axes: finer levels count as much, or more */
            whole = 0;
            for (int l = 0; l < count; l++)
                whole += sum[l].units * ((exact_units)1 << (more * l));
            assert_true(levels_sum_bits(sum, count, -more) ==
                        exact_value(&(struct exact_sum){whole}));
        }
    }
}

/* Eight parts of a cell with the value of the cell are as much as the cell, to the bit. */
static void a_cell_is_its_parts(void **state)
{
    (void)state;
    make_terms(3);
    for (int finest = 1; finest < LEVELS; finest++) {
        struct exact_sum coarse[LEVELS] = {{0}}, fine[LEVELS] = {{0}};
        for (int k = 0; k < TERMS; k++)
            exact_add(&coarse[0], term[k]);
        fine[finest].units = coarse[0].units * ((exact_units)1 << (3 * finest));
        const double one = levels_sum_bits(coarse, finest + 1, 3),
                     other = levels_sum_bits(fine, finest + 1, 3);
        assert_true(one == other && one == exact_value(&coarse[0]) && one != 0);
    }
    /* the coarse part of a large box with many levels */
    struct exact_sum large[LEVELS] = {{0}};
    large[0].units = (exact_units)1 << 126;
    assert_true(levels_sum_bits(large, LEVELS, 3) == 0x1p46);
    large[0].units = -large[0].units;
    assert_true(levels_sum_bits(large, LEVELS, 3) == -0x1p46);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_grouping_do_not_matter),
        cmocka_unit_test(the_sum_is_that_of_wide_arithmetic),
        cmocka_unit_test(what_cancels_leaves_what_is_small),
        cmocka_unit_test(holds_the_sum_of_a_large_box),
        cmocka_unit_test(levels_add_up_to_the_wide_sum),
        cmocka_unit_test(a_cell_is_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
