/* Output of a run; see output.h. */
#include "run/output.h"

#include <stdlib.h>
#include <time.h>

#include "base/agree.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/message.h"
#include "io/h5file.h"
#include "run/average.h"
#include "run/field.h"
#include "run/plane.h"
#include "run/skin.h"
#include "run/tables.h"
#include "run/tally.h"
#include "version.h"

struct output {
    const struct flow_case *c;
    struct grid *grid;
    struct solver *solver; /* of level 0 */
    const char *dir;
    struct tables *tables;
    struct tally *tally;
    struct average **averages; /* [averages_count] */
    struct skin_file **skins;  /* [surfaces_count] */
    int64_t done;              /* the output of this step and of all before was written */
    struct background *background;
    struct h5file **left; /* [fields_count] snapshots that it brings to disk */
    int left_count;
    bool given;      /* it may have jobs, on any rank */
    bool fresh;      /* all of them are from the present call of output_write() */
    double given_at; /* when it got the first of them */
    double longest;  /* seconds from then to the last one's end */
};

bool output_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

double output_velocity_unit(const struct flow_case *c)
{
    return c->units.dx / c->units.dt;
}

void output_provenance(struct h5file *file, const struct flow_case *c, const struct solver *s)
{
    static const char group[] = "/provenance";
    const double when = (double)s->step * c->units.dt;
    const int64_t ranks = s->domain->ranks;
    char date[64];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    h5file_text(file, group, "program", "tagflow " TAGFLOW_VERSION);
    h5file_text(file, group, "version", TAGFLOW_VERSION);
    h5file_text(file, group, "commit", TAGFLOW_COMMIT);
    h5file_text(file, group, "case", c->resolved);
    h5file_text(file, group, "backend", s->backend->description);
    h5file_text(file, group, "date", date);
    h5file_numbers(file, group, "ranks", SAMPLE_int64, 1, &ranks);
    h5file_numbers(file, group, "step", SAMPLE_int64, 1, &s->step);
    h5file_numbers(file, group, "time", SAMPLE_float64, 1, &when);
}

static enum status create_averages(struct output *o, struct state *state)
{
    const int count = o->c->averages_count;
    enum status status = STATUS_OK;
    for (int i = 0; !status && i < count; i++)
        status = average_create(&o->averages[i], o->c, &o->c->averages[i], o->grid, state);
    return status;
}

enum status output_create(struct output **out, const struct flow_case *c, struct grid *g,
                          struct state *state, const char *dir)
{
    struct solver *const s = &g->level->solver;
    struct output *const o = calloc(1, sizeof *o);
    struct average **const averages =
        calloc((size_t)c->averages_count + 1, sizeof(struct average *));
    struct skin_file **const skins =
        calloc((size_t)c->surfaces_count + 1, sizeof(struct skin_file *));
    struct h5file **const left = calloc((size_t)c->fields_count + 1, sizeof(struct h5file *));
    const bool room = o && averages && skins && left;
    enum status status = status_agree(
        s->domain->comm, room ? STATUS_OK : fail_machine("out of memory for what the run writes"));
    if (status || !room) {
        free(o);
        free(averages);
        free(skins);
        free(left);
        return STATUS_MACHINE;
    }
    *o = (struct output){.c = c,
                         .grid = g,
                         .solver = s,
                         .dir = dir,
                         .averages = averages,
                         .skins = skins,
                         .left = left,
                         .done = -1};
    if (c->fields_count || c->images_count)
        status = status_agree(s->domain->comm, background_create(&o->background));
    if (!status)
        status = tables_create(&o->tables, c, g, state, dir);
    if (!status)
        status = create_averages(o, state);
    if (!status)
        status = status_agree(s->domain->comm,
                              tally_create(&o->tally, c, dir, s->domain->rank == 0, state));
    for (int i = 0; i < c->surfaces_count && !status; i++)
        status = skin_file_create(&o->skins[i], c, &c->surfaces[i], g);
    if (status) {
        output_close(o);
        return status;
    }
    *out = o;
    return STATUS_OK;
}

enum status output_start(struct output *o, const char *before, bool here, int64_t resumed,
                         bool over)
{
    tally_start(o->tally, resumed, here);
    o->done = resumed < 0 ? -1 : resumed;
    for (int i = 0; i < o->c->averages_count; i++)
        average_resume(o->averages[i]);
    return tables_start(o->tables, before, resumed, over);
}

int64_t output_nearer(int64_t next, int64_t step, int64_t every)
{
    const int64_t away = every > 0 ? every - step % every : INT64_MAX;
    return away < next ? away : next;
}

int64_t output_next(const struct output *o, int64_t step)
{
    const struct flow_case *const c = o->c;
    int64_t next = INT64_MAX;
    for (int i = 0; i < c->series_count; i++)
        next = output_nearer(next, step, c->series[i].every);
    for (int i = 0; i < c->fields_count; i++)
        next = output_nearer(next, step, c->fields[i].every);
    for (int i = 0; i < c->surfaces_count; i++)
        next = output_nearer(next, step, c->surfaces[i].every);
    for (int i = 0; i < c->images_count; i++)
        next = output_nearer(next, step, c->images[i].every);
    for (int i = 0; i < c->averages_count; i++) {
        const int64_t at = average_next(o->averages[i], step);
        if (at != INT64_MAX && at - step < next)
            next = at - step;
    }
    const int64_t sample = tables_next_sample(o->tables, step);
    return sample < next ? sample : next;
}

enum status output_sample(struct output *o)
{
    return tables_sample(o->tables);
}

bool output_files_due(const struct output *o, int64_t step)
{
    const struct flow_case *const c = o->c;
    bool due = false;
    for (int i = 0; i < c->fields_count; i++)
        due |= output_due(step, c->fields[i].every);
    for (int i = 0; i < c->surfaces_count; i++)
        due |= output_due(step, c->surfaces[i].every);
    for (int i = 0; i < c->images_count; i++)
        due |= output_due(step, c->images[i].every);
    for (int i = 0; i < c->averages_count; i++)
        due |= average_ends(o->averages[i], step);
    return due && step > o->done;
}

bool output_needs_sums(const struct output *o, int64_t step, bool *enstrophy)
{
    return step > o->done && tables_need_sums(o->tables, step, enstrophy);
}

/* Is this to be written? In a second call at a step (`again`), only what the run's last step
 * adds. */
static bool wanted(bool again, bool due, bool last)
{
    return again ? last && !due : last || due;
}

static void sample_averages(struct output *o, int64_t step)
{
    for (int i = 0; i < o->c->averages_count; i++)
        if (average_due(o->averages[i], step))
            average_sample(o->averages[i]);
}

enum status output_rows(struct output *o, const struct flow_sums *sums)
{
    return o->solver->step <= o->done ? STATUS_OK : tables_write(o->tables, sums);
}

enum status output_last_rows(struct output *o)
{
    return o->solver->step <= o->done ? STATUS_OK : tables_end(o->tables);
}

double output_value(const struct output *o, int series, int column)
{
    return tables_value(o->tables, series, column);
}

bool output_busy(const struct output *o)
{
    return background_busy(o->background);
}

double output_seconds(const struct output *o)
{
    return o->longest;
}

enum status output_complete(struct output *o)
{
    if (!o->given)
        return STATUS_OK;
    enum status status = background_wait(o->background);
    for (int i = 0; i < o->left_count; i++)
        if (h5file_close(o->left[i], true))
            status = STATUS_MACHINE;
    if (!status)
        tally_complete(o->tally);
    o->given = false;
    o->left_count = 0;
    const double seconds = clock_seconds() - o->given_at;
    o->longest = seconds > o->longest ? seconds : o->longest;
    return status_agree(o->solver->domain->comm, status);
}

/* Waits until the files of earlier calls of output_write() are complete. Call it before a snapshot
 * or an image is given to the background. */
static enum status prepare(struct output *o)
{
    if (o->fresh)
        return STATUS_OK;
    const enum status status = output_complete(o);
    if (!status) {
        o->fresh = o->given = true;
        o->given_at = clock_seconds();
    }
    return status;
}

static enum status write_field(struct output *o, const struct case_field *field)
{
    struct h5file *left;
    enum status status = prepare(o);
    if (!status)
        status = field_write(o->grid, o->c, field, o->dir, o->background, &left);
    if (status)
        return status;
    o->left[o->left_count++] = left;
    tally_later(o->tally, RESULTS_fields, field->name, o->solver->step);
    return STATUS_OK;
}

static enum status write_average(struct output *o, int i)
{
    const enum status status = average_write(o->averages[i], o->dir);
    if (!status)
        tally_add(o->tally, RESULTS_fields, o->c->averages[i].name, o->solver->step);
    return status;
}

static enum status write_surface(struct output *o, int i)
{
    const enum status status = skin_file_write(o->skins[i], o->dir);
    if (!status)
        tally_add(o->tally, RESULTS_fields, o->c->surfaces[i].name, o->solver->step);
    return status;
}

static enum status draw_image(struct output *o, const struct case_image *image)
{
    enum status status = prepare(o);
    if (!status)
        status = plane_image(o->grid, o->c, image, o->dir, o->background);
    if (!status)
        tally_later(o->tally, RESULTS_images, image->name, o->solver->step);
    return status;
}

enum status output_write(struct output *o, bool last)
{
    const struct flow_case *const c = o->c;
    const int64_t step = o->solver->step;
    const bool again = step <= o->done;
    enum status status = STATUS_OK;
    o->fresh = false;
    if (!again)
        sample_averages(o, step);
    for (int i = 0; i < c->fields_count && !status; i++)
        if (wanted(again, output_due(step, c->fields[i].every), last))
            status = write_field(o, &c->fields[i]);
    for (int i = 0; i < c->averages_count && !status; i++) {
        struct average *const a = o->averages[i];
        if (wanted(again, average_ends(a, step), last && average_open(a, step)))
            status = write_average(o, i);
    }
    for (int i = 0; i < c->surfaces_count && !status; i++)
        if (wanted(again, output_due(step, c->surfaces[i].every), last))
            status = write_surface(o, i);
    for (int i = 0; i < c->images_count && !status; i++)
        if (wanted(again, output_due(step, c->images[i].every), last))
            status = draw_image(o, &c->images[i]);
    o->done = step;
    return status;
}

enum status output_sync(struct output *o)
{
    const enum status status = output_complete(o);
    return status ? status : tables_sync(o->tables);
}

enum status output_close(struct output *o)
{
    if (!o)
        return STATUS_OK;
    enum status status = output_complete(o);
    if (tables_close(o->tables))
        status = STATUS_MACHINE;
    background_destroy(o->background);
    tally_destroy(o->tally);
    for (int i = 0; i < o->c->averages_count; i++)
        average_destroy(o->averages[i]);
    for (int i = 0; i < o->c->surfaces_count; i++)
        skin_file_destroy(o->skins[i]);
    free(o->averages);
    free(o->skins);
    free(o->left);
    free(o);
    return status;
}
