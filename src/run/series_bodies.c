/* Series of bodies: forces, and stresses on a ring of points of the surface. */
#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "measure/flow_rate.h"
#include "measure/forces.h"
#include "measure/skin_flow.h"
#include "run/series.h"

/* ---- forces ---- */

#define NEVER INT64_MIN

struct force_samples {
    struct body_forces sample; /* in the step after `sampled` */
    int64_t sampled;           /* NEVER: none yet */
    double ahead;              /* half a step of the level of their body, in steps of level 0 */
};

static enum status create_forces(struct table *t)
{
    *(struct force_samples *)t->own = (struct force_samples){
        .sampled = NEVER, .ahead = ldexp(0.5, -forces_level(t->grid, t->series->body))};
    return STATUS_OK;
}

/* The forces in the step after the solver's. */
static enum status sample_forces(struct table *t)
{
    struct force_samples *const f = t->own;
    const struct case_series *const what = t->series;
    if (f->sampled == t->solver->step)
        return STATUS_OK;
    f->sampled = t->solver->step;
    return forces_measure(&t->levels, what->body, what->about_given ? what->about : NULL,
                          &f->sample);
}

/* The forces at the time of the solver's step, which are known `ahead` of it and of the step
 * before: on level 0 the mean of both. At step 0 there is no step before. */
static enum status forces_now(struct table *t, struct body_forces *now)
{
    struct force_samples *const f = t->own;
    const struct body_forces before = f->sample;
    const bool known = f->sampled == t->solver->step - 1;
    const double old = f->ahead, young = 1 - f->ahead;
    const enum status status = sample_forces(t);
    *now = f->sample;
    for (int a = 0; a < 3 && known; a++) {
        now->force[a] = old * before.force[a] + young * now->force[a];
        now->pressure[a] = old * before.pressure[a] + young * now->pressure[a];
        now->torque[a] = old * before.torque[a] + young * now->torque[a];
    }
    return status;
}

/* Density of the coefficients: of the fluid beside a face, or 1, the reference. */
static enum status measure_density(const struct levels *all, int face, double *rho)
{
    struct flow_rate rate = {0};
    *rho = 1;
    if (face < 0)
        return STATUS_OK;
    const int at = face & 1 ? all->solver[0]->domain->cells[face / 2] - 1 : 0;
    const enum status status = flow_rate_measure(all, face / 2, at, &rate);
    *rho = 1 + 3 * rate.pressure; /* p = (rho - 1) / 3 */
    return status;
}

static enum status measure_forces(struct table *t)
{
    const struct case_series *const s = t->series;
    const double dx = t->c->units.dx, u = output_velocity_unit(t->c);
    const double unit = t->c->units.density * u * u * dx * dx;
    double *to = table_row(t, 0), rho;
    struct body_forces f = {0};
    enum status status = forces_now(t, &f);
    if (measure_density(&t->levels, s->density_face, &rho))
        status = STATUS_MACHINE;
    const double reference = 0.5 * rho * s->velocity * s->velocity * s->area;
    for (int a = 0; a < 3; a++)
        *to++ = f.force[a] * unit;
    for (int a = 0; a < 3; a++)
        *to++ = f.pressure[a] * unit;
    for (int a = 0; a < 3; a++)
        *to++ = f.torque[a] * unit * dx;
    for (int k = 0; k < series_coefficients(s); k++)
        *to++ = k < 3 ? f.force[k] / reference : f.torque[k - 3] / reference / s->length;
    return status;
}

const struct table_kind series_forces = {
    .own = sizeof(struct force_samples),
    .create = create_forces,
    .measure = measure_forces,
    .sample = sample_forces,
};

/* ---- stresses on a ring ---- */

struct ring {
    struct skin skin;
    struct skin_flow flow;
    double (*values)[SKIN_VALUES]; /* [points], rank 0 */
};

/* Creates the ring of points and what is needed to measure there. */
static enum status create_ring(struct table *t)
{
    struct ring *const r = t->own;
    const struct case_series *const what = t->series;
    const struct case_body *const body = &t->c->bodies[what->body];
    double center[3], reach = 0;
    int missing = 0;
    const bool good = skin_middle(body, t->c->cells, center);
    for (int a = 0; a < 3; a++) {
        center[a] = what->center_given ? what->from[a] : center[a];
        reach += t->c->cells[a];
    }
    r->values = malloc((size_t)t->points * sizeof *r->values);
    enum status status =
        good && r->values && skin_ring(&r->skin, body, center, what->axis, t->points, reach)
            ? STATUS_OK
            : fail_machine("out of memory for the points of series %s", what->name);
    status = status_agree(t->solver->domain->comm, status);
    for (int k = 0; k < r->skin.count; k++)
        missing += isnan(r->skin.at[k][0]);
    if (missing && !status)
        warn("series %s: %d of %d rays from (%g, %g, %g) do not meet %s; its rows have nan there",
             what->name, missing, t->points, center[0], center[1], center[2], body->name);
    return status ? status : skin_flow_create(&r->flow, t->c, &t->levels, &r->skin, what->body);
}

/* Position and stresses at all points. */
static enum status measure_ring(struct table *t)
{
    struct ring *const r = t->own;
    const struct case_series *const s = t->series;
    const double u = output_velocity_unit(t->c), unit = t->c->units.density * u * u;
    const enum status status = skin_flow_measure(&r->flow, &t->levels, r->values);
    for (int k = 0; k < t->points && t->root && !status; k++) {
        double *to = table_row(t, k);
        *to++ = 360.0 * k / t->points;
        for (int a = 0; a < 3; a++)
            *to++ = r->skin.at[k][a] * t->c->units.dx;
        for (int v = 0; v < SKIN_VALUES; v++)
            *to++ = r->values[k][v] * unit;
        if (s->velocity > 0)
            *to++ = r->values[k][0] / (0.5 * s->velocity * s->velocity);
    }
    return status;
}

static void destroy_ring(struct table *t)
{
    struct ring *const r = t->own;
    skin_flow_destroy(&r->flow);
    skin_destroy(&r->skin);
    free(r->values);
}

const struct table_kind series_surface = {
    .own = sizeof(struct ring),
    .create = create_ring,
    .measure = measure_ring,
    .destroy = destroy_ring,
};
