/* Wakes that diverge. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/remedy.h"
#include "base/message.h"
#include "case/limits.h"

/* Kinds of bodies by their wakes. */
enum wake { WAKE_corners, WAKE_across, WAKE_compact, WAKE_none };

/* A body at an open face is a step or a duct, and makes no wake. */
static enum wake wake_of(const struct flow_case *c, const struct case_body *body)
{
    for (int k = 0; k < case_openings(c); k++) {
        const int side = case_opening_side(c, k), a = side / 2;
        if (face_open(case_opening(c, k)->kind) &&
            !(side % 2 ? body->hi[a] < c->cells[a] : body->lo[a] > 0))
            return WAKE_none;
    }
    if (body->image.file)
        return WAKE_none;
    return !body->mesh.file && body->shape.kind == SHAPE_box ? WAKE_corners
           : case_is_across(c, body, -1)                     ? WAKE_across
                                                             : WAKE_compact;
}

static bool has_outflow(const struct flow_case *c)
{
    for (int k = 0; k < case_openings(c); k++)
        if (case_opening(c, k)->kind == FACE_outflow)
            return true;
    return false;
}

/* Cell Reynolds numbers up to which wakes left the box without divergence, with regularised
 * operators; with `outflow` a subgrid model does not help. INFINITY: up to LIMIT_OPEN, and with a
 * subgrid model to 1000 (docs/boundaries.md, "Limits"). */
static const struct {
    const char *where;
    double outflow, others;
} wakes[] = {
    [WAKE_corners] = {"behind corners of a body", 12, 40},
    [WAKE_across] = {"behind a cylinder", 15, 55},
    [WAKE_compact] = {NULL, INFINITY, INFINITY},
    [WAKE_none] = {NULL, INFINITY, INFINITY},
};

/* times: how much too coarse the grid is. */
static void wake_remedy(const struct flow_case *c, double others, double times,
                        char text[2 * REMEDY])
{
    static const char other[] = "nonreflecting or pressure in place of outflow";
    const double cell = case_fastest_velocity(c) / c->fluid.viscosity;
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
        const enum wake wake = wake_of(c, &c->bodies[k]);
        const double most = outflow ? wakes[wake].outflow : wakes[wake].others;
        if (cell <= most || (!outflow && cell > LIMIT_OPEN))
            continue;
        wake_remedy(c, wakes[wake].others, cell / most, remedy);
        warn("bodies.%s: the Reynolds number of a cell is %.3g, above %g: %s flows were seen to "
             "diverge there (take %s)",
             c->bodies[k].name, cell, most, wakes[wake].where, remedy);
        return;
    }
}
