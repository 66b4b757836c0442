/* Runs of cells: each fluid cell of a row is in exactly one, and everything a loop is told of a run
 * is true of all its cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "cpu/lists.h"
#include "reference.h"

/* How many cells were in runs of each kind, over the test. */
enum { KINDS = RUN_PORES + 1 };
static int cells_of_kind[KINDS];

/* Bits of the links of a cell that come from walls, and of those from walls that move. */
static void links_of(const struct reference *r, int x, int y, int z, uint32_t *links,
                     uint32_t *ruled)
{
    *links = *ruled = 0;
    for (int i = 1; i < Q; i++) {
        size_t cell;
        const int from[3] = {x - reference_velocity(i, 0), y - reference_velocity(i, 1),
                             z - reference_velocity(i, 2)};
        const double *const u = reference_wall(r, from, &cell);
        *links |= u ? 1u << i : 0;
        *ruled |= u && (u[0] != 0 || u[1] != 0 || u[2] != 0) ? 1u << i : 0;
    }
}

/* A cell between those of a mixed run is not fluid, and its mask leads to the next that is. */
static void check_gap(const struct reference *r, const struct runs *runs, const struct row_run *run,
                      int x, int y, int z)
{
    const uint32_t mask = runs->links[run->masks + (size_t)(x - run->x0)];
    const int next = x + (int)(mask >> 1);
    assert_int_equal(run->kind, RUN_MIXED);
    assert_false(mask & MASK_ACTIVE);
    assert_true(next > x && next < run->x1);
    for (int k = x; k < next; k++)
        assert_false(r->row[r->tag[reference_cell(r, k, y, z)]].fluid);
    assert_true(r->row[r->tag[reference_cell(r, next, y, z)]].fluid);
}

/* Links that are bounced for cell x of the run, each once and at the right place. */
static uint32_t bounced(const struct reference *r, const struct runs *runs,
                        const struct row_run *run, int x)
{
    uint32_t links = 0;
    for (size_t k = run->bounce; k < run->bounce_end; k++) {
        const struct bounce *const b = &runs->bounce[k];
        assert_true((int)b->x0 >= run->x0 && b->x0 < b->x1 && (int)b->x1 <= run->x1);
        if (x < (int)b->x0 || x >= (int)b->x1)
            continue;
        /* of an even link: where its slot is */
        const int next = x + reference_velocity(b->link - 1, 0);
        assert_int_equal(b->wraps, r->periodic[0] && b->link % 2 == 0 && next == r->cells[0]);
        assert_false(links & 1u << b->link);
        links |= 1u << b->link;
    }
    return links;
}

static void check_run(const struct reference *r, const struct runs *runs, const struct row_run *run,
                      int y, int z)
{
    for (int x = run->x0; x < run->x1; x++) {
        const uint8_t row = r->tag[reference_cell(r, x, y, z)];
        const size_t k = (size_t)(x - run->x0);
        uint32_t links, ruled;
        if (!r->row[row].fluid) {
            check_gap(r, runs, run, x, y, z);
            continue;
        }
        links_of(r, x, y, z, &links, &ruled);
        assert_int_equal(row, run->row);
        cells_of_kind[run->kind]++;
        if (run->kind == RUN_BULK || run->kind == RUN_RULED) {
            assert_int_equal(bounced(r, runs, run, x), links);
            assert_int_equal(run->wall != 0, run->kind == RUN_RULED);
        }
        if (run->kind == RUN_MIXED)
            assert_int_equal(runs->links[run->masks + k], links | MASK_ACTIVE);
        if (run->kind != RUN_CELLS)
            assert_int_equal(run->wall ? runs->ruled[run->rules + k] : 0, ruled);
    }
}

/* The wall of every ruled link of a run with masks is the run's. */
static void check_walls(const struct domain *d, const struct runs *runs, const struct row_run *run,
                        int y, int z)
{
    const struct view *const v = &d->view;
    for (int x = run->x0; x < run->x1 && run->wall && run->kind != RUN_CELLS; x++)
        for (int i = 1; i < Q; i++)
            if (runs->ruled[run->rules + (size_t)(x - run->x0)] & 1u << i) {
                const size_t from =
                    view_index(v, x - reference_velocity(i, 0), y - reference_velocity(i, 1),
                               z - reference_velocity(i, 2));
                assert_int_equal(v->tags[from] & TAG_ROW, run->wall);
            }
}

/* All cells of a run of RUN_CELLS are as its group says. */
static void check_group(const struct domain *d, const struct runs *runs, const struct row_run *run,
                        int y, int z)
{
    const struct view *const v = &d->view;
    assert_true(run->group < runs->group_count);
    const struct link_group *const g = &runs->group[run->group];
    for (int x = run->x0; x < run->x1; x++) {
        assert_int_equal(v->tags[view_index(v, x, y, z)] & TAG_ROW, g->row);
        for (int i = 1; i < Q; i++) {
            const size_t from =
                view_index(v, x - reference_velocity(i, 0), y - reference_velocity(i, 1),
                           z - reference_velocity(i, 2));
            assert_int_equal(g->links >> i & 1, !view_fluid(v, from));
            if (g->links >> i & 1)
                assert_int_equal(g->beyond[i], v->tags[from] & TAG_ROW);
        }
    }
}

/* What the loops are told of one pair of a stretch's cells. */
struct told {
    int fluid, to_wall, from_wall;
    uint32_t place;
};

/* Cells of a stretch, which begins at x0: where each pair is, and that idle cells are not told of.
 * Marks the others in `seen`. */
static void check_stretch(const struct reference *r, const struct domain *d,
                          const struct runs *runs, const struct row_run *run, int y, int z,
                          int *seen)
{
    static struct told told[Q / 2][STRETCH_CELLS];
    const struct view *const v = &d->view;
    const struct pore_stretch *const s = &runs->stretch[run->group];
    bool idle[STRETCH_CELLS] = {false};
    uint32_t at = 0;
    memset(told, 0, sizeof told);
    for (size_t k = s->piece; k < s[1].piece; k++) {
        const struct pore_piece p = runs->piece[k];
        assert_true(p.count >= 1 && p.count <= PIECE && p.at + p.count <= (int)s->count);
        for (uint32_t j = 0; j < p.count; j++) {
            told[p.pair][p.at + j].fluid++;
            told[p.pair][p.at + j].place = p.place + j;
        }
    }
    for (size_t k = s->from_wall; k < s[1].from_wall; k++)
        told[runs->from_wall[k].pair][runs->from_wall[k].at].from_wall++;
    for (size_t pair = 0, k = s->to_wall; pair < Q / 2; pair++)
        for (cell_index link = place_in(v->link + pair * v->link_words, s->place);
             k < s[1].to_wall && runs->to_wall[k].pair % LINK_IDLE == pair; k++, link++) {
            if (runs->to_wall[k].pair >= LINK_IDLE)
                continue;
            told[pair][runs->to_wall[k].at].to_wall++;
            told[pair][runs->to_wall[k].at].place = (uint32_t)link;
        }
    for (size_t k = s->idle; k < s[1].idle; k++)
        idle[runs->idle[k]] = true;
    for (int x = run->x0; x < run->x1; x++) {
        uint32_t links, ruled;
        if (!r->row[r->tag[reference_cell(r, x, y, z)]].fluid)
            continue;
        links_of(r, x, y, z, &links, &ruled);
        assert_int_equal(s->place + at, view_place(v, owned_index(v, x, y, z)));
        for (int pair = 0; pair < Q / 2; pair++) {
            const struct told t = told[pair][at];
            if (idle[at]) {
                assert_int_equal(t.fluid + t.to_wall + t.from_wall, 0);
                continue;
            }
            assert_int_equal(t.from_wall, links >> (2 * pair + 1) & 1);
            assert_int_equal(t.to_wall, links >> (2 * pair + 2) & 1);
            assert_int_equal(t.fluid + t.to_wall, 1);
            assert_int_equal(t.place, next_place(v, pair, x, y, z));
        }
        if (!idle[at]) {
            assert_int_equal(r->tag[reference_cell(r, x, y, z)], run->row);
            assert_int_equal(ruled, 0);
            cells_of_kind[RUN_PORES]++;
            seen[x]++;
        }
        at++;
    }
    assert_int_equal(at, s->count);
}

/* The same of a view in which only fluid cells have places. */
static void check_pores(const struct reference *r, const struct domain *d, const struct runs *runs,
                        int y, int z)
{
    const uint32_t list = runs->row_list[y + z * d->view.n[1]];
    int seen[128] = {0};
    for (uint32_t k = runs->first[list]; k < runs->first[list + 1]; k++) {
        const struct row_run *const run = &runs->run[k];
        if (run->kind == RUN_PORES) {
            check_stretch(r, d, runs, run, y, z, seen);
            continue;
        }
        assert_int_equal(run->kind, RUN_CELLS);
        check_group(d, runs, run, y, z);
        cells_of_kind[RUN_CELLS] += run->x1 - run->x0;
        for (int x = run->x0; x < run->x1; x++)
            seen[x]++;
    }
    for (int x = 0; x < d->view.n[0]; x++)
        assert_int_equal(seen[x], r->row[r->tag[reference_cell(r, x, y, z)]].fluid != 0);
}

/* The order of the runs in a list. */
static int turn_of(const struct row_run *run)
{
    return run->end ? 0 : run->kind == RUN_CELLS ? 2 : 1;
}

static bool same(const void *a, const void *b, size_t count, size_t size)
{
    return !count || memcmp(a, b, count * size) == 0;
}

/* Lists do not depend on the number of threads, and take the bytes that were said before. */
static void check_threads(const struct domain *d, const struct runs *runs)
{
    const int all = omp_get_max_threads();
    const size_t rows = (size_t)d->view.n[1] * (size_t)d->view.n[2];
    for (int threads = 1; threads <= 3; threads++) {
        struct runs r;
        double bytes;
        omp_set_num_threads(threads);
        assert_int_equal(runs_create(&r, &d->view), STATUS_OK);
        assert_int_equal(runs_bytes(&d->view, threads, &bytes), STATUS_OK);
        assert_true(bytes == runs_held(&r, &d->view));
        assert_true(r.run_count == runs->run_count && r.bounce_count == runs->bounce_count &&
                    r.group_count == runs->group_count && r.mask_count == runs->mask_count &&
                    r.rule_count == runs->rule_count && r.list_count == runs->list_count &&
                    r.stretch_count == runs->stretch_count && r.piece_count == runs->piece_count &&
                    r.from_count == runs->from_count && r.to_count == runs->to_count &&
                    r.idle_count == runs->idle_count);
        assert_true(same(r.row_list, runs->row_list, rows, sizeof *r.row_list));
        assert_true(same(r.first, runs->first, r.list_count + 1, sizeof *r.first));
        assert_true(same(r.group, runs->group, r.group_count, sizeof *r.group));
        for (size_t k = 0; k < r.bounce_count; k++)
            assert_true(r.bounce[k].x0 == runs->bounce[k].x0 &&
                        r.bounce[k].x1 == runs->bounce[k].x1 &&
                        r.bounce[k].link == runs->bounce[k].link &&
                        r.bounce[k].from == runs->bounce[k].from &&
                        r.bounce[k].wraps == runs->bounce[k].wraps);
        for (size_t k = 0; k < r.piece_count; k++)
            assert_true(
                r.piece[k].place == runs->piece[k].place && r.piece[k].at == runs->piece[k].at &&
                r.piece[k].count == runs->piece[k].count && r.piece[k].pair == runs->piece[k].pair);
        assert_true(same(r.from_wall, runs->from_wall, r.from_count, sizeof *r.from_wall));
        assert_true(same(r.to_wall, runs->to_wall, r.to_count, sizeof *r.to_wall));
        assert_true(same(r.idle, runs->idle, r.idle_count, 1));
        assert_true(same(r.links, runs->links, r.mask_count, sizeof *r.links));
        assert_true(same(r.ruled, runs->ruled, r.rule_count, sizeof *r.ruled));
        for (size_t k = 0; k < r.run_count; k++)
            assert_true(r.run[k].x0 == runs->run[k].x0 && r.run[k].x1 == runs->run[k].x1 &&
                        r.run[k].masks == runs->run[k].masks &&
                        r.run[k].rules == runs->run[k].rules &&
                        r.run[k].bounce_end == runs->run[k].bounce_end &&
                        r.run[k].group == runs->run[k].group && r.run[k].kind == runs->run[k].kind);
        for (size_t k = 0; k < r.stretch_count + (r.stretch_count > 0); k++)
            assert_true(same(&r.stretch[k], &runs->stretch[k], 1, sizeof *r.stretch));
        runs_destroy(&r);
    }
    omp_set_num_threads(all);
}

static size_t check(const struct flow_case *c, int obstacles, uint64_t seed)
{
    struct reference r;
    struct domain d;
    struct runs runs;
    reference_create(&r, c);
    if (obstacles)
        reference_obstacles(&r, seed, obstacles, seed % 2);
    assert_int_equal(reference_domain(&r, &d, c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(runs_create(&runs, &d.view), STATUS_OK);
    if (seed == 1)
        check_threads(&d, &runs);
    for (int z = 0; z < c->cells[2]; z++)
        for (int y = 0; y < c->cells[1]; y++) {
            const uint32_t list = runs.row_list[y + z * c->cells[1]];
            assert_true(list < runs.list_count);
            int seen[128] = {0};
            if (d.view.place) {
                check_pores(&r, &d, &runs, y, z);
                continue;
            }
            for (uint32_t k = runs.first[list]; k < runs.first[list + 1]; k++) {
                const struct row_run *const run = &runs.run[k];
                assert_true(run->x0 >= 0 && run->x1 > run->x0 && run->x1 <= c->cells[0]);
                assert_true(k == runs.first[list] || turn_of(run - 1) <= turn_of(run));
                check_run(&r, &runs, run, y, z);
                check_walls(&d, &runs, run, y, z);
                if (run->kind == RUN_CELLS)
                    check_group(&d, &runs, run, y, z);
                for (int x = run->x0; x < run->x1; x++)
                    seen[x] += r.row[r.tag[reference_cell(&r, x, y, z)]].fluid != 0;
            }
            for (int x = 0; x < c->cells[0]; x++)
                assert_int_equal(seen[x], r.row[r.tag[reference_cell(&r, x, y, z)]].fluid != 0);
        }
    const size_t lists = runs.list_count;
    runs_destroy(&runs);
    assert_null(runs.run);
    runs_destroy(&runs);
    domain_destroy(&d);
    reference_destroy(&r);
    return lists;
}

static void runs_say_the_truth_of_their_cells(void **state)
{
    static const char *const faces[] = {"pppppp", "wwwwww", "cccccc", "wcppab", "ppwcww"};
    static const int lengths[] = {1, 2, 15, 16, 17, 32, 33, 50, 100};
    (void)state;
    memset(cells_of_kind, 0, sizeof cells_of_kind);
    for (size_t f = 0; f < sizeof faces / sizeof *faces; f++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int obstacles = 0; obstacles <= 60; obstacles = obstacles ? 3 * obstacles : 2)
                for (uint64_t seed = 0; seed < 4; seed++) {
                    struct flow_case c = reference_case(lengths[k], 4, 5);
                    reference_faces(&c, faces[f]);
                    for (int use = SPARSE_always; use <= SPARSE_never; use++) {
                        c.run.sparse = (enum sparse_use)use;
                        check(&c, obstacles, seed);
                    }
                }
    print_message("cells in bulk %d, with masks of rules %d, in mixed runs %d, one by one %d, in "
                  "stretches %d\n",
                  cells_of_kind[RUN_BULK], cells_of_kind[RUN_RULED], cells_of_kind[RUN_MIXED],
                  cells_of_kind[RUN_CELLS], cells_of_kind[RUN_PORES]);
    for (int kind = 0; kind < KINDS; kind++)
        assert_true(cells_of_kind[kind] > 1000);
}

/* A box without obstacles has at most three kinds of rows along y and along z. */
static void equal_rows_share_a_list(void **state)
{
    (void)state;
    for (int f = 0; f < 3; f++) {
        struct flow_case c = reference_case(40, 12, 9);
        c.run.sparse = SPARSE_never;
        reference_faces(&c, f == 0 ? "pppppp" : f == 1 ? "wwwwww" : "cccccc");
        assert_int_equal(check(&c, 0, 0), f == 0 ? 1 : 9);
    }
}

/* Cells one by one only where walls with different rules meet: nowhere in a box with one lid. */
static void a_lid_needs_no_cells_one_by_one(void **state)
{
    (void)state;
    for (int face = 0; face < 6; face++) {
        char faces[] = "wwwwww";
        struct flow_case c = reference_case(33, 6, 5);
        faces[face] = 'c';
        reference_faces(&c, faces);
        memset(cells_of_kind, 0, sizeof cells_of_kind);
        check(&c, 0, 0);
        assert_int_equal(cells_of_kind[RUN_CELLS], 0);
    }
}

/* Bulk runs go over the cells at open faces across x, which come first in the list, and over no
 * other cells of that kind. */
static void bulk_runs_go_over_the_ends_of_rows(void **state)
{
    static const char *const faces[] = {"VDwwww", "dvpppp", "wDsspp", "onwwVV"};
    (void)state;
    for (size_t f = 0; f < sizeof faces / sizeof *faces; f++)
        for (int nx = 2; nx < 40; nx += nx < 5 ? 1 : 7) {
            struct flow_case c = reference_case(nx, 5, 4);
            struct reference r;
            struct domain d;
            struct runs runs;
            int ends = 0;
            c.run.sparse = SPARSE_never;
            reference_faces(&c, faces[f]);
            reference_create(&r, &c);
            assert_int_equal(reference_domain(&r, &d, &c, MPI_COMM_SELF), STATUS_OK);
            assert_int_equal(runs_create(&runs, &d.view), STATUS_OK);
            for (size_t list = 0; list < runs.list_count; list++) {
                const struct row_run *at[2] = {NULL, NULL}; /* ends of the row */
                for (uint32_t k = runs.first[list]; k < runs.first[list + 1]; k++) {
                    const struct row_run *const run = &runs.run[k];
                    assert_true(k == runs.first[list] || turn_of(run - 1) <= turn_of(run));
                    if (run->end) {
                        assert_int_equal(run->kind, RUN_CELLS);
                        assert_int_equal(run->x1, run->x0 + 1);
                        assert_true(run->x0 == 0 || run->x1 == nx);
                        at[run->x0 != 0] = run;
                        continue;
                    }
                    const bool bulk = run->kind == RUN_BULK;
                    assert_int_equal(run->before, bulk && run->x0 == 1 && at[0]);
                    assert_int_equal(run->after, bulk && run->x1 == nx - 1 && at[1]);
                    ends += run->before + run->after;
                }
            }
            assert_true(nx < 3 || ends > 0);
            runs_destroy(&runs);
            domain_destroy(&d);
            reference_destroy(&r);
        }
}

/* The direction that link i brings from beyond the box: i mirrored at a face, 0 beyond edges. */
static int mirror_image(const struct reference *r, int i, const int from[3])
{
    int across = -1, outside = 0;
    for (int a = 0; a < 3; a++)
        if (!r->periodic[a] && (from[a] < 0 || from[a] >= r->cells[a])) {
            across = a;
            outside++;
        }
    for (int k = 1; k < Q && outside == 1; k++) {
        bool same = true;
        for (int a = 0; a < 3; a++)
            same = same &&
                   reference_velocity(k, a) == (a == across ? -1 : 1) * reference_velocity(i, a);
        if (same)
            return k;
    }
    return 0;
}

static void links_from_planes_of_symmetry_are_copied(void **state)
{
    static const char *const faces[] = {"ppsspp", "sspppp", "ssssss", "ppwsss"};
    (void)state;
    for (size_t f = 0; f < sizeof faces / sizeof *faces; f++)
        for (int nx = 1; nx < 40; nx += nx < 4 ? 1 : 7) {
            struct flow_case c = reference_case(nx, 3, 2);
            struct reference r;
            struct domain d;
            struct runs runs;
            int found = 0;
            c.run.sparse = SPARSE_never;
            reference_faces(&c, faces[f]);
            reference_create(&r, &c);
            assert_int_equal(reference_domain(&r, &d, &c, MPI_COMM_SELF), STATUS_OK);
            assert_int_equal(runs_create(&runs, &d.view), STATUS_OK);
            for (int cell = 0; cell < nx * 3 * 2; cell++) {
                const int x = cell % nx, y = cell / nx % 3, z = cell / nx / 3;
                const uint32_t list = runs.row_list[y + z * 3];
                const struct row_run *run = &runs.run[runs.first[list]];
                while (x >= run->x1)
                    run++;
                assert_true(run < runs.run + runs.first[list + 1] && x >= run->x0);
                assert_true(run->kind != RUN_CELLS);
                for (size_t k = run->bounce; k < run->bounce_end; k++) {
                    const struct bounce *const b = &runs.bounce[k];
                    const int at[3] = {x, y, z};
                    int from[3];
                    for (int a = 0; a < 3; a++)
                        from[a] = at[a] - reference_velocity(b->link, a);
                    if (x < b->x0 || x >= b->x1)
                        continue;
                    const int image =
                        faces[f][2] == 'w' && from[1] < 0 ? 0 : mirror_image(&r, b->link, from);
                    assert_int_equal(b->from, image);
                    assert_int_equal(k >= run->mirror, image > 0);
                    found += image > 0;
                }
            }
            assert_true(found > 0);
            runs_destroy(&runs);
            domain_destroy(&d);
            reference_destroy(&r);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_say_the_truth_of_their_cells),
        cmocka_unit_test(equal_rows_share_a_list),
        cmocka_unit_test(a_lid_needs_no_cells_one_by_one),
        cmocka_unit_test(bulk_runs_go_over_the_ends_of_rows),
        cmocka_unit_test(links_from_planes_of_symmetry_are_copied),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
