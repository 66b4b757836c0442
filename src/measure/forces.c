/* Force and torque on a body; see forces.h. */
#include "measure/forces.h"

#include <assert.h>
#include <math.h>

#include "base/agree.h"

enum { SUMS = 9 };

/* The body's pivot, from its first cell type; every body has at least one. */
static const double *pivot_of(const struct domain *d, int body)
{
    int row = 0;
    while (row < d->row_count && d->rows[row].body != body + 1)
        row++;
    assert(row < d->row_count);
    return d->rows[row].pivot;
}

static enum status add_list(struct solver *s, int body, struct forces *sum)
{
    const struct box list = {{0, 0, 0}, {(int)s->view.near_cells, 1, 1}};
    int workers;
    if (s->view.near_cells == 0)
        return STATUS_OK;
    const struct forces *const partial =
        solver_partials(s, KERNEL_forces, &list, (struct task){.body = body + 1}, &workers);
    for (int k = 0; partial && k < workers; k++)
        forces_join(sum, &partial[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

enum status forces_measure(struct solver *s, int body, const double *about,
                           struct body_forces *forces)
{
    struct forces sum = forces_none();
    const double *const pivot = pivot_of(s->domain, body);
    int64_t parts[SUMS + 1][3] = {{0}}; /* [SUMS][0]: links left out */
    const enum status status = status_agree(s->domain->comm, add_list(s, body, &sum));
    for (int a = 0; a < 3; a++) {
        exact_split(&sum.force[a], parts[a]);
        exact_split(&sum.pressure[a], parts[3 + a]);
        exact_split(&sum.torque[a], parts[6 + a]);
    }
    parts[SUMS][0] = sum.bad;
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1), MPI_INT64_T, MPI_SUM, s->domain->comm);
    const bool bad = parts[SUMS][0] != 0;
    double arm[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        sum.force[a] = exact_join(parts[a]);
        sum.pressure[a] = exact_join(parts[3 + a]);
        sum.torque[a] = exact_join(parts[6 + a]);
        forces->force[a] = bad ? NAN : exact_value(&sum.force[a]);
        forces->pressure[a] = bad ? NAN : exact_value(&sum.pressure[a]);
        forces->torque[a] = bad ? NAN : exact_value(&sum.torque[a]);
        arm[a] = about ? pivot[a] - about[a] : 0;
    }
    const double *const f = forces->force;
    forces->torque[0] += arm[1] * f[2] - arm[2] * f[1];
    forces->torque[1] += arm[2] * f[0] - arm[0] * f[2];
    forces->torque[2] += arm[0] * f[1] - arm[1] * f[0];
    return status;
}
