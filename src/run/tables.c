/* The series of a case; see tables.h.
 *
 * Measuring is collective, in the order of the case; rank 0 converts the results to the units of
 * the case and writes the rows. */
#include "run/tables.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "case/columns.h"
#include "io/series.h"
#include "measure/dispersion.h"
#include "measure/flow_rate.h"
#include "measure/forces.h"
#include "measure/heat.h"
#include "measure/permeability.h"
#include "measure/probe.h"
#include "measure/residual.h"
#include "measure/scalar.h"
#include "measure/skin_flow.h"
#include "run/folder.h"
#include "run/output.h"

#define NEVER INT64_MIN

struct table {
    const struct case_series *series;
    int columns; /* step and time included */
    const char *names[SERIES_COLUMNS + 1];
    struct probe probe;                 /* of a probe or line */
    struct probe carried[CASE_SCALARS]; /* of its scalars */
    int scalars;
    struct residual residual; /* of a residual */
    struct series_mark mark;  /* of the file at the last checkpoint; rows -1: not known */
    struct skin skin;         /* of a surface */
    struct skin_flow flow;
    struct body_forces sample; /* of forces: in the step after `sampled` */
    int64_t sampled;           /* NEVER: none yet */
    double ahead;              /* half a step of the level of their body, in steps of level 0 */
    /* Rank 0: */
    struct series *file; /* NULL before tables_start() */
    int points;          /* rows of a step: 1, or the points of a line or ring */
    double *position;    /* [points][3] lattice units; of a probe or line */
    double *values; /* [points][4] density - 1, velocity; of a surface pressure and shear stress */
    double *carried_values; /* [scalars][points] */
    double *rows;           /* [points][columns - 1] */
};

struct tables {
    const struct flow_case *c;
    struct grid *grid;
    struct solver *solver; /* of level 0 */
    const char *dir;
    int count;
    struct table table[];
};

/* Positions along a line: exactly both ends, evenly spaced between. */
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

/* Creates the ring of points and what is needed to measure there. */
static enum status create_ring(struct table *t, const struct flow_case *c, const struct levels *all)
{
    const struct case_series *const what = t->series;
    const struct case_body *const body = &c->bodies[what->body];
    double center[3], reach = 0;
    int missing = 0;
    const bool good = skin_middle(body, c->cells, center);
    for (int a = 0; a < 3; a++) {
        center[a] = what->center_given ? what->from[a] : center[a];
        reach += c->cells[a];
    }
    t->values = malloc((size_t)t->points * SKIN_VALUES * sizeof *t->values);
    enum status status =
        good && t->values && skin_ring(&t->skin, body, center, what->axis, t->points, reach)
            ? STATUS_OK
            : fail_machine("out of memory for the points of series %s", what->name);
    status = status_agree(all->solver[0]->domain->comm, status);
    for (int k = 0; k < t->skin.count; k++)
        missing += isnan(t->skin.at[k][0]);
    if (missing && !status)
        warn("series %s: %d of %d rays from (%g, %g, %g) do not meet %s; its rows have nan there",
             what->name, missing, t->points, center[0], center[1], center[2], body->name);
    return status ? status : skin_flow_create(&t->flow, c, all, &t->skin, what->body);
}

/* Creates the probes of the flow and of all scalars. */
static enum status create_probes(struct table *t, const struct flow_case *c,
                                 const struct levels *all)
{
    const MPI_Comm comm = all->solver[0]->domain->comm;
    const size_t points = (size_t)t->points;
    t->position = malloc(points * 3 * sizeof *t->position);
    t->values = malloc(points * 4 * sizeof *t->values);
    t->carried_values = malloc(points * CASE_SCALARS * sizeof *t->carried_values);
    enum status status =
        t->position && t->values && t->carried_values
            ? STATUS_OK
            : fail_machine("out of memory for the points of series %s", t->series->name);
    status = status_agree(comm, status);
    if (status)
        return status;
    place_points(t);
    status = probe_create(&t->probe, all, SET_flow, t->points, t->position);
    for (; t->scalars < c->scalar_count && !status; t->scalars++)
        status = probe_create(&t->carried[t->scalars], all, 1 + t->scalars, t->points, t->position);
    return status;
}

static enum status create_table(struct table *t, const struct flow_case *c, struct grid *g,
                                struct state *state)
{
    struct solver *const s = &g->level->solver;
    const struct levels all = levels_of(g);
    char name[STATE_NAME];
    enum status status = STATUS_OK;
    t->columns = series_columns(t->series, c, t->names);
    t->points = series_has_points(t->series) ? t->series->points : 1;
    switch (t->series->kind) {
    case SERIES_KIND_flow:
    case SERIES_KIND_flow_rate:
    case SERIES_KIND_permeability:
    case SERIES_KIND_scalar:
    case SERIES_KIND_heat:
    case SERIES_KIND_dispersion:
        break;
    case SERIES_KIND_forces:
        t->ahead = ldexp(0.5, -forces_level(g, t->series->body));
        break;
    case SERIES_KIND_probe:
    case SERIES_KIND_line:
        status = create_probes(t, c, &all);
        break;
    case SERIES_KIND_residual:
        status = residual_create(&t->residual, &all);
        snprintf(name, sizeof name, "series/%s", t->series->name);
        if (!status)
            status = status_agree(s->domain->comm, residual_register(&t->residual, state, name));
        break;
    case SERIES_KIND_surface:
        status = create_ring(t, c, &all);
        break;
    }
    if (status)
        return status;
    t->mark.rows = -1;
    t->sampled = NEVER;
    snprintf(name, sizeof name, "rows/%s", t->series->name);
    status = state_add_numbers(state, name, "of the file: rows, bytes, their XXH3", SAMPLE_int64,
                               sizeof t->mark / sizeof(int64_t), &t->mark);
    if (!status)
        state_optional(state);
    if ((status = status_agree(s->domain->comm, status)))
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
        for (int k = 0; k < t->table[i].scalars; k++)
            probe_destroy(&t->table[i].carried[k]);
        free(t->table[i].carried_values);
        residual_destroy(&t->table[i].residual);
        skin_flow_destroy(&t->table[i].flow);
        skin_destroy(&t->table[i].skin);
        free(t->table[i].position);
        free(t->table[i].values);
        free(t->table[i].rows);
    }
    free(t);
}

enum status tables_create(struct tables **out, const struct flow_case *c, struct grid *g,
                          struct state *state, const char *dir)
{
    struct solver *const s = &g->level->solver;
    struct tables *const t = calloc(1, sizeof *t + (size_t)c->series_count * sizeof(struct table));
    enum status status =
        status_agree(s->domain->comm, t ? STATUS_OK : fail_machine("out of memory for the series"));
    if (status) {
        free(t);
        return status;
    }
    t->c = c;
    t->grid = g;
    t->solver = s;
    t->dir = dir;
    t->count = c->series_count;
    for (int i = 0; i < t->count; i++)
        t->table[i].series = &c->series[i];
    for (int i = 0; i < t->count && !status; i++)
        status = create_table(&t->table[i], c, g, state);
    if (status)
        destroy(t);
    else
        *out = t;
    return status;
}

/* The last step whose rows stay after a restart. A run that ends at a step without a due row has
 * written one there; a run that continues must not have it. */
static int64_t last_to_keep(const struct table *t, int64_t resumed, bool over)
{
    return over || output_due(resumed, t->series->every) ? resumed : resumed - 1;
}

/* Puts the file of a series aside if its rows up to the checkpoint measure something else than this
 * case does. *anew: it was. */
static enum status put_other_aside(const struct tables *t, const struct table *table,
                                   const char *path, const char *before, int64_t resumed,
                                   bool *anew)
{
    const char *was = NULL, *is = "", *const name = table->series->name;
    int old = 0, new = 0;
    case_series_text(t->c->resolved, name, &is, &new);
    if (case_series_text(before, name, &was, &old) &&
        old == new &&strncmp(was, is, (size_t)old) == 0)
        return STATUS_OK;
    return series_put_aside(path, resumed, was, old, is, new, anew);
}

static enum status start_table(const struct tables *t, struct table *table, const char *before,
                               int64_t resumed, bool over)
{
    char path[FOLDER_PATH], file[CASE_NAME + 16];
    bool anew = resumed < 0;
    snprintf(file, sizeof file, "series/%s.csv", table->series->name);
    if (!folder_path(path, t->dir, file))
        return fail_user("the name of the output folder is too long");
    const enum status status =
        before && !anew ? put_other_aside(t, table, path, before, resumed, &anew) : STATUS_OK;
    if (status)
        return status;
    return anew ? series_create(&table->file, path, table->columns, table->names)
                : series_resume(&table->file, path, table->columns, table->names,
                                last_to_keep(table, resumed, over),
                                table->mark.rows < 0 ? NULL : &table->mark);
}

enum status tables_start(struct tables *t, const char *before, int64_t resumed, bool over)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < t->count && !status && t->solver->domain->rank == 0; i++)
        status = start_table(t, &t->table[i], before, resumed, over);
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

/* ---- forces ---- */

/* Has the table a row at this step? run.stop may end the run where it looks: then every table has.
 */
static bool may_have_row(const struct tables *t, const struct table *table, int64_t step)
{
    return output_due(step, table->series->every) ||
           (t->c->run.stop.given && output_due(step, t->c->run.stop.every));
}

int64_t tables_next_sample(const struct tables *t, int64_t step)
{
    const int64_t looks = t->c->run.stop.given ? t->c->run.stop.every : 0;
    int64_t next = INT64_MAX;
    for (int i = 0; i < t->count; i++)
        if (t->table[i].series->kind == SERIES_KIND_forces) {
            next = output_nearer(next, step + 1, t->table[i].series->every);
            next = output_nearer(next, step + 1, looks);
        }
    return next;
}

/* The forces in the step after the solver's. */
static enum status sample_forces(struct table *t, struct grid *g)
{
    const struct case_series *const what = t->series;
    const struct levels all = levels_of(g);
    const int64_t step = g->level->solver.step;
    if (t->sampled == step)
        return STATUS_OK;
    t->sampled = step;
    return forces_measure(&all, what->body, what->about_given ? what->about : NULL, &t->sample);
}

enum status tables_sample(struct tables *t)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < t->count && !status; i++)
        if (t->table[i].series->kind == SERIES_KIND_forces &&
            may_have_row(t, &t->table[i], t->solver->step + 1))
            status = sample_forces(&t->table[i], t->grid);
    return status;
}

/* The forces at the time of the solver's step, which are known `ahead` of it and of the step
 * before: on level 0 the mean of both. At step 0 there is no step before. */
static enum status forces_now(struct table *t, struct grid *g, struct body_forces *forces)
{
    const struct body_forces before = t->sample;
    const bool known = t->sampled == g->level->solver.step - 1;
    const double old = t->ahead, now = 1 - t->ahead;
    const enum status status = sample_forces(t, g);
    *forces = t->sample;
    for (int a = 0; a < 3 && known; a++) {
        forces->force[a] = old * before.force[a] + now * forces->force[a];
        forces->pressure[a] = old * before.pressure[a] + now * forces->pressure[a];
        forces->torque[a] = old * before.torque[a] + now * forces->torque[a];
    }
    return status;
}

/* ---- values of a row, in the units of the case, from column `time` on ---- */

static double *add_sums(double *to, const struct case_units *units, unsigned of, double u,
                        const struct flow_sums *sums)
{
    const double dx = units->dx, rho = units->density, volume = dx * dx * dx;
    for (int column = 0; column < SERIES_COLUMNS; column++) {
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

/* rho: density of the coefficients, lattice units. */
static double *add_forces(double *to, const struct case_units *units, double u,
                          const struct case_series *s, const struct body_forces *f, double rho)
{
    const double unit = units->density * u * u * units->dx * units->dx;
    const double reference = 0.5 * rho * s->velocity * s->velocity * s->area;
    for (int a = 0; a < 3; a++)
        *to++ = f->force[a] * unit;
    for (int a = 0; a < 3; a++)
        *to++ = f->pressure[a] * unit;
    for (int a = 0; a < 3; a++)
        *to++ = f->torque[a] * unit * units->dx;
    for (int k = 0; k < series_coefficients(s); k++)
        *to++ = k < 3 ? f->force[k] / reference : f->torque[k - 3] / reference / s->length;
    return to;
}

/* The permeability is in squares of a cell's edge, with units, too. */
static double *add_permeability(double *to, const struct case_units *units, double u,
                                const struct permeability *k)
{
    const double area = units->cell * units->cell;
    *to++ = k->velocity * u;
    *to++ = k->gradient * u / units->dt;
    *to++ = k->value;
    if (units->cell > 0) {
        *to++ = k->value * area;
        *to++ = k->value * area / (1e-3 * PERMEABILITY_DARCY);
    }
    return to;
}

/* A point of a ring: its position and the fluid's stresses on the surface. */
static double *add_stress(double *to, const struct table *t, const struct case_units *units,
                          double u, int k)
{
    const struct case_series *const s = t->series;
    const double *const value = t->values + SKIN_VALUES * (size_t)k;
    const double unit = units->density * u * u;
    *to++ = 360.0 * k / t->points;
    for (int a = 0; a < 3; a++)
        *to++ = t->skin.at[k][a] * units->dx;
    for (int c = 0; c < SKIN_VALUES; c++)
        *to++ = value[c] * unit;
    if (s->velocity > 0)
        *to++ = value[0] / (0.5 * s->velocity * s->velocity);
    return to;
}

/* Units of sums over a scalar: of a cell's, of its flux through a link, in joule and watts if the
 * case gives the heat capacity of the fluid. */
static double amount_unit(const struct flow_case *c, const struct case_scalar *s)
{
    const struct case_units *const units = &c->units;
    const double joule = s->kind == SCALAR_KIND_heat && units->heat_capacity > 0
                             ? units->density * units->heat_capacity
                             : 1;
    return joule * units->dx * units->dx * units->dx;
}

static double *add_scalar(double *to, const struct flow_case *c, const struct table *t,
                          const struct scalar_found *found)
{
    const struct case_scalar *const s = &c->scalars[t->series->scalar];
    const struct scalar_values *const solid = &found->solid;
    *to++ = s->reference + found->fluid.mean;
    *to++ = s->reference + found->fluid.least;
    *to++ = s->reference + found->fluid.most;
    *to++ = found->fluid.variance;
    *to++ = found->enthalpy * amount_unit(c, s);
    if (to == t->rows + t->columns - 1)
        return to;
    *to++ = s->reference + solid->mean;
    *to++ = s->reference + solid->least;
    *to++ = s->reference + solid->most;
    *to++ = solid->variance;
    return to;
}

static double *add_heat(double *to, const struct flow_case *c, const struct case_series *series,
                        const struct heat_found *found)
{
    const struct case_scalar *const s = &c->scalars[series->scalar];
    const double unit = amount_unit(c, s) / c->units.dt, flux = found->heat / found->area;
    *to++ = found->heat * unit;
    *to++ = flux * unit / (c->units.dx * c->units.dx);
    if (series->difference > 0)
        *to++ = flux * series->length / (s->diffusivity * series->difference);
    return to;
}

static double *add_dispersion(double *to, const struct flow_case *c,
                              const struct case_series *series, double u,
                              const struct dispersion_found *found)
{
    const struct case_scalar *const s = &c->scalars[series->scalar];
    const double d = s->diffusivity, *const v = found->velocity;
    *to++ = s->reference + found->mean;
    for (int a = 0; a < 3; a++)
        *to++ = found->velocity[a] * u;
    *to++ = found->along * u * c->units.dx;
    *to++ = found->along / d;
    *to++ = found->along / d * found->porosity;
    for (int a = 0; a < 3; a++)
        *to++ = found->column[a] / d;
    if (series->length > 0)
        *to++ = sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]) * series->length / d;
    return to;
}

static enum status measure_heat(const struct flow_case *c, const struct case_series *series,
                                struct solver *s, struct heat_found *found)
{
    const int side = series->opening < 0 ? -1 : case_opening_side(c, series->opening);
    return heat_measure(s, 1 + series->scalar, series->opening, side, series->body, found);
}

/* Density of the coefficients: of the fluid beside a face, or 1, the reference. */
static enum status measure_density(struct grid *g, int face, double *rho)
{
    struct flow_rate rate = {0};
    *rho = 1;
    if (face < 0)
        return STATUS_OK;
    const struct levels all = levels_of(g);
    const int at = face & 1 ? g->level->domain.cells[face / 2] - 1 : 0;
    const enum status status = flow_rate_measure(&all, face / 2, at, &rate);
    *rho = 1 + 3 * rate.pressure; /* p = (rho - 1) / 3 */
    return status;
}

/* Writes the rows of one series for this step; `due`: false if only because it is the last one.
 * Collective. */
static enum status write_table(struct tables *tables, struct table *t, const struct flow_sums *sums,
                               bool due)
{
    const struct case_units *const units = &tables->c->units;
    const double u = output_velocity_unit(tables->c);
    struct grid *const g = tables->grid;
    struct solver *const s = tables->solver;
    const struct levels all = levels_of(g);
    const bool root = s->domain->rank == 0;
    struct flow_rate rate = {0};
    struct body_forces forces = {0};
    struct permeability permeability = {0};
    struct scalar_found scalar = {0};
    struct heat_found heat = {0};
    struct dispersion_found dispersion = {0};
    double residual = 0, rho = 1;
    enum status status = STATUS_OK;

    switch (t->series->kind) {
    case SERIES_KIND_flow:
        break;
    case SERIES_KIND_probe:
    case SERIES_KIND_line:
        status = probe_measure(&t->probe, &all, root ? t->values : NULL);
        for (int k = 0; k < t->scalars && !status; k++)
            status = probe_measure(&t->carried[k], &all,
                                   root ? t->carried_values + k * t->points : NULL);
        break;
    case SERIES_KIND_flow_rate:
        status = flow_rate_measure(&all, t->series->axis, t->series->at, &rate);
        break;
    case SERIES_KIND_residual:
        status = due ? residual_measure(&t->residual, &residual)
                     : residual_compare(&t->residual, &residual);
        break;
    case SERIES_KIND_forces:
        status = forces_now(t, g, &forces);
        if (measure_density(g, t->series->density_face, &rho))
            status = STATUS_MACHINE;
        break;
    case SERIES_KIND_permeability:
        status = permeability_measure(&all, tables->c->fluid.viscosity, t->series->axis,
                                      t->series->length, &permeability);
        break;
    case SERIES_KIND_surface:
        status = skin_flow_measure(&t->flow, &all, (double(*)[SKIN_VALUES])t->values);
        break;
    case SERIES_KIND_scalar:
        status = scalar_measure(s, 1 + t->series->scalar, &scalar);
        break;
    case SERIES_KIND_heat:
        status = measure_heat(tables->c, t->series, s, &heat);
        break;
    case SERIES_KIND_dispersion:
        status = dispersion_measure(s, 1 + t->series->scalar, &dispersion);
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
            for (int n = 0; n < t->scalars; n++)
                *to++ = tables->c->scalars[n].reference + t->carried_values[n * t->points + k];
            break;
        case SERIES_KIND_flow_rate:
            to = add_rate(to, units, u, &rate);
            break;
        case SERIES_KIND_residual:
            *to++ = residual;
            break;
        case SERIES_KIND_forces:
            to = add_forces(to, units, u, t->series, &forces, rho);
            break;
        case SERIES_KIND_permeability:
            to = add_permeability(to, units, u, &permeability);
            break;
        case SERIES_KIND_surface:
            to = add_stress(to, t, units, u, k);
            break;
        case SERIES_KIND_scalar:
            to = add_scalar(to, tables->c, t, &scalar);
            break;
        case SERIES_KIND_heat:
            to = add_heat(to, tables->c, t->series, &heat);
            break;
        case SERIES_KIND_dispersion:
            to = add_dispersion(to, tables->c, t->series, u, &dispersion);
            break;
        }
    }
    return series_append(t->file, s->step, t->points, t->rows);
}

/* Writes the rows of the series that are due, or of all others. Rank 0 alone may fail to write a
 * row: all ranks go on, and agree at the end. */
static enum status write_tables(struct tables *t, const struct flow_sums *sums, bool due)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < t->count; i++)
        if (output_due(t->solver->step, t->table[i].series->every) == due) {
            const enum status one = write_table(t, &t->table[i], sums, due);
            status = status_worse(status, one);
        }
    return status_agree(t->solver->domain->comm, status);
}

enum status tables_write(struct tables *t, const struct flow_sums *sums)
{
    return write_tables(t, sums, true);
}

enum status tables_end(struct tables *t)
{
    struct flow_sums sums = {0};
    bool any = false, enstrophy = false;
    for (int i = 0; i < t->count; i++) {
        const struct case_series *const s = t->table[i].series;
        any = any || s->kind == SERIES_KIND_flow;
        enstrophy = enstrophy || s->of & (1u << SERIES_enstrophy);
    }
    const struct levels all = levels_of(t->grid);
    const enum status status = any ? flow_measure(&all, enstrophy, &sums) : STATUS_OK;
    return status ? status : write_tables(t, &sums, false);
}

double tables_value(const struct tables *t, int series, int column)
{
    const struct table *const table = &t->table[series];
    const struct domain *const d = t->solver->domain;
    assert(table->points == 1 && column > 0 && column < table->columns);
    double value = d->rank == 0 ? table->rows[column - 1] : 0;
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, d->comm);
    return value;
}

enum status tables_sync(struct tables *t)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < t->count; i++)
        if (t->table[i].file) {
            if (series_sync(t->table[i].file))
                status = STATUS_MACHINE;
            series_mark(t->table[i].file, &t->table[i].mark);
        }
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
