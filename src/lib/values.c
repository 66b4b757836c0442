/* Values of a run: at points, means, columns, factors; see tagflow.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "case/columns.h"
#include "case/nearest.h"
#include "exact.h"
#include "lib/library.h"
#include "measure/at_wall.h"
#include "measure/probe.h"

/* ---- points ---- */

/* Values of the quantity at the points, on rank 0: [count][4] of the flow, [count] of a scalar. */
static enum status measure_points(struct tagflow_run *r, int set, int count, const double *cells,
                                  double *values)
{
    const struct levels all = levels_of(run_grid(r->run));
    struct probe probe = {.points = 0};
    struct at_wall walls = {.count = 0};
    int rank;
    MPI_Comm_rank(r->comm, &rank);
    enum status status = probe_create(&probe, &all, set, count, cells);
    if (status)
        return status;
    if (rank == 0)
        status = at_wall_create(&walls, &all, &r->c, count, cells);
    status = status_agree(r->comm, status);
    if (!status)
        status = probe_measure(&probe, &all, rank == 0 ? values : NULL);
    if (!status && rank == 0 && set == SET_flow)
        at_wall_flow(&walls, &r->c, values);
    else if (!status && rank == 0)
        at_wall_scalar(&walls, &r->c, set - 1, run_step(r->run), values);
    at_wall_destroy(&walls);
    probe_destroy(&probe);
    return status;
}

/* Positions in cells. */
static enum status to_cells(const struct tagflow_run *r, int count, const double *at, double *cells)
{
    for (int k = 0; k < 3 * count; k++) {
        const int n = r->c.cells[k % 3];
        cells[k] = at[k] / r->c.units.dx;
        if (!(cells[k] >= 0 && cells[k] <= n))
            return fail_user("point %d is out of the box: %c = %g, and the box ends at %g", k / 3,
                             "xyz"[k % 3], at[k], n * r -> c.units.dx);
    }
    return STATUS_OK;
}

static enum status points(struct tagflow_run *r, const char *name, int count, const double *at,
                          double *values)
{
    struct asked q;
    enum status status = library_field(r, name, &q);
    if (!status && q.array->of->kernel != KERNEL_flow && q.array->of->kernel != KERNEL_scalar)
        status = fail_user("%s has no values at points", name);
    if (!status && (count < 0 || (count > 0 && !at)))
        status = fail_user("there are %d points", count);
    if (status || !count)
        return status;
    const int of = q.array->of->components, components = q.array->components;
    double *const cells = malloc((size_t)count * 3 * sizeof *cells), *const raw = malloc(
                                                                         (size_t)count *
                                                                         (size_t)of * sizeof *raw);
    status = cells && raw ? to_cells(r, count, at, cells)
                          : fail_machine("out of memory for %d points", count);
    status = status_agree(r->comm, status);
    if (!status)
        status = measure_points(r, q.array->of->set, count, cells, raw);
    if (!status) {
        MPI_Bcast(raw, count * of, MPI_DOUBLE, 0, r->comm);
        for (int k = 0; k < count * components; k++)
            levels_array_put(q.array, values, (size_t)k,
                             raw[k / components * of + q.array->first + k % components]);
    }
    free(cells);
    free(raw);
    return status;
}

int tagflow_points(struct tagflow_run *run, const char *name, int count, const double *at,
                   double *values)
{
    library_enter();
    return library_leave(run, points(run, name, count, at, values));
}

/* ---- means ---- */

/* Sums over the cells of this rank, in volumes of cells of level 0. */
struct region_sums {
    const struct grid *grid;
    const struct levels_array *array;
    struct exact_sum volume, sum[3];
    bool bad; /* a value is not finite */
};

static enum status add_piece(void *to, int level, const struct box *piece, const double *values)
{
    struct region_sums *const s = to;
    const struct domain *const d = &s->grid->level[level].domain;
    const int of = s->array->of->components, first = s->array->first;
    const double volume = ldexp(1, -refined_dimensions(&s->grid->refined, 3) * level);
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++, values += of) {
                const size_t cell = view_index(&d->view, x, y, z);
                if ((d->tags[cell] & TAG_ROW) == TAG_ABSENT ||
                    !view_holds(&d->view, s->array->of->set, cell))
                    continue;
                exact_add(&s->volume, volume);
                for (int k = 0; k < s->array->components; k++) {
                    const double value = values[first + k];
                    s->bad = s->bad || !(fabs(value) < 0x1p20);
                    exact_add(&s->sum[k], s->bad ? 0 : value * volume);
                }
            }
    return STATUS_OK;
}

static enum status add_region(struct tagflow_run *r, const struct case_region *region,
                              struct region_sums *s)
{
    struct cover cover;
    enum status status = cover_create(&cover, run_grid(r->run), region, 1);
    if (status)
        return status;
    status = cover_prepare(&cover, s->array->of, LEVELS);
    for (int l = 0; l < cover.levels && !status; l++)
        status = cover_each(&cover, l, add_piece, s);
    cover_destroy(&cover);
    return status_agree(r->comm, status);
}

/* Adds up the sums of all ranks. */
static void join(struct region_sums *s, MPI_Comm comm)
{
    int64_t parts[4][3], bad = s->bad;
    exact_split(&s->volume, parts[3]);
    for (int k = 0; k < 3; k++)
        exact_split(&s->sum[k], parts[k]);
    MPI_Allreduce(MPI_IN_PLACE, parts, 12, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT64_T, MPI_MAX, comm);
    for (int k = 0; k < 3; k++)
        s->sum[k] = exact_join(parts[k]);
    s->volume = exact_join(parts[3]);
    s->bad = bad;
}

static enum status mean(struct tagflow_run *r, const char *name, const int64_t *from,
                        const int64_t *to, double *values)
{
    struct asked q;
    struct case_region region = {.lo = {0, 0, 0}};
    enum status status = library_field(r, name, &q);
    if (!status && q.array->of->is_tag)
        status = fail_user("%s has no mean", name);
    if (!status && !from != !to)
        status = fail_user("give both corners of the cells, or none");
    for (int a = 0; a < 3 && !status; a++) {
        const int64_t n = r->c.cells[a];
        if (from && (from[a] < 0 || to[a] > n || from[a] >= to[a]))
            status = fail_user("%c: cells %lld to %lld are none of the %lld of the box", "xyz"[a],
                               (long long)from[a], (long long)to[a], (long long)n);
        region.lo[a] = from ? (int)from[a] : 0;
        region.hi[a] = to ? (int)to[a] : (int)n;
    }
    if (status)
        return status;
    struct region_sums s = {.grid = run_grid(r->run), .array = q.array};
    status = add_region(r, &region, &s);
    if (status)
        return status;
    join(&s, r->comm);
    const double volume = exact_value(&s.volume);
    for (int k = 0; k < q.array->components; k++)
        levels_array_put(q.array, values, (size_t)k,
                         s.bad || volume == 0 ? NAN : exact_value(&s.sum[k]) / volume);
    return STATUS_OK;
}

int tagflow_mean(struct tagflow_run *run, const char *name, const int64_t *from, const int64_t *to,
                 double *values)
{
    library_enter();
    return library_leave(run, mean(run, name, from, to, values));
}

/* ---- columns ---- */

static enum status no_column(const char *name, const char *const *known, const char *what)
{
    const char *const nearest = nearest_choice(known, name);
    if (nearest)
        return fail_user("there is no %s %s (did you mean %s?)", what, name, nearest);
    return fail_user("there is no %s %s (%s%s)", what, name,
                     known[0] ? "such as " : "the case has ", known[0] ? known[0] : "none");
}

static enum status column(struct tagflow_run *r, const char *name, double *value)
{
    const struct flow_case *const c = &r->c;
    const char *names[CASE_ENTRIES + 1], *columns[SERIES_COLUMNS + 1];
    const char *const dot = name ? strchr(name, '.') : NULL;
    char series[2 * CASE_NAME] = "";
    int k = 0, column = 0;
    if (run_ended(r->run))
        return fail_user("the run has no flow to look at: it was done before, or has failed");
    if (!dot || (size_t)(dot - name) >= sizeof series)
        return fail_user("%s is no column: give SERIES.COLUMN", name ? name : "");
    memcpy(series, name, (size_t)(dot - name));
    for (int n = 0; n < c->series_count; n++)
        names[n] = c->series[n].name;
    names[c->series_count] = NULL;
    while (names[k] && strcmp(names[k], series) != 0)
        k++;
    if (!names[k])
        return no_column(series, names, "series");
    const int count = series_columns(&c->series[k], c, columns);
    if (series_has_points(&c->series[k]))
        return fail_user("series %s has a row for each of its points", series);
    for (int n = 2; n < count; n++)
        column = strcmp(columns[n], dot + 1) == 0 ? n : column;
    if (!column)
        return no_column(dot + 1, columns + 2, "column");
    *value = run_value(r->run, k, column);
    return STATUS_OK;
}

int tagflow_column(struct tagflow_run *run, const char *name, double *value)
{
    library_enter();
    return library_leave(run, column(run, name, value));
}

/* ---- steering, bits ---- */

int tagflow_steer(struct tagflow_run *run, const char *name, double factor)
{
    library_enter();
    return library_leave(run, run_steer(run->run, name ? name : "", factor));
}

double tagflow_steered(const struct tagflow_run *run, const char *name)
{
    const double *const factor = name ? run_steered(run->run, name) : NULL;
    return factor ? *factor : NAN;
}

int tagflow_hash(struct tagflow_run *run, uint64_t *hash)
{
    library_enter();
    const enum status status =
        run_ended(run->run)
            ? fail_user("the run has no flow to look at: it was done before, or has failed")
            : grid_hash(run_grid(run->run), SET_flow, hash);
    return library_leave(run, status);
}
