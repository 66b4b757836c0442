/* Advice on a case before it runs: operators, surfaces, forces, sound. What depends on the cells
 * that bodies leave is in tags/advice.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "body/shape.h"
#include "case/bare.h"
#include "case/keys.h"
#include "case/sections.h"

#define SUBGRID_MODEL "solver.subgrid {smagorinsky: {constant: 0.1}}"
enum { REMEDY = 192 };

/* What to take in place of a grid that is so many times too coarse: a finer one, or a subgrid model
 * where that would cost far too much. At the same Mach number tau - 1/2 is proportional to the
 * number of cells along a length. */
static const char *finer_text(const struct flow_case *c, double times, char text[REMEDY])
{
    static const double much = 8; /* 4096 times the work */
    if (times >= much && c->solver.subgrid == SUBGRID_none)
        snprintf(text, REMEDY, "%s%s, not a %.0f times finer grid,", SUBGRID_MODEL,
                 collision_on_pairs(c->solver.collision) ? " with solver.collision rr" : "", times);
    else if (c->units.given)
        snprintf(text, REMEDY, "a finer grid, units.dx %.2g m at the same Mach number,",
                 c->units.dx / times);
    else
        snprintf(text, REMEDY, "a finer grid");
    return text;
}

/* The same as the last remedy of a list, and a subgrid model in any case. */
static const char *model_text(const struct flow_case *c, double times, char text[REMEDY])
{
    finer_text(c, times, text);
    const size_t length = strlen(text);
    if (strstr(text, SUBGRID_MODEL))
        text[length - 1] = '\0'; /* without the comma */
    else
        snprintf(text + length, REMEDY - length, " or " SUBGRID_MODEL);
    return text;
}

/* The kinds of boundary that a case has. */
struct met {
    bool wall, moving, open;
};

static void meet(const struct case_face *face, struct met *met)
{
    met->wall = met->wall || face->kind == FACE_wall;
    met->moving = met->moving || (face->kind == FACE_wall && magnitude(face->velocity) > 0);
    met->open = met->open || face_open(face->kind);
}

/* Does the shape of a region hold the place, in cells of level 0? */
static bool region_holds(const struct case_refine *r, const double at[3])
{
    struct shape shape;
    if (!shape_create(&shape, &r->shape))
        return false;
    const bool holds = shape_holds(&shape, at);
    shape_destroy(&shape);
    return holds;
}

/* The level of the body's surface, as far as regions tell: of those around it, and of those that
 * hold the middle of its bounds. No body crosses the edge of a level. */
static int level_of(const struct flow_case *c, int body)
{
    const struct case_body *const b = &c->bodies[body];
    double middle[3];
    int level = 0;
    for (int a = 0; a < 3; a++)
        middle[a] = 0.5 * (fmax(b->lo[a], 0) + fmin(b->hi[a], c->cells[a]));
    for (int k = 0; k < c->refine_count; k++) {
        const struct case_refine *const r = &c->refines[k];
        bool holds = r->of == REFINE_around  ? r->body == body
                     : r->of == REFINE_shape ? r->level > level && region_holds(r, middle)
                                             : true;
        for (int a = 0; a < 3 && r->of == REFINE_box; a++)
            holds = holds && middle[a] >= r->from[a] && middle[a] <= r->to[a];
        level = holds && r->level > level ? r->level : level;
    }
    return level;
}

static struct met met_by(const struct flow_case *c)
{
    struct met met = {.wall = c->body_count > 0};
    for (int k = 0; k < case_openings(c); k++)
        meet(case_opening(c, k), &met);
    for (int i = 0; i < c->body_count; i++)
        met.moving = met.moving || c->bodies[i].speed > 0;
    return met;
}

/* Cell Reynolds numbers up to which regularised operators were tested with open faces, and with
 * walls that move in a closed box. */
static const double most_open = 100, most_moving = 40;

/* TRT's energy is 11 % low in a cubic cavity at a cell Reynolds number of 10. With open faces it
 * diverges at 10 behind a sphere; with a wall that moves beside a velocity inlet it is wrong from 7
 * on; the error builds up slowly. */
static double most_cell(const struct met *met)
{
    if (met->moving)
        return met->open ? 4 : 8;
    return met->open ? 8 : met->wall ? 12 : 40;
}

double case_most_cell(const struct flow_case *c)
{
    const struct met met = met_by(c);
    return most_cell(&met);
}

double case_limit_cell(const struct flow_case *c)
{
    const struct met met = met_by(c);
    if (c->solver.subgrid != SUBGRID_none)
        return INFINITY;
    if (collision_on_pairs(c->solver.collision))
        return c->levels > 1 ? fmin(REFINE_MOST_CELL, most_cell(&met)) : most_cell(&met);
    return met.open ? most_open : met.moving ? most_moving : INFINITY;
}

/* A level, and the kinds of boundary on it. */
struct level_met {
    int level;
    struct met met;
};

/* Faces are on level 0, though finer levels may cross walls; bodies are on their own. */
static struct level_met met_on(const struct flow_case *c, int level)
{
    struct level_met on = {.level = level};
    for (int k = 0; k < case_openings(c) && level == 0; k++)
        meet(case_opening(c, k), &on.met);
    for (int i = 0; i < c->body_count; i++)
        if (level_of(c, i) == level) {
            on.met.wall = true;
            on.met.moving = on.met.moving || c->bodies[i].speed > 0;
        }
    return on;
}

/* Warnings of warn_unstable() that a finer level gave already: each comes once. */
struct warned {
    bool layers, bulk, moving;
};

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
    const double most = most_cell(&met);
    char finer[REMEDY], text[32], of[32] = "", on[32] = "";
    if (c->levels > 1) {
        snprintf(of, sizeof of, " of level %d", at->level);
        snprintf(on, sizeof on, " on level %d", at->level);
    }
    case_tau_text(text, tau, 6);
    if (at->level == 0 && collision_noisy_at_rest(collision) && tau < least_tau)
        warn("tau is %s: with %s short waves grow below %g, even at rest (take solver.collision "
             "%s or a larger viscosity)",
             text, key_collisions[collision], least_tau,
             key_collisions[collision_quiet_at_rest(collision)]);
    if (c->solver.subgrid != SUBGRID_none) {
        if (met.wall && cell > most_subgrid && c->solver.van_driest == 0 && !warned->layers) {
            warned->layers = true;
            warn("the Reynolds number of a cell%s is %.3g, above %g: there is no model of the "
                 "layers "
                 "at walls, so friction, separation and drag are wrong where they depend on them "
                 "(take a finer grid; sharp edges, where the flow separates anyway, suffer least)",
                 of, cell, most_subgrid);
        }
        return;
    }
    if (at->level == 0 && pairs && cell == 0 && tau < least_tau) {
        warn("tau is %s: %s may become noisy or unstable below %g where layers get thin (give "
             "fluid.velocity, and solver.collision auto chooses; or take rr, %s or a larger "
             "viscosity)",
             text, key_collisions[collision], least_tau,
             finer_text(c, (least_tau - 0.5) / (tau - 0.5), finer));
    }
    if (pairs && cell > most && worst) {
        warn(
            "the Reynolds number of a cell%s is %.3g, above %g: %s becomes noisy or unstable there "
            "(take solver.collision auto or rr, %s or a larger viscosity)",
            of, cell, most, key_collisions[collision], finer_text(c, cell / most, finer));
    }
    if (!pairs && c->solver.rates.bulk > 1.7 && met.wall && cell > 10 && !warned->bulk) {
        warned->bulk = true;
        warn("solver.rates.bulk is %g: beside walls the trace of the stress alternates above a "
             "Reynolds number of a cell of 10, which is %.3g%s (take at most 1.7)",
             c->solver.rates.bulk, cell, on);
    }
    if (met.moving && !met.open && cell > most_moving && !warned->moving) {
        warned->moving = true;
        warn(
            "the Reynolds number of a cell%s is %.3g, above %g: beside moving walls no operator is "
            "accurate there (take %s)",
            of, cell, most_moving, model_text(c, cell / most_moving, finer));
    }
    if (met.open && cell > most_open)
        warn("the Reynolds number of a cell%s is %.3g, above %g: flows with open faces were not "
             "tested there (take %s)",
             of, cell, most_open, model_text(c, cell / most_open, finer));
}

/* Kinds of bodies by their wakes. */
enum wake { WAKE_corners, WAKE_across, WAKE_compact, WAKE_none };

bool case_is_across(const struct flow_case *c, const struct case_body *body, int axis)
{
    bool across = false;
    for (int a = 0; a < 3; a++)
        across = across ||
                 (a != axis &&
                  (c->cells[a] == 1 || (body->lo[a] <= 0.5 && body->hi[a] >= c->cells[a] - 0.5)));
    return across;
}

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
 * operators; with `outflow` a subgrid model does not help. INFINITY: up to most_open, and with a
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

static void warn_wakes(const struct flow_case *c)
{
    const bool outflow = has_outflow(c);
    char remedy[2 * REMEDY];
    if ((c->solver.subgrid != SUBGRID_none && !outflow) ||
        collision_on_pairs(c->solver.collision) || !case_is_open(c))
        return;
    for (int k = 0; k < c->body_count; k++) {
        const double cell = case_cell_reynolds(c, level_of(c, k));
        const enum wake wake = wake_of(c, &c->bodies[k]);
        const double most = outflow ? wakes[wake].outflow : wakes[wake].others;
        if (cell <= most || (!outflow && cell > most_open))
            continue;
        wake_remedy(c, wakes[wake].others, cell / most, remedy);
        warn("bodies.%s: the Reynolds number of a cell is %.3g, above %g: %s flows were seen to "
             "diverge there (take %s)",
             c->bodies[k].name, cell, most, wakes[wake].where, remedy);
        return;
    }
}

/* Where trt and rr meet even a uniform stream diverges at a cell Reynolds number of 10 on the side
 * of trt, but not at 8 (docs/lab/refinement.md). */
static void warn_neighbours(const struct flow_case *c)
{
    static const double most = 8;
    for (int k = 0; k < c->zone_count; k++) {
        const struct case_zone *const zone = &c->zones[k];
        const bool inside = zone->collision == COLLISION_trt;
        const enum collision other = inside ? c->solver.collision : zone->collision;
        const double viscosity = inside ? zone->viscosity : c->fluid.viscosity;
        const double cell = case_fastest_velocity(c) / viscosity;
        if ((inside || c->solver.collision == COLLISION_trt) && other == COLLISION_rr &&
            cell > most)
            warn("regions.%s: trt and rr meet, and the Reynolds number of a cell of trt is %.3g: "
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
            (coarsest < 0 || level_of(c, i) < coarsest))
            coarsest = level_of(c, i);
    return coarsest;
}

/* Interpolated walls have a term that makes plane flows exact. It mistakes the inertial part of the
 * pressure gradient for a curvature of the flow (docs/bodies.md, "How many cells"). With TRT the
 * error of the wall velocity, relative to the fluid velocity beside the wall, grows as magic times
 * the cell Reynolds number. */
static void warn_surfaces(const struct flow_case *c)
{
    static const double most_cell = 5, of_magic = 3.0 / 16;
    const int level = interpolated_level(c);
    if (level < 0)
        return;
    const double cell = case_cell_reynolds(c, level);
    const double times = cell * c->solver.magic / (most_cell * of_magic);
    char finer[REMEDY], of[32] = "";
    if (collision_odd_rate(c->solver.collision) != ODD_magic || times <= 1)
        return;
    if (c->levels > 1)
        snprintf(of, sizeof of, " of level %d", level);
    finer_text(c, times, finer);
    warn("the Reynolds number of a cell%s is %.3g, above %.3g: with magic %g interpolated walls "
         "leak "
         "there, and forces across the stream are wrong (take %s or a larger viscosity)",
         of, cell, cell / times, c->solver.magic, finer);
}

static void warn_tau(const struct flow_case *c)
{
    struct warned warned = {0};
    double most = -1;
    int worst = 0;
    for (int level = 0; level < c->levels; level++) {
        const struct level_met at = met_on(c, level);
        const double times = case_cell_reynolds(c, level) / most_cell(&at.met);
        worst = (level == 0 || at.met.wall) && times > most ? level : worst;
        most = worst == level ? times : most;
    }
    for (int level = c->levels - 1; level >= 0; level--) {
        const struct level_met at = met_on(c, level);
        if (level == 0 || at.met.wall)
            warn_unstable(c, &at, level == worst, &warned);
    }
    tau_warn(c);
}

/* p = rho / 3: a density far from 1 drives a flow that is far too fast. */
static void warn_density(const struct case_face *face, const char *name)
{
    const double distance =
        fabs(face->density - 1) * (face->kind == FACE_pressure ? signal_peak(&face->signal) : 1);
    if (face_holds_density(face) && distance > 0.05)
        warn("the density of %s comes as far as %g from 1: the flow is treated as one of constant "
             "density (keep it below 0.05; pressures count from that of the fluid at rest; with a "
             "smaller dt they are smaller in lattice units)",
             name, distance);
}

/* fp16 rounds each population by up to 2^-11 of itself at every step. In a steady flow the force
 * adds only a small part of that per step (docs/physics.md, "Precision"). */
static void warn_storage(const struct flow_case *c)
{
    static const double share = 1e-4, worth_telling = 0.01;
    const double *const g = c->acceleration;
    const double speed = case_fastest_velocity(c),
                 push = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (c->solver.storage != PRECISION_fp16 || !(push > 0) || speed * share <= worth_telling * push)
        return;
    warn(
        "solver.storage fp16 rounds populations to 2^-11 of themselves: where a force holds a flow "
        "steady, velocities are off by about %.2g %% (1e-4 u / g; take fp32, or a larger dt)",
        100 * share * speed / push);
}

/* The same of a steady flow between walls that a velocity face drives: its corners and what is
 * separated settle in w^2 / viscosity steps (docs/physics.md, "Precision"). */
static void warn_settling(const struct flow_case *c)
{
    static const double most = 1e4, most_reynolds = 1000; /* eddies shake the rounding off */
    bool walls = false;
    if (c->solver.storage != PRECISION_fp16)
        return;
    for (int a = 0; a < 3; a++)
        walls =
            walls || (c->faces[2 * a].kind == FACE_wall && c->faces[2 * a + 1].kind == FACE_wall);
    const double width = walls ? driven_width(c) : 0, viscosity = c->fluid.viscosity;
    if (width * width > most * viscosity &&
        case_fastest_velocity(c) * width < most_reynolds * viscosity)
        warn("solver.storage fp16 rounds populations to 2^-11 of themselves: a steady flow between "
             "these "
             "walls takes some %.2g steps to settle, and stops before; where it separates it is "
             "off by "
             "percents (take fp32)",
             width * width / viscosity);
}

/* A force that changes the density, p = rho / 3, much across the box; or that is large at all. */
static void warn_force(const struct flow_case *c)
{
    static const double most_density = 0.05, most = 0.01;
    const double peak = signal_peak(&c->force_signal);
    for (int a = 0; a < 3; a++) {
        const double g = fabs(c->acceleration[a]) * peak, change = 3 * g * c->cells[a];
        const bool bounded = c->faces[2 * a].kind != FACE_periodic;
        const char *const remedy =
            c->units.given ? smaller_step(c) : "a smaller one, with a smaller viscosity";
        if (bounded && change > most_density)
            warn("force.acceleration is %.3g cells per step^2 along %s: at rest the density "
                 "changes by %.2g across the box, above %g (take %s; or leave gravity out where it "
                 "only "
                 "adds the hydrostatic pressure)",
                 g, key_axes[a], change, most_density, remedy);
        else if (g > most)
            warn("force.acceleration is %.3g cells per step^2 along %s, above %g: within %.0f "
                 "steps a fluid at rest is as fast as Mach 0.3 (take %s)",
                 g, key_axes[a], most, ceil(MACH_MAX / sqrt(3.0) / g), remedy);
    }
}

/* A force or pressures that no wall balances: the velocity grows all the time. */
static void warn_free(const struct flow_case *c)
{
    const double most = MACH_MAX / sqrt(3.0), steps = most / c->driven.acceleration;
    if (c->driven.free && steps < (double)c->run.steps)
        warn("no wall and no body holds the flow back: it is faster by %.3g in each step, and "
             "reaches Mach %g after about %.0f steps (give faces walls, or take force.flow_rate)",
             c->driven.acceleration, MACH_MAX, steps);
}

/* At an edge between two outflow faces sound and eddies grow: seen at cell Reynolds numbers from 20
 * on, not at 2. */
static void warn_outflows(const struct flow_case *c)
{
    int axes = 0;
    for (int a = 0; a < 3; a++)
        axes += c->faces[2 * a].kind == FACE_outflow || c->faces[2 * a + 1].kind == FACE_outflow;
    if (axes > 1 && case_fastest_velocity(c) > 2 * c->fluid.viscosity)
        warn("outflow faces meet at an edge of the box: the flow there becomes wrong (take "
             "nonreflecting, or slip on the sides)");
}

/* One velocity everywhere, from the start on: nothing makes sound. */
static bool is_uniform_stream(const struct flow_case *c)
{
    if (c->initial.flow != INITIAL_uniform || c->body_count || c->patch_count)
        return false;
    for (int f = 0; f < 6; f++)
        for (int a = 0; a < 3; a++)
            if ((c->faces[f].kind == FACE_wall || c->faces[f].kind == FACE_velocity) &&
                (c->faces[f].profile != PROFILE_uniform ||
                 c->faces[f].velocity[a] != c->initial.velocity[a]))
                return false;
    return true;
}

/* Steps in which the longest sound wave along an axis decays to 1/e, between a face with given
 * velocity and one with given density. Decay rate in the fluid: k^2 (2/3 nu + zeta/2), zeta the
 * bulk viscosity (Landau, Lifshitz, Fluid Mechanics, section 79). Decay rate in the layers at walls
 * along the axis: (P / 2A) sqrt(nu k c_s / 2), P the perimeter of the cross-section, A its area
 * (Lighthill, Waves in Fluids, section 2.7). Walls of bodies are not counted. */
static double steps_of_sound(const struct flow_case *c, int axis)
{
    const double k = acos(-1) / (2.0 * c->cells[axis]), viscosity = c->fluid.viscosity;
    const double bulk = collision_on_pairs(c->solver.collision)
                            ? 2.0 / 3 * viscosity
                            : 2.0 / 9 * (1 / c->solver.rates.bulk - 0.5);
    double walls = 0; /* P / A */
    for (int f = 0; f < 6; f++)
        if (f / 2 != axis && c->faces[f].kind == FACE_wall)
            walls += 1.0 / c->cells[f / 2];
    return 1 / (k * k * (2.0 / 3 * viscosity + bulk / 2) +
                walls / 2 * sqrt(viscosity * k / sqrt(3.0) / 2));
}

/* Does the flow start at rest, and every inlet with a ramp of this many steps at least? */
static bool starts_smoothly(const struct flow_case *c, double steps)
{
    bool smooth = c->initial.flow == INITIAL_rest && !c->initial.from.file;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        if (what->kind == FACE_velocity)
            smooth = smooth && what->signal.kind == SIGNAL_ramp && what->signal.duration >= steps;
    }
    return smooth;
}

/* A velocity inlet and a pressure outlet reflect all sound. A flow that starts at rest with a ramp
 * over three periods of the longest wave, 4 L / c_s, makes a thirtieth of it. */
static void warn_rings(const struct flow_case *c)
{
    static const double ramp = 20; /* in L */
    bool velocity = false;
    int outlet = -1;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        velocity = velocity || what->kind == FACE_velocity;
        if (what->kind == FACE_nonreflecting || what->kind == FACE_outflow)
            return;
        if (what->kind == FACE_pressure)
            outlet = case_opening_side(c, k);
    }
    for (int i = 0; i < c->zone_count; i++)
        if (c->zones[i].sponge.given)
            return;
    if (!velocity || outlet < 0 || is_uniform_stream(c) ||
        starts_smoothly(c, ramp * c->cells[outlet / 2]) ||
        (c->run.stop.every > 0 && c->run.stop.of == STOP_residual))
        return;
    const double steps = steps_of_sound(c, outlet / 2);
    if (c->run.steps >= 20 * (int64_t)c->cells[outlet / 2] && 5 * steps > (double)c->run.steps)
        warn(
            "sound between the inlet and the pressure outlet falls by e in %.2g steps, and the "
            "run has %lld: pressure and forces ring (take nonreflecting with pressure's density, a "
            "sponge before the outlet, or a start at rest with a ramp of %.0f steps at the inlet)",
            steps, (long long)c->run.steps, ramp * c->cells[outlet / 2]);
}

/* Cells along an axis from the first to the last of the images; without any, of the only body
 * inside the box. 0: not known. */
static double sample_length(const struct flow_case *c, int axis)
{
    double from = INFINITY, to = -INFINITY;
    for (int i = 0; i < c->body_count; i++) {
        const struct voxel_image *const v = &c->bodies[i].image;
        if (!v->file)
            continue;
        from = fmin(from, v->at[axis]);
        to = fmax(to, v->at[axis] + v->to[axis] - v->from[axis]);
    }
    if (c->body_count == 1 && !c->bodies->image.file) {
        from = fmax(c->bodies->lo[axis], 0);
        to = fmin(c->bodies->hi[axis], c->cells[axis]);
    }
    return fmax(to - from, 0);
}

static void warn_samples(const struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++) {
        const struct case_series *const s = &c->series[k];
        const double sample = s->kind == SERIES_KIND_permeability ? sample_length(c, s->axis) : 0;
        if (s->length > 0 && s->length < sample - 0.5)
            warn("output.series.%s.length is %g cells, but the sample is %g cells long along %s: "
                 "the permeability comes out too small (give %g, or leave length out where the "
                 "sample fills the box)",
                 s->name, s->length, sample, key_axes[s->axis], sample);
    }
}

void case_warn(const struct flow_case *c)
{
    /* A velocity of 0.1 is usual; its error is a percent or two (docs/validation.md). */
    static const double most = 0.175;
    const double highest = sqrt(3.0) * case_fastest_velocity(c);
    const bool estimated = highest > 0 && highest == sqrt(3.0) * c->driven.velocity;
    char smaller[96] = "", text[32], step[TIME_STEP_TEXT];
    if (estimated && !c->units.given)
        snprintf(smaller, sizeof smaller, " by a smaller force or pressure");
    if (c->units.given)
        snprintf(smaller, sizeof smaller, ", %s, which makes tau %s",
                 time_step_text(c, most / highest, step),
                 case_tau_text(text, 0.5 + (case_tau(c) - 0.5) * most / highest, 4));
    if (highest > most)
        warn("Mach is %.3g%s: errors from compressibility grow with its square "
             "(below %g: take velocities under %.2g%s)",
             highest, estimated ? " by the estimated velocity" : "", most, most / sqrt(3.0),
             smaller);
    warn_free(c);
    warn_tau(c);
    warn_wakes(c);
    signals_warn(c);
    pumps_warn(c);
    warn_storage(c);
    warn_settling(c);
    warn_surfaces(c);
    warn_neighbours(c);
    warn_force(c);
    bare_warn(c);
    warn_outflows(c);
    warn_rings(c);
    warn_samples(c);
    scalars_warn(c);
    refine_warn(c);
    for (int f = 0; f < 6; f++)
        warn_density(&c->faces[f], face_name(f));
    for (int i = 0; i < c->patch_count; i++)
        warn_density(&c->patches[i].opening, c->patches[i].name);
}
