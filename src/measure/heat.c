/* Flux of a scalar through a surface; see heat.h. */
#include "measure/heat.h"

#include <math.h>

#include "base/agree.h"

static enum status add_box(struct solver *s, const struct box *box, struct task task,
                           struct heat *sum)
{
    int workers;
    if (box_cells(box) == 0)
        return STATUS_OK;
    const struct heat *const partial = solver_partials(s, KERNEL_heat, box, task, &workers);
    for (int k = 0; partial && k < workers; k++)
        heat_join(sum, &partial[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

/* The cells of the block beside a face; none if the block does not touch it. */
static struct box beside(const struct domain *d, int face)
{
    const int axis = face / 2;
    struct box b = domain_all(d);
    if (face & 1)
        b.lo[axis] = d->lo[axis] + b.hi[axis] == d->cells[axis] ? b.hi[axis] - 1 : b.hi[axis];
    else
        b.hi[axis] = d->lo[axis] == 0 ? 1 : 0;
    return b;
}

/* The sums of this rank's links of a level through the surface. */
static enum status add_level(struct solver *s, int level, int set, const struct heat_surface *at,
                             struct heat *sum)
{
    const struct domain *const d = s->domain;
    const int opening = at->opening[level];
    const struct box cells = opening < 0 ? domain_all(d) : beside(d, at->side),
                     list = {{0, 0, 0}, {(int)s->view.near_cells, 1, 1}};
    const struct task task = {.set = set, .body = opening < 0 ? 1 + at->body : -(1 + opening)},
                      listed = {.set = set, .body = task.body, .listed = 1};
    *sum = heat_none();
    if (opening == HEAT_NOWHERE)
        return STATUS_OK;
    enum status status = add_box(s, &cells, task, sum);
    if (!status)
        status = add_box(s, &list, listed, sum);
    heat_carry(sum);
    return status;
}

static void add_times(struct wide_sum *to, const struct wide_sum *sum, int64_t times)
{
    for (int k = 0; k < WIDE_LIMBS; k++)
        to->limb[k] += times * sum->limb[k];
}

enum status heat_measure(const struct levels *all, int set, const struct heat_surface *at,
                         struct heat_found *found)
{
    const MPI_Comm comm = all->solver[0]->domain->comm;
    const int count = all->count, most = 2 * (count - 1);
    struct heat sum[LEVELS], whole = heat_none(); /* `whole`: in faces of the finest level */
    enum status status = STATUS_OK;
    for (int l = 0; l < count; l++)
        status = status_worse(status, add_level(all->solver[l], l, set, at, &sum[l]));
    status = status_agree(comm, status);
    MPI_Allreduce(MPI_IN_PLACE, sum, count * (int)(sizeof *sum / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, comm);
    found->area = 0;
    for (int l = 0; l < count; l++) {
        const struct domain *const d = all->solver[l]->domain;
        const int64_t times = (int64_t)1 << (most - 2 * l);
        heat_carry(&sum[l]);
        add_times(&whole.in, &sum[l].in, times);
        add_times(&whole.out, &sum[l].out, times);
        whole.bad += sum[l].bad;
        found->area +=
            ldexp((double)sum[l].links -
                      (at->opening[l] == HEAT_BODY ? d->body_excess[set - 1][at->body] : 0),
                  -2 * l);
    }
    heat_carry(&whole);
    found->heat = whole.bad ? NAN
                            : ldexp(wide_difference(&whole.in, &whole.out), -most) /
                                  scalar_row(&all->solver[0]->domain->view, set, TAG_FLUID)->flow;
    return status;
}
