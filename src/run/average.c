/* Averages over time; see average.h.
 *
 * Running means and sums of products of deviations (B. P. Welford, Technometrics 4:419, 1962):
 *
 *     m_n = m_(n-1) + (u - m_(n-1)) / n        M_ij += (u_i - m_i,(n-1)) (u_j - m_j,n)
 *
 * This keeps stresses accurate that are small beside the mean flow. Each cell is summed on its own,
 * in double, on the host: no cut, thread count or restart changes a bit. */
#include "run/average.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/vtkhdf.h"
#include "run/field.h"
#include "run/folder.h"
#include "run/output.h"

enum { NONE = -1, STRESSES = 6 /* xx yy zz xy xz yz */ };

struct average {
    const struct flow_case *c;
    const struct case_average *what;
    struct solver *solver;
    struct box part; /* cells of the region in this rank's block, perhaps none */
    size_t cells;    /* of the part */
    double *sums;    /* [components][cells]; lattice units */
    /* First component of each quantity in `sums`; NONE: not needed. */
    int velocity, density, stress;
    int components;
    int64_t samples;
    int64_t steps[2]; /* the first and the last sampled; NONE */
};

static bool asks_for(const struct average *a, enum average_array array)
{
    return a->what->of & (1u << array);
}

static void lay_out(struct average *a)
{
    a->velocity = a->density = a->stress = NONE;
    if (asks_for(a, AVERAGE_velocity) || asks_for(a, AVERAGE_stress)) {
        a->velocity = a->components;
        a->components += 3;
    }
    if (asks_for(a, AVERAGE_density))
        a->density = a->components++;
    if (asks_for(a, AVERAGE_stress)) {
        a->stress = a->components;
        a->components += STRESSES;
    }
}

/* Everything that the sums depend on. The end of the window is not included: a restart may move
 * it. */
static void define(const struct average *a, char text[STATE_DEFINITION])
{
    const struct case_region *const r = &a->what->region;
    const int length = snprintf(text, STATE_DEFINITION,
                                "every %lld from %lld of%s%s%s region %d %d %d to %d %d %d",
                                (long long)a->what->every, (long long)a->what->from,
                                asks_for(a, AVERAGE_velocity) ? " velocity" : "",
                                asks_for(a, AVERAGE_density) ? " density" : "",
                                asks_for(a, AVERAGE_stress) ? " stress" : "", r->lo[0], r->lo[1],
                                r->lo[2], r->hi[0], r->hi[1], r->hi[2]);
    assert(length < STATE_DEFINITION);
    (void)length;
}

static enum status enter(struct average *a, struct state *state)
{
    const struct case_region *const r = &a->what->region;
    const struct box box = {{r->lo[0], r->lo[1], r->lo[2]}, {r->hi[0], r->hi[1], r->hi[2]}};
    char definition[STATE_DEFINITION], name[STATE_NAME], samples[STATE_NAME], steps[STATE_NAME];
    define(a, definition);
    snprintf(name, sizeof name, "averages/%s", a->what->name);
    snprintf(samples, sizeof samples, "averages/%s/samples", a->what->name);
    snprintf(steps, sizeof steps, "averages/%s/steps", a->what->name);
    enum status status =
        state_add_cells(state, name, definition, SAMPLE_float64, a->components, &box, a->sums);
    if (!status)
        status = state_add_numbers(state, samples, definition, SAMPLE_int64, 1, &a->samples);
    if (!status)
        status = state_add_numbers(state, steps, definition, SAMPLE_int64, 2, a->steps);
    return status;
}

enum status average_create(struct average **out, const struct flow_case *c,
                           const struct case_average *what, struct solver *s, struct state *state)
{
    struct average *const a = calloc(1, sizeof *a);
    enum status status = STATUS_OK;
    if (!a) {
        status = fail_machine("out of memory for the average %s", what->name);
    } else {
        *a = (struct average){.c = c, .what = what, .solver = s, .steps = {NONE, NONE}};
        a->part = domain_part(s->domain, what->region.lo, what->region.hi);
        a->cells = box_cells(&a->part);
        lay_out(a);
        /* One more: the state gives NULL another meaning, also where there are no cells. */
        a->sums = calloc(a->cells * (size_t)a->components + 1, sizeof *a->sums);
        status = a->sums ? enter(a, state)
                         : fail_machine("out of memory: %.3g GB for the average %s (a smaller "
                                        "region, or more ranks)",
                                        8e-9 * (double)a->cells * a->components, what->name);
    }
    status = status_agree(s->domain->comm, status);
    if (status)
        average_destroy(a);
    else
        *out = a;
    return status;
}

void average_destroy(struct average *a)
{
    if (a)
        free(a->sums);
    free(a);
}

bool average_due(const struct average *a, int64_t step)
{
    return output_due(step, a->what->every) && step >= a->what->from && step <= a->what->to;
}

bool average_ends(const struct average *a, int64_t step)
{
    return step == a->what->to;
}

int64_t average_next(const struct average *a, int64_t step)
{
    const int64_t every = a->what->every, from = a->what->from, to = a->what->to;
    if (step >= to)
        return INT64_MAX;
    const int64_t after = step + 1 > from ? step + 1 : from; /* the earliest possible step */
    const int64_t rest = every > 0 ? after % every : 0;
    if (every <= 0 || (rest && every - rest > to - after) || after > to)
        return to;
    return rest ? after + every - rest : after;
}

/* Has the average samples after its end, because the end was later before a restart? Then it is
 * written at the last step of the run. */
static bool beyond(const struct average *a)
{
    return a->samples > 0 && a->steps[1] > a->what->to;
}

bool average_open(const struct average *a, int64_t step)
{
    return step < a->what->to || beyond(a);
}

void average_resume(const struct average *a)
{
    if (beyond(a))
        warn("the average %s ends at step %lld, but has samples up to step %lld from before the "
             "restart (they stay in it)",
             a->what->name, (long long)a->what->to, (long long)a->steps[1]);
}

/* ---- sampling: cells [0, cells) of the arrays from `at` on; n samples, this one included ---- */

static void add_density(struct average *a, size_t at, size_t cells, double n, const double *flow)
{
    double *const restrict mean = a->sums + (size_t)a->density * a->cells + at;
#pragma omp parallel for simd schedule(static)
    for (size_t cell = 0; cell < cells; cell++)
        mean[cell] += (flow[4 * cell] - mean[cell]) / n;
}

static void add_velocity(struct average *a, size_t at, size_t cells, double n, const double *flow)
{
    double *const restrict x = a->sums + (size_t)a->velocity * a->cells + at;
    double *const restrict y = x + a->cells;
    double *const restrict z = y + a->cells;
#pragma omp parallel for simd schedule(static)
    for (size_t cell = 0; cell < cells; cell++) {
        x[cell] += (flow[4 * cell + 1] - x[cell]) / n;
        y[cell] += (flow[4 * cell + 2] - y[cell]) / n;
        z[cell] += (flow[4 * cell + 3] - z[cell]) / n;
    }
}

/* Updates the mean of velocity, too. */
static void add_stress(struct average *a, size_t at, size_t cells, double n, const double *flow)
{
    double *const restrict x = a->sums + (size_t)a->velocity * a->cells + at;
    double *const restrict y = x + a->cells;
    double *const restrict z = y + a->cells;
    double *const restrict xx = a->sums + (size_t)a->stress * a->cells + at;
    double *const restrict yy = xx + a->cells;
    double *const restrict zz = yy + a->cells;
    double *const restrict xy = zz + a->cells;
    double *const restrict xz = xy + a->cells;
    double *const restrict yz = xz + a->cells;
#pragma omp parallel for simd schedule(static)
    for (size_t cell = 0; cell < cells; cell++) {
        const double *const u = flow + 4 * cell + 1;
        const double old_x = u[0] - x[cell], old_y = u[1] - y[cell], old_z = u[2] - z[cell];
        x[cell] += old_x / n;
        y[cell] += old_y / n;
        z[cell] += old_z / n;
        const double new_x = u[0] - x[cell], new_y = u[1] - y[cell], new_z = u[2] - z[cell];
        xx[cell] += old_x * new_x;
        yy[cell] += old_y * new_y;
        zz[cell] += old_z * new_z;
        xy[cell] += old_x * new_y;
        xz[cell] += old_x * new_z;
        yz[cell] += old_y * new_z;
    }
}

enum status average_sample(struct average *a)
{
    struct box piece;
    struct fetch f;
    const double *flow;
    size_t at = 0;
    assert(a->solver->step > a->steps[1]);
    a->samples++;
    a->steps[0] = a->samples == 1 ? a->solver->step : a->steps[0];
    a->steps[1] = a->solver->step;
    const double n = (double)a->samples;
    for (fetch_start(&f, a->solver, KERNEL_flow, &a->part); (flow = fetch_next(&f, &piece));) {
        const size_t cells = box_cells(&piece);
        if (a->density != NONE)
            add_density(a, at, cells, n, flow);
        if (a->stress != NONE)
            add_stress(a, at, cells, n, flow);
        else if (a->velocity != NONE)
            add_velocity(a, at, cells, n, flow);
        at += cells; /* a piece is whole lines of the part */
    }
    return fetch_end(&f);
}

/* ---- writing ---- */

static const char *array_name(enum average_array array)
{
    switch (array) {
    case AVERAGE_velocity:
        return "velocity_mean";
    case AVERAGE_density:
        return "density_mean";
    case AVERAGE_stress:
        return "reynolds_stress";
    }
    return NULL;
}

static int components_of(enum average_array array)
{
    return array == AVERAGE_velocity ? 3 : array == AVERAGE_density ? 1 : STRESSES;
}

/* Component k of an array in cell `cell` of the part, in physical units if the case has them. */
static double value_of(const struct average *a, enum average_array array, size_t k, size_t cell)
{
    const double u = output_velocity_unit(a->c), rho = a->c->units.density;
    switch (array) {
    case AVERAGE_velocity:
        return a->sums[((size_t)a->velocity + k) * a->cells + cell] * u;
    case AVERAGE_density:
        return (1 + a->sums[(size_t)a->density * a->cells + cell]) * rho;
    case AVERAGE_stress:
        return a->sums[((size_t)a->stress + k) * a->cells + cell] / (double)a->samples * u * u;
    }
    return 0;
}

/* Writes this rank's part of an array, which has this number in the file; out: room for a piece. */
static enum status write_array(const struct average *a, struct vtkhdf *file, int number,
                               enum average_array array, void *out)
{
    const size_t components = (size_t)components_of(array);
    enum status status = STATUS_OK;
    struct box piece;
    size_t at = 0;
    for (int p = 0; !status && solver_piece(a->solver, &a->part, p, &piece); p++) {
        const size_t cells = box_cells(&piece);
        int start[3], count[3];
        for (int axis = 0; axis < 3; axis++) {
            start[axis] = a->solver->domain->lo[axis] + piece.lo[axis] - a->what->region.lo[axis];
            count[axis] = piece.hi[axis] - piece.lo[axis];
        }
        for (size_t cell = 0; cell < cells; cell++)
            for (size_t k = 0; k < components; k++) {
                const double value = value_of(a, array, k, at + cell);
                if (a->what->precision == PRECISION_fp64)
                    ((double *)out)[cell * components + k] = value;
                else
                    ((float *)out)[cell * components + k] = (float)value;
            }
        status = vtkhdf_write(file, number, start, count, out);
        at += cells;
    }
    return status;
}

/* Creates the file and its arrays, without data. Collective. */
static enum status open_file(const struct average *a, const char *dir, struct vtkhdf **file)
{
    const struct case_region *const region = &a->what->region;
    const double dx = a->c->units.dx, spacing[3] = {dx, dx, dx};
    char path[FOLDER_PATH], name[CASE_NAME + 64];
    double origin[3];
    int cells[3];
    snprintf(name, sizeof name, "fields/%s_%010lld.vtkhdf", a->what->name,
             (long long)a->solver->step);
    if (!folder_path(path, dir, name))
        return fail_user("the name of the output folder is too long");
    for (int axis = 0; axis < 3; axis++) {
        origin[axis] = (region->lo[axis] + 0.5) * dx;
        cells[axis] = region->hi[axis] - region->lo[axis];
    }
    enum status status = vtkhdf_create(file, a->solver->domain->comm, path, cells, origin, spacing);
    if (status)
        return status;
    struct h5file *const notes = vtkhdf_file(*file);
    output_provenance(notes, a->c, a->solver);
    h5file_numbers(notes, "/provenance", "samples", SAMPLE_int64, 1, &a->samples);
    h5file_numbers(notes, "/provenance", "first_step", SAMPLE_int64, 1, &a->steps[0]);
    h5file_numbers(notes, "/provenance", "last_step", SAMPLE_int64, 1, &a->steps[1]);
#define X(array)                                                                                   \
    if (!status && asks_for(a, AVERAGE_##array))                                                   \
        status =                                                                                   \
            vtkhdf_add(*file, array_name(AVERAGE_##array), components_of(AVERAGE_##array),         \
                       a->what->precision == PRECISION_fp64 ? SAMPLE_float64 : SAMPLE_float32);
    AVERAGE_LIST(X)
#undef X
    return status;
}

enum status average_write(struct average *a, const char *dir)
{
    struct vtkhdf *file = NULL;
    int number = 0;
    if (a->samples == 0) {
        say("the average %s has no sample by step %lld (every %lld from step %lld): not written",
            a->what->name, (long long)a->solver->step, (long long)a->what->every,
            (long long)a->what->from);
        return STATUS_OK;
    }
    enum status status = open_file(a, dir, &file);
    void *const out = malloc(a->solver->piece_cells * STRESSES * sizeof(double));
    if (!status && !out)
        status = fail_machine("out of memory for a piece of an average");
#define X(array)                                                                                   \
    if (!status && asks_for(a, AVERAGE_##array))                                                   \
        status = write_array(a, file, number++, AVERAGE_##array, out);
    AVERAGE_LIST(X)
#undef X
    free(out);
    return file ? vtkhdf_close(file, status == STATUS_OK) : status;
}
