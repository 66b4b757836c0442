/* Force and torque on a body; see forces.h. */
#include "measure/forces.h"

#include <assert.h>
#include <math.h>

#include "base/agree.h"

enum { SUMS = 9 };

/* The body's pivot in cells of level 0, from its first cell type of any level. */
static void find_pivot(const struct levels *all, int body, double pivot[3])
{
    const struct tag_row *found = NULL;
    for (int l = 0; l < all->count && !found; l++) {
        const struct domain *const d = all->solver[l]->domain;
        for (int row = 0; row < d->row_count && !found; row++)
            found = d->rows[row].body == body + 1 ? &d->rows[row] : NULL;
        for (int a = 0; a < 3 && found; a++)
            pivot[a] = ldexp(found->pivot[a], -l);
    }
    assert(found); /* every body has at least one */
}

static enum status add_list(struct solver *s, int body, struct forces *sum)
{
    const struct box list = list_range(0, (int)s->view.near.count);
    int workers;
    if (s->view.near.count == 0)
        return STATUS_OK;
    const struct forces *const partial =
        solver_partials(s, KERNEL_forces, &list, (struct task){.body = body + 1}, &workers);
    for (int k = 0; partial && k < workers; k++)
        forces_join(sum, &partial[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

/* The sums of all levels. steps 0: of a step of each level, as a rate; 1: of all 2^l steps of level
 * l, as the mean rate. Collective. */
static void total(const struct levels *all, int body, const double *about,
                  const struct forces sum[], int steps, struct body_forces *forces)
{
    const int count = all->count;
    struct exact_sum force[3][LEVELS], pressure[3][LEVELS], torque[3][LEVELS];
    int64_t parts[LEVELS][SUMS + 1][3] = {{{0}}}; /* [level][SUMS][0]: links left out */
    double pivot[3];
    bool bad = false;
    find_pivot(all, body, pivot);
    for (int l = 0; l < count; l++) {
        for (int a = 0; a < 3; a++) {
            exact_split(&sum[l].force[a], parts[l][a]);
            exact_split(&sum[l].pressure[a], parts[l][3 + a]);
            exact_split(&sum[l].torque[a], parts[l][6 + a]);
        }
        parts[l][SUMS][0] = sum[l].bad;
    }
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1) * count, MPI_INT64_T, MPI_SUM,
                  all->solver[0]->domain->comm);
    for (int l = 0; l < count; l++) {
        bad = bad || parts[l][SUMS][0] != 0;
        for (int a = 0; a < 3; a++) {
            force[a][l] = exact_join(parts[l][a]);
            pressure[a][l] = exact_join(parts[l][3 + a]);
            torque[a][l] = exact_join(parts[l][6 + a]);
        }
    }
    double arm[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        forces->force[a] = bad ? NAN : levels_sum(all, force[a], 2 + steps);
        forces->pressure[a] = bad ? NAN : levels_sum(all, pressure[a], 2 + steps);
        forces->torque[a] = bad ? NAN : levels_sum(all, torque[a], 3 + steps);
        arm[a] = about ? pivot[a] - about[a] : 0;
    }
    const double *const f = forces->force;
    forces->torque[0] += arm[1] * f[2] - arm[2] * f[1];
    forces->torque[1] += arm[2] * f[0] - arm[0] * f[2];
    forces->torque[2] += arm[0] * f[1] - arm[1] * f[0];
}

enum status forces_begin(const struct levels *all, int body, const double *about,
                         struct forces_step *step)
{
    enum status status = STATUS_OK;
    step->more = false;
    for (int l = 0; l < all->count; l++) {
        step->all[l] = forces_none();
        status = status_worse(status, add_list(all->solver[l], body, &step->all[l]));
    }
    total(all, body, about, step->all, 0, &step->first);
    return status_agree(all->solver[0]->domain->comm, status);
}

enum status forces_add_later(const struct levels *all, int level, int body,
                             struct forces_step *step)
{
    step->more = true;
    return add_list(all->solver[level], body, &step->all[level]);
}

void forces_mean(const struct levels *all, int body, const double *about,
                 const struct forces_step *step, struct body_forces *mean)
{
    if (step->more)
        total(all, body, about, step->all, 1, mean);
    else
        *mean = step->first;
}
