/* Dispersion of a scalar with a mean gradient; see dispersion.h. */
#include "measure/dispersion.h"

#include <math.h>

#include "base/agree.h"

enum { SUMS = 7 };

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

enum status dispersion_measure(struct solver *s, int set, struct dispersion_found *found)
{
    const struct domain *const d = s->domain;
    const struct box all = domain_all(d);
    const double *const g = scalar_row(&d->view, set, TAG_FLUID)->gradient;
    const double size = sqrt((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]);
    int exponent, workers;
    frexp(size, &exponent);
    const struct task task = {.set = set, .scale = {0, ldexp(DISPERSION_UNIT, -exponent), 0}};
    const struct dispersion *const partial =
        solver_partials(s, KERNEL_dispersion, &all, task, &workers);
    struct dispersion sum = dispersion_none();
    for (int k = 0; partial && k < workers; k++)
        dispersion_join(&sum, &partial[k]);
    const enum status status = add_ranks(d->comm, partial ? STATUS_OK : STATUS_MACHINE, &sum);
    const double cells = sum.bad || !sum.cells ? NAN : (double)sum.cells;
    const double value = exact_value(&sum.value) / task.scale.value;
    found->porosity = (double)sum.cells / ((double)d->cells[0] * d->cells[1] * d->cells[2]);
    found->mean = value / cells;
    double drift = 0; /* what T loses in the step by the mean velocity */
    found->along = 0;
    for (int a = 0; a < 3; a++) {
        found->velocity[a] = exact_value(&sum.velocity[a]) / cells;
        drift += found->velocity[a] * g[a];
    }
    for (int a = 0; a < 3; a++) {
        const double flux = exact_value(&sum.flux[a]) / task.scale.value;
        found->column[a] =
            -(flux / cells - found->velocity[a] * (found->mean - 0.5 * drift)) / size;
        found->along += found->column[a] * g[a] / size;
    }
    return status;
}
