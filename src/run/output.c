/* Output of a run; see output.h. */
#include "run/output.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/message.h"
#include "io/h5file.h"
#include "run/schedule.h"
#include "run/series.h"
#include "run/tally.h"

static const struct {
    const struct output_kind *kind;
    enum results_part part;
} kinds[] = {
#define X(name, part) {&output_##name, RESULTS_##part},
    OUTPUT_KIND_LIST(X)
#undef X
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct output {
    const struct flow_case *c;
    struct grid *grid;
    struct solver *solver; /* of level 0 */
    const char *dir;
    struct output_entry *entry, *end; /* of all kinds */
    int64_t done;                     /* the output of this step and of all before was written */
    struct background *background;
    bool given;      /* it may have jobs, on any rank */
    bool fresh;      /* all of them are from the present call of output_write() */
    double given_at; /* when it got the first of them */
    double longest;  /* seconds from then to the last one's end */
};

/* The entries of all kinds of the case. NULL: no memory. */
static struct output_entry *list_entries(const struct flow_case *c, const char *dir, int *count)
{
    const char *const base = (const char *)c;
    *count = 0;
    for (int k = 0; k < KINDS; k++)
        *count += *(const int *)(base + kinds[k].kind->count);
    struct output_entry *const all = calloc((size_t)*count + 1, sizeof *all);
    struct output_entry *e = all;
    for (int k = 0; k < KINDS && all; k++) {
        const struct output_kind *const kind = kinds[k].kind;
        const char *what = *(const char *const *)(base + kind->first);
        for (int n = *(const int *)(base + kind->count); n > 0; n--, what += kind->size)
            *e++ = (struct output_entry){.kind = kind,
                                         .what = what,
                                         .name = what, /* its first member */
                                         .part = kinds[k].part,
                                         .every = *(const int64_t *)(what + kind->every),
                                         .c = c,
                                         .dir = dir,
                                         .pending = -1};
    }
    return all;
}

/* Allocates what all entries need before they are created. False: no memory. */
static bool allocate(struct output *o, struct state *state)
{
    int count;
    o->entry = o->end = list_entries(o->c, o->dir, &count);
    for (; o->entry && o->end < o->entry + count; o->end++) {
        struct output_entry *const e = o->end;
        e->grid = o->grid;
        e->solver = o->solver;
        e->state = state;
        if (e->kind->own && !(e->own = calloc(1, e->kind->own)))
            return false;
    }
    return o->entry;
}

/* Creates the background if files come to disk in it. */
static enum status create_background(struct output *o)
{
    enum status status = STATUS_OK;
    for (struct output_entry *e = o->entry; e < o->end && !status; e++)
        if (e->kind->late && !o->background)
            status = background_create(&o->background);
    for (struct output_entry *e = o->entry; e < o->end; e++)
        e->background = o->background;
    return status;
}

static enum status create_entries(struct output *o, struct state *state)
{
    enum status status = STATUS_OK;
    for (struct output_entry *e = o->entry; !status && e < o->end; e++)
        if (e->kind->create)
            status = e->kind->create(e);
    if (!status)
        status = tally_register(o->entry, (int)(o->end - o->entry), state);
    return status_agree(o->solver->domain->comm, status);
}

/* Not collective. NULL: nothing. */
static enum status destroy(struct output *o)
{
    enum status status = STATUS_OK;
    for (struct output_entry *e = o ? o->entry : NULL; o && e < o->end; e++) {
        if (e->kind->close && e->own && e->kind->close(e))
            status = STATUS_MACHINE;
        free(e->own);
    }
    if (o) {
        background_destroy(o->background);
        free(o->entry);
    }
    free(o);
    return status;
}

enum status output_create(struct output **out, const struct flow_case *c, struct grid *g,
                          struct state *state, const char *dir)
{
    MPI_Comm const comm = g->level->domain.comm;
    struct output *const o = calloc(1, sizeof *o);
    if (o)
        *o =
            (struct output){.c = c, .grid = g, .solver = &g->level->solver, .dir = dir, .done = -1};
    enum status status = o && allocate(o, state)
                             ? create_background(o)
                             : fail_machine("out of memory for what the run writes");
    status = status_agree(comm, status);
    if (!status)
        status = create_entries(o, state);
    if (status)
        destroy(o);
    else
        *out = o;
    return status;
}

enum status output_start(struct output *o, const struct output_start *from)
{
    enum status status = STATUS_OK;
    if (o->solver->domain->rank == 0)
        tally_start(o->entry, (int)(o->end - o->entry), from->resumed, from->here);
    o->done = from->resumed < 0 ? -1 : from->resumed;
    for (struct output_entry *e = o->entry; !status && e < o->end; e++)
        if (e->kind->start)
            status = e->kind->start(e, from);
    return status_agree(o->solver->domain->comm, status);
}

static bool is_due(const struct output_entry *e, int64_t step)
{
    return e->kind->due ? e->kind->due(e, step) : schedule_due(step, e->every);
}

int64_t output_next(const struct output *o, int64_t step)
{
    int64_t next = INT64_MAX;
    for (const struct output_entry *e = o->entry; e < o->end; e++) {
        const int64_t away =
            e->kind->next ? e->kind->next(e, step) : schedule_nearer(INT64_MAX, step, e->every);
        next = away < next ? away : next;
    }
    return next;
}

enum status output_sample(struct output *o)
{
    enum status status = STATUS_OK;
    for (struct output_entry *e = o->entry; !status && e < o->end; e++)
        if (e->kind->prepare)
            status = e->kind->prepare(e);
    return status;
}

bool output_files_due(const struct output *o, int64_t step)
{
    bool due = false;
    for (const struct output_entry *e = o->entry; e < o->end; e++)
        due = due || (e->kind->write && is_due(e, step));
    return due && step > o->done;
}

/* ---- rows ---- */

bool output_needs_sums(const struct output *o, int64_t step, bool *enstrophy)
{
    bool any = false;
    for (const struct output_entry *e = o->entry; e < o->end; e++)
        if (e->kind->needs_sums && step > o->done && is_due(e, step))
            any = e->kind->needs_sums(e, enstrophy) || any;
    return any;
}

/* Writes the rows that are due, or all others. Rank 0 alone may fail to write a row: all ranks go
 * on, and agree at the end. */
static enum status write_rows(struct output *o, const struct flow_sums *sums, bool due)
{
    enum status status = STATUS_OK;
    for (struct output_entry *e = o->entry; e < o->end; e++)
        if (e->kind->write_rows && is_due(e, o->solver->step) == due)
            status = status_worse(status, e->kind->write_rows(e, sums, due));
    return status_agree(o->solver->domain->comm, status);
}

enum status output_rows(struct output *o, const struct flow_sums *sums)
{
    return o->solver->step <= o->done ? STATUS_OK : write_rows(o, sums, true);
}

enum status output_last_rows(struct output *o)
{
    struct flow_sums sums = {0};
    bool any = false, enstrophy = false;
    if (o->solver->step <= o->done)
        return STATUS_OK;
    for (const struct output_entry *e = o->entry; e < o->end; e++)
        any = (e->kind->needs_sums && e->kind->needs_sums(e, &enstrophy)) || any;
    const struct levels all = levels_of(o->grid);
    const enum status status = any ? flow_measure(&all, enstrophy, &sums) : STATUS_OK;
    return status ? status : write_rows(o, &sums, false);
}

double output_value(const struct output *o, int series, int column)
{
    const struct output_entry *e = o->entry;
    while (e->what != &o->c->series[series])
        e++;
    return series_value(e, column);
}

/* ---- files ---- */

bool output_busy(const struct output *o)
{
    return background_busy(o->background);
}

double output_seconds(const struct output *o)
{
    return o->longest;
}

static void add_file(const struct output *o, struct output_entry *e, int64_t step)
{
    if (o->solver->domain->rank == 0)
        tally_add(e, step);
}

enum status output_complete(struct output *o)
{
    if (!o->given)
        return STATUS_OK;
    enum status status = background_wait(o->background);
    for (struct output_entry *e = o->entry; e < o->end; e++) {
        if (e->left && h5file_close(e->left, true))
            status = STATUS_MACHINE;
        e->left = NULL;
    }
    for (struct output_entry *e = o->entry; !status && e < o->end; e++) {
        if (e->pending >= 0)
            add_file(o, e, e->pending);
        e->pending = -1;
    }
    o->given = false;
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

/* Is a file to be written? In a second call at a step (`again`), only what the run's last step
 * adds. */
static bool wanted(const struct output_entry *e, bool again, bool last)
{
    const int64_t step = e->solver->step;
    const bool due = is_due(e, step), ends = last && (!e->kind->ends || e->kind->ends(e, step));
    return again ? ends && !due : ends || due;
}

static enum status write_file(struct output *o, struct output_entry *e)
{
    const int64_t step = o->solver->step;
    enum status status = e->kind->late ? prepare(o) : STATUS_OK;
    if (!status)
        status = e->kind->write(e);
    if (!status && e->kind->late)
        e->pending = step;
    else if (!status)
        add_file(o, e, step);
    return status;
}

enum status output_write(struct output *o, bool last)
{
    const bool again = o->solver->step <= o->done;
    enum status status = STATUS_OK;
    o->fresh = false;
    for (struct output_entry *e = o->entry; !again && e < o->end; e++)
        if (e->kind->sample)
            e->kind->sample(e);
    for (struct output_entry *e = o->entry; !status && e < o->end; e++)
        if (e->kind->write && wanted(e, again, last))
            status = write_file(o, e);
    o->done = o->solver->step;
    return status;
}

/* ---- the end ---- */

enum status output_sync(struct output *o)
{
    enum status status = output_complete(o);
    if (status)
        return status;
    for (struct output_entry *e = o->entry; e < o->end; e++)
        if (e->kind->sync && e->kind->sync(e))
            status = STATUS_MACHINE;
    return status_agree(o->solver->domain->comm, status);
}

enum status output_close(struct output *o, json_t **files)
{
    if (!o)
        return STATUS_OK;
    MPI_Comm const comm = o->solver->domain->comm;
    enum status status = output_complete(o);
    if (files && o->solver->domain->rank == 0)
        *files = tally_json(o->entry, (int)(o->end - o->entry));
    if (destroy(o))
        status = STATUS_MACHINE;
    return status_agree(comm, status);
}

void output_check_files(const struct flow_case *c, const char *dir)
{
    int count;
    struct output_entry *const entry = list_entries(c, dir, &count);
    if (entry)
        tally_check(entry, count, dir);
    free(entry);
}
