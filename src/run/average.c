/* Averages over time; see average.h. The formulas are in include/means.h. */
#include "run/average.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/vtkhdf.h"
#include "run/field.h"
#include "run/folder.h"
#include "run/levels_file.h"
#include "run/output.h"

enum { NONE = -1 };

/* Sums of a level. */
struct average_level {
    struct solver *solver;
    struct box box;  /* cells of the region on this level, whole grid; perhaps none */
    struct box part; /* those of this rank's block, perhaps none */
    size_t cells;    /* of the part */
    double *sums;    /* memory of the backend, [components][cells]; lattice units */
};

struct average {
    const struct flow_case *c;
    const struct case_average *what;
    struct grid *grid;
    struct solver *solver; /* of level 0 */
    struct average_layout layout;
    struct average_level level[LEVELS];
    int64_t samples;
    int64_t steps[2]; /* the first and the last sampled; NONE */
};

static bool asks_for(const struct average *a, enum average_array array)
{
    return a->what->of & (1u << array);
}

/* Everything that the sums depend on. The end of the window is not included: a restart may move
 * it. */
static void define(const struct average *a, char text[STATE_DEFINITION])
{
    const struct case_region *const r = &a->what->region;
    char scalars[32] = "";
    if (a->what->scalars)
        snprintf(scalars, sizeof scalars, " scalars %#x", a->what->scalars);
    const int length = snprintf(text, STATE_DEFINITION,
                                "every %lld from %lld of%s%s%s%s region %d %d %d to %d %d %d",
                                (long long)a->what->every, (long long)a->what->from,
                                asks_for(a, AVERAGE_velocity) ? " velocity" : "",
                                asks_for(a, AVERAGE_density) ? " density" : "",
                                asks_for(a, AVERAGE_stress) ? " stress" : "", scalars, r->lo[0],
                                r->lo[1], r->lo[2], r->hi[0], r->hi[1], r->hi[2]);
    assert(length < STATE_DEFINITION);
    (void)length;
}

/* Registers the sums of a level. */
static enum status enter_level(const struct average *a, int number, struct state *state)
{
    const struct average_level *const level = &a->level[number];
    char definition[STATE_DEFINITION], name[STATE_NAME];
    define(a, definition);
    if (a->grid->levels > 1)
        snprintf(name, sizeof name, "averages/%s/level_%d", a->what->name, number);
    else
        snprintf(name, sizeof name, "averages/%s", a->what->name);
    return state_add_cells(state, name, definition, SAMPLE_float64, a->layout.components,
                           &level->box, level->solver, level->sums);
}

static enum status enter(struct average *a, struct state *state)
{
    char definition[STATE_DEFINITION], samples[STATE_NAME], steps[STATE_NAME];
    enum status status = STATUS_OK;
    define(a, definition);
    snprintf(samples, sizeof samples, "averages/%s/samples", a->what->name);
    snprintf(steps, sizeof steps, "averages/%s/steps", a->what->name);
    for (int l = 0; l < a->grid->levels && !status; l++)
        if (a->level[l].box.lo[0] < a->level[l].box.hi[0])
            status = enter_level(a, l, state);
    if (!status)
        status = state_add_numbers(state, samples, definition, SAMPLE_int64, 1, &a->samples);
    if (!status)
        status = state_add_numbers(state, steps, definition, SAMPLE_int64, 2, a->steps);
    return status;
}

/* Allocates the sums of a level. */
static enum status create_level(struct average *a, int number)
{
    struct average_level *const level = &a->level[number];
    const struct domain *const d = &a->grid->level[number].domain;
    const struct case_region *const r = &a->what->region;
    char what_for[CASE_NAME + 32];
    bool any = true;
    level->solver = &a->grid->level[number].solver;
    for (int axis = 0; axis < 3; axis++) {
        const int lo = r->lo[axis] << number, hi = r->hi[axis] << number;
        const int first = d->at[axis], end = d->at[axis] + d->extent[axis];
        level->box.lo[axis] = lo > first ? lo : first;
        level->box.hi[axis] = hi < end ? hi : end;
        any = any && level->box.lo[axis] < level->box.hi[axis];
    }
    if (!any)
        level->box = (struct box){{0}, {0}};
    level->part = domain_part(d, level->box.lo, level->box.hi);
    level->cells = box_cells(&level->part);
    snprintf(what_for, sizeof what_for, "the average %s", a->what->name);
    level->sums = solver_alloc(level->solver, level->cells, a->layout.components,
                               sizeof *level->sums, what_for);
    return level->sums ? STATUS_OK : STATUS_MACHINE;
}

enum status average_create(struct average **out, const struct flow_case *c,
                           const struct case_average *what, struct grid *g, struct state *state)
{
    struct average *const a = calloc(1, sizeof *a);
    struct solver *const s = &g->level[0].solver;
    enum status status = STATUS_OK;
    if (!a) {
        status = fail_machine("out of memory for the average %s", what->name);
    } else {
        *a = (struct average){.c = c, .what = what, .grid = g, .solver = s, .steps = {NONE, NONE}};
        a->layout = average_layout(asks_for(a, AVERAGE_velocity), asks_for(a, AVERAGE_density),
                                   asks_for(a, AVERAGE_stress));
        if (what->scalars)
            a->layout = average_layout_scalars(a->layout, (int)(what->scalars << 1));
        for (int l = 0; l < g->levels && !status; l++)
            status = create_level(a, l);
        if (!status)
            status = enter(a, state);
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
    for (int l = 0; a && l < a->grid->levels; l++)
        if (a->level[l].sums) {
            struct backend *const b = a->level[l].solver->backend;
            b->type->free(b, a->level[l].sums);
        }
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

void average_sample(struct average *a)
{
    assert(a->solver->step > a->steps[1]);
    a->samples++;
    a->steps[0] = a->samples == 1 ? a->solver->step : a->steps[0];
    a->steps[1] = a->solver->step;
    for (int l = 0; l < a->grid->levels; l++) {
        const struct task task = {
            .average = a->layout, .samples = (double)a->samples, .buffer = a->level[l].sums};
        if (l == 0 || a->level[l].cells > 0)
            solver_launch(a->level[l].solver, KERNEL_average, &a->level[l].part, task);
    }
}

/* ---- writing ---- */

/* An array of the file: components `first`, .. of the sums, in the units of the case: (add + sum) /
 * divide * scale[0] * scale[1]. */
struct written {
    char name[CASE_NAME + 32];
    int first, components;
    double add, divide, scale[2];
};
enum { WRITTEN_MOST = 3 + 3 * CASE_SCALARS };

/* The arrays of scalars. Returns the number of all arrays. */
static int arrays_of_scalars(const struct average *a, int count, struct written *to)
{
    const double n = (double)a->samples, u = output_velocity_unit(a->c);
    int first = a->layout.scalar;
    for (int k = 0; k < a->c->scalar_count; k++) {
        const struct case_scalar *const s = &a->c->scalars[k];
        const struct written mean = {"", first, 1, s->reference, 1, {1, 1}},
                             variance = {"", first + 1, 1, 0, n, {1, 1}},
                             flux = {"", first + 2, 3, 0, n, {u, 1}};
        if (!(a->what->scalars & 1u << k))
            continue;
        to[count] = mean;
        snprintf(to[count++].name, sizeof to->name, "%s_mean", s->name);
        to[count] = variance;
        snprintf(to[count++].name, sizeof to->name, "%s_variance", s->name);
        if (a->layout.velocity != AVERAGE_NONE) {
            to[count] = flux;
            snprintf(to[count++].name, sizeof to->name, "%s_flux", s->name);
        }
        first += average_of_scalar(a->layout);
    }
    return count;
}

static int arrays_of(const struct average *a, struct written to[WRITTEN_MOST])
{
    const double u = output_velocity_unit(a->c), rho = a->c->units.density, n = (double)a->samples;
    const struct average_layout *const l = &a->layout;
    int count = 0;
#define X(array)                                                                                   \
    if (asks_for(a, AVERAGE_##array))                                                              \
        to[count++] = array;
    const struct written velocity = {"velocity_mean", l->velocity, 3, 0, 1, {u, 1}},
                         density = {"density_mean", l->density, 1, 1, 1, {rho, 1}},
                         stress = {"reynolds_stress", l->stress, STRESSES, 0, n, {u, u}};
    AVERAGE_LIST(X)
#undef X
    return arrays_of_scalars(a, count, to);
}

/* Writes this rank's part of an array, which has this number in the file. sums, out: room for a
 * piece. */
static enum status write_array(const struct average *a, struct vtkhdf *file, int number,
                               const struct written *w, double *sums, void *out)
{
    const struct average_level *const level = &a->level[0];
    const size_t components = (size_t)w->components, first = (size_t)w->first;
    enum status status = STATUS_OK;
    struct box piece;
    size_t at = 0;
    for (int p = 0; !status && solver_piece(a->solver, &level->part, p, &piece); p++) {
        const size_t cells = box_cells(&piece);
        int start[3], count[3];
        for (int axis = 0; axis < 3; axis++) {
            start[axis] = a->solver->domain->lo[axis] + piece.lo[axis] - a->what->region.lo[axis];
            count[axis] = piece.hi[axis] - piece.lo[axis];
        }
        for (size_t k = 0; k < components && !status; k++)
            status = solver_copy_out(a->solver, sums + k * cells,
                                     level->sums + (first + k) * level->cells + at,
                                     cells * sizeof *sums);
        for (size_t cell = 0; cell < cells; cell++)
            for (size_t k = 0; k < components; k++) {
                const double value =
                    (w->add + sums[k * cells + cell]) / w->divide * w->scale[0] * w->scale[1];
                if (a->what->precision == PRECISION_fp64)
                    ((double *)out)[cell * components + k] = value;
                else
                    ((float *)out)[cell * components + k] = (float)value;
            }
        if (!status)
            status = vtkhdf_write(file, number, start, count, out);
        at += cells; /* a piece is whole lines of the part */
    }
    return status;
}

static void add_notes(const struct average *a, struct h5file *file)
{
    output_provenance(file, a->c, a->solver);
    h5file_numbers(file, "/provenance", "samples", SAMPLE_int64, 1, &a->samples);
    h5file_numbers(file, "/provenance", "first_step", SAMPLE_int64, 1, &a->steps[0]);
    h5file_numbers(file, "/provenance", "last_step", SAMPLE_int64, 1, &a->steps[1]);
}

/* The path of the file; false, reported: too long. */
static bool path_of(const struct average *a, const char *dir, char path[FOLDER_PATH])
{
    char name[CASE_NAME + 64];
    snprintf(name, sizeof name, "fields/%s_%010lld.vtkhdf", a->what->name,
             (long long)a->solver->step);
    if (folder_path(path, dir, name))
        return true;
    fail_user("the name of the output folder is too long");
    return false;
}

/* Creates the file and its arrays, without data. Collective. */
static enum status open_file(const struct average *a, const struct written *arrays, int count,
                             const char *dir, struct vtkhdf **file)
{
    const struct case_region *const region = &a->what->region;
    const double dx = a->c->units.dx, spacing[3] = {dx, dx, dx};
    char path[FOLDER_PATH];
    double origin[3];
    int cells[3];
    if (!path_of(a, dir, path))
        return STATUS_USAGE;
    for (int axis = 0; axis < 3; axis++) {
        origin[axis] = (region->lo[axis] + 0.5) * dx;
        cells[axis] = region->hi[axis] - region->lo[axis];
    }
    enum status status = vtkhdf_create(file, a->solver->domain->comm, path, cells, origin, spacing);
    if (status)
        return status;
    add_notes(a, vtkhdf_file(*file));
    for (int k = 0; k < count && !status; k++)
        status = vtkhdf_add(*file, arrays[k].name, arrays[k].components,
                            a->what->precision == PRECISION_fp64 ? SAMPLE_float64 : SAMPLE_float32);
    return status;
}

/* Passes the sums of a level to `use`, [cells][components]. */
static enum status read_sums(const struct quantity *q, const struct cover *cover, int number,
                             cover_use *use, void *to)
{
    const struct average *const a = q->how;
    const struct average_level *const level = &a->level[number];
    const size_t components = (size_t)q->components;
    double *const sums = malloc(level->solver->piece_cells * sizeof *sums),
                  *const values = malloc(level->solver->piece_cells * components * sizeof *values);
    enum status status =
        sums && values ? STATUS_OK : fail_machine("out of memory for a piece of an average");
    struct box piece;
    size_t at = 0;
    (void)cover;
    for (int p = 0; !status && solver_piece(level->solver, &level->part, p, &piece); p++) {
        const size_t cells = box_cells(&piece);
        for (size_t k = 0; k < components && !status; k++) {
            status = solver_copy_out(level->solver, sums, level->sums + k * level->cells + at,
                                     cells * sizeof *sums);
            for (size_t cell = 0; cell < cells; cell++)
                values[cell * components + k] = sums[cell];
        }
        if (!status)
            status = use(to, number, &piece, values);
        at += cells; /* a piece is whole lines of the part */
    }
    free(sums);
    free(values);
    return status;
}

static enum status write_levels(const struct average *a, const char *dir)
{
    const struct quantity sums = {.components = a->layout.components, .read = read_sums, .how = a};
    const struct case_region *const r = &a->what->region;
    struct written arrays[WRITTEN_MOST];
    struct levels_array shown[WRITTEN_MOST];
    char path[FOLDER_PATH];
    struct h5file *file;
    const int count = arrays_of(a, arrays);
    for (int k = 0; k < count; k++) {
        shown[k] = (struct levels_array){
            .of = &sums,
            .first = arrays[k].first,
            .components = arrays[k].components,
            .sample = a->what->precision == PRECISION_fp64 ? SAMPLE_float64 : SAMPLE_float32,
            .add = arrays[k].add,
            .divide = arrays[k].divide,
            .scale = {arrays[k].scale[0], arrays[k].scale[1]}};
        memcpy(shown[k].name, arrays[k].name, sizeof shown[k].name);
    }
    if (!path_of(a, dir, path))
        return STATUS_USAGE;
    const enum status status = levels_file_write(&file, a->grid, path, r->lo, r->hi, a->c->units.dx,
                                                 a->what->levels, count, shown);
    if (!file)
        return status;
    add_notes(a, file);
    return h5file_close(file, status == STATUS_OK);
}

enum status average_write(struct average *a, const char *dir)
{
    struct vtkhdf *file = NULL;
    if (a->samples == 0) {
        say("the average %s has no sample by step %lld (every %lld from step %lld): not written",
            a->what->name, (long long)a->solver->step, (long long)a->what->every,
            (long long)a->what->from);
        return STATUS_OK;
    }
    if (a->grid->levels > 1)
        return write_levels(a, dir);
    struct written arrays[WRITTEN_MOST];
    const int count = arrays_of(a, arrays);
    enum status status = open_file(a, arrays, count, dir, &file);
    const size_t piece = a->solver->piece_cells * STRESSES * sizeof(double);
    double *const sums = malloc(piece);
    void *const out = malloc(piece);
    if (!status && (!sums || !out))
        status = fail_machine("out of memory for a piece of an average");
    for (int k = 0; k < count && !status; k++)
        status = write_array(a, file, k, &arrays[k], sums, out);
    free(sums);
    free(out);
    return file ? vtkhdf_close(file, status == STATUS_OK) : status;
}
