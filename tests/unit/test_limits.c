/* Index arithmetic of blocks and boxes that are far larger than this machine's memory. Nothing is
 * allocated: offsets are compared with products in 128 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <mpi.h>
#include <string.h>

#include "case/case.h"
#include "domain/decompose.h"
#include "kernel.h"
#include "predict/load.h"
#include "solver/solver.h"

__extension__ typedef __int128 wide;

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* A case of this size, periodic along z. */
static struct flow_case case_of(const int cells[3], enum precision storage)
{
    struct flow_case c = {.solver = {.storage = storage, .arithmetic = PRECISION_fp64}};
    for (int a = 0; a < 3; a++)
        c.cells[a] = cells[a];
    for (int f = 0; f < 6; f++)
        c.faces[f].kind = f < 4 ? FACE_wall : FACE_periodic;
    return c;
}

/* Corners of a block and their neighbours. */
static void corner(const struct view *v, int number, int at[3])
{
    for (int a = 0; a < 3; a++)
        at[a] = number >> a & 1 ? v->n[a] - 1 : 0;
}

static wide index_of(const struct view *v, const int at[3])
{
    wide index = (wide)v->origin;
    const wide step[3] = {1, (wide)v->row, (wide)v->plane};
    for (int a = 0; a < 3; a++) {
        const int place = v->ghost[a] ? at[a] : (at[a] + v->n[a]) % v->n[a];
        index += place * step[a];
    }
    return index;
}

static void check_block(const struct domain *d)
{
    const struct view *const v = &d->view;
    const wide slots = (wide)Q * (wide)v->set[SET_flow].stride;
    assert_true((wide)v->cells >= (wide)v->n[0] * v->n[1] * v->n[2]);
    assert_true(v->set[SET_flow].stride >= v->cells);
    assert_true(slots * v->set[SET_flow].bits / 8 < INT64_MAX);
    for (int number = 0; number < 8; number++) {
        int at[3];
        corner(v, number, at);
        assert_true((wide)view_index(v, at[0], at[1], at[2]) == index_of(v, at));
        for (int odd = 0; odd < 2; odd++)
            for (int i = 1; i < Q; i++) {
                const int *const c = velocities[i];
                const int to[3] = {at[0] + c[0], at[1] + c[1], at[2] + c[2]};
                const int slot = slot_store(odd, i);
                const size_t store = store_address(v, SET_flow, odd, i, at[0], at[1], at[2]);
                assert_true((wide)store == (wide)slot * (wide)v->set[SET_flow].stride +
                                               index_of(v, i & 1 ? to : at));
                assert_true((wide)store < slots);
                assert_true((wide)view_index(v, to[0], to[1], to[2]) == index_of(v, to));
                assert_true((wide)index_of(v, to) >= 0 && index_of(v, to) < (wide)v->cells);
            }
        for (int i = 1; i < Q; i++) /* what the corner stores is loaded by itself the step after */
            assert_true(load_address(v, SET_flow, 0, i, at[0], at[1], at[2], 0) < (size_t)slots);
    }
    const double bytes = solver_bytes(d), populations = (double)slots * v->set[SET_flow].bits / 8;
    assert_true(bytes > populations && bytes < 1.2 * populations + 1e9);
}

/* Blocks of up to 1.2e11 cells, in one and in several ranks. */
static void blocks_have_64_bits(void **state)
{
    static const int sizes[][3] = {
        {60000, 50000, 40}, {1, 1, 1 << 30}, {1 << 30, 3, 5}, {9, 1 << 30, 2}};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int storage = PRECISION_fp16; storage <= PRECISION_fp64; storage++) {
            static const int uncut[3] = {1, 1, 1};
            const struct flow_case c = case_of(sizes[k], (enum precision)storage);
            struct domain d;
            domain_layout(&d, &c, uncut, 0);
            check_block(&d);
        }
}

/* Each rank of a box of 1e12 cells, and of the longest axes: they tile it, and their loads fit. */
static void boxes_have_64_bits(void **state)
{
    static const struct {
        int cells[3], ranks;
    } boxes[] = {{{10000, 10000, 10000}, 100000},
                 {{1 << 30, 60, 60}, 4096},
                 {{40, 1 << 30, 50}, 3000},
                 {{1 << 18, 1 << 18, 1 << 18}, 65536}};
    (void)state;
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        static const int none[3] = {0, 0, 0};
        const struct flow_case c = case_of(boxes[k].cells, PRECISION_fp64);
        const wide all = (wide)c.cells[0] * c.cells[1] * c.cells[2];
        wide cells = 0;
        double updates = 0;
        int cuts[3];
        assert_int_equal(decompose(c.cells, none, boxes[k].ranks, cuts), STATUS_OK);
        for (int rank = 0; rank < boxes[k].ranks; rank++) {
            struct domain d;
            struct load l;
            domain_layout(&d, &c, cuts, rank);
            for (int a = 0; a < 3; a++)
                assert_true(d.lo[a] >= 0 && d.view.n[a] > 0 && d.lo[a] <= c.cells[a] - d.view.n[a]);
            load_find(&l, &d, 8, 32);
            cells += (wide)d.view.n[0] * d.view.n[1] * d.view.n[2];
            updates += l.interior + l.shell;
            assert_true(l.inside >= 0 && l.outside >= 0 && l.inside + l.outside < 1e15);
            if (rank % 997 == 0)
                check_block(&d);
        }
        assert_true(cells == all);
        assert_true(updates > 0.999999 * (double)all && updates < 1.000001 * (double)all);
    }
}

/* The longest message: its bytes are more than an int holds, its elements are not. */
static void messages_have_64_bits(void **state)
{
    (void)state;
    struct view v = {.sets = 1};
    v.set[0] = (struct population_set){.q = Q, .bits = 64};
    const size_t bytes = message_at(&v, 1, DECOMPOSE_FACE, 1);
    assert_true(bytes == (size_t)DECOMPOSE_FACE * 5 * 8 && bytes > INT_MAX);
    assert_true(bytes / 8 <= INT_MAX);
}

/* Cuts of long axes, even and by fluid cells. */
static void cuts_have_64_bits(void **state)
{
    static int at[70000];
    static int64_t count[1 << 20];
    (void)state;
    cut_evenly(1 << 30, 65536, at);
    for (int k = 0; k < 65536; k++)
        assert_int_equal(at[k + 1] - at[k], 1 << 14);
    for (int g = 0; g < 1 << 20; g++)
        count[g] = g < 1 << 19 ? (int64_t)1 << 40 : 0; /* planes of 2^20 x 2^20 fluid cells */
    cut_fairly(count, 1 << 20, 1024, at);
    int64_t most = 0;
    for (int k = 0; k < 1024; k++) {
        int64_t sum = 0;
        assert_true(at[k + 1] > at[k]);
        for (int g = at[k]; g < at[k + 1]; g++)
            sum += count[g];
        most = sum > most ? sum : most;
    }
    assert_true(most <= (int64_t)513 << 40);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_64_bits),
        cmocka_unit_test(boxes_have_64_bits),
        cmocka_unit_test(messages_have_64_bits),
        cmocka_unit_test(cuts_have_64_bits),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
