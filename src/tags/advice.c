/* Advice on openings and bodies; see advice.h. */
#include "tags/advice.h"

#include <math.h>
#include <stdio.h>

#include "base/message.h"
#include "case/keys.h"
#include "tags/faces.h"
#include "tags/survey.h"
#include "tags/thin.h"

/* ---- openings ---- */

/* Warns if velocities are given and nothing (face or sponge) holds the density. */
static void warn_density(const struct domain *d, const struct flow_case *c)
{
    bool flows = false, held = false, out = false;
    for (int k = 0; k < d->openings; k++) {
        const struct case_face *const what = case_opening(c, k);
        flows = flows || d->opening[k].inflow != 0;
        if (!d->opening[k].open || !face_holds_density(what))
            continue;
        out = true;
        held = held || what->kind == FACE_pressure || what->reflection > 0;
    }
    for (int k = 0; k < c->zone_count; k++)
        held = held || c->zones[k].sponge.given;
    if (flows && out && !held)
        warn("no face holds the density, as reflection is 0: the mass of the box drifts (leave "
             "reflection out, or make a face pressure)");
}

static const double sound = 0.57735026918962576; /* 1 / sqrt(3) */

/* Cells of the box along the opening's normal. */
static double outlet_length(const struct flow_case *c, int opening)
{
    return c->cells[case_opening_side(c, opening) / 2];
}

/* Mean velocity of the fastest inlet, without its time function. */
static double inlet_velocity(const struct domain *d, const struct flow_case *c)
{
    double fastest = 0;
    for (int k = 0; k < d->openings; k++)
        if (case_opening(c, k)->kind == FACE_velocity && d->opening[k].open)
            fastest = fmax(fastest, d->opening[k].inflow / (double)d->opening[k].open);
    return fastest;
}

/* Warns if several outlets have no time to divide the flow, or a kind that does not divide it; or
 * if the flow crosses the box, but the run ends before what varies over a nonreflecting face has
 * settled by e: see docs/boundaries.md, "Holding the density". */
static void warn_settling(const struct domain *d, const struct flow_case *c)
{
    const double velocity = inlet_velocity(d, c);
    const bool uniform = c->initial.flow == INITIAL_uniform && !c->body_count && !c->patch_count;
    double slowest = 0; /* 1 / reflection */
    int outlets = 0, outflow = -1, last = -1;
    char name[FACES_NAME];
    for (int k = 0; k < d->openings; k++) {
        const struct case_face *const what = case_opening(c, k);
        if (!d->opening[k].open || !face_holds_density(what))
            continue;
        outlets++;
        outflow = what->kind == FACE_outflow ? k : outflow;
        last = k;
        if (what->reflection > 0)
            slowest = fmax(slowest, 1 / what->reflection);
    }
    if (!outlets || !(velocity > 0))
        return;
    const double steps = slowest * sqrt(3.0) / velocity;
    faces_name(c, outflow >= 0 ? outflow : last, name);
    if (outflow >= 0 && outlets > 1)
        warn("%s: outflow does not find its share of a flow that several outlets divide (take "
             "nonreflecting, or pressure with a ramp at the inlet)",
             name);
    else if (outlets > 1 && (double)c->run.steps < steps)
        warn("several outlets divide the flow: their shares settle in about %.2g steps, the run "
             "has %lld (more steps, or pressure with a ramp at the inlet)",
             steps, (long long)c->run.steps);
    else if (outlets == 1 && outflow < 0 && !uniform && 3 * (double)c->run.steps < steps &&
             velocity * (double)c->run.steps > outlet_length(c, last))
        warn("%s: the flow over the face settles in about %.2g steps, the run has %lld (leave "
             "reflection out, or more steps)",
             name, steps, (long long)c->run.steps);
    else if (outlets == 1 && outflow < 0 && !uniform && (double)c->run.steps < steps &&
             velocity * (double)c->run.steps > outlet_length(c, last))
        say("%s: the flow over the face settles in about %.2g steps, the run has %lld (for a "
            "steady flow more steps, or a larger reflection, which reflects more sound)",
            name, steps, (long long)c->run.steps);
}

/* Does the time function rise and fall again? A ramp does not, nor a table like one. */
static bool pulsates(const struct case_signal *s)
{
    bool rises = s->kind == SIGNAL_sine, falls = rises;
    for (int k = 1; k < s->points && s->kind == SIGNAL_table; k++) {
        rises = rises || s->values[k] > s->values[k - 1];
        falls = falls || s->values[k] < s->values[k - 1];
    }
    return rises && falls;
}

/* d after a line of a table, r d + d' = `slope`. */
static double relaxed(double d, double slope, double steps, double r)
{
    return r > 0 ? slope / r + (d - slope / r) * exp(-r * steps) : d + slope * steps;
}

/* The largest |U' - r d| of a table, d' = U' - r d, in the state of a table that repeats: the start
 * of the flow does not count. */
static double largest_rise(const struct case_signal *s, double r)
{
    const double period = s->times[s->points - 1] - s->times[0];
    double d = 0, most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 1; k < s->points; k++) {
            const double steps = s->times[k] - s->times[k - 1];
            const double slope = (s->values[k] - s->values[k - 1]) / steps;
            const double after = relaxed(d, slope, steps, r);
            if (pass)
                most = fmax(most, fmax(fabs(slope - r * d), fabs(slope - r * after)));
            d = after;
        }
        d = r > 0 ? d / (1 - exp(-r * period)) : 0;
    }
    return most;
}

/* Largest difference between the flow into a box and the flow out of it, through a nonreflecting
 * outlet, as a share of the mean flow. The mean density d follows c_s d' - U' = -r c_s d, so the L
 * cells of the box take L d' = L (U' / c_s - r d). `length`: L / c_s. With a frequency w that is
 * the share w^2 (L / c_s) / sqrt(w^2 + r^2) of the amplitude. */
static double gathers(const struct case_signal *s, double length, double r)
{
    double mean = s->mean, highest = fabs(s->amplitude), area = 0;
    if (s->kind == SIGNAL_sine) {
        const double w = 2 * acos(-1) / s->period;
        return highest / fmax(highest, fabs(mean)) * w * w * length / sqrt(w * w + r * r);
    }
    highest = 0;
    for (int k = 1; k < s->points; k++) {
        area += 0.5 * (s->values[k] + s->values[k - 1]) * (s->times[k] - s->times[k - 1]);
        highest = fmax(highest, fabs(s->values[k] - s->values[0]));
    }
    mean = area / (s->times[s->points - 1] - s->times[0]);
    return length * largest_rise(s, r) / fmax(fabs(mean), 0.5 * highest);
}

/* The smallest reflection, times L / c_s, with which at most the share `most` gathers; at most
 * `highest`. */
static double holds(const struct case_signal *s, double length, double most, double highest)
{
    double low = 0, high = highest;
    for (int k = 0; k < 20; k++) {
        const double middle = 0.5 * (low + high);
        if (gathers(s, length, middle / length) > most)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Warns if the velocity of an inlet varies so fast that fluid gathers before a nonreflecting
 * outlet, and names the remedy: a reflection that is large enough, if there is one; otherwise a
 * smaller velocity. */
static void warn_pulse(const struct domain *d, const struct flow_case *c)
{
    static const double most = 0.05, most_held = 3; /* share of the flow; r L / c_s */
    char name[FACES_NAME], remedy[96], varies[64];
    for (int k = 0; k < d->openings; k++)
        for (int out = 0; out < d->openings; out++) {
            const struct case_face *const inlet = case_opening(c, k),
                                          *outlet = case_opening(c, out);
            const struct case_signal *const s = &inlet->signal;
            if (inlet->kind != FACE_velocity || !pulsates(s) || !d->opening[k].open ||
                outlet->kind != FACE_nonreflecting || !d->opening[out].open)
                continue;
            const double length = outlet_length(c, out) / sound;
            const double share = gathers(s, length, outlet->reflection);
            const double held = holds(s, length, most, most_held);
            if (share <= most)
                continue;
            if (held < 0.999 * most_held)
                snprintf(remedy, sizeof remedy,
                         "give nonreflecting.reflection %.2g, which reflects more sound",
                         held / length);
            else
                snprintf(
                    remedy, sizeof remedy,
                    "take a smaller velocity in cells a step, so that a period has more steps");
            if (s->kind == SIGNAL_sine || s->repeat)
                snprintf(varies, sizeof varies, "varies with a period of %.4g steps",
                         s->kind == SIGNAL_sine ? s->period
                                                : s->times[s->points - 1] - s->times[0]);
            else
                snprintf(varies, sizeof varies, "rises and falls by its table");
            faces_name(c, out, name);
            warn("%s: the inlet's velocity %s, and the flow out differs by about %.0f %% from the "
                 "flow in (%s)",
                 name, varies, 100 * share, remedy);
            return;
        }
}

/* Warns if velocities are given at faces but none across its face, so that nothing flows in or out.
 */
static void warn_no_inflow(const struct domain *d, const struct flow_case *c)
{
    bool out = false;
    int along = -1;
    char name[FACES_NAME];
    for (int k = 0; k < d->openings; k++) {
        const struct case_face *const what = case_opening(c, k);
        if (!d->opening[k].open)
            continue;
        if (d->opening[k].inflow != 0 ||
            (what->kind == FACE_velocity && what->profile == PROFILE_table))
            return;
        out = out || face_holds_density(what);
        if (what->kind == FACE_velocity && face_speed(what) > 0)
            along = k;
    }
    if (!out || along < 0)
        return;
    faces_name(c, along, name);
    warn("%s: its velocity goes along the face, and no face lets fluid in or out with a given "
         "velocity (give the component along %s)",
         name, key_axes[case_opening_side(c, along) / 2]);
}

/* A regularised pressure face or a nonreflecting outlet imposes the tangential velocity. A faster
 * stream along it, from an inlet or the initial flow, is slowed down as by a wall. Faces that
 * bodies cover in part are taken for the ends of ducts. */
static void warn_along(const struct domain *d, const struct flow_case *c)
{
    for (int f = 0; f < 6; f++) {
        const struct case_face *const face = &c->faces[f];
        double stream = 0, along = 0;
        if (d->opening[f].open < d->opening[f].cells ||
            (face->kind != FACE_nonreflecting &&
             (face->kind != FACE_pressure || face->rule == FACE_RULE_links)))
            continue;
        for (int a = 0; a < 3; a++) {
            if (a == f / 2)
                continue;
            along += face->velocity[a] * face->velocity[a];
            stream = fmax(stream, fabs(c->initial.velocity[a]));
            for (int other = 0; other < 6; other++)
                if (c->faces[other].kind == FACE_velocity && other / 2 != f / 2)
                    stream = fmax(stream, fabs(c->faces[other].velocity[a]));
        }
        along = sqrt(along);
        if (stream > 0 && along < 0.5 * stream)
            warn("the velocity along face %s is %g, and a stream of %g goes along it: the face "
                 "holds it back like a wall (give %s.velocity, or take slip)",
                 face_name(f), along, stream,
                 face->kind == FACE_pressure ? "pressure" : "nonreflecting");
    }
}

/* Beside walls `outflow` holds the density with an error of percents. No warning: developed flows
 * are right to a percent or two all the same. */
static void say_outflow_walls(const struct domain *d, const struct flow_case *c)
{
    char name[FACES_NAME];
    if (!(inlet_velocity(d, c) > 0))
        return;
    for (int k = 0; k < d->openings; k++) {
        const int side = case_opening_side(c, k);
        bool walls = d->opening[k].open < d->opening[k].cells ||
                     (k >= 6 && c->faces[side].kind == FACE_wall);
        if (case_opening(c, k)->kind != FACE_outflow || !d->opening[k].open)
            continue;
        for (int f = 0; f < 6; f++)
            walls = walls || (f / 2 != side / 2 && c->faces[f].kind == FACE_wall);
        faces_name(c, k, name);
        if (walls)
            say("%s: beside walls outflow holds the density only to some percent (nonreflecting "
                "to a tenth of that)",
                name);
    }
}

/* ---- bodies ---- */

/* Cells of the body's bounding box along each axis: inside of the grid, and beyond planes of
 * symmetry, where its mirror image is. */
static void extent(const struct flow_case *c, const struct case_body *body, double length[3])
{
    for (int a = 0; a < 3; a++) {
        const struct case_face *const face = &c->faces[2 * a];
        const bool periodic = face->kind == FACE_periodic;
        const double n = c->cells[a], all = body->hi[a] - body->lo[a];
        const double from = face[0].kind == FACE_slip ? body->lo[a] : fmax(body->lo[a], 0);
        const double to = face[1].kind == FACE_slip ? body->hi[a] : fmin(body->hi[a], n);
        length[a] = periodic ? fmin(all, n) : fmax(to - from, 0);
    }
}

/* Width of the body across its narrow direction in a stream along `axis`, or with axis -1 its
 * middle extent. An axis of one cell does not count. */
static double width_of(const struct flow_case *c, const struct case_body *body, int axis)
{
    double length[3], least = INFINITY, next = INFINITY;
    extent(c, body, length);
    for (int a = 0; a < 3; a++) {
        if (a == axis || c->cells[a] == 1)
            continue;
        next = fmin(next, fmax(least, length[a]));
        least = fmin(least, length[a]);
    }
    return axis < 0 && next < INFINITY ? next : least;
}

static bool is_solid_shape(const struct case_body *body)
{
    return !body->image.file && (body->mesh.file || body->shape.kind != SHAPE_pack);
}

/* The finest level at the middle of the body. */
static int level_of(const struct domain *d, const struct flow_case *c, const struct case_body *body)
{
    int level = d->refined ? d->refined->levels - 1 : 0;
    for (; level > 0; level--) {
        int at[3];
        for (int a = 0; a < 3; a++) {
            const double lo = fmax(body->lo[a], 0), hi = fmin(body->hi[a], c->cells[a]);
            at[a] = (int)ldexp(0.5 * (lo + hi), level);
        }
        if (refined_holds(d->refined, level, at[0], at[1], at[2]))
            break;
    }
    return level;
}

/* Warns of bodies that have few cells of their level across, in a stream. A thin plate has not: its
 * middle extent counts. */
static void warn_small(const struct domain *d, const struct flow_case *c)
{
    static const double least = 5;
    const struct case_body *first = NULL;
    double width = 0;
    int count = 0;
    char others[64] = "", of[32] = "";
    if (!(case_fastest_velocity(c) > 0) || c->driven.velocity > 0) /* mostly pores */
        return;
    for (int k = 0; k < c->body_count; k++) {
        const double across = ldexp(width_of(c, &c->bodies[k], -1), level_of(d, c, &c->bodies[k]));
        if (!is_solid_shape(&c->bodies[k]) || across >= least - 1e-6)
            continue;
        width = first ? width : across;
        if (!first && d->refined)
            snprintf(of, sizeof of, " of level %d", level_of(d, c, &c->bodies[k]));
        first = first ? first : &c->bodies[k];
        count++;
    }
    if (count > 1)
        snprintf(others, sizeof others, " (fewer than %g: %d bodies)", least, count);
    if (count)
        warn("bodies.%s is %.3g cells%s across%s: its forces and its wake are rough (take %g cells "
             "at least; docs/bodies.md has errors by their number)",
             first->name, width, of, others, least);
}

/* Share by which regularised operators make the drag of a round body in a stream too large: fits
 * spheres at Re 50 to 300 with 8 to 24 cells across (docs/bodies.md, "How many cells"). Of
 * cylinders it is about three quarters of this. */
static double drag_error(const struct case_body *body, double cell, double across)
{
    const double staircase = body->wall == BODY_WALL_interpolated ? 1 : 1.7;
    return 0.44 * staircase * pow(cell, 0.8) / pow(across, 1.6);
}

/* Says how much the drag of bodies in a stream will be off, by their number of cells and the
 * operator. Boxes have walls in place: their drag is right to 4 % with 8 cells. */
static void say_drag(const struct domain *d, const struct flow_case *c)
{
    static const double worth_saying = 0.03, aim = 0.05, much = 0.15, most_cell = 100;
    if (collision_on_pairs(c->solver.collision) || c->solver.subgrid != SUBGRID_none ||
        !case_is_open(c) || c->driven.velocity > 0)
        return;
    for (int k = 0; k < c->body_count; k++) {
        const struct case_body *const body = &c->bodies[k];
        const int level = level_of(d, c, body);
        const double across = ldexp(width_of(c, body, -1), level);
        const double cell = case_cell_reynolds(c, level);
        const double error = drag_error(body, cell, across);
        char finer[64] = "";
        if (!is_solid_shape(body) || body->shape.kind == SHAPE_box || across < 5 ||
            across == INFINITY || cell > most_cell || error < worth_saying)
            continue;
        if (error > 1.2 * aim)
            snprintf(finer, sizeof finer, " (with %.0f cells across about 5 %%)",
                     ceil(across * pow(error / aim, 1 / 2.4)));
        const bool wrong = error > much;
        (wrong ? warn : say)(
            "bodies.%s: %.3g cells across, and the Reynolds number of a cell is %.3g: with %s the "
            "drag of a round body becomes about %.0f %% too large%s",
            body->name, across, cell, key_collisions[c->solver.collision], 100 * error, finer);
    }
}

/* Does anything flow in through the face, or a patch of it? */
static bool has_inlet(const struct domain *d, const struct flow_case *c, int face)
{
    for (int k = 0; k < d->openings; k++)
        if (case_opening_side(c, k) == face && d->opening[k].inflow > 0 &&
            case_opening(c, k)->kind == FACE_velocity)
            return true;
    return false;
}

/* Warns of bodies whose wake meets an outlet opposite to an inlet: those that end less than their
 * width before it. Closer ones: warn_near(). */
static void warn_wake(const struct domain *d, const struct flow_case *c)
{
    for (int f = 0; f < 6; f++) {
        if (!face_holds_density(&c->faces[f]) || d->opening[f].open < d->opening[f].cells ||
            !has_inlet(d, c, f ^ 1))
            continue;
        for (int k = 0; k < c->body_count; k++) {
            const struct case_body *const body = &c->bodies[k];
            const double gap = f % 2 ? c->cells[f / 2] - body->hi[f / 2] : body->lo[f / 2];
            const double width = width_of(c, body, f / 2);
            if (is_solid_shape(body) && gap >= SURVEY_NEAR && gap < width && width < INFINITY)
                warn("bodies.%s ends %.3g cells before the outlet %s and is %.3g wide: the outlet "
                     "cuts its wake (leave several times its width)",
                     body->name, gap, face_name(f), width);
        }
    }
}

/* Cells of the box across a stream along `axis`, in the direction in which the body is narrow; a
 * plane of symmetry that cuts the body doubles them. */
static double side_of(const struct flow_case *c, const struct case_body *body, int axis)
{
    const double width = width_of(c, body, axis);
    double length[3], side = INFINITY;
    extent(c, body, length);
    for (int a = 0; a < 3; a++) {
        const struct case_face *const face = &c->faces[2 * a];
        const bool cut = (face[0].kind == FACE_slip && body->lo[a] < 0) ||
                         (face[1].kind == FACE_slip && body->hi[a] > c->cells[a]);
        if (a != axis && c->cells[a] > 1 && length[a] == width)
            side = fmin(side, (cut ? 2 : 1) * c->cells[a]);
    }
    return side;
}

/* Share by which an inlet makes the drag of a blunt body too large, since it holds the stream that
 * the body turns aside. Fits cylinders and squares at Re 40 and 100, spheres and cubes at Re 50
 * (docs/lab/open_faces.md). distance: of the inlet before the body, side: of the box, in widths of
 * the body. */
static double inlet_error(bool across, double distance, double side)
{
    return across ? pow(distance, -1.3) * exp(-(2.2 + 16 / side) * distance / side)
                  : 0.2 / (distance * distance);
}

/* Warns of the body that an inlet affects most. */
static void warn_inlet(const struct domain *d, const struct flow_case *c)
{
    static const double much = 0.07, aim = 0.05, least_side = 4; /* in ducts the walls hold it */
    double worst = much, gap = 0, wide = 0, enough = 0;
    int which = -1, at = 0;
    for (int f = 0; f < 6; f++)
        for (int k = 0; k < c->body_count && c->faces[f].kind == FACE_velocity; k++) {
            const struct case_body *const body = &c->bodies[k];
            const double width = width_of(c, body, f / 2), side = side_of(c, body, f / 2);
            const double before = f % 2 ? c->cells[f / 2] - body->hi[f / 2] : body->lo[f / 2];
            const bool across = case_is_across(c, body, f / 2);
            if (!is_solid_shape(body) || !has_inlet(d, c, f) || !(before > 0) || !(width > 0) ||
                !(side < INFINITY && side >= least_side * width) ||
                !(inlet_error(across, before / width, side / width) > worst))
                continue;
            worst = inlet_error(across, before / width, side / width);
            gap = before;
            wide = width;
            which = k;
            at = f;
            for (enough = before / width; inlet_error(across, enough, side / width) > aim;)
                enough += 0.1;
        }
    if (which >= 0)
        warn("bodies.%s begins %.3g cells behind the inlet %s and is %.3g wide: the inlet holds "
             "the stream, so that the drag becomes about %.0f %% too large (leave %.2g times its "
             "width)",
             c->bodies[which].name, gap, face_name(at), wide, 100 * fmin(worst, 1), enough);
}

/* Share of a shape's bounding box inside of the grid; 1 for boxes, which often make walls, and for
 * shapes without an end. */
static double share_inside(const struct flow_case *c, const struct case_body *body)
{
    double share = 1;
    for (int a = 0; a < 3; a++) {
        const double all = body->hi[a] - body->lo[a];
        const double inside = fmin(body->hi[a], c->cells[a]) - fmax(body->lo[a], 0);
        if (!isfinite(all))
            return 1;
        if (c->faces[2 * a].kind != FACE_periodic && all > 0)
            share *= inside / all;
    }
    return body->shape.kind == SHAPE_box ? 1 : share;
}

/* Least share of a body in the box that nobody wonders about. */
static const double least_inside = 0.1;

void advice_outside(const struct case_body *body, double cells)
{
    const struct mesh_facts *const f = &body->mesh.facts;
    const double all = f->cells ? (double)f->cells : fabs(f->volume);
    if (body->mesh.file && cells < least_inside * all)
        warn("bodies.%s: of the %.6g cells of its mesh %.0f are in the box (is it in another unit, "
             "or place?)",
             body->name, all, cells);
}

/* Warns if the box contains only a small part of a mesh or a shape. */
static void warn_outside(const struct domain *d, const struct flow_case *c,
                         const struct case_body *body, int64_t cells)
{
    const double share = share_inside(c, body);
    if (!body->mesh.file && !body->image.file && share < least_inside)
        warn("bodies.%s: only %.2g %% of its bounding box are in the box of cells (is it in "
             "another unit, or place?)",
             body->name, 100 * share);
    if (d->tags && !d->refined) { /* else survey_say_bodies() */
        advice_outside(body, (double)cells);
        thin_warn(body);
    }
}

void advice_say(const struct domain *d, const struct flow_case *c)
{
    warn_no_inflow(d, c);
    warn_along(d, c);
    warn_density(d, c);
    warn_settling(d, c);
    warn_pulse(d, c);
    say_outflow_walls(d, c);
    warn_small(d, c);
    say_drag(d, c);
    warn_wake(d, c);
    warn_inlet(d, c);
    for (int k = 0; k < c->body_count; k++)
        warn_outside(d, c, &c->bodies[k], d->body_cells[k]);
}
