/* Cell Reynolds numbers up to which operators were tested; see limits.h. */
#include "case/limits.h"

#include <math.h>

#include "body/shape.h"
#include "case/sections.h"

static void meet(const struct case_face *face, struct met *met)
{
    met->wall = met->wall || face->kind == FACE_wall;
    met->moving = met->moving || (face->kind == FACE_wall && magnitude(face->velocity) > 0);
    met->open = met->open || face_open(face->kind);
}

static void meet_body(const struct case_body *body, struct met *met)
{
    met->wall = true;
    met->moving = met->moving || body->speed > 0;
    met->open = met->open || body->cap_count > 0;
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
int limits_level(const struct flow_case *c, int body)
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
    struct met met = {.wall = false};
    for (int k = 0; k < case_openings(c); k++)
        meet(case_opening(c, k), &met);
    for (int i = 0; i < c->body_count; i++)
        meet_body(&c->bodies[i], &met);
    return met;
}

/* TRT's energy is 11 % low in a cubic cavity at a cell Reynolds number of 10. With open faces it
 * diverges at 10 behind a sphere; with a wall that moves beside a velocity inlet it is wrong from 7
 * on; the error builds up slowly. */
double limits_cell(const struct met *met)
{
    if (met->moving)
        return met->open ? 4 : 8;
    return met->open ? 8 : met->wall ? 12 : 40;
}

double case_most_cell(const struct flow_case *c)
{
    const struct met met = met_by(c);
    return limits_cell(&met);
}

/* Lids of 24^3 cells, 80,000 steps: nothing alternates at 25; at 30 and 35 some of the velocity
 * does, and at 40 the run ends. Of 24^2 cells 40 is right. */
double limits_moving(const struct flow_case *c)
{
    return c->cells[0] > 1 && c->cells[1] > 1 && c->cells[2] > 1 ? 25 : 40;
}

double case_limit_cell(const struct flow_case *c)
{
    const struct met met = met_by(c);
    if (c->solver.subgrid != SUBGRID_none)
        return INFINITY;
    if (collision_on_pairs(c->solver.collision))
        return c->levels > 1 ? fmin(REFINE_MOST_CELL, limits_cell(&met)) : limits_cell(&met);
    return met.open ? LIMIT_OPEN : met.moving ? limits_moving(c) : INFINITY;
}

/* Faces are on level 0, though finer levels may cross walls; bodies are on their own. */
struct level_met limits_met(const struct flow_case *c, int level)
{
    struct level_met on = {.level = level};
    for (int k = 0; k < case_openings(c) && level == 0; k++)
        meet(case_opening(c, k), &on.met);
    for (int i = 0; i < c->body_count; i++)
        if (limits_level(c, i) == level)
            meet_body(&c->bodies[i], &on.met);
    return on;
}

bool case_is_across(const struct flow_case *c, const struct case_body *body, int axis)
{
    bool across = false;
    for (int a = 0; a < 3; a++)
        across = across ||
                 (a != axis &&
                  (c->cells[a] == 1 || (body->lo[a] <= 0.5 && body->hi[a] >= c->cells[a] - 0.5)));
    return across;
}

/* ---- wakes ---- */

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
    if (body->image.file || body_surrounds(body))
        return WAKE_none;
    return !body->mesh.file && body->shape.kind == SHAPE_box ? WAKE_corners
           : case_is_across(c, body, -1)                     ? WAKE_across
                                                             : WAKE_compact;
}

const struct wake_limit *limits_wake(const struct flow_case *c, const struct case_body *body)
{
    static const struct wake_limit wakes[] = {
        [WAKE_corners] = {"behind corners of a body", 12, 40},
        [WAKE_across] = {"behind a cylinder", 15, 55},
        [WAKE_compact] = {NULL, INFINITY, INFINITY},
        [WAKE_none] = {NULL, INFINITY, INFINITY},
    };
    return &wakes[wake_of(c, body)];
}

bool limits_wake_passed(const struct flow_case *c)
{
    bool passed = false;
    for (int k = 0; k < c->body_count; k++)
        passed = passed ||
                 case_cell_reynolds(c, limits_level(c, k)) > limits_wake(c, &c->bodies[k])->others;
    return passed;
}
