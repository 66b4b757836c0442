/* Sums of scalars and their flux through surfaces, against plain sums on the host over populations
 * that were read back: sums of all cells; what comes back from each wall, from the populations of
 * the step after; and the balance of enthalpy, which leaves no flux out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/heat.h"
#include "measure/scalar.h"
#include "reference.h"
#include "solver/scalar.h"
#include "tags/create.h"
#include "tags/inputs.h"

#define PRECISION_(storage, arithmetic) "storage: fp" #storage ", arithmetic: fp" #arithmetic
#define PRECISION_OF(storage, arithmetic) PRECISION_(storage, arithmetic)
#define PRECISION PRECISION_OF(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)

enum { STEPS = 7, NX = 24, NY = 14, NZ = 6, CELLS = NX * NY * NZ };

/* Buoyancy, sources, reactions, a subgrid model; walls of each kind, a face through which the fluid
 * comes and one through which it leaves; bodies that conduct, of given value at an interpolated
 * surface, of given flux. The chip touches a face. */
static const char text_of_case[] =
    "domain: {cells: [24, 14, 6]}\nfluid: {viscosity: 0.02}\n"
    "solver: {" PRECISION ", subgrid: {smagorinsky: {constant: 0.1}}}\n"
    "force: {gravity: [0, -1e-3, 0]}\n"
    "scalars:\n"
    "  heat: {kind: heat, diffusivity: 0.03, reference: 20, expansion: 0.01, source: 1e-4,\n"
    "         initial: {linear: {from: [0, 0, 0], to: [24, 0, 0], values: [21, 19.5]}}}\n"
    "  smoke: {kind: species, diffusivity: 0.01, decay: 0.002, initial: 0.3}\n"
    "  ash: {kind: species, diffusivity: 0.02, made_from: smoke, rate: 0.01}\n"
    "faces:\n"
    "  xmin: {velocity: {value: [0.03, 0, 0], rule: links, scalars: {heat: {value: 21},\n"
    "         smoke: {value: 1}, ash: {value: 0}}}}\n"
    "  xmax: {pressure: {rule: links, scalars: {heat: outflow, smoke: outflow, ash: outflow}}}\n"
    "  ymin: {wall: {scalars: {heat: {flux: 0.01}}}}\n"
    "  ymax: {wall: {scalars: {heat: {transfer: {coefficient: 0.02, outside: 18}}}}}\n"
    "  z: periodic\n"
    "run: {steps: 9, threads: %d}\n"
    "bodies:\n"
    "  chip: {shape: {box: {from: [5, 0, 0], to: [9, 4, 6]}},\n"
    "         scalars: {heat: {conduct: {conductivity: 0.1, capacity: 0.5, source: 1e-3}}}}\n"
    "  rod: {shape: {cylinder: {center: [15.3, 7.2, 3], axis: z, radius: 2.4}}, wall: "
    "interpolated,\n"
    "        scalars: {heat: {value: 25}, smoke: {flux: 0.003}}}\n";

struct flow {
    struct flow_case c;
    struct domain d;
    struct backend *b;
    struct solver s;
};

static void open_flow(struct flow *f, int threads, int workers)
{
    const struct case_files files = inputs(NULL);
    char text[sizeof text_of_case + 16];
    *f = (struct flow){0};
    snprintf(text, sizeof text, text_of_case, threads);
    assert_int_equal(case_read_files("case.yaml", text, (long)strlen(text), 0, NULL, &files, &f->c),
                     STATUS_OK);
    assert_int_equal(domain_create(&f->d, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_open(&f->b, &f->c, MPI_COMM_SELF), STATUS_OK);
    f->b->workers = workers;
    assert_int_equal(reference_solver(&f->s, &f->d, f->b, &f->c), STATUS_OK);
    assert_int_equal(solver_initialise(&f->s, &f->c, NULL), STATUS_OK);
}

static void close_flow(struct flow *f)
{
    solver_destroy(&f->s);
    TAGFLOW_BACKEND.close(f->b);
    domain_destroy(&f->d);
    case_destroy(&f->c);
}

/* ---- the plain sums ---- */

/* Canonical populations [Q_AXES][cells] and values [cells] of a set. */
struct values {
    double g[Q_AXES][CELLS], value[CELLS];
};

static void read_state(struct flow *f, int set, struct values *to)
{
    const struct box all = domain_all(&f->d);
    struct box piece;
    size_t at = 0;
    for (int index = 0; solver_piece(&f->s, &all, index, &piece); index++) {
        const size_t cells = box_cells(&piece);
        const void *const g = solver_get(&f->s, set, &piece);
        assert_non_null(g);
        for (size_t i = 0; i < Q_AXES; i++)
            for (size_t n = 0; n < cells; n++)
                to->g[i][at + n] = f->d.view.set[set].bits == 64
                                       ? ((const double *)g)[i * cells + n]
                                       : (double)((const float *)g)[i * cells + n];
        const double *const value = solver_scalar(&f->s, set, &piece);
        assert_non_null(value);
        memcpy(to->value + at, value, cells * sizeof *value);
        at += cells;
    }
    assert_int_equal(at, CELLS);
}

static int type_at(const struct flow *f, int x, int y, int z)
{
    return f->d.tags[view_index(&f->d.view, x, y, z)] & TAG_ROW;
}

static void place_of(int n, int at[3])
{
    at[0] = n % NX;
    at[1] = n / NX % NY;
    at[2] = n / NX / NY;
}

static void sum_plainly(const struct flow *f, int set, const struct values *s,
                        struct scalar_found *to)
{
    long double sum[2] = {0, 0}, square[2] = {0, 0}, enthalpy = 0;
    struct scalar_values *const part[2] = {&to->fluid, &to->solid};
    *to = (struct scalar_found){.finite = true};
    for (int pass = 0; pass < 2; pass++)
        for (int n = 0; n < CELLS; n++) {
            int at[3];
            place_of(n, at);
            const int type = type_at(f, at[0], at[1], at[2]), solid = !f->d.rows[type].fluid;
            struct scalar_values *const p = part[solid];
            const double t = s->value[n];
            if (!type_holds(&f->d.view, set, type))
                continue;
            if (pass) {
                square[solid] += (long double)(t - p->mean) * (t - p->mean);
                continue;
            }
            p->least = p->cells && p->least < t ? p->least : t;
            p->most = p->cells && p->most > t ? p->most : t;
            p->cells++;
            sum[solid] += t;
            p->mean = (double)(sum[solid] / p->cells);
            for (int i = 0; i < Q_AXES; i++)
                enthalpy += s->g[i][n];
            if (fabs(t) > to->size) {
                to->size = fabs(t);
                memcpy(to->size_at.cell, at, sizeof at);
            }
        }
    for (int k = 0; k < 2; k++)
        part[k]->variance = part[k]->cells ? (double)(square[k] / part[k]->cells) : NAN;
    to->enthalpy = (double)enthalpy / scalar_row(&f->d.view, set, TAG_FLUID)->flow;
}

static void near(double is, double wanted, double scale, const char *what)
{
    if (!(fabs(is - wanted) <= 1e-12 * scale))
        fail_msg("%s: %.17g, not %.17g", what, is, wanted);
}

static void compare_part(const struct scalar_values *is, const struct scalar_values *wanted)
{
    assert_int_equal(is->cells, wanted->cells);
    if (!wanted->cells) {
        assert_true(isnan(is->mean) && isnan(is->least));
        return;
    }
    assert_true(is->least == wanted->least && is->most == wanted->most);
    near(is->mean, wanted->mean, 10, "mean");
    near(is->variance, wanted->variance, 100, "variance");
}

static void sums_are_those_of_all_cells(void **none)
{
    static struct values s;
    static const int workers[] = {1, 3, 50, 5000};
    (void)none;
    for (int k = 0; k < 4; k++) {
        struct flow f;
        open_flow(&f, 1 + k % 3, workers[k]);
        for (int step = 0; step < 3; step++) {
            for (int set = 1; set < f.s.view.sets; set++) {
                struct scalar_found is, extremes, wanted;
                read_state(&f, set, &s);
                sum_plainly(&f, set, &s, &wanted);
                assert_int_equal(scalar_measure(ONE_LEVEL(&f.s), set, &is), STATUS_OK);
                assert_int_equal(scalar_extremes(ONE_LEVEL(&f.s), set, &extremes), STATUS_OK);
                compare_part(&is.fluid, &wanted.fluid);
                compare_part(&is.solid, &wanted.solid);
                assert_int_equal(is.solid.cells > 0, !strcmp(f.c.scalars[set - 1].name, "heat"));
                near(is.enthalpy, wanted.enthalpy, 1e4, "enthalpy");
                assert_true(is.finite && extremes.finite && is.size == wanted.size);
                assert_memory_equal(is.size_at.cell, wanted.size_at.cell, sizeof is.size_at.cell);
                assert_true(extremes.fluid.least == is.fluid.least &&
                            extremes.fluid.most == is.fluid.most && isnan(extremes.fluid.mean));
            }
            assert_int_equal(solver_step(&f.s), STATUS_OK);
        }
        close_flow(&f);
    }
}

/* What is measured does not depend on the workers, to the last bit. */
static void workers_change_no_bit(void **none)
{
    struct scalar_found first[6];
    struct heat_found through[6];
    (void)none;
    for (int k = 0; k < 5; k++) {
        struct flow f;
        open_flow(&f, 1 + k, 1 + 37 * k * k);
        for (int step = 0; step < STEPS; step++)
            assert_int_equal(solver_step(&f.s), STATUS_OK);
        for (int set = 1; set < f.s.view.sets; set++) {
            struct scalar_found is;
            struct heat_step step;
            memset(&is, 0, sizeof is);
            assert_int_equal(scalar_measure(ONE_LEVEL(&f.s), set, &is), STATUS_OK);
            assert_int_equal(heat_begin(ONE_LEVEL(&f.s), set,
                                        &(struct heat_surface){.opening = {HEAT_BODY}, .body = 1},
                                        &step),
                             STATUS_OK);
            const struct heat_found heat = step.first;
            if (!k) {
                first[set] = is;
                through[set] = heat;
            }
            assert_true(is.fluid.mean == first[set].fluid.mean &&
                        is.fluid.variance == first[set].fluid.variance &&
                        is.enthalpy == first[set].enthalpy);
            assert_true(heat.heat == through[set].heat && heat.area == through[set].area);
        }
        close_flow(&f);
    }
}

static void what_is_no_number_is_found(void **none)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    (void)none;
    for (int k = 0; k < 3; k++) {
        struct flow f;
        struct box piece;
        struct scalar_found is;
        const struct box cell = {{20, 11, 3}, {21, 12, 4}};
        open_flow(&f, 2, 40);
        assert_true(solver_piece(&f.s, &cell, 0, &piece));
        *(double *)solver_host(&f.s) = bad[k];
        assert_int_equal(solver_put_scalar(&f.s, 1, &piece), STATUS_OK);
        assert_int_equal(scalar_measure(ONE_LEVEL(&f.s), 1, &is), STATUS_OK);
        assert_false(is.finite);
        assert_true(isnan(is.fluid.mean) && isnan(is.enthalpy));
        assert_true(is.bad_at.cell[0] == 20 && is.bad_at.cell[1] == 11 && is.bad_at.cell[2] == 3);
        close_flow(&f);
    }
}

/* ---- flux ---- */

static struct heat_found flux(struct flow *f, int set, int opening, int body)
{
    struct heat_step step;
    const int side = opening < 0 ? -1 : case_opening_side(&f->c, opening);
    assert_int_equal(
        heat_begin(ONE_LEVEL(&f->s), set, &(struct heat_surface){{opening}, side, body}, &step),
        STATUS_OK);
    return step.first;
}

/* Flux through a face, from what comes back in the next step: walls and open faces are half-way. */
static double plain_flux(const struct flow *f, int set, int face, const struct values *before,
                         const struct values *after, double *links)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    long double sum = 0;
    *links = 0;
    for (int n = 0; n < CELLS; n++) {
        int at[3];
        place_of(n, at);
        const int axis = face / 2, in = 2 * axis + 1 + face % 2; /* into the box */
        if (at[axis] != (face % 2 ? f->c.cells[axis] - 1 : 0) ||
            !type_holds(&f->d.view, set, type_at(f, at[0], at[1], at[2])))
            continue;
        assert_int_equal(c[in][axis], face % 2 ? -1 : 1);
        const struct scalar_row *const wall = scalar_row(
            &f->d.view, set, type_at(f, at[0] - c[in][0], at[1] - c[in][1], at[2] - c[in][2]));
        const double back = after->g[in][n];
        ++*links;
        if (wall->wall == SCALAR_given)
            sum += back - (back - wall->b) / wall->a; /* back = a out + b */
        else if (wall->wall == SCALAR_free)
            sum += back - (0.25 * before->value[n] - back);
    }
    return (double)sum / scalar_row(&f->d.view, set, TAG_FLUID)->flow;
}

/* Sources of a step by the plain values. */
static double sources(const struct flow *f, int set, const struct values *s,
                      const struct values *other)
{
    const struct scalar_row *const fluid = scalar_row(&f->d.view, set, TAG_FLUID);
    long double sum = 0;
    for (int n = 0; n < CELLS; n++) {
        int at[3];
        place_of(n, at);
        const struct scalar_row *const row =
            scalar_row(&f->d.view, set, type_at(f, at[0], at[1], at[2]));
        if (row->holds)
            sum += row->source - row->decay * s->value[n] +
                   (row->from ? row->gain * other->value[n] : 0);
    }
    return (double)sum / fluid->flow;
}

static void flux_is_what_comes_back_minus_what_left(void **none)
{
    static struct values before[4], after[4];
    const double rounding = TAGFLOW_STORAGE == 64 ? 1e-11 : 2e-3;
    struct flow f;
    (void)none;
    open_flow(&f, 2, 30);
    for (int set = 1; set < f.s.view.sets; set++)
        read_state(&f, set, &before[set]);
    for (int step = 0; step < STEPS; step++) {
        struct heat_found face[4][4], body[4][2];
        double enthalpy[4];
        for (int set = 1; set < f.s.view.sets; set++) {
            struct scalar_found found;
            for (int k = 0; k < 4; k++)
                face[set][k] = flux(&f, set, k, -1);
            for (int k = 0; k < 2; k++)
                body[set][k] = flux(&f, set, -1, k);
            assert_int_equal(scalar_measure(ONE_LEVEL(&f.s), set, &found), STATUS_OK);
            enthalpy[set] = found.enthalpy;
        }
        assert_int_equal(solver_step(&f.s), STATUS_OK);
        for (int set = 1; set < f.s.view.sets; set++) {
            const int from = scalar_row(&f.d.view, set, TAG_FLUID)->from;
            const bool conducts = !strcmp(f.c.scalars[set - 1].name, "heat");
            struct scalar_found found;
            double sum = sources(&f, set, &before[set], &before[from]);
            read_state(&f, set, &after[set]);
            for (int k = 0; k < 4; k++) {
                double links;
                const double wanted = plain_flux(&f, set, k, &before[set], &after[set], &links);
                if (!(fabs(face[set][k].heat - wanted) < rounding) || face[set][k].area != links)
                    fail_msg("set %d, face %d, step %d: %.17g through %g links, not %.17g, %g", set,
                             k, step, face[set][k].heat, face[set][k].area, wanted, links);
                sum += wanted;
            }
            sum += body[set][1].heat + (conducts ? 0 : body[set][0].heat);
            assert_int_equal(scalar_measure(ONE_LEVEL(&f.s), set, &found), STATUS_OK);
            if (!(fabs(found.enthalpy - enthalpy[set] - sum) < rounding))
                fail_msg("set %d, step %d: enthalpy changes by %.17g, but fluxes and sources are "
                         "%.17g",
                         set, step, found.enthalpy - enthalpy[set], sum);
            if (conducts)
                assert_true(body[set][0].heat != 0 && body[set][1].heat > 0);
            else
                assert_true(body[set][0].heat == 0);
        }
        memcpy(before, after, sizeof before);
    }
    close_flow(&f);
}

/* The body's own enthalpy changes by its source, by what comes from the face that it touches, and
 * by what leaves it. */
static void a_body_that_conducts_loses_what_passes_its_surface(void **none)
{
    static struct values s;
    const double rounding = TAGFLOW_STORAGE == 64 ? 1e-11 : 1e-3;
    double last = NAN;
    struct flow f;
    (void)none;
    open_flow(&f, 1, 7);
    int heat = 1;
    while (strcmp(f.c.scalars[heat - 1].name, "heat") != 0)
        heat++;
    const struct scalar_row *const fluid = scalar_row(&f.d.view, heat, TAG_FLUID);
    for (int step = 0; step < STEPS; step++) {
        long double sum = 0, source = 0;
        int links = 0;
        read_state(&f, heat, &s);
        for (int n = 0; n < CELLS; n++) {
            int at[3];
            place_of(n, at);
            const int type = type_at(&f, at[0], at[1], at[2]);
            if (f.d.rows[type].body != 1)
                continue;
            for (int i = 0; i < Q_AXES; i++)
                sum += s.g[i][n];
            source += scalar_row(&f.d.view, heat, type)->source;
            links += at[1] == 0;
        }
        const double now = (double)sum / fluid->flow;
        if (step && !(fabs(now - last) < rounding))
            fail_msg("step %d: the body has %.17g, not %.17g", step, now, last);
        last = now + (double)source / fluid->flow + 0.01 * links - flux(&f, heat, -1, 0).heat;
        assert_int_equal(solver_step(&f.s), STATUS_OK);
    }
    close_flow(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_all_cells),
        cmocka_unit_test(workers_change_no_bit),
        cmocka_unit_test(what_is_no_number_is_found),
        cmocka_unit_test(flux_is_what_comes_back_minus_what_left),
        cmocka_unit_test(a_body_that_conducts_loses_what_passes_its_surface),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
