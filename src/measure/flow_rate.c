/* Flow rate through a plane of cells; see flow_rate.h. */
#include "measure/flow_rate.h"

#include <math.h>

#include "exact.h"

/* Larger values mean that the flow has diverged, and would overflow the sums. */
static const double sane = 1e5;

struct partial {
    struct exact_sum velocity, momentum, drho;
    int64_t fluid, bad; /* cells */
};

static void add_cell(struct partial *p, const double flow[4], int axis)
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

/* This rank's part of the plane. */
static enum status add_plane(struct solver *s, int axis, int at, struct partial *p)
{
    const struct domain *const d = s->domain;
    int lo[3] = {0, 0, 0}, hi[3] = {d->cells[0], d->cells[1], d->cells[2]};
    lo[axis] = at;
    hi[axis] = at + 1;
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

enum status flow_rate_measure(struct solver *s, int axis, int at, struct flow_rate *rate)
{
    struct partial p = {.fluid = 0};
    const enum status status = add_plane(s, axis, at, &p);
    struct {
        int64_t velocity[3], momentum[3], drho[3], fluid, bad, failed;
    } sum = {.fluid = p.fluid, .bad = p.bad, .failed = status != STATUS_OK};
    exact_split(&p.velocity, sum.velocity);
    exact_split(&p.momentum, sum.momentum);
    exact_split(&p.drho, sum.drho);
    MPI_Allreduce(MPI_IN_PLACE, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_SUM,
                  s->domain->comm);
    const struct exact_sum velocity = exact_join(sum.velocity), momentum = exact_join(sum.momentum),
                           drho = exact_join(sum.drho);
    rate->area = (double)sum.fluid;
    rate->volume = sum.bad ? NAN : exact_value(&velocity);
    rate->mass = sum.bad ? NAN : exact_value(&momentum);
    rate->pressure = sum.bad || !sum.fluid ? NAN : exact_value(&drho) / 3 / rate->area;
    return sum.failed ? STATUS_MACHINE : STATUS_OK;
}
