/* Series of the whole flow: sums, flow rate, pressure drop, outlets, residual, permeability. */
#include <math.h>
#include <stdio.h>

#include "base/agree.h"
#include "measure/cap_flow.h"
#include "measure/flow_rate.h"
#include "measure/permeability.h"
#include "measure/residual.h"
#include "run/series.h"
#include "solver/outflow.h"

/* ---- sums ---- */

static enum status measure_sums(struct table *t)
{
    const double dx = t->c->units.dx, rho = t->c->units.density, volume = dx * dx * dx;
    const double u = output_velocity_unit(t->c);
    const double mass = t->sums->mass * rho * volume,
                 kinetic_energy = t->sums->kinetic_energy * rho * volume * u * u,
                 enstrophy = t->sums->enstrophy * volume * (u / dx) * (u / dx),
                 max_velocity = t->sums->max_velocity * u,
                 acceleration = t->sums->acceleration * u / t->c->units.dt;
    double *to = table_row(t, 0);
#define X(column)                                                                                  \
    if (t->series->of & 1u << SERIES_##column)                                                     \
        *to++ = column;
    SERIES_LIST(X)
#undef X
    return STATUS_OK;
}

const struct table_kind series_flow = {.needs_sums = true, .measure = measure_sums};

/* ---- flow rate ---- */

static enum status measure_rate(struct table *t)
{
    const double u = output_velocity_unit(t->c), rho = t->c->units.density;
    const double area = t->c->units.dx * t->c->units.dx;
    double *const to = table_row(t, 0);
    struct flow_rate rate = {0};
    const enum status status = flow_rate_measure(&t->levels, t->series->axis, t->series->at, &rate);
    to[0] = rate.volume * u * area;
    to[1] = rate.mass * rho * u * area;
    to[2] = rate.pressure * rho * u * u;
    to[3] = rate.area * area;
    return status;
}

const struct table_kind series_flow_rate = {.measure = measure_rate};

/* ---- pressure drop ---- */

static enum status measure_pressure_drop(struct table *t)
{
    const struct case_series *const s = t->series;
    const double u = output_velocity_unit(t->c), unit = t->c->units.density * u * u;
    double *const to = table_row(t, 0);
    struct flow_rate first = {0}, second = {0};
    const enum status status = flow_rate_measure(&t->levels, s->axis, s->at, &first);
    const enum status other = flow_rate_measure(&t->levels, s->axis, s->second, &second);
    to[0] = first.pressure * unit;
    to[1] = second.pressure * unit;
    to[2] = (first.pressure - second.pressure) * unit;
    return status_worse(status, other);
}

const struct table_kind series_pressure_drop = {.measure = measure_pressure_drop};

/* ---- outlet ---- */

static enum status measure_outlet(struct table *t)
{
    const double u = output_velocity_unit(t->c), rho = t->c->units.density;
    const double area = t->c->units.dx * t->c->units.dx;
    double *const to = table_row(t, 0);
    struct outflow all[OUTFLOW_OPENINGS] = {{0}}, caps[CASE_CAPS] = {{0}};
    const int cap = t->series->opening - SERIES_CAP;
    const struct outflow *const out = cap < 0 ? &all[t->series->opening] : &caps[cap];
    double leaves = 0;
    enum status status = outflow_measure(t->solver, t->c, all);
    status = status_worse(status, cap_flow_measure(&t->levels, t->c, caps));
    for (int k = 0; k < case_caps(t->c); k++)
        leaves += caps[k].mass <= 0 ? 0 : caps[k].mass;
    leaves += outflow_leaves(t->c, all);
    to[0] = out->volume * u * area;
    to[1] = out->mass * rho * u * area;
    to[2] = out->pressure * rho * u * u;
    to[3] = out->area * area;
    to[4] = leaves == 0 ? NAN : out->mass < 0 ? 0 * leaves : out->mass / leaves;
    return status;
}

const struct table_kind series_outlet = {.measure = measure_outlet};

/* ---- residual ---- */

static enum status create_residual(struct table *t)
{
    char name[STATE_NAME];
    const enum status status = residual_create(t->own, &t->levels);
    snprintf(name, sizeof name, "series/%s", t->series->name);
    return status
               ? status
               : status_agree(t->solver->domain->comm, residual_register(t->own, t->state, name));
}

static enum status measure_residual(struct table *t)
{
    return t->due ? residual_measure(t->own, table_row(t, 0))
                  : residual_compare(t->own, table_row(t, 0));
}

static void destroy_residual(struct table *t)
{
    residual_destroy(t->own);
}

const struct table_kind series_residual = {
    .own = sizeof(struct residual),
    .create = create_residual,
    .measure = measure_residual,
    .destroy = destroy_residual,
};

/* ---- permeability ---- */

/* The permeability is in squares of a cell's edge, with units, too. */
static enum status measure_permeability(struct table *t)
{
    const struct case_units *const units = &t->c->units;
    const double u = output_velocity_unit(t->c), area = units->cell * units->cell;
    double *const to = table_row(t, 0);
    struct permeability k = {0};
    const enum status status = permeability_measure(&t->levels, t->c->fluid.viscosity,
                                                    t->series->axis, t->series->length, &k);
    to[0] = k.velocity * u;
    to[1] = k.gradient * u / units->dt;
    to[2] = k.value;
    if (units->cell > 0) {
        to[3] = k.value * area;
        to[4] = k.value * area / (1e-3 * PERMEABILITY_DARCY);
    }
    return status;
}

const struct table_kind series_permeability = {.measure = measure_permeability};
