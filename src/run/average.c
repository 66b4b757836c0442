/* Averages over time: means and Reynolds stresses of the cells of a region, sampled at intervals
 * within a window of steps. Their sums are registered in the run's state, so that a restart does
 * not change them. The formulas are in include/means.h. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "run/levels_file.h"
#include "run/output_kind.h"
#include "run/schedule.h"

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

/* Allocates, and registers:
 *   averages/<name>          float64, of the cells of the region: the means of velocity (3) and of
 *                            density - 1 (1), then the sums of products of the deviations of
 *                            velocity from its mean, xx yy zz xy xz yz (6), then of each scalar
 *                            its mean and sum of squares and, with a velocity, its products with
 *                            the velocity's deviations (3); only those needed
 *                            with several levels averages/<name>/level_<k>, for each level that has
 *                            cells in the region
 *   averages/<name>/samples  int64, the number of samples
 *   averages/<name>/steps    int64, the first and the last step sampled; -1: none */
static enum status create(struct output_entry *e)
{
    struct average *const a = e->own;
    const struct case_average *const what = e->what;
    enum status status = STATUS_OK;
    *a = (struct average){
        .c = e->c, .what = what, .grid = e->grid, .solver = e->solver, .steps = {NONE, NONE}};
    a->layout = average_layout(asks_for(a, AVERAGE_velocity), asks_for(a, AVERAGE_density),
                               asks_for(a, AVERAGE_stress));
    if (what->scalars)
        a->layout = average_layout_scalars(a->layout, (int)(what->scalars << 1));
    for (int l = 0; l < a->grid->levels && !status; l++)
        status = create_level(a, l);
    if (!status)
        status = enter(a, e->state);
    return status_agree(a->solver->domain->comm, status);
}

static enum status destroy(struct output_entry *e)
{
    const struct average *const a = e->own;
    for (int l = 0; l < LEVELS; l++)
        if (a->level[l].sums) {
            struct backend *const b = a->level[l].solver->backend;
            b->type->free(b, a->level[l].sums);
        }
    return STATUS_OK;
}

/* The window has ended. */
static bool due(const struct output_entry *e, int64_t step)
{
    const struct case_average *const what = e->what;
    return step == what->to;
}

/* The next sample, or the end of the window. */
static int64_t next(const struct output_entry *e, int64_t step)
{
    const struct case_average *const what = e->what;
    const int64_t before = step < what->from - 1 ? what->from - 1 : step;
    return step >= what->to
               ? INT64_MAX
               : before - step + schedule_nearer(what->to - before, before, what->every);
}

/* Has the average samples after its end, because the end was later before a restart? Then it is
 * written at the last step of the run. */
static bool beyond(const struct average *a)
{
    return a->samples > 0 && a->steps[1] > a->what->to;
}

/* The window is still open. */
static bool ends(const struct output_entry *e, int64_t step)
{
    const struct average *const a = e->own;
    return step < a->what->to || beyond(a);
}

static enum status start(struct output_entry *e, const struct output_start *from)
{
    const struct average *const a = e->own;
    (void)from;
    if (beyond(a))
        warn("average_longer",
             "the average %s ends at step %lld, but has samples up to step %lld from before the "
             "restart (they stay in it)",
             a->what->name, (long long)a->what->to, (long long)a->steps[1]);
    return STATUS_OK;
}

/* Samples the state of all levels. If the backend fails, the next function that waits for it says
 * so. */
static void sample(struct output_entry *e)
{
    struct average *const a = e->own;
    const int64_t step = a->solver->step;
    if (!schedule_due(step, a->what->every) || step < a->what->from || step > a->what->to)
        return;
    assert(step > a->steps[1]);
    a->samples++;
    a->steps[0] = a->samples == 1 ? step : a->steps[0];
    a->steps[1] = step;
    for (int l = 0; l < a->grid->levels; l++) {
        const struct task task = {.average = {a->layout, (double)a->samples},
                                  .buffer = a->level[l].sums};
        if (l == 0 || a->level[l].cells > 0)
            solver_launch(a->level[l].solver, KERNEL_average, &a->level[l].part, task);
    }
}

/* ---- writing ---- */

enum { WRITTEN_MOST = 3 + 3 * CASE_SCALARS };

/* Sums of the flow, or of a scalar. */
struct average_part {
    const struct average *a;
    int first; /* of the average's components */
    struct cover_quantity sums;
};

/* Passes the sums of a part on a level to `use`, [cells][components]. */
static enum status read_sums(const struct cover_quantity *q, const struct cover *cover, int number,
                             cover_use *use, void *to)
{
    const struct average_part *const part = q->how;
    const struct average_level *const level = &part->a->level[number];
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
            status = solver_copy_out(level->solver, sums,
                                     level->sums + ((size_t)part->first + k) * level->cells + at,
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

/* The average's parts, of each set: of the flow and of all scalars. */
static void find_parts(const struct average *a, struct average_part part[SETS])
{
    int first = a->what->scalars ? a->layout.scalar : a->layout.components;
    part[SET_flow] = (struct average_part){.sums.components = first};
    for (int set = 1; set <= a->c->scalar_count; set++) {
        if (!(a->what->scalars & 1u << (set - 1)))
            continue;
        part[set] = (struct average_part){
            .first = first, .sums = {.set = set, .components = average_of_scalar(a->layout)}};
        first += part[set].sums.components;
    }
    for (int set = 0; set < SETS; set++) {
        part[set].a = a;
        part[set].sums.read = read_sums;
        part[set].sums.how = &part[set];
    }
}

/* The arrays of a scalar. Returns the number of all arrays. */
static int arrays_of_scalar(const struct average_part *part, const struct case_scalar *s, int count,
                            struct levels_array to[])
{
    const struct average *const a = part->a;
    const double n = (double)a->samples, u = output_velocity_unit(a->c);
    const struct {
        const char *name;
        struct levels_array array;
    } all[] = {
        {"mean", {.components = 1, .add = s->reference}},
        {"variance", {.components = 1, .divide = n}},
        {"flux", {.components = 3, .divide = n, .scale = {u}}},
    };
    for (int m = 0; m < (a->layout.velocity != AVERAGE_NONE ? 3 : 2); m++) {
        to[count] = all[m].array;
        to[count].first = m;
        to[count].of = &part->sums;
        snprintf(to[count++].name, sizeof to->name, "%s_%s", s->name, all[m].name);
    }
    return count;
}

/* The arrays of the file. Returns their number. */
static int arrays_of(const struct average *a, const struct average_part part[SETS],
                     struct levels_array to[WRITTEN_MOST])
{
    const double u = output_velocity_unit(a->c), rho = a->c->units.density, n = (double)a->samples;
    const struct average_layout *const l = &a->layout;
    const struct levels_array
        velocity = {.name = "velocity_mean", .components = 3, .scale = {u}},
        density = {.name = "density_mean", .components = 1, .add = 1, .scale = {rho}},
        stress = {.name = "reynolds_stress", .components = STRESSES, .divide = n, .scale = {u, u}};
    int count = 0;
#define X(array)                                                                                   \
    if (asks_for(a, AVERAGE_##array)) {                                                            \
        to[count] = array;                                                                         \
        to[count].of = &part[SET_flow].sums;                                                       \
        to[count++].first = l->array;                                                              \
    }
    AVERAGE_LIST(X)
#undef X
    for (int k = 0; k < a->c->scalar_count; k++)
        if (a->what->scalars & 1u << k)
            count = arrays_of_scalar(&part[1 + k], &a->c->scalars[k], count, to);
    for (int k = 0; k < count; k++)
        to[k].sample = a->what->precision == PRECISION_fp64 ? SAMPLE_float64 : SAMPLE_float32;
    return count;
}

static void add_notes(const struct average *a, struct h5file *file)
{
    h5file_numbers(file, "/provenance", "samples", SAMPLE_int64, 1, &a->samples);
    h5file_numbers(file, "/provenance", "first_step", SAMPLE_int64, 1, &a->steps[0]);
    h5file_numbers(file, "/provenance", "last_step", SAMPLE_int64, 1, &a->steps[1]);
}

/* Without a sample only says so. */
static enum status write(struct output_entry *e)
{
    const struct average *const a = e->own;
    struct average_part part[SETS] = {{NULL}};
    struct levels_array arrays[WRITTEN_MOST];
    struct levels_file content = {
        .region = &a->what->region, .levels = a->what->levels, .stride = 1, .array = arrays};
    struct h5file *file;
    if (a->samples == 0) {
        say("the average %s has no sample by step %lld (every %lld from step %lld): not written",
            a->what->name, (long long)a->solver->step, (long long)a->what->every,
            (long long)a->what->from);
        return STATUS_OK;
    }
    find_parts(a, part);
    content.arrays = arrays_of(a, part, arrays);
    const enum status status = levels_file_write(&file, e, &content);
    if (!file)
        return status;
    add_notes(a, file);
    return h5file_close(file, status == STATUS_OK);
}

const struct output_kind output_averages = {
    OUTPUT_ENTRIES(averages, case_average),
    .own = sizeof(struct average),
    .create = create,
    .start = start,
    .due = due,
    .next = next,
    .ends = ends,
    .sample = sample,
    .write = write,
    .close = destroy,
};
