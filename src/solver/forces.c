/* Force and torque on a body; see forces.h. */
#include "solver/forces.h"

enum { SUMS = 9 };

/* Where the body's surface turns. */
static const double *pivot_of(const struct domain *d, int body)
{
    int row = 0;
    while (d->rows[row].body != body + 1)
        row++;
    return d->rows[row].pivot;
}

static enum status add_list(struct solver *s, int body, struct forces *sum)
{
    const struct box list = {{0, 0, 0}, {(int)s->view.near_cells, 1, 1}};
    int workers;
    if (s->view.near_cells == 0)
        return STATUS_OK;
    const struct forces *const partial =
        solver_partials_of(s, KERNEL_forces, &list, body + 1, sizeof *partial, &workers);
    for (int k = 0; partial && k < workers; k++)
        for (int a = 0; a < 3; a++) {
            sum->force[a].units += partial[k].force[a].units;
            sum->pressure[a].units += partial[k].pressure[a].units;
            sum->torque[a].units += partial[k].torque[a].units;
        }
    return partial ? STATUS_OK : STATUS_MACHINE;
}

enum status forces_measure(struct solver *s, int body, const double *about,
                           struct body_forces *forces)
{
    struct forces sum = forces_none();
    const double *const pivot = pivot_of(s->domain, body);
    int64_t parts[SUMS][3];
    int status = add_list(s, body, &sum);
    for (int a = 0; a < 3; a++) {
        exact_split(&sum.force[a], parts[a]);
        exact_split(&sum.pressure[a], parts[3 + a]);
        exact_split(&sum.torque[a], parts[6 + a]);
    }
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * SUMS, MPI_INT64_T, MPI_SUM, s->domain->comm);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, s->domain->comm);
    double arm[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        sum.force[a] = exact_join(parts[a]);
        sum.pressure[a] = exact_join(parts[3 + a]);
        sum.torque[a] = exact_join(parts[6 + a]);
        forces->force[a] = exact_value(&sum.force[a]);
        forces->pressure[a] = exact_value(&sum.pressure[a]);
        forces->torque[a] = exact_value(&sum.torque[a]);
        arm[a] = about ? pivot[a] - about[a] : 0;
    }
    const double *const f = forces->force;
    forces->torque[0] += arm[1] * f[2] - arm[2] * f[1];
    forces->torque[1] += arm[2] * f[0] - arm[0] * f[2];
    forces->torque[2] += arm[0] * f[1] - arm[1] * f[0];
    return (enum status)status;
}
