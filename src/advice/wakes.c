/* Wakes that diverge. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/remedy.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/limits.h"

static bool has_outflow(const struct flow_case *c)
{
    for (int k = 0; k < case_openings(c); k++)
        if (case_opening(c, k)->kind == FACE_outflow)
            return true;
    return false;
}

/* times: how much too coarse the grid is. */
static void wake_remedy(const struct flow_case *c, double others, double times,
                        char text[2 * REMEDY])
{
    static const char other[] = "nonreflecting or pressure in place of outflow";
    const double cell = case_fastest_velocity(c) / case_thinnest(c);
    char finer[REMEDY];
    finer_text(c, times, finer);
    if (!has_outflow(c))
        snprintf(text, 2 * REMEDY, SUBGRID_MODEL " or %s", finer);
    else if (c->solver.subgrid != SUBGRID_none)
        snprintf(text, 2 * REMEDY, "%s; the subgrid model does not prevent it", other);
    else if (cell > others)
        snprintf(text, 2 * REMEDY, "%s, with " SUBGRID_MODEL, other);
    else
        snprintf(text, 2 * REMEDY, "%s, or %s", other, finer);
}

void advise_wakes(const struct flow_case *c)
{
    const bool outflow = has_outflow(c);
    char remedy[2 * REMEDY];
    if ((c->solver.subgrid != SUBGRID_none && !outflow) ||
        collision_on_pairs(c->solver.collision) || !case_is_open(c))
        return;
    for (int k = 0; k < c->body_count; k++) {
        const double cell = case_cell_reynolds(c, limits_level(c, k));
        const struct wake_limit *const limit = limits_wake(c, &c->bodies[k]);
        const double most = outflow ? limit->outflow : limit->others;
        if (cell <= most || (!outflow && cell > LIMIT_OPEN))
            continue;
        wake_remedy(c, limit->others, cell / most, remedy);
        warn("wake_diverges",
             "bodies.%s: the Reynolds number of a cell is %.3g, above %g: %s flows were seen to "
             "diverge there (take %s)",
             c->bodies[k].name, cell, most, limit->where, remedy);
        return;
    }
}
