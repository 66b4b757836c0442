/* The mean velocity of the fluid; see mean_flow.h. */
#include "solver/mean_flow.h"

#include <math.h>

#include "base/agree.h"
#include "solver/solver.h"

enum { SUMS = 7 };

static const struct scalar_row *row_of(const struct solver *s, int set)
{
    return &s->domain->scalar[(set - 1) * TAG_ROWS + TAG_FLUID];
}

/* Has a scalar a mean gradient? */
static bool any_slopes(const struct solver *s)
{
    bool any = false;
    for (int set = 1; set < s->view.sets && s->domain->scalar; set++)
        any = any || row_of(s, set)->slopes;
    return any;
}

/* Adds the sums of all ranks. */
static enum status add_ranks(MPI_Comm comm, enum status status, struct dispersion *d)
{
    struct exact_sum *const sum[SUMS] = {&d->flux[0],    &d->flux[1],     &d->flux[2],
                                         &d->value,      &d->velocity[0], &d->velocity[1],
                                         &d->velocity[2]};
    int64_t parts[SUMS + 1][3] = {{0}};
    for (int k = 0; k < SUMS; k++)
        exact_split(sum[k], parts[k]);
    parts[SUMS][0] = d->cells;
    parts[SUMS][1] = d->bad;
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1), MPI_INT64_T, MPI_SUM, comm);
    for (int k = 0; k < SUMS; k++)
        *sum[k] = exact_join(parts[k]);
    d->cells = parts[SUMS][0];
    d->bad = parts[SUMS][1];
    return status_agree(comm, status);
}

static double dot(const double a[3], const double b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

enum status link_means_measure(struct solver *s, int set, struct link_means *m)
{
    const struct box all = domain_all(s->domain);
    const double *const g = row_of(s, set)->gradient;
    int exponent, workers;
    frexp(sqrt(dot(g, g)), &exponent);
    const struct task task = {.dispersion = {set, ldexp(DISPERSION_UNIT, -exponent)}};
    const struct dispersion *const partial =
        solver_partials(s, KERNEL_dispersion, &all, task, &workers);
    struct dispersion sum = dispersion_none();
    for (int k = 0; partial && k < workers; k++)
        dispersion_join(&sum, &partial[k]);
    const enum status status =
        add_ranks(s->domain->comm, partial ? STATUS_OK : STATUS_MACHINE, &sum);
    const double cells = sum.bad || !sum.cells ? NAN : (double)sum.cells;
    for (int a = 0; a < 3; a++) {
        m->flux[a] = exact_value(&sum.flux[a]) / task.dispersion.scale / cells;
        m->velocity[a] = exact_value(&sum.velocity[a]) / cells;
    }
    m->value = exact_value(&sum.value) / task.dispersion.scale / cells;
    m->cells = sum.cells;
    return status;
}

int64_t mean_flow_next(const struct solver *s)
{
    return any_slopes(s) ? MEAN_FLOW_EVERY - s->step % MEAN_FLOW_EVERY : 0;
}

/* Changes `moved` so that its product with the gradient is `value`, along the part of the gradient
 * that is normal to the `count` unit vectors `across`; adds this direction to them. */
static void meet(const double gradient[3], double value, double moved[3], double across[3][3],
                 int *count)
{
    double e[3] = {gradient[0], gradient[1], gradient[2]};
    for (int k = 0; k < *count; k++) {
        const double along = dot(across[k], gradient);
        for (int a = 0; a < 3; a++)
            e[a] -= along * across[k][a];
    }
    const double size = sqrt(dot(e, e)), missing = value - dot(gradient, moved);
    if (*count == 3 || !(size > 1e-6 * sqrt(dot(gradient, gradient))))
        return;
    for (int a = 0; a < 3; a++) {
        across[*count][a] = e[a] / size;
        moved[a] += missing / size * across[*count][a];
    }
    ++*count;
}

enum status mean_flow_adjust(struct solver *s)
{
    double moved[3] = {0, 0, 0}, across[3][3];
    enum status status = STATUS_OK;
    int count = 0;
    if (s->step % MEAN_FLOW_EVERY != 0 || !any_slopes(s))
        return STATUS_OK;
    struct link_means m = {.value = 0};
    for (int set = 1; set < s->view.sets; set++) {
        if (!row_of(s, set)->slopes)
            continue;
        const enum status one = link_means_measure(s, set, &m);
        status = status ? status : one;
        if (isfinite(m.value)) /* else reported later as divergence, with its cell */
            meet(row_of(s, set)->gradient, m.value, moved, across, &count);
    }
    for (int a = 0; a < 3; a++)
        if (isfinite(m.velocity[a]))
            s->view.scalars.mean_flow[a] = m.velocity[a] - moved[a] / MEAN_FLOW_EVERY;
    return status;
}

enum status mean_flow_register(struct solver *s, struct state *state)
{
    if (!any_slopes(s))
        return STATUS_OK;
    return state_add_numbers(state, "run/mean_flow",
                             "mean velocity of the fluid, for scalars with a gradient",
                             SAMPLE_float64, 3, s->view.scalars.mean_flow);
}
