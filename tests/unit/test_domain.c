/* Blocks, tags, neighbours and shells of the domain, for every cut of small boxes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "reference.h"
#include "scratch.h"
#include "tags/create.h"
#include "tags/inputs.h"

static const int sizes[][3] = {{1, 1, 1}, {4, 3, 2}, {3, 5, 4}, {70, 3, 3}};
static const char *const faces[] = {"pppppp", "wwwwww", "ppwwww", "wwppab", "abcwpp"};
enum { SIZES = sizeof sizes / sizeof *sizes, FACES = sizeof faces / sizeof *faces };

/* What a box of a view covers, counted into cells of the block. */
static void count_box(const struct view *v, const struct box *b, int *count)
{
    for (int z = b->lo[2]; z < b->hi[2]; z++)
        for (int y = b->lo[1]; y < b->hi[1]; y++)
            for (int x = b->lo[0]; x < b->hi[0]; x++)
                count[(z * v->n[1] + y) * v->n[0] + x]++;
}

/* Does any population of the cell end in another block? */
static bool wanted(const struct domain *d, int x, int y, int z)
{
    const int at[3] = {x, y, z};
    for (int a = 0; a < 3; a++)
        if (d->cuts[a] > 1 && (at[a] == 0 || at[a] == d->view.n[a] - 1))
            return true;
    return false;
}

static void check_shell(const struct domain *d)
{
    const struct view *const v = &d->view;
    const struct box all = domain_all(d);
    const size_t cells = box_cells(&all);
    int *const count = calloc(cells, sizeof *count), *const inner = calloc(cells, sizeof *inner);
    struct box shell[6], interior;
    assert_true(count && inner);
    const int shells = domain_shell(d, shell, &interior);
    assert_in_range(shells, 0, 6);
    for (int k = 0; k < shells; k++)
        count_box(v, &shell[k], count);
    count_box(v, &interior, count);
    count_box(v, &interior, inner);
    for (int z = 0, n = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++, n++) {
                assert_int_equal(count[n], 1);
                assert_false(inner[n] && wanted(d, x, y, z));
            }
    free(count);
    free(inner);
}

static void check_layout(const struct domain *d, const struct flow_case *c)
{
    const struct view *const v = &d->view;
    size_t cells = 1;
    for (int a = 0; a < 3; a++) {
        const bool periodic = c->faces[2 * a].kind == FACE_periodic;
        assert_int_equal(v->ghost[a], !(periodic && d->cuts[a] == 1));
        cells *= (size_t)(v->n[a] + 2 * v->ghost[a]);
    }
    assert_int_equal(v->row % (32 / (int)sizeof(stored)), 0);
    for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++) {
        const size_t row = view_index(v, 0, y, v->n[2] - 1);
        assert_int_equal(row * sizeof(stored) % 32, 0);
    }
    assert_true(v->cells >= cells);
    cells = v->cells;
    const size_t bytes = v->set[SET_flow].stride * sizeof(stored);
    assert_true(v->set[SET_flow].stride >= cells);
    assert_int_equal(bytes % 128, 0);
    assert_int_equal(bytes / 128 % 2, 1);

    /* All cells, ghosts too, are different places within the slot. */
    char *const seen = calloc(cells, 1);
    assert_non_null(seen);
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                const size_t at = view_index(v, x, y, z);
                assert_true(at < cells && !seen[at]);
                seen[at] = 1;
            }
    free(seen);
}

/* And axes that are cut; none that is not periodic. */
static void the_axes_that_the_case_names_exchange(void **state)
{
    static const int cuts[3] = {1, 1, 2};
    (void)state;
    for (unsigned axes = 0; axes < 8; axes++)
        for (int all = 0; all < 2; all++) {
            struct flow_case c = reference_case(4, 5, 6);
            struct domain d;
            reference_faces(&c, "ppwwpp");
            c.run.exchange = axes | (all ? EXCHANGE_all : EXCHANGE_cut);
            domain_layout(&d, &c, cuts, 0);
            assert_int_equal(d.exchanged[0], all || axes & EXCHANGE_x);
            assert_int_equal(d.exchanged[1], false);
            assert_int_equal(d.exchanged[2], true);
            assert_int_equal(d.neighbour[1], d.exchanged[0] ? 0 : MPI_PROC_NULL);
            domain_destroy(&d);
        }
}

/* Every block of every cut: they tile the box, and each neighbour owns the cells beyond. */
static void check_cut(const struct flow_case *c, const int cuts[3])
{
    const int ranks = cuts[0] * cuts[1] * cuts[2];
    struct domain *const d = calloc((size_t)ranks, sizeof *d);
    int *const owner =
        calloc((size_t)c->cells[0] * (size_t)c->cells[1] * (size_t)c->cells[2], sizeof *owner);
    struct reference r;
    assert_true(d && owner);
    reference_create(&r, c);
    for (int rank = 0; rank < ranks; rank++) {
        domain_layout(&d[rank], c, cuts, rank);
        const struct view *const v = &d[rank].view;
        assert_int_equal(d[rank].rank, rank);
        assert_int_equal(d[rank].ranks, ranks);
        assert_null(v->set[SET_flow].populations);
        assert_null(v->tags);
        check_layout(&d[rank], c);
        check_shell(&d[rank]);
        assert_int_equal(domain_keep_cuts(&d[rank], NULL), STATUS_OK);
        for (int z = 0; z < v->n[2]; z++)
            for (int y = 0; y < v->n[1]; y++)
                for (int x = 0; x < v->n[0]; x++) {
                    int *const o = &owner[reference_cell(&r, d[rank].lo[0] + x, d[rank].lo[1] + y,
                                                         d[rank].lo[2] + z)];
                    const int g[3] = {d[rank].lo[0] + x, d[rank].lo[1] + y, d[rank].lo[2] + z};
                    assert_int_equal(*o, 0);
                    *o = rank + 1;
                    assert_int_equal(domain_owner(&d[0], g), rank);
                }
    }
    for (size_t n = 0; n < r.count; n++)
        assert_true(owner[n] > 0);

    for (int rank = 0; rank < ranks; rank++)
        for (int i = 1; i < Q; i++) {
            const struct view *const v = &d[rank].view;
            int at[3];
            bool exists =
                true; /* a message along i: all its axes are cut and there is something beyond */
            for (int a = 0; a < 3; a++) {
                const int e = reference_velocity(i, a);
                at[a] = d[rank].lo[a] + (e > 0 ? v->n[a] : e < 0 ? -1 : 0);
                exists = exists && (e == 0 || cuts[a] > 1);
                if (at[a] < 0 || at[a] >= c->cells[a]) {
                    exists = exists && c->faces[2 * a].kind == FACE_periodic;
                    at[a] = (at[a] + c->cells[a]) % c->cells[a];
                }
            }
            assert_int_equal(d[rank].neighbour[i],
                             exists ? owner[reference_cell(&r, at[0], at[1], at[2])] - 1
                                    : MPI_PROC_NULL);
            if (exists)
                assert_int_equal(d[d[rank].neighbour[i]].neighbour[opposite(i)], rank);
        }
    for (int rank = 0; rank < ranks; rank++)
        assert_int_equal(d[rank].neighbour[0], MPI_PROC_NULL);
    assert_int_equal(domain_owner(&d[0], (const int[3]){-1, 0, 0}), MPI_PROC_NULL);
    assert_int_equal(domain_owner(&d[0], (const int[3]){0, 0, c->cells[2]}), MPI_PROC_NULL);
    for (int rank = 0; rank < ranks; rank++)
        domain_destroy(&d[rank]);
    reference_destroy(&r);
    free(owner);
    free(d);
}

static void blocks_tile_the_box_and_know_their_neighbours(void **state)
{
    (void)state;
    for (int k = 0; k < SIZES; k++)
        for (int f = 0; f < FACES; f++)
            for (int pz = 1; pz <= sizes[k][2]; pz++)
                for (int py = 1; py <= sizes[k][1]; py++)
                    for (int px = 1; px <= sizes[k][0] && px <= 4; px++) {
                        struct flow_case c = reference_case(sizes[k][0], sizes[k][1], sizes[k][2]);
                        reference_faces(&c, faces[f]);
                        check_cut(&c, (const int[3]){px, py, pz});
                    }
}

/* Every tag, ghosts included, is what lies there: fluid, the face's wall, at edges a wall at rest.
 */
static void tags_are_what_lies_there(void **state)
{
    (void)state;
    for (int k = 0; k < SIZES; k++)
        for (int f = 0; f < FACES; f++) {
            struct flow_case c = reference_case(sizes[k][0], sizes[k][1], sizes[k][2]);
            struct reference r;
            struct domain d;
            reference_faces(&c, faces[f]);
            reference_create(&r, &c);
            assert_int_equal(domain_create(&d, &c, MPI_COMM_SELF), STATUS_OK);
            const struct view *const v = &d.view;
            assert_ptr_equal(v->tags, d.tags);
            assert_ptr_equal(v->rows, d.rows);
            assert_int_equal(d.fluid_cells, r.count);
            for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
                for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
                    for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                        size_t cell;
                        const int at[3] = {x, y, z};
                        const double *const u = reference_wall(&r, at, &cell);
                        const uint8_t tag = d.tags[view_index(v, x, y, z)];
                        assert_true((tag & TAG_ROW) < d.row_count);
                        const struct tag_row *const row = &d.rows[tag & TAG_ROW];
                        assert_int_equal(row->fluid, !u);
                        if (!u) {
                            bool beside = false;
                            for (int i = 1; i < Q; i++) {
                                const int to[3] = {x + reference_velocity(i, 0),
                                                   y + reference_velocity(i, 1),
                                                   z + reference_velocity(i, 2)};
                                beside = beside || reference_wall(&r, to, &cell);
                            }
                            assert_int_equal(!!(tag & TAG_BESIDE), beside);
                            continue;
                        }
                        assert_false(tag & TAG_BESIDE);
                        assert_memory_equal(row->wall_velocity, u, sizeof row->wall_velocity);
                        const bool moves = u[0] != 0 || u[1] != 0 || u[2] != 0;
                        assert_int_equal(row->boundary, moves ? BOUNDARY_moving : BOUNDARY_halfway);
                    }
            domain_destroy(&d);
            domain_destroy(&d);
            reference_destroy(&r);
        }
}

static void the_fluid_row_holds_the_parameters_of_the_case(void **state)
{
    (void)state;
    for (int collision = 0; collision < COLLISIONS; collision++) {
        struct flow_case c = reference_case(3, 3, 3);
        struct domain d;
        c.fluid.viscosity = 0.1;
        c.solver.magic = 0.25;
        c.solver.collision = (enum collision)collision;
        c.acceleration[collision % 3] = -1e-5;
        assert_int_equal(domain_create(&d, &c, MPI_COMM_SELF), STATUS_OK);
        const struct tag_row *const row = &d.rows[TAG_FLUID];
        const double even = 1 / row->omega_even - 0.5, odd = 1 / row->omega_odd - 0.5;
        assert_int_equal(row->collision, collision);
        assert_int_equal(row->forced, 1);
        assert_memory_equal(row->acceleration, c.acceleration, sizeof c.acceleration);
        assert_true(even / 3 > 0.1 - 1e-15 && even / 3 < 0.1 + 1e-15);
        assert_true(even * odd > 0.25 - 1e-15 && even * odd < 0.25 + 1e-15);
        domain_destroy(&d);
    }
}

/* A box of cells that are walls outside, with these bodies. */
static void read_case(const char *bodies, struct flow_case *c)
{
    char text[1024];
    const struct case_files files = inputs(NULL);
    const int length = snprintf(text, sizeof text,
                                "domain: {cells: [12, 9, 9]}\nfluid: {viscosity: 0.1}\n"
                                "faces: {x: wall, y: wall, z: wall}\nrun: {steps: 1}\n"
                                "bodies: {%s}\n",
                                bodies);
    assert_int_equal(case_read_files(scratch_path("case.yaml"), text, length, 0, NULL, &files, c),
                     STATUS_OK);
}

/* Calls `check` with each link of the list into a body and its crossing; returns how many. */
static int each_crossing(const struct domain *d, void (*check)(const int at[3], int i, double q))
{
    int count = 0;
    for (size_t k = 0; k < d->view.near.count; k++) {
        const struct near_cell *const cell = &d->near[k];
        const int at[3] = {cell->at[0], cell->at[1], cell->at[2]};
        const float *q = d->crossing + cell->first;
        for (int i = 1; i < Q; i++) {
            if (!(cell->links >> i & 1))
                continue;
            const size_t from =
                view_index(&d->view, at[0] - reference_velocity(i, 0),
                           at[1] - reference_velocity(i, 1), at[2] - reference_velocity(i, 2));
            if (d->rows[d->tags[from] & TAG_ROW].body) {
                check(at, i, (double)*q);
                count++;
            }
            q++;
        }
    }
    return count;
}

static void between_the_boxes(const int at[3], int i, double q)
{
    /* both boxes hold the cells 4 .. 7 along x and 3 .. 5 along y and z; the larger one is from 4.1
     * on, and the link of cell 3 along x meets it at 3.5 + 0.6 */
    if (at[0] == 3 && at[1] == 4 && at[2] == 4)
        assert_float_equal(q, 0.6, 1e-6);
    if (at[0] == 8 &&
        at[2] < 5) /* each is longer than the other along y or z, and so has cells left */
        assert_float_equal(q, 0.7, 1e-6); /* from 8.5 to 7.8 */
    assert_true(q > 0.49 && q <= 1 && i > 0);
}

static void the_first_of_overlapping_surfaces_is_the_wall(void **state)
{
    (void)state;
    static const char large[] = "{shape: {box: {from: [4.1, 3, 3], to: [7.8, 7, 6]}}, "
                                "wall: interpolated}";
    static const char small[] = "{shape: {box: {from: [4.4, 3, 3], to: [7.6, 6, 7]}}, "
                                "wall: interpolated}";
    for (int order = 0; order < 2; order++) {
        char bodies[512];
        struct flow_case c;
        struct domain d;
        snprintf(bodies, sizeof bodies, "a: %s, b: %s", order ? large : small,
                 order ? small : large);
        read_case(bodies, &c);
        assert_int_equal(domain_whole(&d, &c), STATUS_OK);
        assert_true(each_crossing(&d, between_the_boxes) > 100);
        domain_destroy(&d);
        case_destroy(&c);
    }
}

static void half_way(const int at[3], int i, double q)
{
    (void)at, (void)i;
    assert_true(q == 0.5);
}

/* Pores of an image that are filled are in no body: the fluid that is left beside them, outside of
 * the image, has its wall half-way. */
static void walls_of_filled_pores_are_half_way(void **state)
{
    (void)state;
    static const uint8_t labels[27] = {1};
    struct flow_case c;
    struct domain d;
    FILE *const file = fopen(scratch_path("dot.raw"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(labels, 1, sizeof labels, file), sizeof labels);
    assert_int_equal(fclose(file), 0);
    read_case("plate: {shape: {box: {from: [6, 0, 0], to: [7, 9, 9]}}}, "
              "rock: {image: {file: dot.raw, size: [3, 3, 3], at: [9, 3, 3], solid: [1], "
              "isolated: fill}, wall: interpolated}",
              &c);
    assert_int_equal(domain_whole(&d, &c), STATUS_OK);
    assert_int_equal(d.filled_cells, 26);
    assert_true(each_crossing(&d, half_way) > 100);
    domain_destroy(&d);
    case_destroy(&c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_tile_the_box_and_know_their_neighbours),
        cmocka_unit_test(the_axes_that_the_case_names_exchange),
        cmocka_unit_test(tags_are_what_lies_there),
        cmocka_unit_test(the_fluid_row_holds_the_parameters_of_the_case),
        cmocka_unit_test(the_first_of_overlapping_surfaces_is_the_wall),
        cmocka_unit_test(walls_of_filled_pores_are_half_way),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
    MPI_Finalize();
    return failed;
}
