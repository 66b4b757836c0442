/* Series at points of the box: probes and lines. */
#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "measure/at_wall.h"
#include "measure/probe.h"
#include "run/series.h"

struct points {
    struct probe probe;                 /* of the flow */
    struct probe carried[CASE_SCALARS]; /* of scalars */
    int scalars;
    double *position; /* [points][3] lattice units */
    /* Rank 0: */
    struct at_wall walls;
    double *values;         /* [points][4] density - 1, velocity */
    double *carried_values; /* [scalars][points] */
};

/* Positions along a line: exactly both ends, evenly spaced between. */
static void place_points(const struct table *t, double *position)
{
    const struct case_series *const s = t->series;
    for (int k = 0; k < t->points; k++)
        for (int a = 0; a < 3; a++) {
            const double span = s->to[a] - s->from[a];
            double *const at = position + 3 * (size_t)k + a;
            *at = k == 0              ? s->from[a]
                  : k < t->points - 1 ? s->from[a] + span * k / (t->points - 1)
                                      : s->to[a];
        }
}

/* Creates the probes of the flow and of all scalars. */
static enum status create(struct table *t)
{
    struct points *const p = t->own;
    const size_t points = (size_t)t->points;
    p->position = malloc(points * 3 * sizeof *p->position);
    p->values = malloc(points * 4 * sizeof *p->values);
    p->carried_values = malloc(points * CASE_SCALARS * sizeof *p->carried_values);
    enum status status =
        p->position && p->values && p->carried_values
            ? STATUS_OK
            : fail_machine("out of memory for the points of series %s", t->series->name);
    status = status_agree(t->solver->domain->comm, status);
    if (status)
        return status;
    place_points(t, p->position);
    status = probe_create(&p->probe, &t->levels, SET_flow, t->points, p->position);
    for (; p->scalars < t->c->scalar_count && !status; p->scalars++)
        status = probe_create(&p->carried[p->scalars], &t->levels, 1 + p->scalars, t->points,
                              p->position);
    if (!status && t->root)
        status = at_wall_create(&p->walls, &t->levels, t->c, t->points, p->position);
    return status_agree(t->solver->domain->comm, status);
}

static void destroy(struct table *t)
{
    struct points *const p = t->own;
    probe_destroy(&p->probe);
    for (int k = 0; k < p->scalars; k++)
        probe_destroy(&p->carried[k]);
    at_wall_destroy(&p->walls);
    free(p->position);
    free(p->values);
    free(p->carried_values);
}

/* Distance from the line's begin, and position. */
static double *add_place(double *to, const struct table *t, const double at[3], int k)
{
    const double *const from = t->series->from, *const end = t->series->to, dx = t->c->units.dx;
    double square = 0;
    for (int a = 0; a < 3; a++)
        square += (end[a] - from[a]) * (end[a] - from[a]);
    *to++ = sqrt(square) * k / (t->points - 1) * dx;
    for (int a = 0; a < 3; a++)
        *to++ = at[a] * dx;
    return to;
}

/* Velocity, density and pressure as in a snapshot. */
static double *add_point(double *to, const struct flow_case *c, const double flow[4])
{
    const double u = output_velocity_unit(c);
    for (int a = 0; a < 3; a++)
        *to++ = flow[1 + a] * u;
    *to++ = (1 + flow[0]) * c->units.density;
    *to++ = flow[0] / 3 * c->units.density * u * u;
    return to;
}

static enum status measure(struct table *t)
{
    struct points *const p = t->own;
    enum status status = probe_measure(&p->probe, &t->levels, t->root ? p->values : NULL);
    for (int n = 0; n < p->scalars && !status; n++)
        status = probe_measure(&p->carried[n], &t->levels,
                               t->root ? p->carried_values + n * t->points : NULL);
    if (status || !t->root)
        return status;
    at_wall_flow(&p->walls, t->c, p->values);
    for (int n = 0; n < p->scalars; n++)
        at_wall_scalar(&p->walls, t->c, n, t->solver->step, p->carried_values + n * t->points);
    for (int k = 0; k < t->points; k++) {
        double *to = table_row(t, k);
        if (t->series->kind == SERIES_KIND_line)
            to = add_place(to, t, p->position + 3 * (size_t)k, k);
        to = add_point(to, t->c, p->values + 4 * (size_t)k);
        for (int n = 0; n < p->scalars; n++)
            *to++ = t->c->scalars[n].reference + p->carried_values[n * t->points + k];
    }
    return status;
}

#define POINTS                                                                                     \
    {                                                                                              \
        .own = sizeof(struct points), .create = create, .measure = measure, .destroy = destroy     \
    }
const struct table_kind series_probe = POINTS, series_line = POINTS;
