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

enum status forces_measure(const struct levels *all, int body, const double *about,
                           struct body_forces *forces)
{
    const MPI_Comm comm = all->solver[0]->domain->comm;
    const int count = all->count;
    struct exact_sum force[3][LEVELS], pressure[3][LEVELS], torque[3][LEVELS];
    int64_t parts[LEVELS][SUMS + 1][3] = {{{0}}}; /* [level][SUMS][0]: links left out */
    double pivot[3];
    bool bad = false;
    enum status status = STATUS_OK;
    find_pivot(all, body, pivot);
    for (int l = 0; l < count; l++) {
        struct forces sum = forces_none();
        status = status_worse(status, add_list(all->solver[l], body, &sum));
        for (int a = 0; a < 3; a++) {
            exact_split(&sum.force[a], parts[l][a]);
            exact_split(&sum.pressure[a], parts[l][3 + a]);
            exact_split(&sum.torque[a], parts[l][6 + a]);
        }
        parts[l][SUMS][0] = sum.bad;
    }
    status = status_agree(comm, status);
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1) * count, MPI_INT64_T, MPI_SUM, comm);
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
        forces->force[a] = bad ? NAN : levels_sum(force[a], count, 2);
        forces->pressure[a] = bad ? NAN : levels_sum(pressure[a], count, 2);
        forces->torque[a] = bad ? NAN : levels_sum(torque[a], count, 3);
        arm[a] = about ? pivot[a] - about[a] : 0;
    }
    const double *const f = forces->force;
    forces->torque[0] += arm[1] * f[2] - arm[2] * f[1];
    forces->torque[1] += arm[2] * f[0] - arm[0] * f[2];
    forces->torque[2] += arm[0] * f[1] - arm[1] * f[0];
    return status;
}

/* Has a cell of the block's list a link into the body? */
static bool has_links(const struct domain *d, int body)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct view *const v = &d->view;
    for (size_t k = 0; k < v->near_cells; k++) {
        const int *const at = d->near[k].at;
        for (int i = 1; i < Q && view_fluid(v, view_index(v, at[0], at[1], at[2])); i++) {
            const size_t there = view_index(v, at[0] + c[i][0], at[1] + c[i][1], at[2] + c[i][2]);
            if (d->rows[d->tags[there] & TAG_ROW].body == body + 1)
                return true;
        }
    }
    return false;
}

int forces_level(const struct grid *g, int body)
{
    int finest = 0;
    for (int l = 1; l < g->levels; l++)
        if (has_links(&g->level[l].domain, body))
            finest = l;
    MPI_Allreduce(MPI_IN_PLACE, &finest, 1, MPI_INT, MPI_MAX, g->level[0].domain.comm);
    return finest;
}
