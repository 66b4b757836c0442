/* Section of a case: refine, regions with finer cells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/shape.h"
#include "case/case_law.h"
#include "case/record.h"
#include "case/sections.h"

enum {
    LEVEL_MAX = 8,     /* finest */
    DEFAULT_CELLS = 4, /* cells of its level between a body and the end of the region around it */
};

/* Most cells along an axis of the finest level: coordinates are int, and twice as large in places.
 */
#define AXIS_MAX 0x1p30
/* Most cells of the whole box on the finest level: their indices are int64_t. */
#define BOX_MAX 0x1p62

/* A length in cells of level 0 times this is in cells of the level. */
static double finer(int level)
{
    return ldexp(1, level);
}

bool case_flat(const struct flow_case *c, int axis)
{
    return case_axis_flat(c->cells[axis], c->faces[2 * axis].kind == FACE_periodic);
}

int case_halved(const struct flow_case *c, int level, int axis)
{
    return case_flat(c, axis) ? 0 : level;
}

/* Scales a vector to length 1, so that scaling it again changes no bit. */
static void normalise(double v[3])
{
    static const double rounding = 0x1p-50;
    const double length = magnitude(v);
    for (int a = 0; a < 3 && fabs(length - 1) > rounding; a++)
        v[a] /= length;
}

/* Default of `stream`: initial.velocity, else the velocity of the first opening through which fluid
 * comes in, else x. */
static void find_stream(const struct flow_case *c, double stream[3])
{
    bool found = magnitude(c->initial.velocity) > 0;
    memcpy(stream, c->initial.velocity, sizeof c->initial.velocity);
    for (int k = 0; k < case_openings(c) && !found; k++) {
        const struct case_face *const what = case_opening(c, k);
        const int side = case_opening_side(c, k);
        found = what->kind == FACE_velocity && (side & 1 ? -1 : 1) * what->velocity[side / 2] > 0;
        if (found)
            memcpy(stream, what->velocity, sizeof what->velocity);
    }
    if (!found)
        stream[0] = 1;
}

/* The axis that is nearest to the stream. */
static int stream_axis(const double stream[3])
{
    int most = 0;
    for (int a = 1; a < 3; a++)
        most = fabs(stream[a]) > fabs(stream[most]) ? a : most;
    return most;
}

/* Ends of the body along an axis. */
static void ends_of(const struct case_body *body, int axis, double end[2])
{
    const struct voxel_image *const image = &body->image;
    end[0] = image->file ? image->at[axis] : body->lo[axis];
    end[1] = image->file ? image->at[axis] + voxel_image_cells(image, axis) : body->hi[axis];
}

/* The smaller extent of the body across the stream, in cells of level 0; see the key cells_across.
 * 0: the body spans the box along both axes. */
static double extent_across(const struct flow_case *c, const struct case_refine *refine)
{
    const struct case_body *const body = &c->bodies[refine->body];
    double least = INFINITY;
    for (int a = 0; a < 3; a++) {
        double end[2];
        ends_of(body, a, end);
        if (a != stream_axis(refine->stream) && !(end[0] <= 0 && end[1] >= c->cells[a]))
            least = fmin(least, end[1] - end[0]);
    }
    return isfinite(least) ? least : 0;
}

/* A turbulent boundary layer on a flat plate, at its end. c_f: 0.027 / Re^(1/7) (White, Fluid
 * Mechanics, section 7.4). */
struct friction {
    double velocity, length, reynolds, friction; /* friction: velocity sqrt(c_f / 2) */
};

static struct friction friction_of(const struct flow_case *c, const struct case_refine *refine)
{
    const struct case_body *const body = &c->bodies[refine->body];
    const int a = stream_axis(refine->stream);
    struct friction f = {.velocity = c->fluid.velocity, .length = c->fluid.length};
    double end[2];
    ends_of(body, a, end);
    if (!(f.velocity > 0))
        f.velocity = case_fastest_velocity(c);
    if (!(f.length > 0))
        f.length = fmin(end[1], c->cells[a]) - fmax(end[0], 0);
    f.reynolds = f.velocity * f.length / case_thinnest(c);
    f.friction = f.velocity * sqrt(0.5 * 0.027 / pow(f.reynolds, 1.0 / 7));
    return f;
}

/* Distance of the first cell's centre from the wall, half a cell of the level, in viscous lengths.
 */
static double y_plus_of(const struct flow_case *c, const struct friction *f, int level)
{
    const double viscosity = case_viscosity_under(c, f->friction * f->friction);
    return 0.5 / finer(level) * f->friction / viscosity;
}

/* The smallest level whose cells are at least `times` finer than those of level 0. `is`, `unit`:
 * what level 0 has. */
static enum status smallest_level(struct map m, const char *key, double times, double is,
                                  const char *unit, int *level)
{
    const struct node *const n = map_get(m, key);
    if (times <= 1)
        return fail_value(m.r, n, ": the cells of level 0 have that already, %.4g%s (remove %s)",
                          is, unit, m.node->key);
    for (*level = 1; *level <= LEVEL_MAX; ++*level)
        if (finer(*level) >= times)
            return STATUS_OK;
    return fail_value(m.r, n,
                      " needs cells %.4g times finer than those of level 0, which have %.4g%s (at "
                      "most %g times, level %d: take a finer level 0)",
                      times, is, unit, finer(LEVEL_MAX), LEVEL_MAX);
}

static enum status level_from_cells(struct map m, struct case_refine *to)
{
    const struct flow_case *const c = m.r->c;
    enum status s = value_read(m, "cells_across", &to->cells_across);
    const double extent = extent_across(c, to);
    if (s)
        return s;
    if (!(extent > 0))
        return fail_value(m.r, map_get(m, "cells_across"),
                          ": %s reaches from one end of the box to the other across the stream, "
                          "which is along %s (give level, or another stream)",
                          c->bodies[to->body].name, key_axes[stream_axis(to->stream)]);
    return smallest_level(m, "cells_across", to->cells_across / extent, extent, " across",
                          &to->level);
}

static enum status level_from_y_plus(struct map m, struct case_refine *to)
{
    const struct flow_case *const c = m.r->c;
    const enum status s = value_read(m, "y_plus", &to->y_plus);
    if (s)
        return s;
    const struct friction f = friction_of(c, to);
    if (!(f.velocity > 0) || !(f.length > 0))
        return fail_value(m.r, map_get(m, "y_plus"),
                          ": the friction follows from a velocity and a length, and the case sets "
                          "no %s (for example fluid: {%s})",
                          f.velocity > 0 ? "length" : "velocity",
                          f.velocity > 0 ? "length: 64" : "velocity: 0.05");
    const double is = y_plus_of(c, &f, 0);
    return smallest_level(m, "y_plus", is / to->y_plus, is, " viscous lengths", &to->level);
}

/* Exactly one of level, cells_across and y_plus; a resolved case says the level, too. */
static enum status read_level(struct map m, struct case_refine *to)
{
    static const char *const keys[] = {"level", "cells_across", "y_plus"};
    const bool resolved = !m.r->unitless;
    const char *found = NULL;
    enum status s;
    for (size_t k = resolved ? 1 : 0; k < sizeof keys / sizeof *keys; k++) {
        if (!map_get(m, keys[k]))
            continue;
        if (found)
            return value_one_of(m, found, keys[k]);
        found = keys[k];
    }
    if (map_get(m, "level") && (s = value_read(m, "level", &to->level)))
        return s;
    if (resolved && map_get(m, "level")) {
        if ((s = value_read(m, "cells_across", &to->cells_across)))
            return s;
        return value_read(m, "y_plus", &to->y_plus);
    }
    if (!found)
        return value_missing(m, "level", to->of == REFINE_around ? ", cells_across or y_plus" : "");
    return !strcmp(found, "cells_across") ? level_from_cells(m, to)
           : !strcmp(found, "y_plus")     ? level_from_y_plus(m, to)
                                          : STATUS_OK;
}

static enum status read_box(struct map m, struct case_refine *to)
{
    const struct map box = map_below(m, "box");
    for (int a = 0; a < 3; a++)
        to->to[a] = m.r->c->cells[a];
    const enum status s = record_read(m, REFINE(box), to);
    for (int a = 0; a < 3 && !s; a++)
        if (to->from[a] >= to->to[a])
            return fail_value(m.r, box.node, ": from %g is not below to %g along %s", to->from[a],
                              to->to[a], key_axes[a]);
    return s;
}

/* The shape must overlap the box. */
static enum status read_shape(struct map m, struct case_refine *to)
{
    const struct map inner = map_below(m, "shape");
    struct shape shape;
    double lo[3], hi[3];
    const enum status s = shape_read(inner, &to->shape);
    if (s)
        return s;
    if (!shape_create(&shape, &to->shape))
        return fail_machine("no memory for a shape");
    memcpy(lo, shape.lo, sizeof lo);
    memcpy(hi, shape.hi, sizeof hi);
    shape_destroy(&shape);
    return body_check_box(inner, lo, hi);
}

static enum status read_around(struct map m, struct case_refine *to)
{
    enum status s = value_read(m, "around", &to->body);
    find_stream(m.r->c, to->stream);
    if (s || (s = value_read(m, "stream", to->stream)))
        return s;
    normalise(to->stream);
    if ((s = read_level(m, to)))
        return s;
    to->distance = DEFAULT_CELLS / finer(to->level);
    if ((s = record_read(m, REFINE(around), to)))
        return s;
    to->behind = to->before = to->distance;
    s = value_read(m, "behind", &to->behind);
    return s ? s : value_read(m, "before", &to->before);
}

enum status refine_read(struct map m, void *thing)
{
    struct case_refine *const to = thing;
    struct map found;
    char why[64];
    int of = 0;
    enum status s = value_kind(m, key_refines, "has both", "", &found, &of);
    if (s)
        return s;
    if (!found.node)
        return fail_key(m.r, m.node,
                        " does not say where (for example %s: {level: 1, box: {from: [0, 0, 0], "
                        "to: [16, 16, 16]}}; or shape, or around: a body)",
                        m.node->key);
    to->of = (enum refine_of)of;
    if (!(to->place = place_text(m.r->document, m.node->key_at)))
        return STATUS_MACHINE;
    snprintf(why, sizeof why, "with %s", key_refines[of]);
    if ((s = record_refuse(m, 1u << of, why)))
        return s;
    if (to->of == REFINE_around)
        return read_around(m, to);
    s = read_level(m, to);
    return s ? s : to->of == REFINE_box ? read_box(m, to) : read_shape(m, to);
}

/* Coordinates and indices of the finest level must not overflow. */
static enum status check_cells(struct map m, const struct flow_case *c)
{
    const double times = finer(c->levels - 1);
    double all = 1;
    for (int a = 0; a < 3; a++) {
        all *= times * c->cells[a];
        if (times * c->cells[a] > AXIS_MAX)
            return fail_key(m.r, m.node,
                            ": level %d would have %g cells along %s (at most %g: take a coarser "
                            "level)",
                            c->levels - 1, times * c->cells[a], key_axes[a], AXIS_MAX);
    }
    if (all <= BOX_MAX)
        return STATUS_OK;
    return fail_key(m.r, m.node,
                    ": the whole box would have %.3g cells of level %d, more than can be numbered "
                    "(at most %.3g: take a coarser level)",
                    all, c->levels - 1, BOX_MAX);
}

enum status refine_find(struct map m, struct flow_case *c)
{
    const enum status s = things_read(m, c);
    c->levels = 1;
    for (int k = 0; k < c->refine_count && !s; k++)
        c->levels = c->refines[k].level + 1 > c->levels ? c->refines[k].level + 1 : c->levels;
    return s || c->levels == 1 ? s : check_cells(m, c);
}

void refine_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_refine *const refine = thing;
    record_write(w, row, 1u << refine->of, refine);
    if (refine->of != REFINE_shape)
        return;
    write_open(w, "shape");
    shape_write(w, "bodies.*.shape", &refine->shape);
    write_close(w);
}

void refine_destroy(struct case_refine *refine)
{
    free(refine->place);
    shape_free(&refine->shape);
}

/* ---- what does not go with levels ---- */

/* Does the value say no more than the default? */
static bool is_default(const struct node *n, const struct key *key)
{
    const char *end[2];
    double value[2];
    if (!key->fallback || n->kind != NODE_SCALAR)
        return false;
    return !strcmp(n->text, key->fallback) ||
           (!number_parse(n->text, &end[0], &value[0]) &&
            !number_parse(key->fallback, &end[1], &value[1]) && value[0] == value[1]);
}

/* Reports the key if it does not go with the section `refine`. */
static enum status check_key(const struct reader *r, const struct node *n, const struct key *key)
{
    char path[NODE_PATH];
    if (!key->refine || is_default(n, key))
        return STATUS_OK;
    node_path(n, path, sizeof path);
    return fail_key(r, node_get(r->document->root, "refine"), " does not go with %s (%s)", path,
                    key->refine);
}

static enum status check_keys(const struct reader *r, const struct node *map, const char *pattern)
{
    enum status s = STATUS_OK;
    for (const struct node *n = map->first; n && !s; n = n->next) {
        char child[KEYS_PATH];
        if (!keys_step(pattern, n->key, child))
            continue; /* cannot be: the case was read */
        s = check_key(r, n, keys_row(child));
        if (!s && n->kind == NODE_MAPPING)
            s = check_keys(r, n, child);
    }
    return s;
}

enum status refine_check(const struct reader *r, const struct flow_case *c)
{
    return c->levels == 1 ? STATUS_OK : check_keys(r, r->document->root, "");
}

/* ---- the log ---- */

static void say_region(const struct flow_case *c, const struct case_refine *refine)
{
    const struct friction f =
        refine->y_plus > 0 ? friction_of(c, refine) : (struct friction){.velocity = 0};
    const double *const v = refine->stream;
    if (refine->of != REFINE_around)
        say("refine %s: level %d, a %s", refine->name, refine->level,
            refine->of == REFINE_box ? "box" : key_shapes[refine->shape.kind]);
    else
        say("refine %s: level %d, around %s, %g cells on all sides, %g behind, %g before (stream "
            "%g, %g, %g)",
            refine->name, refine->level, c->bodies[refine->body].name, refine->distance,
            refine->behind, refine->before, v[0], v[1], v[2]);
    if (refine->cells_across > 0)
        say("  %g cells across are wanted, there are %g", refine->cells_across,
            extent_across(c, refine) * finer(refine->level));
    if (refine->y_plus > 0)
        say("  y+ %g is wanted, there is %.4g: c_f = 0.027 / Re^(1/7), Re %.4g (velocity %g, "
            "length %g)",
            refine->y_plus, y_plus_of(c, &f, refine->level), f.reynolds, f.velocity, f.length);
}

void refine_say(const struct flow_case *c)
{
    for (int k = 0; k < c->refine_count; k++)
        say_region(c, &c->refines[k]);
}
