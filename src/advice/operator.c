/* Operators where they were seen to fail. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/remedy.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/keys.h"
#include "case/limits.h"
#include "case/sections.h"

/* Warnings of advise_operator() that a finer level gave already: each comes once. */
struct warned {
    bool layers, bulk, moving;
};

/* Operators for larger cell Reynolds numbers; auto stays with TRT where its magic is given. */
static const char *robust_text(const struct flow_case *c)
{
    return c->solver.magic_given ? "rr, without solver.magic" : "auto or rr";
}

/* Operators were seen to fail here: docs/physics.md, "Which operator". The measure is the cell
 * Reynolds number, velocity / viscosity, or tau where no velocity is known. A subgrid model damps
 * the short waves; but with raw and central moments they grow even in a fluid at rest. */
static void warn_unstable(const struct flow_case *c, const struct level_met *at, bool worst,
                          struct warned *warned)
{
    static const double least_tau = 0.505, most_subgrid = 100;
    const enum collision collision = c->solver.collision;
    const bool pairs = collision_on_pairs(collision);
    const double tau = case_tau(c), cell = case_cell_reynolds(c, at->level);
    const struct met met = at->met;
    const double most = limits_cell(&met);
    char finer[REMEDY], text[32], of[32] = "", on[32] = "";
    if (c->levels > 1) {
        snprintf(of, sizeof of, " of level %d", at->level);
        snprintf(on, sizeof on, " on level %d", at->level);
    }
    case_tau_text(text, tau, 6);
    if (at->level == 0 && collision_noisy_at_rest(collision) && tau < least_tau)
        warn("operator_at_rest",
             "tau is %s: with %s short waves grow below %g, even at rest (take solver.collision "
             "%s or a larger viscosity)",
             text, key_collisions[collision], least_tau,
             key_collisions[collision_quiet_at_rest(collision)]);
    if (c->solver.subgrid != SUBGRID_none) {
        if (met.wall && cell > most_subgrid && c->solver.van_driest == 0 && !warned->layers) {
            warned->layers = true;
            warn("layers_modelless",
                 "the Reynolds number of a cell%s is %.3g, above %g: there is no model of the "
                 "layers "
                 "at walls, so friction, separation and drag are wrong where they depend on them "
                 "(take a finer grid; sharp edges, where the flow separates anyway, suffer least)",
                 of, cell, most_subgrid);
        }
        return;
    }
    if (at->level == 0 && pairs && cell == 0 && tau < least_tau) {
        warn("operator_without_velocity",
             "tau is %s: %s may become noisy or unstable below %g where layers get thin (give "
             "fluid.velocity, and solver.collision auto chooses; or take rr, %s or a larger "
             "viscosity)",
             text, key_collisions[collision], least_tau,
             finer_text(c, (least_tau - 0.5) / (tau - 0.5), finer));
    }
    if (pairs && cell > most && worst) {
        warn(
            "cell_reynolds",
            "the Reynolds number of a cell%s is %.3g, above %g: %s becomes noisy or unstable there "
            "(take solver.collision %s, %s or a larger viscosity)",
            of, cell, most, key_collisions[collision], robust_text(c),
            finer_text(c, cell / most, finer));
    }
    if (!pairs && c->solver.rates.bulk > 1.7 && met.wall && cell > 10 && !warned->bulk) {
        warned->bulk = true;
        warn("bulk_rate",
             "solver.rates.bulk is %g: beside walls the trace of the stress alternates above a "
             "Reynolds number of a cell of 10, which is %.3g%s (take at most 1.7)",
             c->solver.rates.bulk, cell, on);
    }
    if (met.moving && !met.open && cell > limits_moving(c) && !warned->moving) {
        warned->moving = true;
        warn(
            "moving_wall",
            "the Reynolds number of a cell%s is %.3g, above %g: beside moving walls no operator is "
            "accurate there (take %s)",
            of, cell, limits_moving(c), model_text(c, cell / limits_moving(c), finer));
    }
    if (met.open && cell > LIMIT_OPEN)
        warn("open_cell_reynolds",
             "the Reynolds number of a cell%s is %.3g, above %g: flows with open faces were not "
             "tested there (take %s)",
             of, cell, LIMIT_OPEN, model_text(c, cell / LIMIT_OPEN, finer));
}

void advise_operator(const struct flow_case *c)
{
    struct warned warned = {0};
    double most = -1;
    int worst = 0;
    for (int level = 0; level < c->levels; level++) {
        const struct level_met at = limits_met(c, level);
        const double times = case_cell_reynolds(c, level) / limits_cell(&at.met);
        worst = (level == 0 || at.met.wall) && times > most ? level : worst;
        most = worst == level ? times : most;
    }
    for (int level = c->levels - 1; level >= 0; level--) {
        const struct level_met at = limits_met(c, level);
        if (level == 0 || at.met.wall)
            warn_unstable(c, &at, level == worst, &warned);
    }
}

/* Where trt and rr meet even a uniform stream diverges at a cell Reynolds number of 10 on the side
 * of trt, but not at 8 (docs/lab/refinement.md). */
void advise_neighbours(const struct flow_case *c)
{
    static const double most = 8;
    for (int k = 0; k < c->zone_count; k++) {
        const struct case_zone *const zone = &c->zones[k];
        const bool inside = zone->collision == COLLISION_trt;
        const enum collision other = inside ? c->solver.collision : zone->collision;
        const double viscosity = inside ? zone->viscosity : case_thinnest(c);
        const double cell = case_fastest_velocity(c) / viscosity;
        if ((inside || c->solver.collision == COLLISION_trt) && other == COLLISION_rr &&
            cell > most)
            warn("regions_meet",
                 "regions.%s: trt and rr meet, and the Reynolds number of a cell of trt is %.3g: "
                 "above "
                 "%g even a uniform stream grows unstable there (take rr in both)",
                 zone->name, cell, most);
    }
}

/* The coarsest level with an interpolated wall; -1: there is none. */
static int interpolated_level(const struct flow_case *c)
{
    int coarsest = -1;
    for (int i = 0; i < c->body_count; i++)
        if (c->bodies[i].wall == BODY_WALL_interpolated &&
            (coarsest < 0 || limits_level(c, i) < coarsest))
            coarsest = limits_level(c, i);
    return coarsest;
}

/* Interpolated walls have a term that makes plane flows exact. It mistakes the inertial part of the
 * pressure gradient for a curvature of the flow (docs/bodies.md, "How many cells"). With TRT the
 * error of the wall velocity, relative to the fluid velocity beside the wall, grows as magic times
 * the cell Reynolds number. */
double advice_surface_limit(const struct flow_case *c)
{
    static const double most_cell = 5, of_magic = 3.0 / 16;
    const bool leaks =
        interpolated_level(c) >= 0 && collision_odd_rate(c->solver.collision) == ODD_magic;
    return leaks ? most_cell * of_magic / c->solver.magic : INFINITY;
}

void advise_surfaces(const struct flow_case *c)
{
    const int level = interpolated_level(c);
    const double cell = level < 0 ? 0 : case_cell_reynolds(c, level);
    const double most = advice_surface_limit(c);
    char finer[REMEDY], of[32] = "";
    if (cell <= most)
        return;
    if (c->levels > 1)
        snprintf(of, sizeof of, " of level %d", level);
    finer_text(c, cell / most, finer);
    warn("wall_leaks",
         "the Reynolds number of a cell%s is %.3g, above %.3g: with magic %g interpolated walls "
         "leak there, and forces across the stream are wrong (take %s or a larger viscosity)",
         of, cell, most, c->solver.magic, finer);
}

/* docs/lab/refinement.md, "What to do": TRT diverges at interfaces from 8 on, and peaks are up to
 * 1.8 times the velocities that a case sets. */
void advise_edges(const struct flow_case *c)
{
    const double cell = case_fastest_velocity(c) / case_thinnest(c);
    if (c->levels > 1 && collision_on_pairs(c->solver.collision) && cell > REFINE_MOST_CELL)
        warn("levels_meet",
             "the Reynolds number of a cell of level 0 is %.3g, above %g: %s may diverge where "
             "levels meet (take solver.collision %s)",
             cell, REFINE_MOST_CELL, key_collisions[c->solver.collision], robust_text(c));
}
