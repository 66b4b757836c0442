/* The series of a case; see tables.h.
 *
 * Measuring is collective, in the order of the case; rank 0 turns what was found into the units of
 * the case and writes the rows. */
#include "run/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/series.h"
#include "run/folder.h"
#include "run/output.h"
#include "solver/flow_rate.h"
#include "solver/forces.h"
#include "solver/probe.h"
#include "solver/residual.h"

enum { COLUMNS = 32 }; /* a series has at most so many */

struct table {
    const struct case_series *series;
    int columns; /* step and time included */
    const char *names[COLUMNS];
    struct probe probe;       /* of a probe or line */
    struct residual residual; /* of a residual */
    /* Rank 0: */
    struct series *file; /* NULL until the tables are started */
    int points;          /* rows of a step, 1 but for a line */
    double *position;    /* [points][3] lattice units; of a probe or line */
    double *values;      /* [points][4] density - 1, velocity; of a probe or line */
    double *rows;        /* [points][columns - 1] */
};

struct tables {
    const struct flow_case *c;
    struct solver *solver;
    const char *dir;
    int count;
    struct table table[];
};

static void name_column(struct table *t, const char *name)
{
    t->names[t->columns++] = name;
}

/* How many coefficients a series of forces has: none, those of the force, those of the torque too.
 */
static int coefficients_of(const struct case_series *s)
{
    return s->area > 0 ? s->length > 0 ? 6 : 3 : 0;
}

static void name_columns(struct table *t)
{
    static const char *const point[] = {"velocity_x", "velocity_y", "velocity_z", "density",
                                        "pressure"};
    static const char *const line[] = {"distance", "x", "y", "z"};
    static const char *const rate[] = {"volume_flow", "mass_flow", "mean_pressure", "area"};
    static const char *const forces[] = {"force_x",    "force_y",    "force_z",
                                         "pressure_x", "pressure_y", "pressure_z",
                                         "torque_x",   "torque_y",   "torque_z"};
    static const char *const coefficients[] = {"c_x",        "c_y",        "c_z",
                                               "c_torque_x", "c_torque_y", "c_torque_z"};
    name_column(t, "step");
    name_column(t, "time");
    switch (t->series->kind) {
    case SERIES_KIND_flow:
#define X(name)                                                                                    \
    if (t->series->of & (1u << SERIES_##name))                                                     \
        name_column(t, #name);
        SERIES_LIST(X)
#undef X
        break;
    case SERIES_KIND_line:
        for (size_t k = 0; k < sizeof line / sizeof *line; k++)
            name_column(t, line[k]);
        /* fall through */
    case SERIES_KIND_probe:
        for (size_t k = 0; k < sizeof point / sizeof *point; k++)
            name_column(t, point[k]);
        break;
    case SERIES_KIND_flow_rate:
        for (size_t k = 0; k < sizeof rate / sizeof *rate; k++)
            name_column(t, rate[k]);
        break;
    case SERIES_KIND_residual:
        name_column(t, "residual");
        break;
    case SERIES_KIND_forces:
        for (size_t k = 0; k < sizeof forces / sizeof *forces; k++)
            name_column(t, forces[k]);
        for (int k = 0; k < coefficients_of(t->series); k++)
            name_column(t, coefficients[k]);
        break;
    }
}

/* Positions along a line: both ends exactly, evenly between. */
static void place_points(struct table *t)
{
    const struct case_series *const s = t->series;
    for (int k = 0; k < t->points; k++)
        for (int a = 0; a < 3; a++) {
            const double span = s->to[a] - s->from[a];
            double *const at = t->position + 3 * (size_t)k + a;
            *at = k == 0              ? s->from[a]
                  : k < t->points - 1 ? s->from[a] + span * k / (t->points - 1)
                                      : s->to[a];
        }
}

static enum status create_table(struct table *t, struct solver *s, struct state *state)
{
    char name[STATE_NAME];
    enum status status = STATUS_OK;
    name_columns(t);
    t->points = t->series->kind == SERIES_KIND_line ? t->series->points : 1;
    switch (t->series->kind) {
    case SERIES_KIND_flow:
    case SERIES_KIND_flow_rate:
    case SERIES_KIND_forces:
        break;
    case SERIES_KIND_probe:
    case SERIES_KIND_line:
        t->position = malloc((size_t)t->points * 3 * sizeof *t->position);
        t->values = malloc((size_t)t->points * 4 * sizeof *t->values);
        if (!t->position || !t->values)
            status = fail_machine("out of memory for the points of series %s", t->series->name);
        status = status_agree(s->domain->comm, status);
        if (!status) {
            place_points(t);
            status = probe_create(&t->probe, s, t->points, t->position);
        }
        break;
    case SERIES_KIND_residual:
        status = residual_create(&t->residual, s);
        snprintf(name, sizeof name, "series/%s", t->series->name);
        if (!status)
            status = status_agree(s->domain->comm, residual_register(&t->residual, s, state, name));
        break;
    }
    if (status)
        return status;
    t->rows = malloc((size_t)t->points * (size_t)(t->columns - 1) * sizeof *t->rows);
    if (!t->rows)
        status = fail_machine("out of memory for the rows of series %s", t->series->name);
    return status_agree(s->domain->comm, status);
}

static void destroy(struct tables *t)
{
    for (int i = 0; i < t->count; i++) {
        probe_destroy(&t->table[i].probe);
        residual_destroy(&t->table[i].residual);
        free(t->table[i].position);
        free(t->table[i].values);
        free(t->table[i].rows);
    }
    free(t);
}

enum status tables_create(struct tables **out, const struct flow_case *c, struct solver *s,
                          struct state *state, const char *dir)
{
    struct tables *const t = calloc(1, sizeof *t + (size_t)c->series_count * sizeof(struct table));
    enum status status =
        status_agree(s->domain->comm, t ? STATUS_OK : fail_machine("out of memory for the series"));
    if (status) {
        free(t);
        return status;
    }
    t->c = c;
    t->solver = s;
    t->dir = dir;
    t->count = c->series_count;
    for (int i = 0; i < t->count; i++)
        t->table[i].series = &c->series[i];
    for (int i = 0; i < t->count && !status; i++)
        status = create_table(&t->table[i], s, state);
    if (status)
        destroy(t);
    else
        *out = t;
    return status;
}

enum status tables_start(struct tables *t, int64_t resumed)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < t->count && !status && t->solver->domain->rank == 0; i++) {
        struct table *const table = &t->table[i];
        char path[FOLDER_PATH], file[CASE_NAME + 16];
        snprintf(file, sizeof file, "series/%s.csv", table->series->name);
        if (!folder_path(path, t->dir, file))
            status = fail_user("the name of the output folder is too long");
        else if (resumed < 0)
            status = series_create(&table->file, path, table->columns, table->names);
        else
            status = series_resume(&table->file, path, table->columns, table->names, resumed);
    }
    return status_agree(t->solver->domain->comm, status);
}

bool tables_need_sums(const struct tables *t, int64_t step, bool *enstrophy)
{
    bool any = false;
    for (int i = 0; i < t->count; i++) {
        const struct case_series *const s = t->table[i].series;
        if (s->kind != SERIES_KIND_flow || !output_due(step, s->every))
            continue;
        any = true;
        *enstrophy = *enstrophy || s->of & (1u << SERIES_enstrophy);
    }
    return any;
}

/* ---- the values of a row, in the units of the case, from column `time` on ---- */

static double *add_sums(double *to, const struct case_units *units, unsigned of, double u,
                        const struct flow_sums *sums)
{
    const double dx = units->dx, rho = units->density, volume = dx * dx * dx;
    for (int column = 0; column < COLUMNS; column++) {
        if (!(of & (1u << column)))
            continue;
        switch ((enum series_column)column) {
        case SERIES_mass:
            *to++ = sums->mass * rho * volume;
            break;
        case SERIES_kinetic_energy:
            *to++ = sums->kinetic_energy * rho * volume * u * u;
            break;
        case SERIES_enstrophy:
            *to++ = sums->enstrophy * volume * (u / dx) * (u / dx);
            break;
        case SERIES_max_velocity:
            *to++ = sums->max_velocity * u;
            break;
        case SERIES_acceleration:
            *to++ = sums->acceleration * u / units->dt;
            break;
        }
    }
    return to;
}

/* Velocity, density and pressure as in a snapshot. */
static double *add_point(double *to, const struct case_units *units, double u, const double flow[4])
{
    for (int a = 0; a < 3; a++)
        *to++ = flow[1 + a] * u;
    *to++ = (1 + flow[0]) * units->density;
    *to++ = flow[0] / 3 * units->density * u * u;
    return to;
}

static double *add_place(double *to, const struct table *t, const struct case_units *units, int k)
{
    const double *const from = t->series->from, *const end = t->series->to;
    double square = 0;
    for (int a = 0; a < 3; a++)
        square += (end[a] - from[a]) * (end[a] - from[a]);
    *to++ = sqrt(square) * k / (t->points - 1) * units->dx;
    for (int a = 0; a < 3; a++)
        *to++ = t->position[3 * (size_t)k + (size_t)a] * units->dx;
    return to;
}

static double *add_rate(double *to, const struct case_units *units, double u,
                        const struct flow_rate *rate)
{
    const double area = units->dx * units->dx, rho = units->density;
    *to++ = rate->volume * u * area;
    *to++ = rate->mass * rho * u * area;
    *to++ = rate->pressure * rho * u * u;
    *to++ = rate->area * area;
    return to;
}

static double *add_forces(double *to, const struct case_units *units, double u,
                          const struct case_series *s, const struct body_forces *f)
{
    const double unit = units->density * u * u * units->dx * units->dx;
    const double reference = 0.5 * s->velocity * s->velocity * s->area;
    for (int a = 0; a < 3; a++)
        *to++ = f->force[a] * unit;
    for (int a = 0; a < 3; a++)
        *to++ = f->pressure[a] * unit;
    for (int a = 0; a < 3; a++)
        *to++ = f->torque[a] * unit * units->dx;
    for (int k = 0; k < coefficients_of(s); k++)
        *to++ = k < 3 ? f->force[k] / reference : f->torque[k - 3] / reference / s->length;
    return to;
}

/* The rows of one series for this step. Collective. */
static enum status write_table(struct tables *tables, struct table *t, const struct flow_sums *sums)
{
    const struct case_units *const units = &tables->c->units;
    const double u = output_velocity_unit(tables->c);
    struct solver *const s = tables->solver;
    const bool root = s->domain->rank == 0;
    struct flow_rate rate = {0};
    struct body_forces forces = {0};
    double residual = 0;
    enum status status = STATUS_OK;

    switch (t->series->kind) {
    case SERIES_KIND_flow:
        break;
    case SERIES_KIND_probe:
    case SERIES_KIND_line:
        status = probe_measure(&t->probe, s, root ? t->values : NULL);
        break;
    case SERIES_KIND_flow_rate:
        status = flow_rate_measure(s, t->series->axis, t->series->at, &rate);
        break;
    case SERIES_KIND_residual:
        status = residual_measure(&t->residual, s, &residual);
        break;
    case SERIES_KIND_forces:
        status = forces_measure(s, t->series->body,
                                t->series->about_given ? t->series->about : NULL, &forces);
        break;
    }
    if (status || !root)
        return status;
    double *to = t->rows;
    for (int k = 0; k < t->points; k++) {
        *to++ = (double)s->step * units->dt;
        switch (t->series->kind) {
        case SERIES_KIND_flow:
            to = add_sums(to, units, t->series->of, u, sums);
            break;
        case SERIES_KIND_line:
            to = add_place(to, t, units, k);
            /* fall through */
        case SERIES_KIND_probe:
            to = add_point(to, units, u, t->values + 4 * (size_t)k);
            break;
        case SERIES_KIND_flow_rate:
            to = add_rate(to, units, u, &rate);
            break;
        case SERIES_KIND_residual:
            *to++ = residual;
            break;
        case SERIES_KIND_forces:
            to = add_forces(to, units, u, t->series, &forces);
            break;
        }
    }
    return series_append(t->file, s->step, t->points, t->rows);
}

enum status tables_write(struct tables *t, const struct flow_sums *sums)
{
    enum status status = STATUS_OK;
    /* Rank 0 alone may fail to write a row: all go on, and agree at the end. */
    for (int i = 0; i < t->count; i++)
        if (output_due(t->solver->step, t->table[i].series->every)) {
            const enum status one = write_table(t, &t->table[i], sums);
            status = one > status ? one : status;
        }
    return status_agree(t->solver->domain->comm, status);
}

enum status tables_sync(struct tables *t)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < t->count; i++)
        if (t->table[i].file && series_sync(t->table[i].file))
            status = STATUS_MACHINE;
    return status_agree(t->solver->domain->comm, status);
}

enum status tables_close(struct tables *t)
{
    enum status status = STATUS_OK;
    if (!t)
        return status;
    for (int i = 0; i < t->count; i++)
        if (series_close(t->table[i].file))
            status = STATUS_MACHINE;
    status = status_agree(t->solver->domain->comm, status);
    destroy(t);
    return status;
}
