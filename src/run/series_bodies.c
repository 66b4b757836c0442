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

struct force_samples {
    struct forces_step step; /* begun at `sampled` */
    int64_t sampled;         /* SERIES_NEVER: none yet */
};

static enum status create_forces(struct table *t)
{
    struct force_samples *const f = t->own;
    f->sampled = SERIES_NEVER;
    return STATUS_OK;
}

static const double *about(const struct table *t)
{
    return t->series->about_given ? t->series->about : NULL;
}

/* The forces in the step after the solver's. */
static enum status sample_forces(struct table *t)
{
    struct force_samples *const f = t->own;
    if (f->sampled == t->solver->step)
        return STATUS_OK;
    f->sampled = t->solver->step;
    return forces_begin(&t->levels, t->series->body, about(t), &f->step);
}

static enum status add_later_forces(struct table *t, int level)
{
    struct force_samples *const f = t->own;
    return forces_add_later(&t->levels, level, t->series->body, &f->step);
}

/* The force at the end of a step: its mean and half the change in a step. first, next: of the first
 * step of each level in this step and in the next one. On one level the mean is `first`. */
static double at_end(double mean, double first, double next)
{
    return 0.5 * (2 * mean - first) + 0.5 * next;
}

/* The forces at the time of the solver's step. At step 0: of the first step of each
 * level. */
static enum status forces_now(struct table *t, struct body_forces *now)
{
    struct force_samples *const f = t->own;
    const struct body_forces first = f->step.first;
    const bool known = f->sampled == t->solver->step - 1;
    struct body_forces mean;
    if (known)
        forces_mean(&t->levels, t->series->body, about(t), &f->step, &mean);
    const enum status status = sample_forces(t);
    *now = f->step.first;
    for (int a = 0; a < 3 && known; a++) {
        now->force[a] = at_end(mean.force[a], first.force[a], now->force[a]);
        now->pressure[a] = at_end(mean.pressure[a], first.pressure[a], now->pressure[a]);
        now->torque[a] = at_end(mean.torque[a], first.torque[a], now->torque[a]);
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
    .add_later = add_later_forces,
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
        warn("rays_miss",
             "series %s: %d of %d rays from (%g, %g, %g) do not meet %s; its rows have nan there",
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
