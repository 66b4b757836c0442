/* Flow rate through a plane of cells; see flow_rate.h. */
#include "measure/flow_rate.h"

#include <math.h>

#include "solver/through.h"

/* This rank's part of a level's plane, `thick` cells thick. */
static enum status add_plane(struct solver *s, int axis, int at, int thick, struct through *sums)
{
    const struct domain *const d = s->domain;
    const struct box plane = through_box(d, axis, at, thick);
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, &plane); (flow = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4)
                    if (view_fluid(&d->view, view_index(&d->view, x, y, z)))
                        through_add(sums, flow[0], flow[1 + axis]);
    return fetch_end(&f);
}

enum status flow_rate_measure(const struct levels *all, int axis, int at, struct flow_rate *rate)
{
    const int count = all->count;
    struct through_parts sum[LEVELS];
    for (int l = 0; l < count; l++) {
        struct through mine = {.fluid = 0};
        const enum status status =
            add_plane(all->solver[l], axis, at, 1 << refined_halved(all->refined, l, axis), &mine);
        sum[l] = through_split(&mine, status != STATUS_OK);
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, count * (int)(sizeof *sum / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, all->solver[0]->domain->comm);
    struct exact_sum velocity[LEVELS], momentum[LEVELS], drho[LEVELS];
    bool bad = false, failed = false;
    rate->area = 0;
    for (int l = 0; l < count; l++) {
        const struct through whole = through_join(&sum[l]);
        velocity[l] = whole.velocity;
        momentum[l] = whole.momentum;
        drho[l] = whole.drho;
        rate->area += ldexp((double)sum[l].fluid, -refined_dimensions(all->refined, 3) * l);
        bad = bad || sum[l].bad;
        failed = failed || sum[l].failed;
    }
    rate->volume = bad ? NAN : levels_sum(all, velocity, 3);
    rate->mass = bad ? NAN : levels_sum(all, momentum, 3);
    rate->pressure = bad || rate->area == 0 ? NAN : levels_sum(all, drho, 3) / 3 / rate->area;
    return failed ? STATUS_MACHINE : STATUS_OK;
}
