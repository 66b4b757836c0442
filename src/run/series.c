/* Series: their files, dir/series/<name>.csv, and the rows that are due; see series.h.
 *
 * Measuring is collective, in the order of the case; rank 0 writes the rows. */
#include "run/series.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "run/schedule.h"

static const struct table_kind *const kinds[] = {
#define X(name, ...) [SERIES_KIND_##name] = &series_##name,
    SERIES_KIND_LIST(X)
#undef X
};

/* Steps between which run.stop may end the run: then every series has a row. */
static int64_t looks_of(const struct table *t)
{
    return t->c->run.stop.given ? t->c->run.stop.every : 0;
}

/* May there be a row at this step? */
static bool may_have_row(const struct table *t, int64_t step)
{
    return schedule_due(step, t->series->every) || schedule_due(step, looks_of(t));
}

/* A later step of a level: level 0 stands at the end of its step. Does a row there need it? */
static enum status look(void *own, int level)
{
    struct table *const t = own;
    const bool needed = t->needs_sample && may_have_row(t, t->solver->step);
    return needed ? t->kind->add_later(t, level) : STATUS_OK;
}

static enum status create(struct output_entry *e)
{
    struct table *const t = e->own;
    MPI_Comm const comm = e->solver->domain->comm;
    char name[STATE_NAME];
    *t = (struct table){.c = e->c,
                        .series = e->what,
                        .grid = e->grid,
                        .levels = levels_of(e->grid),
                        .solver = e->solver,
                        .state = e->state,
                        .root = e->solver->domain->rank == 0,
                        .mark.rows = -1};
    t->kind = kinds[t->series->kind];
    t->needs_sample = t->kind->sample;
    if (t->kind->add_later) {
        t->watch = (struct grid_watch){.look = look, .own = t, .next = t->grid->watch};
        t->grid->watch = &t->watch;
    }
    t->columns = series_columns(t->series, t->c, t->names);
    t->points = series_has_points(t->series) ? t->series->points : 1;
    t->rows = malloc((size_t)t->points * (size_t)(t->columns - 1) * sizeof *t->rows);
    t->own = calloc(1, t->kind->own + 1);
    enum status status = t->rows && t->own
                             ? STATUS_OK
                             : fail_machine("out of memory for the rows of series %s", e->name);
    status = status_agree(comm, status);
    if (!status && t->kind->create)
        status = t->kind->create(t);
    if (status)
        return status;
    snprintf(name, sizeof name, "rows/%s", e->name);
    status = state_add_numbers(t->state, name, "of the file: rows, bytes, their XXH3", SAMPLE_int64,
                               sizeof t->mark / sizeof(int64_t), &t->mark);
    if (!status)
        state_optional(t->state);
    return status_agree(comm, status);
}

static enum status destroy(struct output_entry *e)
{
    struct table *const t = e->own;
    const enum status status = series_close(t->file);
    for (struct grid_watch **w = t->grid ? &t->grid->watch : NULL; w && *w; w = &(*w)->next)
        if (*w == &t->watch) {
            *w = t->watch.next;
            break;
        }
    if (t->own && t->kind->destroy)
        t->kind->destroy(t);
    free(t->own);
    free(t->rows);
    return status;
}

/* The last step whose rows stay after a restart. A run that ends at a step without a due row has
 * written one there; a run that continues must not have it. */
static int64_t last_to_keep(const struct table *t, const struct output_start *from)
{
    const bool stays = from->over || schedule_due(from->resumed, t->series->every);
    return stays ? from->resumed : from->resumed - 1;
}

/* Puts the file of a series aside if its rows up to the checkpoint measure something else than this
 * case does. *anew: it was. */
static enum status put_other_aside(const struct table *t, const char *path, const char *before,
                                   int64_t resumed, bool *anew)
{
    const char *was = NULL, *is = "", *const name = t->series->name;
    int old = 0, length = 0;
    case_series_text(t->c->resolved, name, &is, &length);
    if (case_series_text(before, name, &was, &old) && old == length &&
        strncmp(was, is, (size_t)old) == 0)
        return STATUS_OK;
    return series_put_aside(path, resumed, was, old, is, length, anew);
}

/* After a restart rows after step `resumed` are dropped, and also the last row of a run that ended
 * there, if it now continues. A series that measured something else in the case `before` begins
 * anew; its file is kept under another name. */
static enum status start(struct output_entry *e, const struct output_start *from)
{
    struct table *const t = e->own;
    char path[FOLDER_PATH];
    bool anew = from->resumed < 0;
    enum status status = t->root ? output_path(e, path) : STATUS_OK;
    if (!status && t->root && from->before && !anew)
        status = put_other_aside(t, path, from->before, from->resumed, &anew);
    if (status || !t->root)
        return status;
    return anew ? series_create(&t->file, path, t->columns, t->names)
                : series_resume(&t->file, path, t->columns, t->names, last_to_keep(t, from),
                                t->mark.rows < 0 ? NULL : &t->mark);
}

static int64_t next(const struct output_entry *e, int64_t step)
{
    const struct table *const t = e->own;
    int64_t next = schedule_nearer(INT64_MAX, step, e->every);
    if (t->needs_sample) {
        next = schedule_nearer(next, step + 1, e->every);
        next = schedule_nearer(next, step + 1, looks_of(t));
    }
    return next;
}

static enum status prepare(struct output_entry *e)
{
    struct table *const t = e->own;
    const bool needed = t->needs_sample && may_have_row(t, t->solver->step + 1);
    return needed ? t->kind->sample(t) : STATUS_OK;
}

static bool needs_sums(const struct output_entry *e, bool *enstrophy)
{
    const struct table *const t = e->own;
    if (t->kind->needs_sums)
        *enstrophy = *enstrophy || t->series->of & (1u << SERIES_enstrophy);
    return t->kind->needs_sums;
}

static enum status write_rows(struct output_entry *e, const struct flow_sums *sums, bool due)
{
    struct table *const t = e->own;
    t->sums = sums;
    t->due = due;
    const enum status status = t->kind->measure(t);
    if (status || !t->root)
        return status;
    for (int k = 0; k < t->points; k++)
        table_row(t, k)[-1] = (double)t->solver->step * t->c->units.dt;
    return series_append(t->file, t->solver->step, t->points, t->rows);
}

double series_value(const struct output_entry *e, int column)
{
    const struct table *const t = e->own;
    assert(t->points == 1 && column > 0 && column < t->columns);
    double value = t->rows[column - 1];
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, t->solver->domain->comm);
    return value;
}

static enum status sync(struct output_entry *e)
{
    struct table *const t = e->own;
    enum status status = STATUS_OK;
    if (t->file) {
        status = series_sync(t->file);
        series_mark(t->file, &t->mark);
    }
    return status;
}

const struct output_kind output_series = {
    OUTPUT_ENTRIES(series, case_series),
    .own = sizeof(struct table),
    .create = create,
    .start = start,
    .next = next,
    .prepare = prepare,
    .needs_sums = needs_sums,
    .write_rows = write_rows,
    .sync = sync,
    .close = destroy,
};
