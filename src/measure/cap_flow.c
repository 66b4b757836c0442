/* Flow through caps; see cap_flow.h. */
#include "measure/cap_flow.h"

#include <math.h>

#include "base/agree.h"
#include "cap_flow.h"

enum { SUMS = 3 };

/* The type of the cells behind a cap; -1: there is none. */
static int type_of(const struct domain *d, int cap)
{
    int found = -1;
    for (int type = 0; type < d->row_count; type++)
        found = d->row_cap[type] == cap + 1 ? type : found;
    return found;
}

static enum status add_list(struct solver *s, int cap, struct cap_flow *sum)
{
    const struct box list = list_range(0, (int)s->view.near.count);
    const int type = type_of(s->domain, cap);
    int workers;
    *sum = cap_flow_none();
    if (s->view.near.count == 0 || type < 0)
        return STATUS_OK;
    const struct cap_flow *const partial =
        solver_partials(s, KERNEL_cap_flow, &list, (struct task){.body = type}, &workers);
    for (int k = 0; partial && k < workers; k++)
        cap_flow_join(sum, &partial[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

static enum status measure(const struct levels *all, int cap, struct outflow *to)
{
    const int count = all->count;
    int64_t parts[LEVELS][SUMS + 1][3] = {{{0}}}; /* [level][SUMS][0]: links left out */
    struct exact_sum whole[SUMS][LEVELS];
    double area = 0;
    bool bad = false;
    enum status status = STATUS_OK;
    for (int l = 0; l < count; l++) {
        struct cap_flow sum;
        status = status_worse(status, add_list(all->solver[l], cap, &sum));
        exact_split(&sum.mass, parts[l][0]);
        exact_split(&sum.volume, parts[l][1]);
        exact_split(&sum.drho, parts[l][2]);
        parts[l][SUMS][0] = sum.bad;
        area +=
            ldexp(all->solver[l]->domain->cap[cap].area, -refined_dimensions(all->refined, 2) * l);
    }
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1) * count, MPI_INT64_T, MPI_SUM,
                  all->solver[0]->domain->comm);
    for (int l = 0; l < count; l++) {
        bad = bad || parts[l][SUMS][0] != 0;
        for (int k = 0; k < SUMS; k++)
            whole[k][l] = exact_join(parts[l][k]);
    }
    *to = (struct outflow){.mass = bad ? NAN : levels_sum(all, whole[0], 2),
                           .volume = bad ? NAN : levels_sum(all, whole[1], 2),
                           .pressure =
                               bad || !(area > 0) ? NAN : levels_sum(all, whole[2], 2) / 3 / area,
                           .area = area};
    return status;
}

enum status cap_flow_measure(const struct levels *all, const struct flow_case *c,
                             struct outflow *to)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < case_caps(c); k++)
        status = status_worse(status, measure(all, k, &to[k]));
    return status_agree(all->solver[0]->domain->comm, status);
}
