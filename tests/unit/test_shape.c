/* Shapes by formulas: what is inside, where links cross, what box holds it, whatever is asked. */
#include "body/shape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "body/turn.h"
#include "lattice.h"

#define PI 3.14159265358979323846

enum { N = 40 };

static int64_t cells_of(const struct shape *s)
{
    uint8_t inside[N];
    int64_t cells = 0;
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++) {
            memset(inside, 0, sizeof inside);
            shape_row(s, 0, N, y, z, inside);
            for (int x = 0; x < N; x++)
                cells += inside[x];
        }
    return cells;
}

static int64_t cells_in(const struct case_shape *from)
{
    struct shape s;
    assert_true(shape_create(&s, from));
    const int64_t cells = cells_of(&s);
    shape_destroy(&s);
    return cells;
}

#define WHERE .center = {20.3, 19.8, 20.1}, .scale = 1
static const struct {
    struct case_shape shape;
    double volume, area;
} solids[] = {
    {{.kind = SHAPE_sphere, WHERE, .radius = 11}, 4 * PI / 3 * 11 * 11 * 11, 4 * PI * 11 * 11},
    {{.kind = SHAPE_ellipsoid, WHERE, .radii = {6, 9, 14}}, 4 * PI / 3 * 6 * 9 * 14, 1142.78},
    {{.kind = SHAPE_box, .from = {8.2, 9.1, 10.4}, .to = {28.9, 30.3, 24.2}, .scale = 1},
     20.7 * 21.2 * 13.8,
     2 * (20.7 * 21.2 + 20.7 * 13.8 + 21.2 * 13.8)},
    {{.kind = SHAPE_cylinder, WHERE, .radius = 9, .axis = {1, 2, 3}, .length = 15},
     PI * 81 * 15,
     2 * PI * 9 * (15 + 9)},
    {{.kind = SHAPE_cylinder, WHERE, .radius = 9, .axis = {0, 5, 0}, .length = INFINITY},
     PI * 81 * N,
     2 * PI * 9 * N},
    {{.kind = SHAPE_capsule, .from = {13, 14, 20}, .to = {26, 25, 18}, .radius = 8, .scale = 1},
     PI * 64 * 17.146428199482248 + 4 * PI / 3 * 512,
     16 * PI *(17.146428199482248 + 16)},
    {{.kind = SHAPE_torus, WHERE, .radius = 12, .tube = 5, .axis = {2, -1, 0.5}},
     2 * PI *PI * 300,
     240 * PI *PI},
    {{.kind = SHAPE_half_space, WHERE, .axis = {0, 0, -1}}, N *N *(N - 20.1), N *N},
};
enum { SOLIDS = sizeof solids / sizeof *solids };

/* A volume of cells is right to about the surface's share of chance. */
static void cells_add_up_to_volumes(void **state)
{
    (void)state;
    for (int k = 0; k < SOLIDS; k++) {
        const double cells = (double)cells_in(&solids[k].shape);
        if (fabs(cells - solids[k].volume) > 0.02 * solids[k].volume)
            fail_msg("shape %d: %g cells, volume %g", k, cells, solids[k].volume);
    }
}

/* By definition: the point is inside iff its image by the inverse is in the shape unmoved. */
static void transforms_are_those_of_the_definition(void **state)
{
    (void)state;
    for (int k = 0; k < SOLIDS; k++) {
        struct case_shape moved = solids[k].shape, outer;
        struct shape plain, s;
        double turn[3][3];
        moved.scale = 0.7;
        memcpy(moved.rotate, (const double[3]){20, -35, 130}, sizeof moved.rotate);
        memcpy(moved.about, (const double[3]){18, 21, 17}, sizeof moved.about);
        memcpy(moved.move, (const double[3]){3, -1, 2}, sizeof moved.move);
        outer = (struct case_shape){.kind = SHAPE_union,
                                    .count = 1,
                                    .parts = &moved,
                                    .scale = 1.1,
                                    .rotate = {0, 0, 90},
                                    .about = {20, 20, 20},
                                    .move = {0, 1, 0}};
        assert_true(shape_create(&plain, &solids[k].shape));
        assert_true(shape_create(&s, &outer));
        turn_make(moved.rotate, turn);
        int in = 0;
        for (int n = 0; n < 4000; n++) {
            const double p[3] = {17.0 * n / 4000 + 10, 40 * fmod(n * 0.618, 1),
                                 40 * fmod(n * 0.7549, 1)};
            double q[3], back[3];
            /* outer: p = about + 1.1 R (q - about) + move, R a quarter turn about z */
            const double r[3] = {(p[0] - 20) / 1.1, (p[1] - 21) / 1.1, (p[2] - 20) / 1.1};
            const double at[3] = {20 + r[1], 20 - r[0], 20 + r[2]};
            for (int a = 0; a < 3; a++)
                q[a] = (at[a] - moved.about[a] - moved.move[a]) / moved.scale;
            for (int a = 0; a < 3; a++)
                back[a] =
                    moved.about[a] + turn[0][a] * q[0] + turn[1][a] * q[1] + turn[2][a] * q[2];
            in += shape_holds(&s, p);
            if (shape_holds(&s, p) != shape_holds(&plain, back))
                fail_msg("shape %d at %g %g %g", k, p[0], p[1], p[2]);
        }
        assert_in_range(in, 20, 3980);
        shape_destroy(&s);
        shape_destroy(&plain);
    }
}

static void quarter_turns_are_exact(void **state)
{
    static const double v[3] = {1, 2, 3};
    double turn[3][3], to[3], frame[3][3];
    (void)state;
    turn_make((const double[3]){90, 0, 0}, turn);
    turn_apply((const double(*)[3])turn, v, to);
    assert_true(to[0] == 1 && to[1] == -3 && to[2] == 2);
    turn_make((const double[3]){0, -270, 0}, turn);
    turn_apply((const double(*)[3])turn, v, to);
    assert_true(to[0] == 3 && to[1] == 2 && to[2] == -1);
    turn_make((const double[3]){0, 0, 540}, turn);
    turn_apply((const double(*)[3])turn, v, to);
    assert_true(to[0] == -1 && to[1] == -2 && to[2] == 3);
    turn_make((const double[3]){90, 90, 0}, turn); /* about x first */
    turn_apply((const double(*)[3])turn, v, to);
    assert_true(to[0] == 2 && to[1] == -3 && to[2] == -1);
    for (int a = 0; a < 3; a++) {
        const double axis[3] = {a == 0 ? -7 : 0, a == 1 ? 1e300 : 0, a == 2 ? 1e-300 : 0};
        turn_towards(axis, frame);
        for (int k = 0; k < 9; k++)
            assert_true(frame[k / 3][k % 3] == 0 || fabs(frame[k / 3][k % 3]) == 1);
        assert_true(frame[2][a] == (a == 0 ? -1 : 1));
    }
    turn_make((const double[3]){30, 40, 50}, turn);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += turn[i][k] * turn[j][k];
            assert_true(fabs(sum - (i == j)) < 1e-15);
        }
}

static struct case_shape sphere_at(double x, double radius)
{
    return (struct case_shape){
        .kind = SHAPE_sphere, .center = {x, 20, 20}, .radius = radius, .scale = 1};
}

static void parts_combine_as_sets(void **state)
{
    struct case_shape parts[3] = {sphere_at(17, 9), sphere_at(23, 9), sphere_at(20, 3)};
    struct shape leaf[3], s;
    (void)state;
    for (int k = 0; k < 3; k++)
        assert_true(shape_create(&leaf[k], &parts[k]));
    for (int kind = SHAPE_union; kind <= SHAPE_complement; kind++) {
        const struct case_shape tree = {.kind = (enum shape_kind)kind,
                                        .count = kind == SHAPE_complement ? 1 : 3,
                                        .parts = parts,
                                        .scale = 1};
        int64_t in = 0;
        assert_true(shape_create(&s, &tree));
        for (int n = 0; n < N * N * N; n++) {
            const double at[3] = {n % N + 0.5, n / N % N + 0.5, n / N / N + 0.5};
            const bool a = shape_holds(&leaf[0], at), b = shape_holds(&leaf[1], at),
                       c = shape_holds(&leaf[2], at);
            const bool expected = kind == SHAPE_union          ? a || b || c
                                  : kind == SHAPE_intersection ? a && b && c
                                  : kind == SHAPE_difference   ? a && !b && !c
                                                               : !a;
            in += expected;
            assert_int_equal(shape_holds(&s, at), expected);
            for (int k = 0; expected && k < 3; k++)
                assert_true(at[k] >= s.lo[k] && at[k] <= s.hi[k]);
        }
        assert_true(in > 0 && in == cells_of(&s));
        shape_destroy(&s);
    }
    for (int k = 0; k < 3; k++)
        shape_destroy(&leaf[k]);
}

/* Any piece of a row, long or short, says the same, and what is not inside stays as it was. */
static void rows_do_not_depend_on_their_ends(void **state)
{
    (void)state;
    for (int k = 0; k < SOLIDS; k++) {
        struct shape s;
        uint8_t whole[900] = {0}, piece[900];
        assert_true(shape_create(&s, &solids[k].shape));
        shape_row(&s, -400, 900, 28, 21, whole);
        assert_non_null(memchr(whole, 1, sizeof whole));
        for (int x = 0; x < 900; x += 7) {
            memset(piece, 4, sizeof piece);
            shape_row(&s, x - 400, 900 - x, 28, 21, piece);
            for (int n = 0; n < 900; n++)
                assert_int_equal(piece[n], 4 | (n < 900 - x && whole[x + n]));
        }
        shape_destroy(&s);
    }
}

/* The distance along c from p to a sphere about m: the smaller root. */
static double to_sphere(const double p[3], const int c[3], const double m[3], double r)
{
    double cc = 0, pc = 0, pp = 0;
    for (int a = 0; a < 3; a++) {
        cc += c[a] * c[a];
        pc += c[a] * (p[a] - m[a]);
        pp += (p[a] - m[a]) * (p[a] - m[a]);
    }
    return (-pc - sqrt(pc * pc - cc * (pp - r * r))) / cc;
}

static void links_are_cut_where_the_formula_says(void **state)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    const struct case_shape ball = sphere_at(20.2, 7.3);
    const struct case_shape plane = {
        .kind = SHAPE_half_space, .center = {20, 20, 20.2}, .axis = {1, 2, 3}, .scale = 1};
    struct shape s, flat;
    int links = 0;
    (void)state;
    assert_true(shape_create(&s, &ball) && shape_create(&flat, &plane));
    for (int n = 0; n < N * N * N; n++)
        for (int i = 1; i < Q; i++) {
            const int cell[3] = {n % N, n / N % N, n / N / N}, *const c = velocity[i];
            const double p[3] = {cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5};
            const double q[3] = {p[0] + c[0], p[1] + c[1], p[2] + c[2]};
            if (!shape_holds(&s, p) && shape_holds(&s, q)) {
                const double exact = to_sphere(p, c, ball.center, ball.radius);
                assert_true(fabs(shape_crossing(&s, cell, c) - exact) < 1e-11);
                links++;
            }
            if (!shape_holds(&flat, p) && shape_holds(&flat, q)) {
                const double before = p[0] - 20 + 2 * (p[1] - 20) + 3 * (p[2] - 20.2);
                const double exact = -before / (c[0] + 2 * c[1] + 3 * c[2]);
                assert_true(fabs(shape_crossing(&flat, cell, c) - exact) < 1e-11);
                links++;
            }
        }
    assert_true(links > 5000);
    assert_true(shape_crossing(&s, (const int[3]){0, 0, 0}, velocity[1]) == 0.5);
    shape_destroy(&s);
    shape_destroy(&flat);

    /* the nearer of two sheets: a part of the link is in a plate, its end in a ball */
    struct case_shape parts[2] = {
        {.kind = SHAPE_box, .from = {12.7, 0, 0}, .to = {12.9, 40, 40}, .scale = 1},
        {.kind = SHAPE_box, .from = {13.2, 0, 0}, .to = {20, 40, 40}, .scale = 1}};
    const struct case_shape both = {.kind = SHAPE_union, .count = 2, .parts = parts, .scale = 1};
    assert_true(shape_create(&s, &both));
    assert_true(fabs(shape_crossing(&s, (const int[3]){12, 9, 9}, velocity[1]) - 0.2) < 1e-11);
    shape_destroy(&s);
}

/* Sum of the normals' components over the links of axes that enter the shape from the cells of the
 * grid: where each link has its component, the area of the surface. */
static double area_of(const struct case_shape *from)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    struct shape s;
    double area = 0;
    assert_true(shape_create(&s, from));
    for (int n = 0; n < N * N * N; n++)
        for (int i = 1; i < 7; i++) {
            const int cell[3] = {n % N, n / N % N, n / N / N}, *const c = velocity[i];
            double p[3], q[3], at[3];
            for (int a = 0; a < 3; a++) {
                p[a] = cell[a] + 0.5;
                q[a] = p[a] + c[a];
            }
            if (shape_holds(&s, p) || !shape_holds(&s, q))
                continue;
            for (int a = 0; a < 3; a++)
                at[a] = p[a] + shape_crossing(&s, cell, c) * c[a];
            const double facing = shape_facing(&s, at, (i - 1) / 2);
            assert_true(facing >= 0 && facing <= 1);
            area += facing;
        }
    shape_destroy(&s);
    return area;
}

static void normals_give_the_area(void **state)
{
    const struct case_shape pack = {
        .kind = SHAPE_pack, .length = N, .radius = 15, .center = {3.1, 4.7, -11.9}, .scale = 1};
    struct case_shape parts[2] = {
        {.kind = SHAPE_box, .from = {8.2, 9.1, 10.4}, .to = {28.9, 30.3, 24.2}, .scale = 1},
        {.kind = SHAPE_sphere, .center = {20.2, 20.1, 17.2}, .radius = 5.3, .scale = 1}};
    const struct {
        struct case_shape shape;
        double area;
    } more[] = {
        {pack, 4 * PI * 225},
        {{.kind = SHAPE_difference,
          .count = 2,
          .parts = parts,
          .scale = 0.9,
          .rotate = {10, 20, 30},
          .about = {20, 20, 20}},
         0.81 * (2 * (20.7 * 21.2 + 20.7 * 13.8 + 21.2 * 13.8) + 4 * PI * 5.3 * 5.3)},
        {{.kind = SHAPE_half_space, .center = {20, 20, 20}, .axis = {3, -1, 2}, .scale = 1},
         N * N * sqrt(14.0) / 3},
    };
    (void)state;
    for (size_t k = 0; k < SOLIDS + sizeof more / sizeof *more; k++) {
        const struct case_shape *const s = k < SOLIDS ? &solids[k].shape : &more[k - SOLIDS].shape;
        const double exact = k < SOLIDS ? solids[k].area : more[k - SOLIDS].area;
        const double area = area_of(s);
        if (fabs(area / exact - 1) > 0.025) /* links miss parts of edges */
            fail_msg("shape %zu: area %g, not %g", k, area, exact);
    }
}

static void packs_fill_the_share_asked_for(void **state)
{
    static const struct {
        enum shape_pack pack;
        double share, radius; /* of the cell's edge */
    } known[] = {
        {PACK_simple, PI / 6, 0.5},
        {PACK_simple, 4 * PI / 3 * 0.027, 0.3},
        {PACK_body_centred, 0.6801747615878317, 0.4330127018922193},
        {PACK_face_centred, 0.7404804896930610, 0.3535533905932738},
    };
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_true(fabs(pack_radius(known[k].pack, known[k].share) - known[k].radius) < 1e-9);
    assert_true(pack_radius(PACK_simple, 0.97) == 0 && pack_share_max(PACK_simple) > 0.96);
    for (int pack = 0; pack < 3; pack++)
        for (int k = 0; k < 3; k++) { /* the last one overlaps */
            const double share = k == 0 ? 0.125 : k == 1 ? 0.5 : 0.999 * pack_share_max(pack);
            const struct case_shape s = {.kind = SHAPE_pack,
                                         .pack = (enum shape_pack)pack,
                                         .length = N,
                                         .radius = N * pack_radius(pack, share),
                                         .center = {3.1, 4.7, -11.9},
                                         .scale = 1};
            const double is = (double)cells_in(&s) / (N * N * N);
            if (fabs(is - share) > 4e-3)
                fail_msg("pack %d: %g of the cells, not %g", pack, is, share);
        }
}

static void boxes_hold_their_shapes(void **state)
{
    (void)state;
    for (int k = 0; k < SOLIDS; k++) {
        struct shape s;
        double least[3] = {99, 99, 99}, most[3] = {-99, -99, -99};
        struct case_shape turned = solids[k].shape;
        turned.rotate[1] = 25;
        memcpy(turned.about, (const double[3]){20, 20, 20}, sizeof turned.about);
        assert_true(shape_create(&s, &turned));
        for (int n = 0; n < 120 * 120 * 120; n++) {
            const double at[3] = {n % 120 / 3.0, n / 120 % 120 / 3.0, n / 14400 / 3.0};
            for (int a = 0; a < 3 && shape_holds(&s, at); a++) {
                least[a] = fmin(least[a], at[a]);
                most[a] = fmax(most[a], at[a]);
            }
        }
        for (int a = 0; a < 3; a++) {
            assert_true(s.lo[a] <= least[a] && s.hi[a] >= most[a]);
            if (isfinite(s.lo[a]) && s.lo[a] > 1 && s.hi[a] < N - 1 && k < SOLIDS - 1)
                assert_true(s.lo[a] > least[a] - 1.5 && s.hi[a] < most[a] + 1.5);
        }
        shape_destroy(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_add_up_to_volumes),
        cmocka_unit_test(transforms_are_those_of_the_definition),
        cmocka_unit_test(quarter_turns_are_exact),
        cmocka_unit_test(parts_combine_as_sets),
        cmocka_unit_test(rows_do_not_depend_on_their_ends),
        cmocka_unit_test(links_are_cut_where_the_formula_says),
        cmocka_unit_test(normals_give_the_area),
        cmocka_unit_test(normals_give_the_area),
        cmocka_unit_test(packs_fill_the_share_asked_for),
        cmocka_unit_test(boxes_hold_their_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
