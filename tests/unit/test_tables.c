/* What series measure, against flows that are known: values between cells, what flows through a
 * plane, and how much a flow has changed. On one rank; tests/parallel/tables_ranks.c does the
 * rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "measure/flow_rate.h"
#include "measure/probe.h"
#include "measure/residual.h"
#include "reference.h"

static const bool fp64 = TAGFLOW_STORAGE == 64;

/* A tolerance in fp64, and in fp32: fp16 has 13 bits less than that. */
static double within(double wide, double narrow)
{
    return fp64 ? wide : TAGFLOW_STORAGE == 32 ? narrow : 0x1p13 * narrow;
}

struct flow {
    struct flow_case c;
    struct reference r;
    struct domain d;
    struct backend *b;
    struct solver s;
};

/* tags: of the whole box, NULL: all fluid */
static void start(struct flow *f, const uint8_t *tags)
{
    f->b = NULL;
    reference_create(&f->r, &f->c);
    if (tags)
        memcpy(f->r.tag, tags, f->r.count);
    assert_int_equal(reference_domain(&f->r, &f->d, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&f->b, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&f->s, &f->d, f->b, &f->c), STATUS_OK);
    assert_int_equal(solver_initialise(&f->s, &f->c, NULL), STATUS_OK);
}

static void stop(struct flow *f)
{
    solver_destroy(&f->s);
    TAGFLOW_BACKEND.close(f->b);
    domain_destroy(&f->d);
    reference_destroy(&f->r);
}

static void steps(struct flow *f, int count)
{
    while (count-- > 0)
        assert_int_equal(solver_step(&f->s), STATUS_OK);
}

/* Rest but for a velocity; exact where its components, times 6, are. */
static void set_velocity(struct flow *f, int x, int y, int z, const double u[3])
{
    const size_t n = reference_cell(&f->r, x, y, z);
    for (int i = 0; i < Q; i++) {
        const double w = i == 0 ? 1.0 / 3 : i <= 6 ? 1.0 / 18 : 1.0 / 36;
        double cu = 0;
        for (int a = 0; a < 3; a++)
            cu += reference_velocity(i, a) * u[a];
        f->r.now[(size_t)i * f->r.count + n] = stored_of((number)(3 * w * cu));
    }
}

static void look(struct flow *f, int points, const double *at, double *values)
{
    struct probe p;
    assert_int_equal(probe_create(&p, ONE_LEVEL(&f->s), SET_flow, points, at), STATUS_OK);
    assert_int_equal(probe_measure(&p, ONE_LEVEL(&f->s), values), STATUS_OK);
    probe_destroy(&p);
}

/* Velocity and density - 1 as straight lines in x, y, z: what lies between centres is on them. */
static void a_linear_flow_is_interpolated_to_round_off(void **state)
{
    enum { POINTS = 500 };
    static double at[3 * POINTS], values[4 * POINTS];
    struct flow f = {.c = reference_case(9, 7, 5)};
    uint64_t seed = 5;
    (void)state;
    reference_faces(&f.c, "wwwwww");
    start(&f, NULL);
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 9; x++)
                set_velocity(&f, x, y, z,
                             (double[]){0.01 * x + 0.02 * y - 0.005 * z, -0.01 * y, 0});
    reference_put(&f.r, &f.s);
    for (int k = 0; k < POINTS; k++)
        for (int a = 0; a < 3; a++) /* between the outermost centres */
            at[3 * k + a] = 0.5 + (f.c.cells[a] - 1) * 0.5 * (1 + reference_uniform(&seed));
    look(&f, POINTS, at, values);
    for (int k = 0; k < POINTS; k++) {
        const double x = at[3 * k] - 0.5, y = at[3 * k + 1] - 0.5, z = at[3 * k + 2] - 0.5;
        const double off = within(1e-16, 2e-8);
        assert_true(fabs(values[4 * k + 1] - (0.01 * x + 0.02 * y - 0.005 * z)) <= 3 * off);
        assert_true(fabs(values[4 * k + 2] + 0.01 * y) <= 3 * off);
        assert_true(fabs(values[4 * k + 3]) <= off && fabs(values[4 * k]) <= off);
    }
    stop(&f);
}

/* White, Viscous Fluid Flow: plane Couette flow is the straight line U y / H. 3.5 H^2 / nu steps
 * leave 1e-15 of the start. Beyond the outermost centres the value stays that of the cell. */
static void couette_flow_is_a_straight_line(void **state)
{
    enum { H = 8, POINTS = 65 };
    static double at[3 * POINTS], values[4 * POINTS];
    struct flow f = {.c = reference_case(4, H, 1)};
    (void)state;
    reference_faces(&f.c, "ppwwpp");
    f.c.faces[3].velocity[0] = 0.05;
    f.c.fluid.viscosity = 0.1;
    start(&f, NULL);
    steps(&f, 2240);
    for (int k = 0; k < POINTS; k++)
        memcpy(at + 3 * k, (double[]){4.0 * k / (POINTS - 1), (double)H * k / (POINTS - 1), 0},
               3 * sizeof *at);
    look(&f, POINTS, at, values);
    for (int k = 0; k < POINTS; k++) {
        const double y = at[3 * k + 1] < 0.5       ? 0.5
                         : at[3 * k + 1] > H - 0.5 ? H - 0.5
                                                   : at[3 * k + 1];
        assert_true(fabs(values[4 * k + 1] - 0.05 * y / H) < within(1e-14, 1e-6));
    }
    stop(&f);
}

static void what_is_not_fluid_is_left_out(void **state)
{
    struct flow f = {.c = reference_case(4, 4, 1)};
    uint8_t tags[16];
    double values[4 * 5];
    const double up[3] = {0.75, 0, 0}, down[3] = {-0.25, 0, 0};
    (void)state;
    /* walls: the whole of row 3 and the cells 2 and 3 of row 1 */
    memset(tags, TAG_FLUID, sizeof tags);
    memset(tags + 12, TAG_WALL, 4);
    memset(tags + 6, TAG_WALL, 2);
    reference_faces(&f.c, "ppwwpp");
    start(&f, tags);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            if (tags[4 * y + x] == TAG_FLUID)
                set_velocity(&f, x, y, 0, y % 2 ? down : up);
    reference_put(&f.r, &f.s);
    const double at[3 * 5] = {
        0.75, 1.25, 0.5, /* three quarters from a row of up to one of down */
        2.5,  1.25, 0,   /* the same with walls below: only up is left */
        1.75, 1.75, 0.5, /* one wall of four corners: shares 9/16 down, 3/16 up, (3/16), 1/16 */
        3,    4,    1,   /* walls all around */
        2,    1.5,  0.999999, /* half-way into a wall, in a row of its own */
    };
    look(&f, 5, at, values);
    const double third = (9.0 / 16 * -0.25 + 3.0 / 16 * 0.75 + 1.0 / 16 * 0.75) / (13.0 / 16);
    const double off = within(1e-15, 1e-7);
    assert_true(fabs(values[1] - (0.25 * 0.75 + 0.75 * -0.25)) < off);
    assert_true(fabs(values[5] - 0.75) < off);
    assert_true(fabs(values[9] - third) < off);
    for (int k = 12; k < 16; k++)
        assert_true(isnan(values[k]));
    assert_true(fabs(values[17] + 0.25) < off);
    stop(&f);
}

/* A long line is fetched in few boxes, not cell by cell. */
static void a_line_is_fetched_in_few_boxes(void **state)
{
    enum { POINTS = 100000 };
    static double at[3 * POINTS];
    const double ends[3][3] = {{160, 0, 0}, {0, 0, 40}, {160, 80, 40}};
    const int most[3] = {160 / 32, 40 / 8, 160 / 32 + 80 / 8 + 40 / 8};
    struct flow f = {.c = reference_case(160, 80, 40)};
    (void)state;
    start(&f, NULL);
    for (int line = 0; line < 3; line++) {
        struct probe p;
        for (int k = 0; k < POINTS; k++)
            for (int a = 0; a < 3; a++)
                at[3 * k + a] = ends[line][a] > 0 ? ends[line][a] * k / (POINTS - 1) : 20;
        assert_int_equal(probe_create(&p, ONE_LEVEL(&f.s), SET_flow, POINTS, at), STATUS_OK);
        assert_true(p.level[0].boxes >= 5 && p.level[0].boxes <= 4 * most[line]);
        probe_destroy(&p);
    }
    stop(&f);
}

/* In a steady flow as much enters a plane of cells as leaves it, whatever stands there: the sum of
 * rho u is the same at every plane. (That of u is not, by 0.1 % here.) What alternates between even
 * and odd planes dies out slowest: 2e-12 is left of it after these steps. */
static void the_same_mass_flows_through_every_plane(void **state)
{
    enum { NX = 12, N = 7 };
    struct flow f = {.c = reference_case(NX, N, N)};
    static uint8_t tags[NX * N * N];
    struct flow_rate rate, first = {0};
    (void)state;
    memset(tags, TAG_FLUID, sizeof tags);
    for (int z = 2; z < 6; z++)
        for (int y = 3; y < 5; y++)
            memset(tags + (z * N + y) * NX + 3, TAG_WALL, 3);
    reference_faces(&f.c, "ppwwww");
    f.c.fluid.viscosity = 0.1;
    f.c.acceleration[0] = 1e-4;
    start(&f, tags);
    steps(&f, 6000);
    for (int x = 0; x < NX; x++) {
        assert_int_equal(flow_rate_measure(ONE_LEVEL(&f.s), 0, x, &rate), STATUS_OK);
        if (x == 0)
            first = rate;
        assert_true(rate.area == N * N - (x >= 3 && x < 6 ? 8 : 0));
        assert_true(first.mass > 1e-3);
        assert_true(fabs(rate.mass / first.mass - 1) < within(1e-10, 1e-6));

        /* upstream of the obstacle pressure is higher than behind it */
        if (x == 2 || x == 6)
            assert_true((rate.pressure > 0) == (x == 2));
        /* density is not 1 there */
        if (x == 2)
            assert_true(rate.volume < rate.mass);
    }
    /* along the wall at zmax what goes up comes down */
    assert_int_equal(flow_rate_measure(ONE_LEVEL(&f.s), 2, N - 1, &rate), STATUS_OK);
    assert_true(fabs(rate.mass) < within(1e-10, 1e-5) * first.mass && rate.area == NX * N);
    stop(&f);
}

static void a_plane_of_walls_has_no_pressure(void **state)
{
    struct flow f = {.c = reference_case(3, 2, 1)};
    const uint8_t tags[6] = {TAG_FLUID, TAG_FLUID, TAG_WALL, TAG_FLUID, TAG_FLUID, TAG_WALL};
    struct flow_rate rate;
    (void)state;
    reference_faces(&f.c, "wwwwww");
    start(&f, tags);
    assert_int_equal(flow_rate_measure(ONE_LEVEL(&f.s), 0, 2, &rate), STATUS_OK);
    assert_true(rate.area == 0 && rate.volume == 0 && rate.mass == 0 && isnan(rate.pressure));
    f.r.now[1] = stored_of((number)NAN);
    reference_put(&f.r, &f.s);
    assert_int_equal(flow_rate_measure(ONE_LEVEL(&f.s), 0, 1, &rate), STATUS_OK);
    assert_true(rate.area == 2 && isnan(rate.volume) && isnan(rate.mass) && isnan(rate.pressure));
    assert_int_equal(flow_rate_measure(ONE_LEVEL(&f.s), 0, 0, &rate), STATUS_OK);
    assert_true(rate.area == 2 && rate.volume == 0);
    stop(&f);
}

static double residual(struct residual *r)
{
    double value = -1;
    assert_int_equal(residual_measure(r, &value), STATUS_OK);
    return value;
}

/* G. I. Taylor, Phil. Mag. 46:671, 1923: every velocity falls by exp(-2 nu k^2 t), so a residual
 * over T steps is exp(2 nu k^2 T) - 1. The lattice decays by O(k^2) = 0.3 % of the rate slower or
 * faster at 32 cells. */
static void taylor_green_vortices_decay_at_their_rate(void **state)
{
    struct flow f = {.c = reference_case(32, 32, 1)};
    const double k = 2 * 3.141592653589793 / 32, expected = exp(2 * 0.02 * k * k * 100) - 1;
    struct residual r;
    (void)state;
    f.c.fluid.viscosity = 0.02;
    f.c.initial =
        (struct case_initial){.flow = INITIAL_taylor_green_2d, .amplitude = 0.01, .axis = 2};
    start(&f, NULL);
    assert_int_equal(residual_create(&r, ONE_LEVEL(&f.s)), STATUS_OK);
    assert_true(isnan(residual(&r)));
    for (int look_number = 0; look_number < 3; look_number++) {
        steps(&f, 100);
        const double value = residual(&r);
        assert_true(fabs(value / expected - 1) < 0.005);
    }
    assert_true(residual(&r) == 0);
    residual_destroy(&r);
    stop(&f);
}

/* Relative changes down to the last bit, of flows of any speed. */
static void a_residual_is_right_however_small(void **state)
{
    static const double speeds[] = {0.1, 1e-9, 1e-15, 1e-30, 1e-60, 1e-100};
    struct flow f = {.c = reference_case(6, 5, 4)};
    struct residual r;
    (void)state;
    start(&f, NULL);
    assert_int_equal(residual_create(&r, ONE_LEVEL(&f.s)), STATUS_OK);
    /* fp16 has 11 bits, and nothing below 2^-39 */
    const bool fp16 = TAGFLOW_STORAGE == 16;
    for (size_t n = 0; n < (fp64 ? 6 : fp16 ? 1 : 4); n++) {
        for (int change = 0; change < 3; change++) {
            /* the speed in all 120 cells, and in one of them 2^-10, 2^-20 more, and less again; of
             * fp16 2^-2, 2^-4 */
            const double more = change == 0   ? 0
                                : change == 1 ? (fp16 ? 0x1p-2 : 0x1p-10)
                                              : (fp16 ? 0x1p-4 : 0x1p-20);
            for (int z = 0; z < 4; z++)
                for (int y = 0; y < 5; y++)
                    for (int x = 0; x < 6; x++)
                        set_velocity(&f, x, y, z, (double[]){0, speeds[n], 0});
            set_velocity(&f, 3, 2, 1, (double[]){0, speeds[n] * (1 + more), 0});
            reference_put(&f.r, &f.s);
            const double value = residual(&r);
            const double moved = change == 1 ? more : fp16 ? 0x1p-2 - 0x1p-4 : 0x1p-10 - 0x1p-20;
            const double expected = moved / sqrt(119 + (1 + more) * (1 + more));
            if (change > 0)
                assert_true(fabs(value / expected - 1) < (fp64 ? 1e-12 : fp16 ? 1e-2 : 1e-3));
        }
        assert_true(residual(&r) == 0);
    }
    residual_destroy(&r);
    stop(&f);
}

static void a_residual_without_flow_or_numbers(void **state)
{
    struct flow f = {.c = reference_case(3, 3, 3)};
    struct residual r;
    (void)state;
    start(&f, NULL);
    assert_int_equal(residual_create(&r, ONE_LEVEL(&f.s)), STATUS_OK);
    assert_int_equal(r.step, RESIDUAL_NO_STEP);
    assert_true(isnan(residual(&r)));
    assert_int_equal(r.step, 0);
    f.s.step = 7;
    assert_true(residual(&r) == 0); /* rest, and rest before */
    assert_int_equal(r.step, 7);
    set_velocity(&f, 1, 1, 1, (double[]){0.1, 0, 0});
    reference_put(&f.r, &f.s);
    assert_true(residual(&r) == 1);
    set_velocity(&f, 1, 1, 1, (double[]){0, 0, 0});
    reference_put(&f.r, &f.s);
    assert_true(isinf(residual(&r)));
    f.r.now[5] = stored_of((number)NAN);
    reference_put(&f.r, &f.s);
    assert_true(isnan(residual(&r)));
    f.r.now[5] = stored_of(0);
    reference_put(&f.r, &f.s);
    assert_true(isnan(residual(&r))); /* before, it was not one */
    assert_true(residual(&r) == 0);
    residual_destroy(&r);
    stop(&f);
}

static void a_residual_is_registered_with_its_step(void **state)
{
    struct flow f = {.c = reference_case(3, 4, 5)};
    struct residual r, other;
    struct state s = {0};
    (void)state;
    start(&f, NULL);
    assert_int_equal(residual_create(&r, ONE_LEVEL(&f.s)), STATUS_OK);
    assert_int_equal(residual_create(&other, ONE_LEVEL(&f.s)), STATUS_OK);
    assert_int_equal(residual_register(&r, &s, "series/r"), STATUS_OK);
    assert_int_equal(residual_register(&other, &s, "stop"), STATUS_OK);
    assert_int_equal(s.count, 4);
    assert_string_equal(s.array[0].name, "series/r/velocity");
    assert_string_equal(s.array[1].name, "series/r/step");
    assert_string_equal(s.array[2].name, "stop/velocity");
    assert_true(s.array[0].in_cells && s.array[0].components == 3 && !s.array[1].in_cells);
    assert_int_equal(s.array[0].sample, fp64 ? SAMPLE_float64 : SAMPLE_float32);
    assert_int_equal(box_cells(&s.array[0].box), 60);
    assert_true(s.array[0].data == r.velocity[0] && s.array[1].data == &r.step);
    set_velocity(&f, 2, 3, 1, (double[]){0, 0, 0.125});
    reference_put(&f.r, &f.s);
    residual(&r);
    double wide[180]; /* [3][z][y][x] */
    float narrow[180];
    assert_int_equal(solver_copy_out(&f.s, fp64 ? (void *)wide : narrow, r.velocity[0],
                                     fp64 ? sizeof wide : sizeof narrow),
                     STATUS_OK);
    for (int n = 0; n < 180; n++) {
        const double value = fp64 ? wide[n] : (double)narrow[n];
        assert_true(fabs(value - (n == 120 + 1 * 12 + 3 * 3 + 2 ? 0.125 : 0)) < within(1e-7, 1e-7));
    }
    residual_destroy(&r);
    residual_destroy(&other);
    state_destroy(&s);
    stop(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_flow_is_interpolated_to_round_off),
        cmocka_unit_test(couette_flow_is_a_straight_line),
        cmocka_unit_test(what_is_not_fluid_is_left_out),
        cmocka_unit_test(a_line_is_fetched_in_few_boxes),
        cmocka_unit_test(the_same_mass_flows_through_every_plane),
        cmocka_unit_test(a_plane_of_walls_has_no_pressure),
        cmocka_unit_test(taylor_green_vortices_decay_at_their_rate),
        cmocka_unit_test(a_residual_is_right_however_small),
        cmocka_unit_test(a_residual_without_flow_or_numbers),
        cmocka_unit_test(a_residual_is_registered_with_its_step),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
