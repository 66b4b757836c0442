/* What the flow sums up to, against one cell after the other of the plain reference, to the bit:
 * every instruction set, any number of threads, walls and fluids of several rows, cells that are no
 * flow any more. On one rank; tests/parallel does the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <string.h>

#include "exact.h"
#include "measure/flow.h"
#include "reference.h"

struct flow {
    struct flow_case c;
    struct reference r;
    struct domain d;
    struct backend *b;
    struct solver s;
};

/* one_of: cells to an obstacle or a region of another fluid, 0: none */
static void start(struct flow *f, uint64_t seed, int one_of)
{
    f->b = NULL;
    reference_create(&f->r, &f->c);
    if (one_of)
        reference_obstacles(&f->r, seed, one_of, true);
    reference_fill(&f->r, seed);
    assert_int_equal(reference_domain(&f->r, &f->d, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&f->b, &f->c, MPI_COMM_SELF), STATUS_OK);
    if (seed % 4) /* of few workers each has many cells, more than there are rows have none */
        f->b->workers = 1 + (int)(seed / 4 % 60);
    assert_int_equal(reference_solver(&f->s, &f->d, f->b, &f->c), STATUS_OK);
}

static void stop(struct flow *f)
{
    solver_destroy(&f->s);
    TAGFLOW_BACKEND.close(f->b);
    domain_destroy(&f->d);
    reference_destroy(&f->r);
}

/* Density - 1 and velocity of cell n; false where it is not fluid. */
static bool flow_at(const struct reference *r, size_t n, double flow[4])
{
    const struct tag_row *const row = &r->row[r->tag[n]];
    double j[3] = {0, 0, 0};
    memset(flow, 0, 4 * sizeof *flow);
    if (!row->fluid)
        return false;
    for (int i = 0; i < Q; i++) {
        const double value = (double)value_of(r->now[(size_t)i * r->count + n]);
        flow[0] += value;
        for (int a = 0; a < 3; a++)
            if (reference_velocity(i, a))
                j[a] += reference_velocity(i, a) * value;
    }
    for (int a = 0; a < 3; a++)
        flow[1 + a] = j[a] / (1 + flow[0]) + 0.5 * row->acceleration[a];
    if (row->resist) {
        double more[3];
        resist_found_double(r->resist, flow + 1, more);
        for (int a = 0; a < 3; a++)
            flow[1 + a] += 0.5 * more[a];
    }
    return true;
}

static void sums_of(const struct reference *r, struct flow_sums *sums)
{
    struct exact_sum drho = {0}, energy = {0};
    double max_square = -1, fluid = 0;
    *sums = (struct flow_sums){.finite = true};
    for (size_t n = 0; n < r->count; n++) {
        const int nx = r->cells[0], ny = r->cells[1];
        const int cell[3] = {(int)n % nx, (int)n / nx % ny, (int)n / nx / ny};
        double u[4];
        if (!flow_at(r, n, u))
            continue;
        fluid++;
        const double square = u[1] * u[1] + u[2] * u[2] + u[3] * u[3];
        const double half = 0.5 * (1 + u[0]) * square;
        if (!(fabs(u[0]) < 1e5 && square < 1e5 && fabs(half) < 1e5)) {
            if (sums->finite)
                memcpy(sums->bad_cell, cell, sizeof cell);
            sums->finite = false;
            continue;
        }
        exact_add(&drho, u[0]);
        exact_add(&energy, half);
        if (square > max_square) {
            max_square = square;
            memcpy(sums->max_cell, cell, sizeof cell);
        }
    }
    sums->mass = sums->finite ? fluid + exact_value(&drho) : NAN;
    sums->kinetic_energy = sums->finite ? exact_value(&energy) : NAN;
    sums->max_velocity = sums->finite ? sqrt(max_square < 0 ? 0 : max_square) : NAN;
}

static void compare(struct flow *f, const char *what)
{
    struct flow_sums expected, sums;
    reference_put(&f->r, &f->s);
    sums_of(&f->r, &expected);
    assert_int_equal(flow_measure(ONE_LEVEL(&f->s), false, &sums), STATUS_OK);
    if (memcmp(&sums.mass, &expected.mass, sizeof(double)) != 0 ||
        memcmp(&sums.kinetic_energy, &expected.kinetic_energy, sizeof(double)) != 0 ||
        memcmp(&sums.max_velocity, &expected.max_velocity, sizeof(double)) != 0 ||
        memcmp(sums.max_cell, expected.max_cell, sizeof sums.max_cell) != 0 ||
        sums.finite != expected.finite ||
        memcmp(sums.bad_cell, expected.bad_cell, sizeof sums.bad_cell) != 0)
        fail_msg("%s, %d x %d x %d, %s, %d threads, step %lld: mass %a (%a), energy %a (%a), "
                 "velocity %a (%a) at %d %d %d (%d %d %d), finite %d (%d) at %d %d %d (%d %d %d)",
                 what, f->c.cells[0], f->c.cells[1], f->c.cells[2], isa_name(f->c.run.isa),
                 f->c.run.threads, (long long)f->s.step, sums.mass, expected.mass,
                 sums.kinetic_energy, expected.kinetic_energy, sums.max_velocity,
                 expected.max_velocity, sums.max_cell[0], sums.max_cell[1], sums.max_cell[2],
                 expected.max_cell[0], expected.max_cell[1], expected.max_cell[2], sums.finite,
                 expected.finite, sums.bad_cell[0], sums.bad_cell[1], sums.bad_cell[2],
                 expected.bad_cell[0], expected.bad_cell[1], expected.bad_cell[2]);
}

/* A box of any size and faces; rows of one to three blocks of 64 cells. */
static struct flow_case any_case(uint64_t *random)
{
    struct flow_case c = reference_case(1, 1, 1);
    char faces[] = "pppppp";
    for (int a = 0; a < 3; a++) {
        c.cells[a] = 1 + (int)(reference_random(random) % (a ? 7 : 150));
        c.acceleration[a] = 1e-3 * reference_uniform(random);
        c.rotation[a] = reference_random(random) % 2 ? 0.01 * reference_uniform(random) : 0;
        if (reference_random(random) % 2)
            faces[2 * a] = faces[2 * a + 1] = 'w';
    }
    reference_faces(&c, faces);
    c.run.threads = 1 + (int)(reference_random(random) % 9);
    c.run.isa = reference_isa(reference_random(random));
    return c;
}

static void sums_are_those_of_one_cell_after_the_other(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (int k = 0; k < 200; k++) {
        struct flow f = {.c = any_case(&random)};
        const int one_of[] = {0, 3, 20, 200};
        start(&f, random, one_of[k % 4]);
        for (f.s.step = 0; f.s.step < 2; f.s.step++)
            compare(&f, "a random flow");
        stop(&f);
    }
}

/* Far out: the first of them is found, and sums are no numbers. */
static void what_is_no_flow_any_more_is_found_and_said(void **state)
{
    static const double values[] = {NAN, -INFINITY, 2e5, -2e5, 1e30};
    uint64_t random = 4;
    (void)state;
    for (int k = 0; k < 200; k++) {
        struct flow f = {.c = any_case(&random)};
        start(&f, random, k % 3 ? 10 : 0);
        for (int bad = 0; bad < 1 + k % 4; bad++) {
            const size_t place = reference_random(&random) % (Q * f.r.count);
            if (f.r.row[f.r.tag[place % f.r.count]].fluid)
                f.r.now[place] = stored_of((number)values[reference_random(&random) % 5]);
        }
        compare(&f, "a flow that diverges");
        stop(&f);
    }
}

/* Each within bounds, but not what they make: it would not fit into the sum. */
static void an_energy_beyond_all_bounds_is_no_flow(void **state)
{
    struct flow f = {.c = reference_case(70, 3, 2)};
    struct flow_sums sums;
    (void)state;
    start(&f, 1, 0);
    const size_t n = reference_cell(&f.r, 40, 1, 1);
    for (int i = 0; i < Q; i++)
        f.r.now[(size_t)i * f.r.count + n] = stored_of(0);
    f.r.now[0 * f.r.count + n] = stored_of((number)(90000 - 300.0 * 90001));
    f.r.now[1 * f.r.count + n] =
        stored_of((number)(300.0 * 90001)); /* density 90,001, velocity 300 */
    compare(&f, "a cell of much energy");
    assert_int_equal(flow_measure(ONE_LEVEL(&f.s), false, &sums), STATUS_OK);
    assert_false(sums.finite);
    assert_int_equal(sums.bad_cell[0], 40);
    stop(&f);
}

/* The same |u| everywhere, also 0; and twice, in any places. */
static void of_equal_velocities_the_first_cell_counts(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int k = 0; k < 100; k++) {
        struct flow f = {.c = any_case(&random)};
        memset(f.c.acceleration, 0, sizeof f.c.acceleration);
        start(&f, random, 0);
        memset(f.r.now, 0, Q * f.r.count * sizeof *f.r.now);
        compare(&f, "at rest");
        for (int twice = 0; twice < 2; twice++)
            f.r.now[f.r.count + reference_random(&random) % f.r.count] = stored_of(0.125);
        compare(&f, "two cells that move");
        for (size_t n = 0; n < f.r.count; n++)
            f.r.now[f.r.count + n] = stored_of(0.25);
        compare(&f, "all move");
        stop(&f);
    }
}

/* What snapshots and averages are made of; every cell with the force of its own row. */
static void flow_is_that_of_the_populations(void **state)
{
    uint64_t random = 6;
    (void)state;
    for (int k = 0; k < 100; k++) {
        struct flow f = {.c = any_case(&random)};
        start(&f, random, 3 + 20 * (k % 5));
        f.s.step = k % 2;
        reference_put(&f.r, &f.s);
        const struct box all = domain_all(&f.d);
        struct box piece;
        struct fetch fetch;
        const double *flow;
        size_t n = 0;
        for (fetch_start(&fetch, &f.s, KERNEL_flow, &all); (flow = fetch_next(&fetch, &piece));)
            for (size_t cells = box_cells(&piece); cells > 0; cells--, n++, flow += 4) {
                double expected[4];
                flow_at(&f.r, n, expected);
                assert_memory_equal(flow, expected, sizeof expected);
            }
        assert_int_equal(fetch_end(&fetch), STATUS_OK);
        assert_int_equal(n, f.r.count);
        stop(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_one_cell_after_the_other),
        cmocka_unit_test(what_is_no_flow_any_more_is_found_and_said),
        cmocka_unit_test(an_energy_beyond_all_bounds_is_no_flow),
        cmocka_unit_test(of_equal_velocities_the_first_cell_counts),
        cmocka_unit_test(flow_is_that_of_the_populations),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
