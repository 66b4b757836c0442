/* Bricks of the levels of a refined grid against each cell's definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "domain/refined.h"
#include "tags/refine.h"

/* A box whose face a is of the kind of letter a: p periodic, w wall. */
static struct flow_case box_case(int nx, int ny, int nz, const char *faces)
{
    struct flow_case c = {.cells = {nx, ny, nz}};
    for (int f = 0; f < 6; f++)
        c.faces[f].kind = faces[f] == 'p'   ? FACE_periodic
                          : faces[f] == 'w' ? FACE_wall
                          : faces[f] == 's' ? FACE_slip
                                            : FACE_pressure;
    return c;
}

static struct case_refine box_region(int level, double x0, double y0, double z0, double x1,
                                     double y1, double z1)
{
    return (struct case_refine){
        .name = "near", .level = level, .of = REFINE_box, .from = {x0, y0, z0}, .to = {x1, y1, z1}};
}

/* ---- the definition, cell by cell ---- */

/* Cells of a level: 1: it holds the cell. */
struct cells {
    int n[3];
    bool periodic[3];
    uint8_t *in;
};

static size_t place(const struct cells *l, int x, int y, int z)
{
    return ((size_t)z * (size_t)l->n[1] + (size_t)y) * (size_t)l->n[0] + (size_t)x;
}

/* Wraps; NULL: beyond a face. */
static uint8_t *cell_at(const struct cells *l, int x, int y, int z)
{
    int at[3] = {x, y, z};
    for (int a = 0; a < 3; a++) {
        if (!l->periodic[a] && (at[a] < 0 || at[a] >= l->n[a]))
            return NULL;
        at[a] = ((at[a] % l->n[a]) + l->n[a]) % l->n[a];
    }
    return &l->in[place(l, at[0], at[1], at[2])];
}

#define EACH_CELL(l, ...)                                                                          \
    for (int z = 0; z < (l)->n[2]; z++)                                                            \
        for (int y = 0; y < (l)->n[1]; y++)                                                        \
            for (int x = 0; x < (l)->n[0]; x++) {                                                  \
                __VA_ARGS__;                                                                       \
            }

/* Is the place, in cells of level 0, in the region or a periodic image of it? */
static bool in_region(const struct case_refine *what, const struct flow_case *c, const double at[3])
{
    for (int a = 0; a < 3; a++) {
        bool in = false;
        const int images = c->faces[2 * a].kind == FACE_periodic ? 2 : 0;
        for (int k = -images; k <= images; k++) {
            const double p = at[a] + k * (double)c->cells[a];
            in = in || (p >= what->from[a] && p <= what->to[a]);
        }
        if (!in)
            return false;
    }
    return true;
}

/* Marks all cells of the brick of each marked cell. */
static void fill_bricks(struct cells *l)
{
    uint8_t *const was = malloc((size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2]);
    assert_non_null(was);
    memcpy(was, l->in, (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2]);
    EACH_CELL(l, {
        if (!was[place(l, x, y, z)])
            continue;
        for (int k = z / BRICK * BRICK; k < z / BRICK * BRICK + BRICK && k < l->n[2]; k++)
            for (int j = y / BRICK * BRICK; j < y / BRICK * BRICK + BRICK && j < l->n[1]; j++)
                for (int i = x / BRICK * BRICK; i < x / BRICK * BRICK + BRICK && i < l->n[0]; i++)
                    l->in[place(l, i, j, k)] = 1;
    })
    free(was);
}

/* Marks all cells of the level nearer than REFINE_APART + 1 to the finer level. */
static void keep_apart(struct cells *l, const struct cells *finer)
{
    EACH_CELL(finer, {
        if (!finer->in[place(finer, x, y, z)])
            continue;
        for (int k = -REFINE_APART; k <= REFINE_APART; k++)
            for (int j = -REFINE_APART; j <= REFINE_APART; j++)
                for (int i = -REFINE_APART; i <= REFINE_APART; i++) {
                    uint8_t *const near = cell_at(l, x / 2 + i, y / 2 + j, z / 2 + k);
                    if (near)
                        *near = 1;
                }
    })
}

static void define(const struct flow_case *c, int levels, struct cells *l)
{
    for (int level = levels - 1; level > 0; level--) {
        struct cells *const own = &l[level];
        const double f = 1 << level;
        for (int a = 0; a < 3; a++) {
            own->n[a] = c->cells[a] << level;
            own->periodic[a] = c->faces[2 * a].kind == FACE_periodic;
        }
        own->in = calloc((size_t)own->n[0] * (size_t)own->n[1] * (size_t)own->n[2], 1);
        assert_non_null(own->in);
        EACH_CELL(own, {
            const double at[3] = {(x + 0.5) / f, (y + 0.5) / f, (z + 0.5) / f};
            for (int k = 0; k < c->refine_count; k++)
                if (c->refines[k].level == level && in_region(&c->refines[k], c, at))
                    own->in[place(own, x, y, z)] = 1;
        })
        fill_bricks(own);
        if (level + 1 < levels) {
            keep_apart(own, own + 1);
            fill_bricks(own);
        }
    }
}

static void check_level(const struct refined *r, int level, const struct cells *l)
{
    int lo[3] = {1 << 30, 1 << 30, 1 << 30}, hi[3] = {0, 0, 0};
    EACH_CELL(l, {
        const int at[3] = {x, y, z};
        const bool in = l->in[place(l, x, y, z)];
        assert_int_equal(refined_holds(r, level, x, y, z), in);
        for (int a = 0; a < 3 && in; a++) {
            lo[a] = at[a] < lo[a] ? at[a] : lo[a];
            hi[a] = at[a] + 1 > hi[a] ? at[a] + 1 : hi[a];
        }
    })
    assert_memory_equal(r->level[level].lo, lo, sizeof lo);
    assert_memory_equal(r->level[level].hi, hi, sizeof hi);
    assert_memory_equal(r->level[level].cells, l->n, sizeof l->n);
    for (int a = 0; a < 3; a++) { /* one beyond the box */
        int at[3] = {lo[0], lo[1], lo[2]};
        for (int side = 0; side < 2; side++) {
            at[a] = side ? l->n[a] : -1;
            const uint8_t *const in = cell_at(l, at[0], at[1], at[2]);
            assert_int_equal(refined_holds(r, level, at[0], at[1], at[2]), in && *in);
        }
    }
}

static void check_case(struct flow_case *c, int levels)
{
    struct refined r;
    struct cells l[LEVELS] = {0};
    assert_int_equal(refine_make(&r, c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(r.levels, levels);
    define(c, levels, l);
    for (int level = 1; level < levels; level++)
        check_level(&r, level, &l[level]);
    /* Each place belongs to one level. */
    for (int level = 1; level < levels; level++)
        EACH_CELL(&l[level], {
            const bool finer = level + 1 < levels && *cell_at(&l[level + 1], 2 * x, 2 * y, 2 * z);
            const bool in = l[level].in[place(&l[level], x, y, z)];
            assert_int_equal(refined_has(&r, level, x, y, z), in && !finer);
        })
    for (int level = 1; level < levels; level++)
        free(l[level].in);
    refined_destroy(&r);
}

static void one_level_has_all_cells(void **state)
{
    struct refined r;
    struct flow_case c = box_case(5, 4, 3, "ppwwpp");
    (void)state;
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(r.levels, 1);
    assert_true(refined_has(&r, 0, 0, 0, 0) && refined_has(&r, 0, 4, 3, 2));
    assert_true(refined_has(&r, 0, -1, 3, 3) && refined_has(&r, 0, 5, 0, -1));
    assert_false(refined_has(&r, 0, 0, -1, 0));
    assert_false(refined_has(&r, 0, 0, 4, 0));
    assert_false(refined_holds(&r, 1, 0, 0, 0));
    refined_destroy(&r);
}

static void boxes_are_bricks(void **state)
{
    (void)state;
    struct case_refine near[4];
    struct flow_case c = box_case(30, 22, 17, "wwwwww");
    c.refines = near;
    c.refine_count = 1;
    near[0] = box_region(1, 9, 8, 8, 11, 9, 9);
    check_case(&c, 2);
    near[0] = box_region(2, 9.1, 8.2, 6.5, 11, 9, 9);
    check_case(&c, 3);
    near[1] = box_region(1, 1, 2, 0, 3, 20, 5);
    near[2] = box_region(3, 12, 10, 7, 12.3, 10.2, 7.4);
    c.refine_count = 3;
    check_case(&c, 4);
}

static void regions_wrap(void **state)
{
    (void)state;
    static const char *const faces[] = {"ppwwww", "wwppww", "ppwwpp", "pppppp"};
    struct case_refine near[3];
    for (int k = 0; k < 4; k++) {
        struct flow_case c = box_case(33, 26, 22, faces[k]);
        c.refines = near;
        c.refine_count = 2;
        near[0] = box_region(2, -2, 3, 1, 2.5, 6, 4);
        near[1] = box_region(1, 20, 24, 9, 22, 27.5, 11);
        check_case(&c, 3);
    }
}

static void thin_boxes_have_levels(void **state)
{
    (void)state;
    struct case_refine near[2];
    struct flow_case c = box_case(40, 27, 1, "wwpppp");
    c.refines = near;
    c.refine_count = 2;
    near[0] = box_region(3, 15, -1, 0, 17, 1, 1);
    near[1] = box_region(1, 30, 3, 0, 32, 5, 1);
    check_case(&c, 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_level_has_all_cells),
        cmocka_unit_test(boxes_are_bricks),
        cmocka_unit_test(regions_wrap),
        cmocka_unit_test(thin_boxes_have_levels),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
