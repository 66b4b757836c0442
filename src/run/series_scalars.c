/* Series of a scalar: its sums, its means over a plane, its flux through a surface, its
 * dispersion. */
#include <math.h>
#include <string.h>

#include "measure/dispersion.h"
#include "measure/heat.h"
#include "measure/mixing_cup.h"
#include "measure/scalar.h"
#include "run/series.h"

static const struct case_scalar *scalar_of(const struct table *t)
{
    return &t->c->scalars[t->series->scalar];
}

/* Units of sums over a scalar: of a cell's, of its flux through a link, in joule and watts if the
 * case gives the heat capacity of the fluid. */
static double amount_unit(const struct table *t)
{
    const struct case_units *const units = &t->c->units;
    const double joule = scalar_of(t)->kind == SCALAR_KIND_heat && units->heat_capacity > 0
                             ? units->density * units->heat_capacity
                             : 1;
    return joule * units->dx * units->dx * units->dx;
}

static double *add_values(double *to, double reference, const struct scalar_values *v)
{
    *to++ = reference + v->mean;
    *to++ = reference + v->least;
    *to++ = reference + v->most;
    *to++ = v->variance;
    return to;
}

static enum status measure_scalar(struct table *t)
{
    const double reference = scalar_of(t)->reference;
    struct scalar_found found = {.finite = true};
    const enum status status = scalar_measure(&t->levels, 1 + t->series->scalar, &found);
    double *to = add_values(table_row(t, 0), reference, &found.fluid);
    *to++ = found.enthalpy * amount_unit(t);
    if (to < t->rows + t->columns - 1) /* bodies conduct it */
        add_values(to, reference, &found.solid);
    return status;
}

const struct table_kind series_scalar = {.measure = measure_scalar};

/* Number of an opening of the case in the case of a level, which has no open patches but all caps.
 */
static int opening_of_level(const struct flow_case *c, const struct flow_case *own, int opening)
{
    int k = 0;
    if (opening < 6 || opening >= SERIES_CAP)
        return opening;
    while (k < own->patch_count && strcmp(own->patches[k].name, c->patches[opening - 6].name) != 0)
        k++;
    return k < own->patch_count ? 6 + k : HEAT_NOWHERE;
}

struct heat_samples {
    struct heat_surface at;
    struct heat_step step; /* begun at `sampled` */
    int64_t sampled;       /* SERIES_NEVER: none yet */
};

static enum status create_heat(struct table *t)
{
    const struct case_series *const s = t->series;
    struct heat_samples *const h = t->own;
    const bool body = s->opening < 0;
    h->sampled = SERIES_NEVER;
    t->needs_sample = t->levels.count > 1; /* else a step is one of level 0 */
    h->at = (struct heat_surface){
        .side = body || s->opening >= SERIES_CAP ? -1 : case_opening_side(t->c, s->opening),
        .body = s->body};
    for (int l = 0; l < t->levels.count; l++)
        h->at.opening[l] =
            body ? HEAT_BODY : opening_of_level(t->c, t->grid->level[l].c, s->opening);
    return STATUS_OK;
}

/* Heat in the step after the solver's. */
static enum status sample_heat(struct table *t)
{
    struct heat_samples *const h = t->own;
    if (h->sampled == t->solver->step)
        return STATUS_OK;
    h->sampled = t->solver->step;
    return heat_begin(&t->levels, 1 + t->series->scalar, &h->at, &h->step);
}

static enum status add_later_heat(struct table *t, int level)
{
    struct heat_samples *const h = t->own;
    return heat_add_later(&t->levels, level, 1 + t->series->scalar, &h->at, &h->step);
}

/* Heat of the step after the solver's: the mean of the step before, and the change in a step, which
 * the first step of each level shows. At step 0: of the first step of each level. */
static enum status heat_now(struct table *t, struct heat_found *now)
{
    struct heat_samples *const h = t->own;
    double more = 0;
    if (h->sampled == t->solver->step - 1)
        more = heat_whole(&t->levels, 1 + t->series->scalar, &h->step) - h->step.first.heat;
    const enum status status = sample_heat(t);
    *now = h->step.first;
    now->heat += more;
    return status;
}

static enum status measure_heat(struct table *t)
{
    const struct case_series *const s = t->series;
    const double unit = amount_unit(t) / t->c->units.dt, dx = t->c->units.dx;
    double *to = table_row(t, 0);
    struct heat_found found = {0};
    const enum status status = heat_now(t, &found);
    const double flux = found.heat / found.area;
    *to++ = found.heat * unit;
    *to++ = flux * unit / (dx * dx);
    if (s->difference > 0)
        *to++ = flux * s->length / (scalar_of(t)->diffusivity * s->difference);
    return status;
}

const struct table_kind series_heat = {
    .own = sizeof(struct heat_samples),
    .create = create_heat,
    .measure = measure_heat,
    .sample = sample_heat,
    .add_later = add_later_heat,
};

static enum status measure_mixing_cup(struct table *t)
{
    const double reference = scalar_of(t)->reference, dx = t->c->units.dx;
    double *const to = table_row(t, 0);
    struct mixing_cup found = {0};
    const enum status status = mixing_cup_measure(&t->levels, 1 + t->series->scalar,
                                                  t->series->axis, t->series->at, &found);
    to[0] = reference + found.cup;
    to[1] = reference + found.mean;
    to[2] = found.volume * output_velocity_unit(t->c) * dx * dx;
    to[3] = found.area * dx * dx;
    return status;
}

const struct table_kind series_mixing_cup = {.measure = measure_mixing_cup};

static enum status measure_dispersion(struct table *t)
{
    const double d = scalar_of(t)->diffusivity, u = output_velocity_unit(t->c);
    double *to = table_row(t, 0);
    struct dispersion_found found = {.mean = 0};
    const double *const v = found.velocity;
    const enum status status = dispersion_measure(t->solver, 1 + t->series->scalar, &found);
    *to++ = scalar_of(t)->reference + found.mean;
    for (int a = 0; a < 3; a++)
        *to++ = v[a] * u;
    *to++ = found.along * u * t->c->units.dx;
    *to++ = found.along / d;
    *to++ = found.along / d * found.porosity;
    for (int a = 0; a < 3; a++)
        *to++ = found.column[a] / d;
    if (t->series->length > 0)
        *to++ = sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]) * t->series->length / d;
    return status;
}

const struct table_kind series_dispersion = {.measure = measure_dispersion};
