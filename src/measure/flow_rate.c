/* Flow rate through a plane of cells; see flow_rate.h. */
#include "measure/flow_rate.h"

#include <math.h>

#include "exact.h"

/* Larger values mean that the flow has diverged, and would overflow the sums. */
static const double sane = 1e5;

struct rate_partial {
    struct exact_sum velocity, momentum, drho;
    int64_t fluid, bad; /* cells */
};

static void add_cell(struct rate_partial *p, const double flow[4], int axis)
{
    const double drho = flow[0], u = flow[1 + axis];
    p->fluid++;
    if (!(fabs(drho) < sane && fabs(u) < sane && fabs((1 + drho) * u) < sane)) {
        p->bad++;
        return;
    }
    exact_add(&p->velocity, u);
    exact_add(&p->momentum, (1 + drho) * u);
    exact_add(&p->drho, drho);
}

/* This rank's part of a level's plane, `thick` cells thick. */
static enum status add_plane(struct solver *s, int axis, int at, int thick, struct rate_partial *p)
{
    const struct domain *const d = s->domain;
    int lo[3] = {0, 0, 0}, hi[3] = {d->cells[0], d->cells[1], d->cells[2]};
    lo[axis] = at * thick;
    hi[axis] = (at + 1) * thick;
    const struct box plane = domain_part(d, lo, hi);
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, &plane); (flow = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4)
                    if (view_fluid(&d->view, view_index(&d->view, x, y, z)))
                        add_cell(p, flow, axis);
    return fetch_end(&f);
}

/* Sums that ranks add. */
struct rate_whole {
    int64_t velocity[3], momentum[3], drho[3], fluid, bad, failed;
};

enum status flow_rate_measure(const struct levels *all, int axis, int at, struct flow_rate *rate)
{
    const int count = all->count;
    struct rate_whole sum[LEVELS];
    for (int l = 0; l < count; l++) {
        struct rate_partial p = {.fluid = 0};
        const enum status status = add_plane(all->solver[l], axis, at, 1 << l, &p);
        sum[l] = (struct rate_whole){.fluid = p.fluid, .bad = p.bad, .failed = status != STATUS_OK};
        exact_split(&p.velocity, sum[l].velocity);
        exact_split(&p.momentum, sum[l].momentum);
        exact_split(&p.drho, sum[l].drho);
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, count * (int)(sizeof *sum / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, all->solver[0]->domain->comm);
    struct exact_sum velocity[LEVELS], momentum[LEVELS], drho[LEVELS];
    bool bad = false, failed = false;
    rate->area = 0;
    for (int l = 0; l < count; l++) {
        velocity[l] = exact_join(sum[l].velocity);
        momentum[l] = exact_join(sum[l].momentum);
        drho[l] = exact_join(sum[l].drho);
        rate->area += ldexp((double)sum[l].fluid, -3 * l);
        bad = bad || sum[l].bad;
        failed = failed || sum[l].failed;
    }
    rate->volume = bad ? NAN : levels_sum(velocity, count, 3);
    rate->mass = bad ? NAN : levels_sum(momentum, count, 3);
    rate->pressure = bad || rate->area == 0 ? NAN : levels_sum(drho, count, 3) / 3 / rate->area;
    return failed ? STATUS_MACHINE : STATUS_OK;
}
