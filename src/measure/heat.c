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

enum status heat_measure(struct solver *s, int set, int opening, int side, int body,
                         struct heat_found *found)
{
    const struct domain *const d = s->domain;
    const struct box cells = opening < 0 ? domain_all(d) : beside(d, side),
                     list = {{0, 0, 0}, {(int)s->view.near_cells, 1, 1}};
    const struct task task = {.set = set, .body = opening < 0 ? 1 + body : -(1 + opening)},
                      listed = {.set = set, .body = task.body, .listed = 1};
    struct heat sum = heat_none();
    enum status status = add_box(s, &cells, task, &sum);
    if (!status)
        status = add_box(s, &list, listed, &sum);
    status = status_agree(d->comm, status);
    heat_carry(&sum);
    MPI_Allreduce(MPI_IN_PLACE, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_SUM, d->comm);
    heat_carry(&sum);
    found->area = (double)sum.links - (opening < 0 ? d->body_excess[set - 1][body] : 0);
    found->heat =
        sum.bad ? NAN
                : wide_difference(&sum.in, &sum.out) / scalar_row(&d->view, set, TAG_FLUID)->flow;
    return status;
}
