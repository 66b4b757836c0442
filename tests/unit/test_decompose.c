/* Cutting the box: blocks tile it, none is empty, and a cut is refused only where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "domain/decompose.h"
#include "scratch.h"

static void parts_tile_an_axis_evenly(void **state)
{
    (void)state;
    for (int cells = 1; cells <= 40; cells++)
        for (int parts = 1; parts <= cells; parts++) {
            int next = 0;
            for (int k = 0; k < parts; k++) {
                int lo;
                const int n = block_cells(cells, parts, k, &lo);
                assert_int_equal(lo, next);
                assert_true(n >= cells / parts && n <= (cells + parts - 1) / parts && n >= 1);
                next = lo + n;
            }
            assert_int_equal(next, cells);
        }
    int lo;
    assert_int_equal(block_cells(2000000000, 100000, 99999, &lo), 20000);
    assert_int_equal(lo, 1999980000);
}

/* The least that the largest part can have, by trying every cut. */
static int64_t least(const int64_t *count, int cells, int parts)
{
    int64_t best = INT64_MAX, sum = 0;
    if (parts == 1) {
        for (int g = 0; g < cells; g++)
            sum += count[g];
        return sum;
    }
    for (int first = 1; first <= cells - (parts - 1); first++) {
        sum += count[first - 1];
        const int64_t rest = least(count + first, cells - first, parts - 1);
        const int64_t most = sum > rest ? sum : rest;
        best = most < best ? most : best;
    }
    return best;
}

static void fair_parts_are_the_best_there_are(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int k = 0; k < 3000; k++) {
        int64_t count[9];
        int at[10], cells = 1 + k % 9;
        for (int g = 0; g < cells; g++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            count[g] = (int64_t)(seed >> 60) - 6 > 0 ? (int64_t)(seed >> 40 & 1023) : k % 2;
        }
        for (int parts = 1; parts <= cells; parts++) {
            int64_t most = 0;
            cut_fairly(count, cells, parts, at);
            assert_int_equal(at[0], 0);
            assert_int_equal(at[parts], cells);
            for (int p = 0; p < parts; p++) {
                int64_t sum = 0;
                assert_true(at[p + 1] > at[p]);
                for (int g = at[p]; g < at[p + 1]; g++)
                    sum += count[g];
                most = sum > most ? sum : most;
            }
            assert_true(most == least(count, cells, parts));
        }
    }
}

static bool possible(const int cells[3], int ranks)
{
    for (int px = 1; px <= cells[0]; px++)
        for (int py = 1; py <= cells[1]; py++)
            if (ranks % (px * py) == 0 && ranks / (px * py) <= cells[2])
                return true;
    return false;
}

static void any_box_on_any_number_of_ranks_that_fits(void **state)
{
    static const int automatic[3] = {0, 0, 0};
    (void)state;
    for (int nx = 1; nx <= 6; nx++)
        for (int ny = 1; ny <= 6; ny++)
            for (int nz = 1; nz <= 6; nz++)
                for (int ranks = 1; ranks <= nx * ny * nz + 3; ranks++) {
                    const int cells[3] = {nx, ny, nz};
                    int cuts[3] = {0, 0, 0};
                    scratch_listen();
                    const enum status status = decompose(cells, automatic, ranks, cuts);
                    const char *heard = scratch_heard();
                    if (!possible(cells, ranks)) {
                        assert_int_equal(status, STATUS_USAGE);
                        assert_one_line(heard, "cannot be placed");
                        continue;
                    }
                    assert_int_equal(status, STATUS_OK);
                    assert_string_equal(heard, "");
                    assert_int_equal(cuts[0] * cuts[1] * cuts[2], ranks);
                    for (int a = 0; a < 3; a++)
                        assert_true(cuts[a] >= 1 && cuts[a] <= cells[a]);
                }
}

static void cuts_of_the_user_are_taken_or_refused_in_one_line(void **state)
{
    const int cells[3] = {4, 3, 2};
    (void)state;
    for (int px = 1; px <= 5; px++)
        for (int py = 1; py <= 5; py++)
            for (int pz = 1; pz <= 5; pz++)
                for (int ranks = px * py * pz - 1; ranks <= px * py * pz + 1; ranks++) {
                    const int wanted[3] = {px, py, pz};
                    int cuts[3] = {-1, -1, -1};
                    const bool fits = px <= 4 && py <= 3 && pz <= 2 && ranks == px * py * pz;
                    scratch_listen();
                    const enum status status = decompose(cells, wanted, ranks, cuts);
                    const char *heard = scratch_heard();
                    assert_int_equal(status, fits ? STATUS_OK : STATUS_USAGE);
                    if (fits)
                        assert_memory_equal(cuts, wanted, sizeof cuts);
                    else
                        assert_one_line(heard, "run.ranks");
                }
}

static void cubes_are_cut_along_z_then_y(void **state)
{
    static const int automatic[3] = {0, 0, 0}, cells[3] = {128, 128, 128};
    int cuts[3];
    (void)state;
    assert_int_equal(decompose(cells, automatic, 2, cuts), STATUS_OK);
    assert_true(cuts[0] == 1 && cuts[1] == 1 && cuts[2] == 2);
    assert_int_equal(decompose(cells, automatic, 16, cuts), STATUS_OK);
    assert_true(cuts[0] == 1 && cuts[1] == 4 && cuts[2] == 4);
    assert_int_equal(decompose((const int[3]){512, 512, 1}, automatic, 4, cuts), STATUS_OK);
    assert_true(cuts[0] == 1 && cuts[1] == 4 && cuts[2] == 1);
}

/* Large numbers of ranks are found without trying for ever, and without overflow. */
static void many_ranks(void **state)
{
    static const int automatic[3] = {0, 0, 0}, cells[3] = {4096, 4096, 4096};
    static const int counts[] = {4096, 65536, 99991 /* prime */, 1000000, 720720};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int cuts[3];
        scratch_listen();
        const enum status status = decompose(cells, automatic, counts[k], cuts);
        scratch_heard();
        assert_int_equal(status, counts[k] == 99991 ? STATUS_USAGE : STATUS_OK);
        if (status == STATUS_OK)
            assert_int_equal((long long)cuts[0] * cuts[1] * cuts[2], counts[k]);
    }
}

/* A message has 5 populations of each cell of a face, counted by an int. */
static void faces_are_small_enough_for_messages(void **state)
{
    static const int automatic[3] = {0, 0, 0}, flat[3] = {1, 1, 2};
    int cuts[3];
    (void)state;
    scratch_listen();
    const enum status status = decompose((const int[3]){40000, 40000, 4}, flat, 2, cuts);
    const char *const heard = scratch_heard();
    assert_int_equal(status, STATUS_USAGE);
    assert_one_line(heard,
                    "run.ranks [1, 1, 2] leaves faces between blocks of more than 429496729");
    assert_int_equal(decompose((const int[3]){20000, 20000, 4}, flat, 2, cuts), STATUS_OK);
    assert_int_equal(decompose((const int[3]){40000, 40000, 4}, automatic, 2, cuts), STATUS_OK);
    assert_int_equal(cuts[2], 1);
    scratch_listen();
    assert_int_equal(decompose((const int[3]){30000, 30000, 30000}, automatic, 2, cuts),
                     STATUS_USAGE);
    scratch_heard();
    assert_int_equal(decompose((const int[3]){30000, 30000, 30000}, automatic, 64, cuts),
                     STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_tile_an_axis_evenly),
        cmocka_unit_test(fair_parts_are_the_best_there_are),
        cmocka_unit_test(any_box_on_any_number_of_ranks_that_fits),
        cmocka_unit_test(cuts_of_the_user_are_taken_or_refused_in_one_line),
        cmocka_unit_test(cubes_are_cut_along_z_then_y),
        cmocka_unit_test(many_ranks),
        cmocka_unit_test(faces_are_small_enough_for_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
