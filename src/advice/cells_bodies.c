/* Bodies, by their cells. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/survey.h"
#include "advice/thin.h"
#include "base/message.h"
#include "case/keys.h"
#include "tags/faces.h"

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

/* Is it a body in the flow, with a width? */
static bool is_solid_shape(const struct case_body *body)
{
    return !body->image.file && !body_surrounds(body) &&
           (body->mesh.file || body->shape.kind != SHAPE_pack);
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
void advise_cells_small(const struct domain *d, const struct flow_case *c)
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
        warn("body_coarse",
             "bodies.%s is %.3g cells%s across%s: its forces and its wake are rough (take %g cells "
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
void advise_cells_drag(const struct domain *d, const struct flow_case *c)
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
        char text[512];
        snprintf(text, sizeof text,
                 "bodies.%s: %.3g cells across, and the Reynolds number of a cell is %.3g: with %s "
                 "the drag of a round body becomes about %.0f %% too large%s",
                 body->name, across, cell, key_collisions[c->solver.collision], 100 * error, finer);
        if (error > much)
            warn("body_drag", "%s", text);
        else
            say("%s", text);
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
void advise_cells_wake(const struct domain *d, const struct flow_case *c)
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
                warn("wake_cut",
                     "bodies.%s ends %.3g cells before the outlet %s and is %.3g wide: the outlet "
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
void advise_cells_inlet(const struct domain *d, const struct flow_case *c)
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
        warn("inlet_near",
             "bodies.%s begins %.3g cells behind the inlet %s and is %.3g wide: the inlet holds "
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

/* Share of a mesh's extent along periodic axes that is in the box. A long body that is cut there
 * goes on. */
static double share_periodic(const struct flow_case *c, const struct case_body *body)
{
    double share = 1;
    for (int a = 0; a < 3; a++) {
        const double all = body->hi[a] - body->lo[a];
        const double inside = fmin(body->hi[a], c->cells[a]) - fmax(body->lo[a], 0);
        if (c->faces[2 * a].kind == FACE_periodic && all > 0)
            share *= fmin(fmax(inside / all, 0), 1);
    }
    return share;
}

void advice_outside(const struct flow_case *c, const struct case_body *body, double cells)
{
    const struct mesh_facts *const f = &body->mesh.facts;
    const double all = f->cells ? (double)f->cells : fabs(f->volume);
    if (body_surrounds(body)) /* the mesh has the other ones */
        cells = (double)c->cells[0] * c->cells[1] * c->cells[2] - cells;
    if (body->mesh.file && cells < least_inside * share_periodic(c, body) * all)
        warn("mesh_outside",
             "bodies.%s: of the %.6g cells of its mesh %.0f are in the box (is it in another unit, "
             "or place?)",
             body->name, all, cells);
}

/* Warns if the box contains only a small part of a mesh or a shape. */
static void warn_outside(const struct domain *d, const struct flow_case *c,
                         const struct case_body *body, int64_t cells)
{
    const double share = share_inside(c, body);
    if (!body->mesh.file && !body->image.file && share < least_inside)
        warn("body_outside",
             "bodies.%s: only %.2g %% of its bounding box are in the box of cells (is it in "
             "another unit, or place?)",
             body->name, 100 * share);
    if (d->tags && !d->refined) { /* else survey_say_bodies() */
        advice_outside(c, body, (double)cells);
        thin_warn(body);
    }
}

/* A body as long as a periodic axis has no images along it (case_crosses). So links from cells
 * beside its ends meet these, unless it is half a cell longer at both. On levels of flat axes it
 * has no ends. */
static void warn_ends(const struct flow_case *c, const struct case_body *body)
{
    for (int a = 0; a < 3; a++) {
        const double n = c->cells[a], lo = body->lo[a], hi = body->hi[a];
        if (c->faces[2 * a].kind == FACE_periodic && !case_crosses(c, body, a) &&
            (lo > -0.5 || hi < n + 0.5) && !(case_flat(c, a) && c->levels > 1))
            warn(
                "body_ends",
                "bodies.%s is as long as the box along %s, which is periodic, and no longer: cells "
                "beside its ends meet these, and its drag may be off by %.2g %% (a cell longer at "
                "both ends)",
                body->name, key_axes[a], 3 / n);
    }
}

void advise_cells_outside(const struct domain *d, const struct flow_case *c)
{
    for (int k = 0; k < c->body_count; k++) {
        const struct case_body *const body = &c->bodies[k];
        warn_outside(d, c, body, d->body_cells[k]);
        if (body->wall == BODY_WALL_interpolated && !body->image.file && !case_straight(body) &&
            !body_surrounds(body))
            warn_ends(c, body);
    }
}
