/* Pressure and shear on surfaces; see skin_flow.h. */
#include "measure/skin_flow.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "case/case_law.h"

/* Position of a sample, moved into the box along periodic axes. False: outside the box. */
static bool place_sample(const struct domain *d, const struct skin *skin, int point, double away,
                         double at[3])
{
    for (int a = 0; a < 3; a++) {
        const double length = d->cells[a];
        at[a] = skin->at[point][a] + away * skin->normal[point][a];
        if (d->periodic[a])
            at[a] -= length * floor(at[a] / length);
        if (!(at[a] >= 0 && at[a] <= length)) /* NaN, too */
            return false;
    }
    return true;
}

/* The body's pivot, from its cell type on the finest level that has it, and the width of a cell
 * there. */
static void find_body(struct skin_flow *f, const struct levels *all, int body)
{
    int level = all->count - 1;
    while (level > 0 && !all->solver[level]->domain->body_cells[body])
        level--;
    const struct domain *const d = all->solver[level]->domain;
    for (int row = 0; row < d->row_count; row++)
        for (int a = 0; a < 3 && d->rows[row].body == body + 1; a++)
            f->pivot[a] = refined_place(all->refined, level, a, d->rows[row].pivot[a]);
    f->apart = ldexp(1, -level);
}

enum status skin_flow_create(struct skin_flow *f, const struct flow_case *c,
                             const struct levels *all, const struct skin *skin, int body)
{
    const struct domain *const d = all->solver[0]->domain;
    const size_t most = SKIN_SAMPLES * (size_t)skin->count + 1;
    int count = 0;
    *f = (struct skin_flow){.skin = skin,
                            .body = &c->bodies[body],
                            .c = c,
                            .sample = calloc(most, sizeof *f->sample),
                            .values = calloc(most, 4 * sizeof *f->values)};
    double *const at = calloc(most, 3 * sizeof *at);
    enum status status = f->sample && f->values && at
                             ? STATUS_OK
                             : fail_machine("out of memory for %d points of the surface of %s",
                                            skin->count, c->bodies[body].name);
    status = status_agree(d->comm, status);
    find_body(f, all, body);
    for (int point = 0; point < skin->count && !status; point++)
        for (int k = 0; k < SKIN_SAMPLES; k++) {
            const bool inside =
                place_sample(d, skin, point, (k + 1) * f->apart, at + 3 * (size_t)count);
            f->sample[point][k] = inside ? count++ : -1;
        }
    if (!status)
        status = probe_create(&f->probe, all, SET_flow, count, at);
    free(at);
    if (status)
        skin_flow_destroy(f);
    return status;
}

void skin_flow_destroy(struct skin_flow *f)
{
    probe_destroy(&f->probe);
    free(f->sample);
    free(f->values);
    *f = (struct skin_flow){0};
}

/* The samples of a point from the surface up to the first that is not in the fluid. Returns their
 * number. */
static int flows_of(const struct skin_flow *f, int point, const double *flow[SKIN_SAMPLES])
{
    int count = 0;
    while (count < SKIN_SAMPLES && f->sample[point][count] >= 0) {
        flow[count] = f->values + 4 * (size_t)f->sample[point][count];
        if (isnan(flow[count][0]))
            break;
        count++;
    }
    return count;
}

/* By number of samples: weights of the samples for the value at the surface; weights of the samples
 * and, last, of the surface's velocity for the slope at the surface. */
static const double value_weight[SKIN_SAMPLES][SKIN_SAMPLES] = {{1}, {2, -1}, {3, -3, 1}};
static const double slope_weight[SKIN_SAMPLES][SKIN_SAMPLES + 1] = {
    {1, 0, 0, -1}, {2, -0.5, 0, -1.5}, {3, -1.5, 1.0 / 3, -11.0 / 6}};

static void find_stress(const struct skin_flow *f, int point, const double *const *flow, int count,
                        double to[SKIN_VALUES])
{
    const double *const n = f->skin->normal[point], *const w = f->body->spin;
    double arm[3], wall[3], slope[3], across = 0, density = 0;
    for (int a = 0; a < 3; a++)
        arm[a] = f->skin->at[point][a] - f->pivot[a];
    turning_velocity(f->body->velocity, w, arm, wall);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        slope[a] = slope_weight[count - 1][SKIN_SAMPLES] * wall[a] / f->apart -
                   (w[b] * n[c] - w[c] * n[b]);
        for (int k = 0; k < count; k++)
            slope[a] += slope_weight[count - 1][k] * flow[k][1 + a] / f->apart;
        across += slope[a] * n[a];
    }
    for (int k = 0; k < count; k++)
        density += value_weight[count - 1][k] * flow[k][0];
    to[0] = density / 3;
    double along[3], square = 0;
    for (int a = 0; a < 3; a++) {
        along[a] = slope[a] - across * n[a];
        square += along[a] * along[a];
    }
    const double viscosity = case_viscosity_at(f->c, sqrt(square)); /* the wall's shear rate */
    for (int a = 0; a < 3; a++)
        to[1 + a] = viscosity * along[a];
}

enum status skin_flow_measure(struct skin_flow *f, const struct levels *all,
                              double (*to)[SKIN_VALUES])
{
    const bool root = all->solver[0]->domain->rank == 0;
    const enum status status = probe_measure(&f->probe, all, root ? f->values : NULL);
    for (int point = 0; point < f->skin->count && root && !status; point++) {
        const double *flow[SKIN_SAMPLES];
        const int count = flows_of(f, point, flow);
        if (count > 0)
            find_stress(f, point, flow, count, to[point]);
        for (int k = 0; k < SKIN_VALUES && count == 0; k++)
            to[point][k] = NAN;
    }
    return status;
}
