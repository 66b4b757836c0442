/* The narrowest section of the flow; see narrow.h. */
#include "advice/narrow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice/advice.h"
#include "advice/remedy.h"
#include "base/agree.h"
#include "base/message.h"
#include "case/keys.h"
#include "case/limits.h"

/* Adds the fluid cells of a level, in volumes of cells of level 0, to the planes that hold them.
 * finest[]: the finest level in each plane. */
static void add_planes(const struct domain *d, int axis, double *open, double *finest)
{
    const struct view *const v = &d->view;
    const double volume = ldexp(1, -3 * d->level);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const int at[3] = {x, y, z}, plane = (d->lo[axis] + at[axis]) >> d->level;
                if (!view_fluid(v, view_index(v, x, y, z)))
                    continue;
                open[plane] += volume;
                finest[plane] = fmax(finest[plane], d->level);
            }
}

/* The flow through plane `at` by the openings on one side of it; false: one of them is no velocity
 * inlet, or lies on both sides. */
static bool flow_from(const struct domain *d, const struct flow_case *c, int axis, int at,
                      bool below, double *flow)
{
    *flow = 0;
    for (int k = 0; k < d->openings; k++) {
        const struct domain_opening *const o = &d->opening[k];
        const struct case_face *const what = case_opening(c, k);
        const int side = case_opening_side(c, k);
        int axes[2], lo, hi;
        if (!o->open || !face_open(what->kind))
            continue;
        face_axes(side, axes);
        if (side / 2 == axis)
            lo = hi = side % 2 ? d->cells[axis] : -1;
        else {
            const int along = axes[1] == axis;
            lo = o->lo[along];
            hi = o->hi[along] - 1;
        }
        if (below ? lo > at : hi < at)
            continue;
        if (what->kind != FACE_velocity || (below ? hi >= at : lo <= at))
            return false;
        *flow += o->inflow * signal_peak(&what->signal);
    }
    return true;
}

static void look_along(struct narrow *n, const struct domain *d, const struct flow_case *c,
                       int axis, const double *open, const double *finest)
{
    const double face = (double)d->cells[0] * d->cells[1] * d->cells[2] / d->cells[axis];
    double fluid = 0;
    for (int k = 0; k < d->cells[axis]; k++)
        fluid += open[k];
    for (int k = 0; k < d->cells[axis]; k++) {
        double flow = 0;
        if (c->flow_rate.given && c->flow_rate.axis == axis)
            flow = c->flow_rate.velocity * fluid / d->cells[axis];
        else if (d->periodic[axis] || (!flow_from(d, c, axis, k, true, &flow) &&
                                       !flow_from(d, c, axis, k, false, &flow)))
            continue;
        if (open[k] > 0 && fabs(flow) / open[k] > n->velocity)
            *n = (struct narrow){.velocity = fabs(flow) / open[k],
                                 .open = open[k] / face,
                                 .axis = axis,
                                 .at = k,
                                 .level = (int)finest[k]};
    }
}

enum status narrow_find(struct narrow *n, const struct paths_level *level, int levels)
{
    const struct domain *const d = level->d;
    const struct flow_case *const c = level->c;
    enum status status = STATUS_OK;
    *n = (struct narrow){0};
    for (int axis = 0; axis < 3 && c->body_count && !status; axis++) {
        const int planes = d->cells[axis];
        double *const open = calloc(2 * (size_t)planes, sizeof *open), *const finest =
                                                                           open + planes;
        status =
            status_agree(d->comm, open ? STATUS_OK : fail_machine("out of memory for sections"));
        for (int l = 0; l < levels && !status; l++)
            add_planes(level[l].d, axis, open, finest);
        if (!status) {
            MPI_Allreduce(MPI_IN_PLACE, open, planes, MPI_DOUBLE, MPI_SUM, d->comm);
            MPI_Allreduce(MPI_IN_PLACE, finest, planes, MPI_DOUBLE, MPI_MAX, d->comm);
            look_along(n, d, c, axis, open, finest);
        }
        free(open);
    }
    return status;
}

void narrow_warn(const struct narrow *n, const struct flow_case *c)
{
    const double fastest = case_fastest_velocity(c), mach = sqrt(3.0) * n->velocity;
    const double cell = ldexp(n->velocity / c->fluid.viscosity, -n->level);
    const double most = case_limit_cell(c);
    char remedy[REMEDY];
    if (n->velocity <= 1.2 * fastest || (mach <= ADVICE_MACH && cell <= most))
        return;
    if (mach > ADVICE_MACH && c->units.given)
        slower_text(c, ADVICE_MACH / mach, remedy);
    else if (mach > ADVICE_MACH)
        snprintf(remedy, sizeof remedy, "velocities %.2g times as large", ADVICE_MACH / mach);
    else
        finer_text(c, cell / most, remedy);
    warn("the section across %s at cell %d is fluid in %.2g %% of its cells: the mean velocity "
         "there "
         "is %.3g cells a step, %.2g times the largest that the case gives: %s %.3g, above %.3g "
         "(take %s)",
         key_axes[n->axis], n->at, 100 * n->open, n->velocity, n->velocity / fastest,
         mach > ADVICE_MACH ? "Mach" : "the Reynolds number of a cell is",
         mach > ADVICE_MACH ? mach : cell, mach > ADVICE_MACH ? ADVICE_MACH : most, remedy);
}
