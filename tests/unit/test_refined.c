/* Bricks of the levels of a refined grid against each cell's definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "domain/refined.h"
#include "scratch.h"
#include "tags/refine.h"
#include "tags/vicinity.h"

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

/* Is the place in the sphere or a periodic image of it? */
static bool in_sphere(const struct case_shape *s, const struct flow_case *c, const double at[3])
{
    double square = 0;
    for (int a = 0; a < 3; a++) {
        double apart = fabs(at[a] - s->center[a]);
        for (int k = -2; k <= 2 && c->faces[2 * a].kind == FACE_periodic; k++)
            apart = fmin(apart, fabs(at[a] + k * (double)c->cells[a] - s->center[a]));
        square += apart * apart;
    }
    return square <= s->radius * s->radius;
}

/* Is the place, in cells of level 0, in the region or a periodic image of it? */
static bool in_region(const struct case_refine *what, const struct flow_case *c, const double at[3])
{
    if (what->of == REFINE_shape)
        return in_sphere(&what->shape, c, at);
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
            own->periodic[a] = c->faces[2 * a].kind == FACE_periodic;
            own->n[a] = own->periodic[a] && c->cells[a] == 1 ? 1 : c->cells[a] << level;
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
    /* They fill the box. */
    double volume = 0;
    for (int level = 0; level < levels; level++)
        volume += ldexp((double)refined_cells(&r, level), -refined_dimensions(&r, 3) * level);
    assert_true(volume == (double)c->cells[0] * c->cells[1] * c->cells[2]);
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
    c = box_case(40, 27, 1, "wwppww"); /* not flat */
    c.refines = near;
    c.refine_count = 2;
    check_case(&c, 4);
    c = box_case(1, 27, 40, "ppwwpp");
    c.refines = near;
    c.refine_count = 2;
    near[0] = box_region(2, 0, 13, -3, 1, 15, 1);
    near[1] = box_region(1, 0, 3, 20, 1, 5, 24);
    check_case(&c, 3);
    c = box_case(60, 1, 1, "wwpppp");
    c.refines = near;
    c.refine_count = 1;
    near[0] = box_region(3, 28, 0, 0, 32, 1, 1);
    check_case(&c, 4);
}

/* Levels have one cell along a flat axis, with its middle in common. */
static void flat_axes_are_not_halved(void **state)
{
    (void)state;
    struct case_refine near = box_region(2, 15, -1, 0, 17, 1, 1);
    struct flow_case c = box_case(40, 27, 1, "wwpppp");
    struct refined r;
    c.refines = &near;
    c.refine_count = 1;
    assert_true(!case_flat(&c, 0) && !case_flat(&c, 1) && case_flat(&c, 2));
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(refined_halved(&r, 2, 0), 2);
    assert_int_equal(refined_halved(&r, 2, 2), 0);
    assert_int_equal(refined_dimensions(&r, 3), 2);
    assert_int_equal(refined_dimensions(NULL, 3), 3);
    assert_int_equal(r.level[2].cells[2], 1);
    assert_true(refined_place(&r, 2, 0, 6.5) == 1.625);
    assert_true(refined_place(&r, 2, 2, 0.5) == 0.5);
    assert_true(refined_place(&r, 2, 2, 2.5) == 1);
    assert_true(refined_place(NULL, 0, 2, 6.5) == 6.5);
    for (int z = -3; z < 4; z++) /* the axis has no end */
        assert_true(refined_has(&r, 2, 64, 0, z));
    refined_destroy(&r);
}

static struct case_shape sphere(double x, double y, double z, double radius)
{
    return (struct case_shape){
        .kind = SHAPE_sphere, .center = {x, y, z}, .radius = radius, .scale = 1};
}

static void shapes_are_bricks(void **state)
{
    (void)state;
    static const char *const faces[] = {"wwwwww", "ppwwpp", "pppppp"};
    struct case_refine near[2];
    for (int k = 0; k < 3; k++) {
        struct flow_case c = box_case(34, 30, 25, faces[k]);
        c.refines = near;
        c.refine_count = 2;
        near[0] = (struct case_refine){.name = "ball", .level = 2, .of = REFINE_shape};
        near[0].shape = k == 0 ? sphere(16.3, 14.2, 12.9, 3.1) : sphere(1.3, 14.2, 24.1, 3.1);
        near[1] = box_region(1, 20, 20, 3, 22, 27.5, 5);
        check_case(&c, 3);
    }
}

/* ---- around bodies ---- */

/* Is the vector, in cells of the level, in the neighbourhood of a cell? */
static bool is_near(const struct case_refine *what, const double v[3])
{
    const double f = 1 << what->level, d = f * what->distance, before = f * what->before,
                 behind = f * what->behind;
    double along = 0, square = 0, most = 0;
    for (int a = 0; a < 3; a++) {
        along += v[a] * what->stream[a];
        most = fmax(most, fabs(v[a]));
    }
    along = fmax(fmin(along, fmax(behind - d, 0)), fmin(d - before, 0));
    for (int a = 0; a < 3; a++)
        square += (v[a] - along * what->stream[a]) * (v[a] - along * what->stream[a]);
    return square <= d * d * (1 + 1e-9) || most <= VICINITY_LEAST;
}

/* The cells of the body on the level of the region, and those near it, as bricks. */
static void define_around(const struct flow_case *c, struct cells *l)
{
    const struct case_refine *const what = &c->refines[0];
    const double f = 1 << what->level;
    int(*const body)[3] = calloc((size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2], sizeof *body);
    int count = 0;
    assert_non_null(body);
    EACH_CELL(l, {
        const double at[3] = {(x + 0.5) / f, (y + 0.5) / f, (z + 0.5) / f};
        if (in_sphere(&c->bodies[what->body].shape, c, at)) {
            body[count][0] = x;
            body[count][1] = y;
            body[count++][2] = z;
        }
    })
    assert_true(count > 50);
    EACH_CELL(l, {
        const int at[3] = {x, y, z};
        for (int k = 0; k < count && !l->in[place(l, x, y, z)]; k++) {
            double v[3];
            for (int a = 0; a < 3; a++) {
                v[a] = at[a] - body[k][a];
                if (l->periodic[a])
                    v[a] -= l->n[a] * floor(v[a] / l->n[a] + 0.5);
            }
            l->in[place(l, x, y, z)] = is_near(what, v);
        }
    })
    fill_bricks(l);
    free(body);
}

/* Every brick with a cell near the body's cells is in the level, and few others: those near to the
 * corner of a box of the body's cells, a third of the bricks for a body of a few bricks. */
static void check_around(const struct flow_case *c)
{
    const int level = c->refines[0].level;
    struct refined r;
    struct cells l = {0};
    size_t near = 0, all = 1;
    assert_int_equal(refine_make(&r, c, MPI_COMM_SELF), STATUS_OK);
    for (int a = 0; a < 3; a++) {
        l.n[a] = c->cells[a] << level;
        l.periodic[a] = c->faces[2 * a].kind == FACE_periodic;
        all *= (size_t)l.n[a];
    }
    l.in = calloc(all, 1);
    assert_non_null(l.in);
    define_around(c, &l);
    EACH_CELL(&l, {
        assert_int_equal(refined_holds(&r, level, x, y, z), l.in[place(&l, x, y, z)]);
        near += l.in[place(&l, x, y, z)];
    })
    assert_true(near > 0 && near < all);
    free(l.in);
    refined_destroy(&r);
}

static void bodies_have_neighbourhoods(void **state)
{
    (void)state;
    static const double diagonal[3] = {0.6, 0, -0.8};
    struct case_refine near = {.name = "near", .level = 1, .of = REFINE_around, .body = 0};
    struct case_body ball = {.name = "ball", .shape = sphere(13.2, 9.9, 12.4, 2.2)};
    struct flow_case c = box_case(28, 20, 22, "wwwwww");
    c.refines = &near;
    c.refine_count = 1;
    c.bodies = &ball;
    c.body_count = 1;
    near.stream[0] = 1;
    near.distance = near.behind = near.before = 1.5;
    check_around(&c);
    near.behind = 9;
    near.before = 4;
    check_around(&c);
    near.distance = 0; /* it grows to VICINITY_LEAST */
    check_around(&c);
    near.distance = 1.3;
    memcpy(near.stream, diagonal, sizeof diagonal);
    near.behind = 4;
    check_around(&c);
    c = box_case(28, 20, 22, "ppwwpp");
    c.refines = &near;
    c.refine_count = 1;
    c.bodies = &ball;
    c.body_count = 1;
    ball.shape = sphere(0.4, 9, 21.7, 2.4);
    near.distance = near.behind = near.before = 1.5;
    check_around(&c);
}

/* ---- what is refused ---- */

static void check_refused(const struct flow_case *c, const char *why)
{
    struct refined r;
    scratch_listen();
    assert_int_equal(refine_make(&r, c, MPI_COMM_SELF), STATUS_USAGE);
    const char *const said = scratch_heard();
    if (!strstr(said, why))
        fail_msg("said: %s", said);
}

static void levels_are_refused(void **state)
{
    (void)state;
    struct case_refine near;
    struct refined r;
    struct case_patch hole = {
        .face = 2, .shape = PATCH_rectangle, .from = {10, 10}, .to = {13, 13}};
    struct flow_case c = box_case(34, 24, 26, "oowwww");
    c.refines = &near;
    c.refine_count = 1;
    near = box_region(1, 4, 0, 0, 29.9, 24, 26); /* bricks end at 4 and 32 */
    check_refused(&c, "within 4 cells of an opening in face xmax");
    near.to[0] = 28;
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    refined_destroy(&r);
    near.from[0] = 3.7;
    check_refused(&c, "within 4 cells of an opening in face xmin");
    near.from[0] = 6; /* the level before needs 4 of its cells */
    near.to[0] = 24;
    near.level = 2;
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    refined_destroy(&r);
    near.from[0] = 5.8;
    check_refused(&c, "within 4 cells of an opening in face xmin");

    c.patches = &hole;
    c.patch_count = 1;
    hole.opening.kind = FACE_velocity;
    near = box_region(1, 17, 0, 8, 18, 3, 18); /* 16 to 20 of x, 0 to 4 of y: 3 cells beside it */
    check_refused(&c, "within 4 cells of an opening in face ymin");
    hole.to[0] = 12;
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    refined_destroy(&r);
    hole.to[0] = 13;
    hole.opening.kind = FACE_wall;
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    refined_destroy(&r);

    c = box_case(32, 24, 26, "wwwwpp");
    c.refines = &near;
    c.refine_count = 1;
    near = box_region(1, 0, 0, 0, 32, 24, 26);
    check_refused(&c, "covers the whole box");
    near = box_region(1, 0, 0, 0, 28, 24, 26);
    assert_int_equal(refine_make(&r, &c, MPI_COMM_SELF), STATUS_OK);
    refined_destroy(&r);
    near = box_region(1, 33, 0, 0, 36, 24, 26);
    check_refused(&c, "refine.near holds the centre of no cell of level 1");
    near = (struct case_refine){.name = "ball", .level = 1, .of = REFINE_shape};
    near.shape = sphere(6, 6, 6, 0.3);
    check_refused(&c, "refine.ball holds the centre of no cell of level 1");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_level_has_all_cells),
        cmocka_unit_test(boxes_are_bricks),
        cmocka_unit_test(regions_wrap),
        cmocka_unit_test(thin_boxes_have_levels),
        cmocka_unit_test(flat_axes_are_not_halved),
        cmocka_unit_test(shapes_are_bricks),
        cmocka_unit_test(bodies_have_neighbourhoods),
        cmocka_unit_test(levels_are_refused),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
