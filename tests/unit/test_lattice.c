/* The D3Q19 lattice: tables agree with each other, and the moments that the Navier-Stokes equations
 * need are isotropic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel.h"
#include "reference.h"

static const int c[Q][3] = LATTICE_VELOCITIES;

/* Weights times 36. */
static int weight(int i)
{
    int denominator = 3;
#define X(a, b, cx, cy, cz, w)                                                                     \
    if (i == a || i == b)                                                                          \
        denominator = w;
    PAIR_LIST(X)
#undef X
    return 36 / denominator;
}

static void velocities_are_those_of_the_order_documented(void **state)
{
    (void)state;
    assert_int_equal(Q, 19);
    for (int i = 0; i < Q; i++)
        for (int a = 0; a < 3; a++)
            assert_int_equal(c[i][a], reference_velocity(i, a));
}

static void opposites_are_adjacent(void **state)
{
    (void)state;
    assert_int_equal(opposite(0), 0);
    for (int i = 0; i < Q; i++) {
        assert_int_equal(opposite(i), reference_opposite(i));
        assert_int_equal(opposite(opposite(i)), i);
    }
    for (int i = 1; i < Q; i += 2)
        assert_int_equal(opposite(i), i + 1);
}

static void pairs_are_all_directions_once(void **state)
{
    int seen[Q] = {1}, pairs = 0;
    (void)state;
#define X(i, j, cx, cy, cz, w)                                                                     \
    assert_int_equal(i, 2 * pairs + 1);                                                            \
    assert_int_equal(j, i + 1);                                                                    \
    assert_true(c[i][0] == (cx) && c[i][1] == (cy) && c[i][2] == (cz));                            \
    assert_true(c[j][0] == -(cx) && c[j][1] == -(cy) && c[j][2] == -(cz));                         \
    assert_int_equal(w, (cx) * (cx) + (cy) * (cy) + (cz) * (cz) == 1 ? 18 : 36);                   \
    assert_true((cx) >= 0); /* only the end of a row is special where x wraps */                   \
    seen[i]++;                                                                                     \
    seen[j]++;                                                                                     \
    pairs++;
    PAIR_LIST(X)
#undef X
    for (int i = 0; i < Q; i++)
        assert_int_equal(seen[i], 1);
}

/* sum w = 1, sum w c c = 1/3, sum w c c c c = 1/9 (d d + d d + d d), odd moments 0. */
static void moments_are_isotropic_up_to_fourth_order(void **state)
{
    int sum = 0;
    (void)state;
    for (int i = 0; i < Q; i++)
        sum += weight(i);
    assert_int_equal(sum, 36);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            int second = 0;
            for (int i = 0; i < Q; i++)
                second += weight(i) * c[i][a] * c[i][b];
            assert_int_equal(second, a == b ? 12 : 0);
            for (int g = 0; g < 3; g++) {
                int third = 0;
                for (int i = 0; i < Q; i++)
                    third += weight(i) * c[i][a] * c[i][b] * c[i][g];
                assert_int_equal(third, 0);
                for (int d = 0; d < 3; d++) {
                    int fourth = 0;
                    for (int i = 0; i < Q; i++)
                        fourth += weight(i) * c[i][a] * c[i][b] * c[i][g] * c[i][d];
                    assert_int_equal(fourth, 4 * ((a == b) * (g == d) + (a == g) * (b == d) +
                                                  (a == d) * (b == g)));
                }
            }
        }
}

/* Together the messages carry what leaves a block, each population of each cell by the one message
 * for the neighbour in which it ends. */
static void messages_carry_what_crosses(void **state)
{
    (void)state;
    for (int direction = 1; direction < Q; direction++) {
        int count = 0;
        for (int i = 1; i < Q; i++) {
            int along = 1; /* has i all components of the direction? */
            for (int a = 0; a < 3; a++)
                along = along && (c[direction][a] == 0 || c[i][a] == c[direction][a]);
            assert_int_equal(!!travels(direction, i), along);
            count += along;
        }
        assert_int_equal(count, travellers(direction, Q));
        assert_int_equal(count, direction <= 6 ? 5 : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_are_those_of_the_order_documented),
        cmocka_unit_test(opposites_are_adjacent),
        cmocka_unit_test(pairs_are_all_directions_once),
        cmocka_unit_test(moments_are_isotropic_up_to_fourth_order),
        cmocka_unit_test(messages_carry_what_crosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
