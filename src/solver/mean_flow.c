/* The mean velocity of the fluid; see mean_flow.h. */
#include "solver/mean_flow.h"

#include <math.h>

#include "solver/solver.h"

/* Has a scalar a mean gradient? */
static bool any_slopes(const struct solver *s)
{
    bool any = false;
    for (int set = 1; set < s->view.sets && s->domain->scalar; set++)
        any = any || s->domain->scalar[(set - 1) * TAG_ROWS + TAG_FLUID].slopes;
    return any;
}

int64_t mean_flow_next(const struct solver *s)
{
    return any_slopes(s) ? MEAN_FLOW_EVERY - s->step % MEAN_FLOW_EVERY : 0;
}

enum status mean_flow_adjust(struct solver *s)
{
    double sum[3];
    if (s->step % MEAN_FLOW_EVERY != 0 || !any_slopes(s))
        return STATUS_OK;
    const enum status status = drive_velocity(s, sum);
    const double cells = s->domain->fluid_cells ? (double)s->domain->fluid_cells : 1;
    for (int a = 0; a < 3; a++)
        if (isfinite(sum[a])) /* else reported later as divergence, with its cell */
            s->view.mean_flow[a] = sum[a] / cells;
    return status;
}

enum status mean_flow_register(struct solver *s, struct state *state)
{
    if (!any_slopes(s))
        return STATUS_OK;
    return state_add_numbers(state, "run/mean_flow",
                             "mean velocity of the fluid, for scalars with a gradient",
                             SAMPLE_float64, 3, s->view.mean_flow);
}
