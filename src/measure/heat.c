/* Flux of a scalar through a surface; see heat.h. */
#include "measure/heat.h"

#include <math.h>

#include "base/agree.h"

static enum status add_box(struct solver *s, enum kernel kernel, const struct box *box,
                           struct task task, struct heat *sum)
{
    int workers;
    if (box_cells(box) == 0)
        return STATUS_OK;
    const struct heat *const partial = solver_partials(s, kernel, box, task, &workers);
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
    const struct box cells = opening < 0 || at->side < 0 ? domain_all(d) : beside(d, at->side),
                     list = list_range(0, (int)s->view.near.count);
    const struct task task = {.heat = {set, opening < 0 ? 1 + at->body : -(1 + opening)}};
    *sum = heat_none();
    if (opening == HEAT_NOWHERE)
        return STATUS_OK;
    enum status status = add_box(s, KERNEL_heat, &cells, task, sum);
    if (!status)
        status = add_box(s, KERNEL_heat_near, &list, task, sum);
    heat_carry(sum);
    return status;
}

static void add_times(struct wide_sum *to, const struct wide_sum *sum, int64_t times)
{
    for (int k = 0; k < WIDE_LIMBS; k++)
        to->limb[k] += times * sum->limb[k];
}

/* level[l]: the sum of level l over all ranks. Collective. */
static void add_ranks(const struct levels *all, const struct heat sum[], struct heat level[])
{
    MPI_Allreduce(sum, level, all->count * (int)(sizeof *level / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, all->solver[0]->domain->comm);
    for (int l = 0; l < all->count; l++)
        heat_carry(&level[l]);
}

/* The sums of all levels as a flux: a link of level l counts 2^-(bits l), with less bits for flat
 * axes. */
static double total(const struct levels *all, int set, const struct heat level[], int bits)
{
    const int count = all->count, less = refined_dimensions(all->refined, bits);
    const int most = less * (count - 1);
    struct heat whole = heat_none(); /* in units of the finest level */
    for (int l = 0; l < count; l++) {
        const int64_t times = (int64_t)1 << (most - less * l);
        add_times(&whole.in, &level[l].in, times);
        add_times(&whole.out, &level[l].out, times);
        whole.bad += level[l].bad;
    }
    heat_carry(&whole);
    return whole.bad ? NAN
                     : ldexp(wide_difference(&whole.in, &whole.out), -most) /
                           scalar_row(&all->solver[0]->domain->view, set, TAG_FLUID)->flow;
}

/* Faces of cells of level 0. */
static double area(const struct levels *all, int set, const struct heat_surface *at,
                   const struct heat level[])
{
    double faces = 0;
    for (int l = 0; l < all->count; l++) {
        const double excess = at->opening[l] == HEAT_BODY
                                  ? all->solver[l]->domain->body_excess[set - 1][at->body]
                                  : 0;
        faces += ldexp((double)level[l].links - excess, -refined_dimensions(all->refined, 2) * l);
    }
    return faces;
}

enum status heat_begin(const struct levels *all, int set, const struct heat_surface *at,
                       struct heat_step *step)
{
    enum status status = STATUS_OK;
    struct heat level[LEVELS];
    step->more = false;
    for (int l = 0; l < all->count; l++)
        status = status_worse(status, add_level(all->solver[l], l, set, at, &step->all[l]));
    add_ranks(all, step->all, level);
    step->first =
        (struct heat_found){.heat = total(all, set, level, 2), .area = area(all, set, at, level)};
    return status_agree(all->solver[0]->domain->comm, status);
}

enum status heat_add_later(const struct levels *all, int level, int set,
                           const struct heat_surface *at, struct heat_step *step)
{
    struct heat sum;
    const enum status status = add_level(all->solver[level], level, set, at, &sum);
    heat_join(&step->all[level], &sum);
    heat_carry(&step->all[level]);
    step->more = true;
    return status;
}

double heat_whole(const struct levels *all, int set, const struct heat_step *step)
{
    struct heat level[LEVELS];
    if (!step->more)
        return step->first.heat;
    add_ranks(all, step->all, level);
    return total(all, set, level, 3);
}
