/* The narrowest section of the flow; see narrow.h. */
#include "advice/narrow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice/advice.h"
#include "advice/remedy.h"
#include "base/agree.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/keys.h"
#include "case/signal.h"
#include "tags/faces.h"

/* The planes of cells of level 0 across an axis: fluid cells in each, those of finer levels as
 * parts of one; the coarsest level with fluid. */
struct planes {
    double *open, *coarsest;
};

static void add_level(const struct domain *d, const struct planes planes[3])
{
    const struct view *const v = &d->view;
    const double volume = ldexp(1, -refined_dimensions(d->refined, 3) * d->level);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const int at[3] = {x, y, z};
                if (!view_fluid(v, view_index(v, x, y, z)))
                    continue;
                for (int a = 0; a < 3; a++) {
                    const int plane = (d->lo[a] + at[a]) >> refined_halved(d->refined, d->level, a);
                    planes[a].open[plane] += volume;
                    planes[a].coarsest[plane] = fmin(planes[a].coarsest[plane], d->level);
                }
            }
}

/* The flow that a gate gives into the box where its time function is 1, and its cells. */
static double inflow_of(const struct domain *d, const struct flow_case *c, int k)
{
    return k < d->openings ? d->opening[k].inflow : case_cap(c, k - d->openings)->flow_rate;
}

static double open_of(const struct domain *d, int k)
{
    return k < d->openings ? (double)d->opening[k].open : d->cap[k - d->openings].area;
}

/* Do all gates that give a flow have the same time function? Else their peaks do not add up. */
static bool gives_at_once(const struct domain *d, const struct flow_case *c)
{
    const struct case_signal *one = NULL;
    bool same = true;
    for (int k = 0; k < case_gates(c); k++) {
        const struct case_signal *const s = case_gate(c, k).signal;
        if (inflow_of(d, c, k) == 0)
            continue;
        same = same && (!one || signal_same(one, s));
        one = s;
    }
    return same;
}

/* The flow that a gate or a wall gives into the box. */
static double given_flow(const struct domain *d, const struct flow_case *c, int k)
{
    return inflow_of(d, c, k) * signal_peak(case_gate(c, k).signal);
}

/* The flow through plane `at` by the openings on one side of it; false: one of them gives no
 * velocity, or lies on both sides. */
static bool flow_from(const struct domain *d, const struct flow_case *c, int axis, int at,
                      bool below, double *flow)
{
    *flow = 0;
    for (int k = 0; k < d->openings; k++) {
        const struct domain_opening *const o = &d->opening[k];
        const struct case_face *const what = case_opening(c, k);
        const int side = case_opening_side(c, k);
        int axes[2], lo, hi;
        if (!o->open || !(face_open(what->kind) || o->inflow != 0))
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
        if (face_holds_density(what) || (below ? hi >= at : lo <= at))
            return false;
        *flow += given_flow(d, c, k);
    }
    return true;
}

static void look_along(struct narrow *n, const struct domain *d, const struct flow_case *c,
                       int axis, const struct planes *planes)
{
    const double face = (double)d->cells[0] * d->cells[1] * d->cells[2] / d->cells[axis];
    const bool at_once = gives_at_once(d, c);
    double fluid = 0;
    for (int k = 0; k < d->cells[axis]; k++)
        fluid += planes->open[k];
    for (int k = 0; k < d->cells[axis]; k++) {
        const double open = planes->open[k];
        double flow = 0;
        if (c->flow_rate.given && c->flow_rate.axis == axis)
            flow = c->flow_rate.velocity * fluid / d->cells[axis];
        else if (d->periodic[axis] || !at_once ||
                 (!flow_from(d, c, axis, k, true, &flow) &&
                  !flow_from(d, c, axis, k, false, &flow)))
            continue;
        if (open > 0 && fabs(flow) / open > n->velocity)
            *n = (struct narrow){.velocity = fabs(flow) / open,
                                 .open = open / face,
                                 .axis = axis,
                                 .at = k,
                                 .level = (int)planes->coarsest[k],
                                 .gate = -1};
    }
}

/* The only gate that holds a density lets out what the others give. */
static void look_at_outlet(struct narrow *n, const struct domain *d, const struct flow_case *c)
{
    int outlet = -1, count = 0;
    double flow = 0;
    for (int k = 0; k < case_gates(c); k++) {
        const bool lets = open_of(d, k) > 0 && case_gate(c, k).holds;
        count += lets;
        outlet = lets ? k : outlet;
        flow += given_flow(d, c, k);
    }
    const double velocity = count == 1 && gives_at_once(d, c) ? fabs(flow) / open_of(d, outlet) : 0;
    if (velocity > n->velocity)
        *n = (struct narrow){.velocity = velocity, .gate = outlet};
}

enum status narrow_find(struct narrow *n, const struct paths_level *level, int levels)
{
    const struct domain *const d = level->d;
    const int *const cells = d->cells, all = cells[0] + cells[1] + cells[2];
    *n = (struct narrow){.gate = -1};
    look_at_outlet(n, d, level->c);
    if (!level->c->body_count || case_caps(level->c)) /* a vessel may cross a plane several times */
        return STATUS_OK;
    double *const open = calloc(2 * (size_t)all, sizeof *open), *const coarsest = open + all;
    const struct planes planes[3] = {{open, coarsest},
                                     {open + cells[0], coarsest + cells[0]},
                                     {open + cells[0] + cells[1], coarsest + cells[0] + cells[1]}};
    enum status status = open ? STATUS_OK : fail_machine("out of memory for sections");
    status = status_agree(d->comm, status);
    for (int k = 0; k < all && !status; k++)
        coarsest[k] = levels;
    for (int l = 0; l < levels && !status; l++)
        add_level(level[l].d, planes);
    if (!status) {
        MPI_Allreduce(MPI_IN_PLACE, open, all, MPI_DOUBLE, MPI_SUM, d->comm);
        MPI_Allreduce(MPI_IN_PLACE, coarsest, all, MPI_DOUBLE, MPI_MIN, d->comm);
        for (int axis = 0; axis < 3; axis++)
            look_along(n, d, level->c, axis, &planes[axis]);
    }
    free(open);
    return status;
}

/* Advice for cells that are too coarse there. */
static void say_coarse(const struct narrow *n, const struct flow_case *c, double times,
                       char text[REMEDY])
{
    if (!c->fluid.by_reynolds) /* else it would change the viscosity */
        snprintf(text, REMEDY,
                 "fluid.velocity %.3g%s, by which solver.collision auto and all advice go",
                 n->velocity * (c->units.given ? c->units.dx / c->units.dt : 1),
                 c->units.given ? " m/s" : "");
    else if (collision_on_pairs(c->solver.collision))
        snprintf(text, REMEDY, "solver.collision rr");
    else
        finer_text(c, times, text);
}

void narrow_warn(const struct narrow *n, const struct flow_case *c)
{
    const double fastest = case_fastest_velocity(c), mach = sqrt(3.0) * n->velocity;
    const double cell = ldexp(n->velocity / case_thinnest(c), -n->level);
    const double most = fmin(case_limit_cell(c), advice_surface_limit(c));
    const bool fast = mach > ADVICE_MACH, coarse = cell > most;
    char where[CASE_NAME + 16 + 128], high[64] = "", rough[96] = "", slower[REMEDY] = "",
                                      finer[REMEDY] = "";
    if (n->velocity <= 1.2 * fastest || !(fast || coarse))
        return;
    if (n->gate >= 0)
        snprintf(where, sizeof where, "%s", case_gate(c, n->gate).name);
    else
        snprintf(where, sizeof where,
                 "the section across %s at cell %d, of which %.2g %% are fluid", key_axes[n->axis],
                 n->at, 100 * n->open);
    if (fast)
        snprintf(high, sizeof high, ", Mach %.3g, above %g", mach, ADVICE_MACH);
    if (fast && !*slower_text(c, ADVICE_MACH / mach, slower))
        snprintf(slower, sizeof slower, "velocities %.2g times as large", ADVICE_MACH / mach);
    if (coarse) {
        snprintf(rough, sizeof rough, ", the Reynolds number of a cell is %.3g, above %.3g", cell,
                 most);
        say_coarse(n, c, cell / most, finer);
    }
    warn("narrow",
         "%s: the mean velocity is %.3g cells a step, %.2g times the largest that the case "
         "gives%s%s (take %s%s%s)",
         where, n->velocity, n->velocity / fastest, high, rough, slower,
         fast && coarse ? "; and " : "", finer);
}
