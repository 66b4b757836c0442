/* Surfaces of bodies: where links meet them, what the rule gives back, what bodies get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/keys.h"
#include "measure/curl.h"
#include "measure/flow.h"
#include "measure/forces.h"
#include "reference.h"
#include "solver/drive.h"
#include "surface.h"
#include "tags/create.h"
#include "tags/inputs.h"

static const double eps = TAGFLOW_ARITHMETIC == 64 ? DBL_EPSILON : FLT_EPSILON;

/* ---- a flow made from a case's text ---- */

struct flow {
    struct flow_case c;
    struct domain d;
    struct backend *b;
    struct solver s;
    size_t cells;
};

/* Force on a body in the next step. */
static struct body_forces force_of(struct flow *f, int body, const double *about)
{
    struct forces_step step;
    assert_int_equal(forces_begin(ONE_LEVEL(&f->s), body, about, &step), STATUS_OK);
    return step.first;
}

static void open_flow(struct flow *f, const char *text)
{
    const struct case_files files = inputs(NULL);
    *f = (struct flow){0};
    if (case_read_files("case.yaml", text, (long)strlen(text), 0, NULL, &files, &f->c))
        fail_msg("not read:\n%s", text);
    assert_int_equal(domain_create(&f->d, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&f->b, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&f->s, &f->d, f->b, &f->c), STATUS_OK);
    const struct box all = domain_all(&f->d);
    f->cells = box_cells(&all);
}

static void close_flow(struct flow *f)
{
    solver_destroy(&f->s);
    TAGFLOW_BACKEND.close(f->b);
    domain_destroy(&f->d);
    case_destroy(&f->c);
}

static size_t cell_number(const struct flow *f, int x, int y, int z)
{
    return ((size_t)z * (size_t)f->c.cells[1] + (size_t)y) * (size_t)f->c.cells[0] + (size_t)x;
}

static const struct tag_row *row_at(const struct flow *f, int x, int y, int z)
{
    return &f->d.rows[f->d.tags[view_index(&f->d.view, x, y, z)] & TAG_ROW];
}

#define EACH_CELL(f)                                                                               \
    for (int z = 0; z < (f)->c.cells[2]; z++)                                                      \
        for (int y = 0; y < (f)->c.cells[1]; y++)                                                  \
            for (int x = 0; x < (f)->c.cells[0]; x++)

/* [Q][cells] */
static void get(struct flow *f, double *to)
{
    const struct box all = domain_all(&f->d);
    struct box b;
    for (int piece = 0; solver_piece(&f->s, &all, piece, &b); piece++) {
        const stored *const got = solver_get(&f->s, SET_flow, &b);
        const size_t cells = box_cells(&b);
        size_t n = 0;
        assert_non_null(got);
        for (int z = b.lo[2]; z < b.hi[2]; z++)
            for (int y = b.lo[1]; y < b.hi[1]; y++)
                for (int x = b.lo[0]; x < b.hi[0]; x++, n++)
                    for (size_t i = 0; i < Q; i++)
                        to[i * f->cells + cell_number(f, x, y, z)] =
                            (double)value_of(got[i * cells + n]);
    }
}

static void put(struct flow *f, const double *from)
{
    const struct box all = domain_all(&f->d);
    struct box b;
    for (int piece = 0; solver_piece(&f->s, &all, piece, &b); piece++) {
        stored *const host = solver_host(&f->s);
        const size_t cells = box_cells(&b);
        size_t n = 0;
        for (int z = b.lo[2]; z < b.hi[2]; z++)
            for (int y = b.lo[1]; y < b.hi[1]; y++)
                for (int x = b.lo[0]; x < b.hi[0]; x++, n++)
                    for (size_t i = 0; i < Q; i++)
                        host[i * cells + n] =
                            stored_of((number)from[i * f->cells + cell_number(f, x, y, z)]);
        assert_int_equal(solver_put(&f->s, SET_flow, &b), STATUS_OK);
    }
}

static double *populations(const struct flow *f)
{
    double *const p = calloc(Q * f->cells, sizeof *p);
    assert_non_null(p);
    return p;
}

/* Far from equilibrium, of the order of 0.01, at most `reach` cells along any axis from `middle`:
 * NULL everywhere. */
static void fill(struct flow *f, double *to, const double *middle, double reach, uint64_t seed)
{
    EACH_CELL(f)
    {
        const int at[3] = {x, y, z};
        bool near = row_at(f, x, y, z)->fluid;
        double u[3];
        for (int a = 0; a < 3; a++) {
            u[a] = 0.05 * reference_uniform(&seed);
            near = near && (!middle || fabs(at[a] + 0.5 - middle[a]) <= reach);
        }
        for (int i = 0; i < Q; i++) {
            const double w = i == 0 ? 1.0 / 3 : i <= 6 ? 1.0 / 18 : 1.0 / 36;
            double value = 0.02 * reference_uniform(&seed);
            for (int a = 0; a < 3; a++)
                value += 3 * reference_velocity(i, a) * u[a];
            to[(size_t)i * f->cells + cell_number(f, x, y, z)] =
                near ? (double)value_of(stored_of((number)(w * value))) : 0;
        }
    }
}

/* ---- where links meet bodies ---- */

/* The first way into a ball, a box or a rod without ends along z, of the line p + t c; 2: none. */
static double into_ball(const double p[3], const int c[3], const double m[3], double radius,
                        int axes)
{
    double a = 0, b = 0, d = -radius * radius;
    for (int k = 0; k < axes; k++) {
        a += c[k] * c[k];
        b += c[k] * (p[k] - m[k]);
        d += (p[k] - m[k]) * (p[k] - m[k]);
    }
    return a > 0 && b * b >= a * d ? (-b - sqrt(b * b - a * d)) / a : 2;
}

static double into_box(const double p[3], const int c[3], const double lo[3], const double hi[3])
{
    double first = 0;
    for (int a = 0; a < 3; a++)
        if (c[a])
            first = fmax(first, ((c[a] > 0 ? lo[a] : hi[a]) - p[a]) / c[a]);
    return first;
}

static const double ball[3] = {1.3, 6.1, 9.4}, ball_radius = 3.3;
static const double brick_lo[3] = {8.3, 2.25, -1.6}, brick_hi[3] = {12.9, 5.6, 1.7};
static const double rod[3] = {9.1, 9.4, 0}, rod_radius = 1.7;
static const char crossed[] = "domain: {cells: [15, 14, 12]}\nfluid: {viscosity: 0.1}\n"
                              "faces: {x: periodic, y: wall, z: periodic}\nrun: {steps: 1}\n"
                              "bodies:\n"
                              "  ball: {shape: {sphere: {center: [1.3, 6.1, 9.4], radius: 3.3}}, "
                              "wall: interpolated}\n"
                              "  brick: {shape: {box: {from: [8.3, 2.25, -1.6], to: [12.9, 5.6, "
                              "1.7]}}, wall: interpolated}\n"
                              "  rod: {shape: {cylinder: {center: [9.1, 9.4, 0], axis: z, radius: "
                              "1.7}}, wall: interpolated}\n";

/* The part of the link from p along c outside of the three bodies and their images, by formulas;
 * 0: it does not lead into one. */
static double formula(const double p[3], const int c[3])
{
    double least = 2;
    for (int image = 0; image < 9; image++) {
        const double at[3] = {p[0] + 15 * (image % 3 - 1), p[1], p[2] + 12 * (image / 3 - 1)};
        double to[3], far[2] = {0, 0};
        bool boxed = true;
        for (int a = 0; a < 3; a++) {
            to[a] = at[a] + c[a];
            far[0] += (to[a] - ball[a]) * (to[a] - ball[a]);
            far[1] += a < 2 ? (to[a] - rod[a]) * (to[a] - rod[a]) : 0;
            boxed = boxed && to[a] > brick_lo[a] && to[a] < brick_hi[a];
        }
        if (far[0] < ball_radius * ball_radius)
            least = fmin(least, into_ball(at, c, ball, ball_radius, 3));
        if (far[1] < rod_radius * rod_radius)
            least = fmin(least, into_ball(at, c, rod, rod_radius, 2));
        if (boxed)
            least = fmin(least, into_box(at, c, brick_lo, brick_hi));
    }
    return least < 2 ? least : 0;
}

/* Every link of the list, and no other, with the crossing that the formula of its shape gives; the
 * ball and the brick go on beyond periodic faces. In the list they are in fp32. */
static void links_cross_where_formulas_say(void **state)
{
    struct flow f;
    size_t links = 0, wanted = 0;
    (void)state;
    open_flow(&f, crossed);
    EACH_CELL(&f)
    for (int i = 1; i < Q && row_at(&f, x, y, z)->fluid; i++) {
        const double p[3] = {x + 0.5, y + 0.5, z + 0.5};
        const int c[3] = {-reference_velocity(i, 0), -reference_velocity(i, 1),
                          -reference_velocity(i, 2)};
        const double q = formula(p, c);
        const struct tag_row *const there = row_at(&f, x + c[0], y + c[1], z + c[2]);
        if ((there->body != 0) != (q > 0))
            fail_msg("cell %d %d %d, link %d: body %d, by formula %g", x, y, z, i, there->body, q);
        wanted += q > 0;
    }
    for (size_t k = 0; k < f.d.view.near.count; k++) {
        const struct near_cell *const cell = &f.d.near[k];
        const float *crossing = f.d.crossing + cell->first;
        for (int i = 1; i < Q; i++) {
            const double p[3] = {cell->at[0] + 0.5, cell->at[1] + 0.5, cell->at[2] + 0.5};
            const int c[3] = {-reference_velocity(i, 0), -reference_velocity(i, 1),
                              -reference_velocity(i, 2)};
            const double q = formula(p, c);
            if (!(cell->links >> i & 1)) {
                assert_true(q == 0);
                continue;
            }
            if (q > 0 && !(fabs((double)*crossing - q) < 1e-6))
                fail_msg("cell %d %d %d, link %d: %g, by formula %g", cell->at[0], cell->at[1],
                         cell->at[2], i, (double)*crossing, q);
            links += q > 0;
            crossing++;
        }
    }
    assert_int_equal(links, wanted);
    assert_true(links > 500);
    close_flow(&f);
}

/* ---- the rule, from the comment in surface.h ---- */

/* i: into the wall; q, omega of odd moments, populations of the pair as they arrived and collided,
 * momentum without force, velocity of the wall. */
static double rule(int i, double q, double omega, const double f[2], const double collided[2],
                   const double j[3], const double u[3])
{
    const double b = fmin(0.75, 3 * fabs(1 - 2 * q)), s = 1 - b, w = i <= 6 ? 1.0 / 18 : 1.0 / 36;
    const double odd = (f[0] - f[1]) / 2, g = (collided[0] - collided[1]) / 2 - odd;
    double cj = 0, cu = 0;
    for (int a = 0; a < 3; a++) {
        cj += reference_velocity(i, a) * j[a];
        cu += reference_velocity(i, a) * u[a];
    }
    return (2 * q * s - b) * collided[0] + b * collided[1] + (1 - 2 * q * s) * f[0] +
           (b + 1 - 2 * q * s) * g -
           2 * s * ((1 - 4 * q * q) * (1 - omega / 2) * (odd - 3 * w * cj) + 3 * w * cu);
}

struct link {
    double q, omega;
    struct leaving l;
};

static struct link random_link(uint64_t *random, int i)
{
    struct link k = {.q = (double)(float)(0.5 + 0.5 * reference_uniform(random)),
                     .omega = (double)(real)(1 + 0.9 * reference_uniform(random))};
    k.l.in = reference_opposite(i);
    k.l.f_in = (real)(0.02 * reference_uniform(random));
    k.l.f_out = (real)(0.02 * reference_uniform(random));
    k.l.c_in = (real)(0.02 * reference_uniform(random));
    k.l.c_out = (real)(0.02 * reference_uniform(random));
    for (int a = 0; a < 3; a++) {
        k.l.j[a] = (real)(0.1 * reference_uniform(random));
        k.l.given_u[a] = (real)(0.1 * reference_uniform(random));
    }
    return k;
}

static void the_rule_is_the_formula(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int sample = 0; sample < 20000; sample++) {
        const int i = 1 + sample % (Q - 1);
        const struct link k = random_link(&random, i);
        const double f[2] = {(double)k.l.f_out, (double)k.l.f_in},
                     c[2] = {(double)k.l.c_out, (double)k.l.c_in};
        double j[3], u[3];
        for (int a = 0; a < 3; a++) {
            j[a] = (double)k.l.j[a];
            u[a] = (double)k.l.given_u[a];
        }
        const double back = (double)surface_leave(&k.l, (real)k.q, (real)k.omega);
        if (!(fabs(back - rule(i, k.q, k.omega, f, c, j, u)) < eps))
            fail_msg("q %g, link %d: %.17g, by the formula %.17g", k.q, i, back,
                     rule(i, k.q, k.omega, f, c, j, u));
    }
}

/* At rest to the bit. */
static void half_way_it_is_bounce_back(void **state)
{
    uint64_t random = 6;
    (void)state;
    for (int sample = 0; sample < 1000; sample++) {
        const int i = 1 + sample % (Q - 1);
        struct link k = random_link(&random, i);
        double cu = 0;
        for (int a = 0; a < 3; a++)
            cu += reference_velocity(i, a) * (double)k.l.given_u[a];
        const double moving = (double)k.l.c_out - (i <= 6 ? 6.0 / 18 : 6.0 / 36) * cu;
        assert_true(fabs((double)surface_leave(&k.l, (real)0.5, (real)k.omega) - moving) <
                    0.2 * eps);
        for (int a = 0; a < 3; a++)
            k.l.given_u[a] = 0;
        assert_true(surface_leave(&k.l, (real)0.5, (real)k.omega) == k.l.c_out);
    }
}

/* The 48 ways to turn and mirror a cube. */
static void the_rule_knows_no_direction_from_another(void **state)
{
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    uint64_t random = 7;
    (void)state;
    for (int sample = 0; sample < 48 * 90; sample++) {
        const int i = 1 + sample % (Q - 1), index = sample / 18 % 48;
        const struct link k = random_link(&random, i);
        struct link turned = k;
        int to[3], found = 0;
        for (int a = 0; a < 3; a++) {
            const int b = axes[index / 8][a], sign = index >> a & 1 ? -1 : 1;
            to[b] = sign * reference_velocity(i, a);
            turned.l.j[b] = (real)sign * k.l.j[a];
            turned.l.given_u[b] = (real)sign * k.l.given_u[a];
        }
        for (int m = 1; m < Q; m++)
            if (to[0] == reference_velocity(m, 0) && to[1] == reference_velocity(m, 1) &&
                to[2] == reference_velocity(m, 2))
                found = m;
        assert_true(found);
        turned.l.in = reference_opposite(found);
        assert_true(fabs((double)(surface_leave(&k.l, (real)k.q, (real)k.omega) -
                                  surface_leave(&turned.l, (real)k.q, (real)k.omega))) < 0.3 * eps);
    }
}

/* ---- whole steps ---- */

static double turning_rate(const struct tag_row *row)
{
    return row->collision == COLLISION_bgk   ? row->omega_even
           : row->collision == COLLISION_trt ? row->omega_odd
           : row->collision == COLLISION_gauss_hermite || row->collision == COLLISION_rr
               ? 1
               : row->omega_third;
}

/* What a step gives to a body, added up in double. */
struct got {
    double force[3], pressure[3], torque[3];
};

/* From the pivot of the nearest image to a point. */
static void arm_of(const struct flow *f, const struct tag_row *wall, const double p[3],
                   double arm[3])
{
    for (int a = 0; a < 3; a++) {
        arm[a] = p[a] - wall->pivot[a];
        if (f->c.faces[2 * a].kind == FACE_periodic)
            arm[a] -= f->c.cells[a] * rint(arm[a] / f->c.cells[a]);
    }
}

/* What comes back along the link i of a cell, and what the body there gets. */
static double comes_back(const struct flow *f, const int at[3], int i, double q, const real p[Q],
                         const real out[Q], struct got *got)
{
    const struct tag_row *const row = row_at(f, at[0], at[1], at[2]);
    const int c[3] = {reference_velocity(i, 0), reference_velocity(i, 1), reference_velocity(i, 2)};
    const struct tag_row *const wall = row_at(f, at[0] + c[0], at[1] + c[1], at[2] + c[2]);
    const int o = reference_opposite(i);
    const double w = i <= 6 ? 1.0 / 18 : 1.0 / 36, *const spin = wall->spin;
    double j[3] = {0, 0, 0}, meets[3], arm[3], cu = 0, drho = 0, taken[3], back;
    for (int a = 0; a < 3; a++)
        meets[a] = at[a] + 0.5 + q * c[a];
    arm_of(f, wall, meets, arm);
    const double u[3] = {wall->wall_velocity[0] + spin[1] * arm[2] - spin[2] * arm[1],
                         wall->wall_velocity[1] + spin[2] * arm[0] - spin[0] * arm[2],
                         wall->wall_velocity[2] + spin[0] * arm[1] - spin[1] * arm[0]};
    for (int k = 0; k < Q; k++) {
        drho += (double)p[k];
        for (int a = 0; a < 3; a++)
            j[a] += reference_velocity(k, a) * (double)p[k];
    }
    for (int a = 0; a < 3; a++)
        cu += c[a] * u[a];
    const double before[2] = {(double)p[i], (double)p[o]},
                 after[2] = {(double)out[i], (double)out[o]};
    back = wall->boundary == BOUNDARY_halfway  ? after[0]
           : wall->boundary == BOUNDARY_moving ? after[0] - 6 * w * cu
                                               : rule(i, q, turning_rate(row), before, after, j, u);
    for (int a = 0; a < 3; a++) {
        taken[a] = c[a] * (after[0] + back) - u[a] * (after[0] - back);
        got[wall->body].force[a] += taken[a];
        got[wall->body].pressure[a] += c[a] * 2 * w * drho;
    }
    for (int a = 0; a < 3; a++)
        got[wall->body].torque[a] +=
            arm[(a + 1) % 3] * taken[(a + 2) % 3] - arm[(a + 2) % 3] * taken[(a + 1) % 3];
    return back;
}

/* Where the cell's link i meets what it leads into: as the list says, else half-way. */
static double crossing_of(const struct flow *f, const int *listed, const int at[3], int i)
{
    const int k = listed[cell_number(f, at[0], at[1], at[2])], in = reference_opposite(i);
    if (k < 0)
        return 0.5;
    const struct near_cell *const cell = &f->d.near[k];
    return (double)f->d.crossing[cell->first + (unsigned)__builtin_popcount(
                                                   cell->links & ((UINT32_C(1) << in) - 1))];
}

/* A step on two copies of the populations, one cell after the other. got: [1 + bodies] */
static void step_plainly(const struct flow *f, const int *listed, const double *now, double *next,
                         struct got *got)
{
    EACH_CELL(f)
    {
        const struct tag_row *const row = row_at(f, x, y, z);
        const struct collision_parameters p = collision_parameters(&reference_still, row);
        const int at[3] = {x, y, z};
        real in[Q], out[Q];
        if (!row->fluid)
            continue;
        for (int i = 0; i < Q; i++)
            in[i] = (real)now[(size_t)i * f->cells + cell_number(f, x, y, z)];
        const struct moments m = moments(in, p, row->forced);
        collide(row->collision, in, out, m, p,
                subgrid_rates(SUBGRID_none, in, m, p, (real)1, row->forced), row->forced);
        for (int i = 0; i < Q; i++) {
            int to[3];
            for (int a = 0; a < 3; a++)
                to[a] = at[a] + reference_velocity(i, a);
            const bool fluid = row_at(f, to[0], to[1], to[2])->fluid;
            for (int a = 0; a < 3; a++)
                to[a] = (to[a] + f->c.cells[a]) % f->c.cells[a];
            if (fluid)
                next[(size_t)i * f->cells + cell_number(f, to[0], to[1], to[2])] = (double)out[i];
            else
                next[(size_t)reference_opposite(i) * f->cells + cell_number(f, x, y, z)] =
                    comes_back(f, at, i, crossing_of(f, listed, at, i), in, out, got);
        }
    }
}

/* [cells] place in the list, -1: none */
static int *places(const struct flow *f)
{
    int *const listed = malloc(f->cells * sizeof *listed);
    assert_non_null(listed);
    for (size_t n = 0; n < f->cells; n++)
        listed[n] = -1;
    for (size_t k = 0; k < f->d.view.near.count; k++) {
        const int *const at = f->d.near[k].at;
        assert_int_equal(listed[cell_number(f, at[0], at[1], at[2])], -1);
        listed[cell_number(f, at[0], at[1], at[2])] = (int)k;
    }
    return listed;
}

static void same_vector(const char *what, const double is[3], const double wanted[3], double most)
{
    for (int a = 0; a < 3; a++)
        if (!(fabs(is[a] - wanted[a]) < most))
            fail_msg("%s, axis %d: %.17g, not %.17g", what, a, is[a], wanted[a]);
}

#define PRECISION_(storage, arithmetic) "storage: fp" #storage ", arithmetic: fp" #arithmetic
#define PRECISION_OF(storage, arithmetic) PRECISION_(storage, arithmetic)
#define PRECISION PRECISION_OF(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)

#define FORCES_ON(name) name ": {every: 1, of: forces, body: " name "}"

/* Bodies interpolated and half-way, at rest, sliding and turning, beyond periodic faces, beside
 * walls and each other; with every operator, with a force and without. */
static const char mixed[] =
    "domain: {cells: [17, 13, 11]}\nfluid: {viscosity: 0.02}\n"
    "solver: {collision: %s, " PRECISION "}\n"
    "faces: {x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.01]}}, z: periodic}\n"
    "force: {acceleration: [%g, %g, 0]}\nrun: {steps: 9}\n"
    "bodies:\n"
    "  ball: {shape: {sphere: {center: [1.3, 6.1, 9.4], radius: 3.3}}, wall: interpolated, "
    "velocity: [0.01, -0.02, 0.005], rotation: {rate: [0.004, -0.003, 0.01]}}\n"
    "  rod: {shape: {cylinder: {center: [8, 5.2, 5], axis: y, radius: 1.6}}, "
    "rotation: {rate: [0, 0.02, 0], about: [8.2, 0, 5.1]}}\n"
    "  brick: {shape: {box: {from: [11.6, 0, 2], to: [13.6, 2.4, 4]}}, velocity: [0.03, 0, 0.01]}\n"
    "  bar: {shape: {box: {from: [10.2, 7.3, 1.1], to: [14.7, 9.9, 3.2]}}, wall: interpolated}\n"
    "  post: {shape: {box: {from: [9, 10, 8], to: [11, 12, 10]}}}\n"
    "output: {series: {" FORCES_ON("ball") ", " FORCES_ON("rod") ", " FORCES_ON(
        "brick") ", " FORCES_ON("bar") ", " FORCES_ON("post") "}}\n";

/* Each step from the state that the one before left, so that roundings do not add up: of sums of
 * some 30 terms up to 0.05, those of forces over some 1000 links. */
static void steps_and_forces_are_the_formulas(void **state)
{
    (void)state;
    for (int collision = 0; collision < COLLISIONS; collision++)
        for (int forced = 0; forced < 2; forced++) {
            char text[4096];
            struct flow f;
            snprintf(text, sizeof text, mixed, key_collisions[collision], forced * 1e-3,
                     forced * -3e-4);
            open_flow(&f, text);
            int *const listed = places(&f);
            double *const now = populations(&f), *const next = populations(&f),
                          *const is = populations(&f);
            reference_poison(&f.s);
            fill(&f, now, NULL, 0, 3 + (uint64_t)collision);
            put(&f, now);
            for (int step = 0; step < 5; step++) {
                struct got got[6] = {0};
                struct body_forces measured[5];
                get(&f, now);
                step_plainly(&f, listed, now, next, got);
                for (int body = 0; body < 5; body++)
                    measured[body] = force_of(&f, body, NULL);
                assert_int_equal(solver_step(&f.s), STATUS_OK);
                get(&f, is);
                for (size_t n = 0; n < Q * f.cells; n++)
                    if (!(fabs(is[n] - next[n]) < 3 * eps + reference_rounding(next[n])))
                        fail_msg("%s, forced %d, step %d, population %zu of cell %zu: %.17g, by "
                                 "the formula %.17g",
                                 key_collisions[collision], forced, step, n / f.cells, n % f.cells,
                                 is[n], next[n]);
                for (int body = 0; body < 5; body++) {
                    same_vector("force", measured[body].force, got[1 + body].force, 50 * eps);
                    same_vector("pressure", measured[body].pressure, got[1 + body].pressure,
                                50 * eps);
                    same_vector("torque", measured[body].torque, got[1 + body].torque, 500 * eps);
                }
            }
            free(is);
            free(next);
            free(now);
            free(listed);
            close_flow(&f);
        }
}

/* ---- what bodies get is what the fluid loses ---- */

static const char resting[] =
    "domain: {cells: [24, 22, 20]}\nfluid: {viscosity: 0.02}\n"
    "solver: {collision: %s, " PRECISION "}\n"
    "faces: {x: periodic, y: periodic, z: periodic}\nrun: {steps: 9}\n"
    "force: {acceleration: [%g, %g, %g]}\n"
    "bodies:\n"
    "  ball: {shape: {sphere: {center: [9.3, 10.1, 9.4], radius: 2.6}}, wall: %s}\n"
    "  bar: {shape: {box: {from: [13.2, 10.3, 9.1], to: [15.7, 11.9, 11.2]}}, wall: %s}\n"
    "output: {series: {" FORCES_ON("ball") ", " FORCES_ON("bar") "}}\n";

/* Momentum and its moment about the origin of all the fluid, mass over the density at rest. */
struct momentum {
    double mass, j[3], l[3];
};

static struct momentum momentum_of(const struct flow *f, const double *p)
{
    struct momentum m = {0};
    EACH_CELL(f)
    {
        const double at[3] = {x + 0.5, y + 0.5, z + 0.5};
        double j[3] = {0, 0, 0};
        for (int i = 0; i < Q; i++) {
            const double value = p[(size_t)i * f->cells + cell_number(f, x, y, z)];
            m.mass += value;
            for (int a = 0; a < 3; a++)
                j[a] += reference_velocity(i, a) * value;
        }
        for (int a = 0; a < 3; a++) {
            m.j[a] += j[a];
            m.l[a] += at[(a + 1) % 3] * j[(a + 2) % 3] - at[(a + 2) % 3] * j[(a + 1) % 3];
        }
    }
    return m;
}

/* Step by step, whatever the flow: what bodies at rest get, and all that a force gives, is the
 * change of the momentum; without a force, and as long as what moves has not come to the periodic
 * faces, torques are that of its moment. Roundings of some 10^4 cells' momenta, times distances up
 * to 24. fp32 rounds populations, so that sums over cells are good to their number's root; fp16, by
 * 1e-6 each where they are 0.003, to four times 3e-4. */
static void bodies_get_what_the_fluid_loses(void **state)
{
    static const double middle[3] = {12, 11, 10}, origin[3] = {0, 0, 0};
    const double most = TAGFLOW_STORAGE == 64 ? 2e-12 : TAGFLOW_STORAGE == 32 ? 1e-5 : 1.2e-3;
    (void)state;
    for (int kind = 0; kind < 4 * COLLISIONS; kind++) {
        const int collision = kind / 4, forced = kind % 2;
        const char *const wall = kind / 2 % 2 ? "interpolated" : "halfway";
        char text[4096];
        struct flow f;
        snprintf(text, sizeof text, resting, key_collisions[collision], forced * 1e-3,
                 forced * -3e-4, forced * 2e-4, wall, wall);
        open_flow(&f, text);
        double *const p = populations(&f);
        fill(&f, p, middle, forced ? 100 : 5, 9 + (uint64_t)kind);
        put(&f, p);
        for (int step = 0; step < 4; step++) {
            struct body_forces got[2];
            double lost[3], taken[3], turned[3], torque[3];
            get(&f, p);
            const struct momentum before = momentum_of(&f, p);
            for (int body = 0; body < 2; body++)
                got[body] = force_of(&f, body, origin);
            assert_int_equal(solver_step(&f.s), STATUS_OK);
            get(&f, p);
            const struct momentum after = momentum_of(&f, p);
            const double fluid = (double)f.d.fluid_cells + before.mass;
            for (int a = 0; a < 3; a++) {
                lost[a] = before.j[a] - after.j[a] + f.c.acceleration[a] * fluid;
                taken[a] = got[0].force[a] + got[1].force[a];
                turned[a] = before.l[a] - after.l[a];
                torque[a] = got[0].torque[a] + got[1].torque[a];
            }
            same_vector(wall, taken, lost, most);
            if (!forced)
                same_vector("torque", torque, turned, 20 * most);
            if (step == 0) /* there is something to compare */
                assert_true(fabs(taken[0]) + fabs(taken[1]) + fabs(taken[2]) > 1e-3 &&
                            fabs(torque[0]) > 1e-2);
        }
        free(p);
        close_flow(&f);
    }
}

/* ---- plane flows between surfaces anywhere ---- */

static const char plane[] =
    "domain: {cells: [1, 14, 1]}\nfluid: {viscosity: %.17g}\n"
    "solver: {collision: trt, magic: %.17g, " PRECISION "}\n"
    "faces: {x: periodic, y: wall, z: periodic}\nrun: {steps: 9}\n"
    "force: {acceleration: [%.17g, 0, 0]}\n"
    "bodies:\n"
    "  low: {shape: {box: {from: [-9, -9, -9], to: [9, %.17g, 9]}}, wall: interpolated}\n"
    "  high: {shape: {box: {from: [-9, %.17g, -9], to: [9, 99, 9]}}, wall: interpolated, "
    "velocity: [%g, 0, 0]}\n"
    "output: {series: {" FORCES_ON("low") "}}\n";

/* Largest difference of u_x from the parabola (or line) through the surfaces. */
static double plane_error(double viscosity, double magic, double low, double high, double push,
                          double slide)
{
    char text[4096];
    struct flow f;
    double worst = 0;
    snprintf(text, sizeof text, plane, viscosity, magic, push, low, high, slide);
    open_flow(&f, text);
    for (int step = 0; step < (int)(500 / viscosity); step++)
        assert_int_equal(solver_step(&f.s), STATUS_OK);
    const struct box all = domain_all(&f.d);
    const double *const flow = solver_flow(&f.s, &all);
    assert_non_null(flow);
    for (int y = 0; y < 14; y++) {
        const double at = y + 0.5, u = slide * (at - low) / (high - low) +
                                       push / (2 * viscosity) * (at - low) * (high - at);
        if (row_at(&f, 0, y, 0)->fluid)
            worst = fmax(worst, fabs(flow[4 * y + 1] - u));
    }
    close_flow(&f);
    return worst;
}

/* Shear between plates is exact wherever they are, at any viscosity and `magic`; a parabola is
 * where magic = 3/16. Largest velocities are 0.05; crossings are numbers of fp32. What fp16 rounds
 * off every step stands against what the force gives: 1e-4 u / g of the velocity (docs/physics.md,
 * "Precision"), here twice that. */
static void plane_flows_are_exact(void **state)
{
    static const double places[][2] = {{1.5009765625, 12.5},
                                       {1.75, 12.296875},
                                       {2, 12},
                                       {2.296875, 11.625},
                                       {2.4990234375, 11.5009765625}};
    static const double viscosities[] = {0.02, 0.1, 0.7};
    (void)state;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (int v = 0; v < 3; v++) {
            const double low = places[k][0], high = places[k][1], nu = viscosities[v],
                         push = 0.05 * 8 * nu / ((high - low) * (high - low));
            const double most = TAGFLOW_STORAGE == 64   ? 1e-13
                                : TAGFLOW_STORAGE == 32 ? 2e-5
                                                        : 2e-4 * 0.05 * 0.05 / push;
            const double shear = plane_error(nu, 0.01 + 0.1 * v, low, high, 0, 0.05);
            const double parabola = plane_error(nu, 3.0 / 16, low, high, push, 0);
            if (!(shear < most) || !(parabola < most))
                fail_msg("surfaces at %g and %g, viscosity %g: shear off by %g, parabola by %g",
                         low, high, nu, shear, parabola);
        }
}

/* ---- the curl beside a surface that turns ---- */

static const char turning[] =
    "domain: {cells: [40, 36, 5]}\nfluid: {viscosity: 0.02}\nsolver: {" PRECISION "}\n"
    "faces: {x: slip, y: periodic, z: periodic}\nrun: {steps: 9}\n"
    "bodies:\n"
    "  rod: {shape: {cylinder: {center: [20, 17.6, 2.5], axis: z, radius: 7.3}}, wall: %s,\n"
    "        rotation: {rate: [0, 0, 0.004]}}\n";

/* A fluid that turns as a solid with the rod has the curl 2 w in every cell, those beside the rod
 * as well: the velocity is linear, and the surface's is part of it. */
static void the_curl_beside_what_turns_is_right(void **state)
{
    (void)state;
    for (int wall = 0; wall < 2; wall++) {
        char text[1024];
        struct flow f;
        snprintf(text, sizeof text, turning, wall ? "interpolated" : "halfway");
        open_flow(&f, text);
        double *const p = populations(&f);
        EACH_CELL(&f)
        {
            const double u[3] = {-0.004 * (y + 0.5 - 17.6), 0.004 * (x + 0.5 - 20), 0};
            for (int i = 0; i < Q && row_at(&f, x, y, z)->fluid; i++)
                for (int a = 0; a < 3; a++)
                    p[(size_t)i * f.cells + cell_number(&f, x, y, z)] +=
                        3 * (double)weight_of(i) * reference_velocity(i, a) * u[a];
        }
        put(&f, p);
        const struct box all = domain_all(&f.d);
        struct box piece;
        struct fetch fetch;
        const double *curl;
        int beside = 0;
        assert_int_equal(curl_prepare(&f.s), STATUS_OK);
        for (fetch_start(&fetch, &f.s, KERNEL_curl, &all); (curl = fetch_next(&fetch, &piece));)
            for (int z = piece.lo[2]; z < piece.hi[2]; z++)
                for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                    for (int x = piece.lo[0]; x < piece.hi[0]; x++, curl += 3) {
                        const double wanted[3] = {0, 0, 2 * 0.004};
                        const bool inner = x > 0 && x < 39 && y > 0 && y < 35;
                        if (!row_at(&f, x, y, z)->fluid || !inner)
                            continue;
                        beside += f.d.tags[view_index(&f.d.view, x, y, z)] / TAG_BESIDE;
                        same_vector("curl", curl, wanted, 20 * reference_rounding(0.02) + eps);
                    }
        assert_int_equal(fetch_end(&fetch), STATUS_OK);
        assert_true(beside > 5 * 50);
        free(p);
        close_flow(&f);
    }
}

/* ---- a flow that is none ---- */

/* One population of one cell beside a body: its forces are not numbers any more, others' are, and
 * nor are the sums of the velocity and of the curl. */
static void what_is_not_finite_is_said(void **state)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        char text[4096];
        struct flow f;
        struct body_forces near, far;
        struct flow_sums sums;
        double drift[3], fluid;
        snprintf(text, sizeof text, resting, "trt", 0.0, 0.0, 0.0, "interpolated", "halfway");
        open_flow(&f, text);
        double *const p = populations(&f);
        fill(&f, p, NULL, 0, 5);
        for (int bad = 0; bad < 2; bad++) {
            if (bad)
                for (int i = 0; i < Q; i++) /* the fluid cell at the lower end of the ball */
                    p[(size_t)i * f.cells + cell_number(&f, 9, 10, 6)] = values[k];
            put(&f, p);
            near = force_of(&f, 0, NULL);
            far = force_of(&f, 1, NULL);
            assert_int_equal(drive_velocity(ONE_LEVEL(&f.s), drift, &fluid), STATUS_OK);
            assert_int_equal(flow_measure(ONE_LEVEL(&f.s), true, &sums), STATUS_OK);
            for (int a = 0; a < 3; a++) {
                assert_true(isnan(near.force[a]) == bad && isnan(near.pressure[a]) == bad &&
                            isnan(near.torque[a]) == bad);
                assert_true(isfinite(far.force[a]) && isfinite(far.torque[a]));
                assert_true(isnan(drift[a]) == bad);
            }
            assert_true(isnan(sums.mass) == bad && isnan(sums.kinetic_energy) == bad &&
                        isnan(sums.enstrophy) == bad && isnan(sums.max_velocity) == bad &&
                        sums.finite == !bad);
        }
        free(p);
        close_flow(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_cross_where_formulas_say),
        cmocka_unit_test(the_rule_is_the_formula),
        cmocka_unit_test(half_way_it_is_bounce_back),
        cmocka_unit_test(the_rule_knows_no_direction_from_another),
        cmocka_unit_test(steps_and_forces_are_the_formulas),
        cmocka_unit_test(bodies_get_what_the_fluid_loses),
        cmocka_unit_test(plane_flows_are_exact),
        cmocka_unit_test(the_curl_beside_what_turns_is_right),
        cmocka_unit_test(what_is_not_finite_is_said),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
