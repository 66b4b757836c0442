/* Shapes of bodies: reads and writes basic shapes and combinations of parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/shape.h"
#include "case/bare.h"
#include "case/record.h"
#include "case/sections.h"

#define SHAPE "bodies.*.shape"

/* Ends of a body lie within this many cells of 0: periodic images are counted in integers, and
 * farther out coordinates have few digits left. */
#define REACH 1e8

static enum status check_box(struct map m, const struct case_shape *to)
{
    for (int a = 0; a < 3; a++)
        if (to->from[a] >= to->to[a])
            return fail_value(m.r, m.node, ": from %g is not below to %g along %s", to->from[a],
                              to->to[a], key_axes[a]);
    return STATUS_OK;
}

static enum status check_ellipsoid(struct map m, const struct case_shape *to)
{
    for (int a = 0; a < 3; a++)
        if (!(to->radii[a] > 0))
            return fail_value(m.r, map_get(m, "radii"), ": %g along %s is out of range (above 0)",
                              to->radii[a], key_axes[a]);
    return STATUS_OK;
}

/* The radius of a pack's spheres, given directly or by their share of the volume. */
static enum status read_radius(struct map m, struct case_shape *to)
{
    const struct node *const n = map_get(m, "share");
    double share = 0;
    enum status s = value_one_of(m, "radius", "share");
    if (s || !n)
        return s ? s : value_read(m, "radius", &to->radius);
    if ((s = value_read(m, "share", &share)))
        return s;
    to->radius = to->length * pack_radius(to->pack, share);
    if (to->radius > 0)
        return STATUS_OK;
    return fail_value(
        m.r, n,
        ": spheres of a pack %s fill at most %.4g without three of them meeting (give "
        "radius for more)",
        key_packs[to->pack], pack_share_max(to->pack));
}

static enum status read_parts(struct map m, struct case_shape *to)
{
    if (!m.node->count)
        return fail_value(m.r, m.node,
                          " has no parts (for example %s: {body: {sphere: {center: [32, 16, 16], "
                          "radius: 6}}, ...})",
                          m.node->key);
    if (m.node->count == 1 && to->kind != SHAPE_complement)
        return fail_value(m.r, m.node, " has only one part (at least two)");
    return things_read(m, to);
}

static enum status read_kind(struct map m, struct case_shape *to)
{
    if (keys_row(m.row)->type == KEY_NAMES)
        return read_parts(m, to);
    if (to->kind == SHAPE_cylinder)
        to->length = INFINITY;
    const enum status s = record_read(m, 0, to);
    if (s)
        return s;
    return to->kind == SHAPE_box         ? check_box(m, to)
           : to->kind == SHAPE_ellipsoid ? check_ellipsoid(m, to)
           : to->kind == SHAPE_pack      ? read_radius(m, to)
                                         : STATUS_OK;
}

static bool turns(const struct case_shape *s)
{
    return s->scale != 1 || s->rotate[0] != 0 || s->rotate[1] != 0 || s->rotate[2] != 0;
}

/* Default centre of rotation and scaling: the shape's centre, or the centre of its bounding box. */
static enum status default_about(struct map m, struct case_shape *s)
{
    const double scale = s->scale;
    double rotate[3], move[3];
    struct shape made;
    if (s->kind != SHAPE_box && s->kind != SHAPE_capsule && !s->count) {
        memcpy(s->about, s->center, sizeof s->about);
        return STATUS_OK;
    }
    memcpy(rotate, s->rotate, sizeof rotate);
    memcpy(move, s->move, sizeof move);
    memset(s->rotate, 0, sizeof s->rotate);
    memset(s->move, 0, sizeof s->move);
    s->scale = 1;
    if (!shape_create(&made, s))
        return fail_machine("no memory for a body");
    bool finite = true;
    for (int a = 0; a < 3; a++) {
        finite = finite && isfinite(made.lo[a]) && isfinite(made.hi[a]);
        /* rounds off the slack of the bounding box */
        s->about[a] = finite ? rint(0.5 * (made.lo[a] + made.hi[a]) * 0x1p20) / 0x1p20 : 0;
    }
    shape_destroy(&made);
    memcpy(s->rotate, rotate, sizeof rotate);
    memcpy(s->move, move, sizeof move);
    s->scale = scale;
    if (finite)
        return STATUS_OK;
    return fail_key(m.r, m.node,
                    " has no end along some axis, so rotate and scale need about (for example "
                    "about: [32, 16, 16])");
}

/* The kind, then scale, rotation and move. A part has the keys of a shape. */
enum status shape_read(struct map m, void *thing)
{
    struct case_shape *const to = thing;
    struct map found;
    int kind = 0;
    m.row = SHAPE;
    enum status s =
        value_kind(m, key_shapes, "is both", "; union or intersection takes both", &found, &kind);
    if (s)
        return s;
    if (!found.node)
        return fail_key(m.r, m.node,
                        " does not say which (for example %s: {sphere: {center: [32, 16, 16], "
                        "radius: 6}})",
                        m.node->key);
    to->kind = (enum shape_kind)kind;
    if ((s = read_kind(found, to)) || (s = record_read(m, ALL_KINDS, to)))
        return s;
    if (!turns(to))
        return value_refuse(m, "about", "without rotate or scale");
    return map_get(m, "about") ? value_read(m, "about", to->about) : default_about(m, to);
}

enum status body_check_box(struct map m, const double lo[3], const double hi[3])
{
    const struct flow_case *const c = m.r->c;
    char bare[256];
    for (int a = 0; a < 3; a++) {
        if (lo[a] > hi[a])
            return fail_key(m.r, m.node, " is empty: its parts do not meet along %s", key_axes[a]);
        if (c->faces[2 * a].kind != FACE_periodic && (hi[a] < 0.5 || lo[a] > c->cells[a] - 0.5))
            return fail_key(m.r, m.node,
                            " is outside of the box: it reaches from %.6g to %.6g along %s, which "
                            "has cells from 0 to %d%s",
                            lo[a], hi[a], key_axes[a], c->cells[a], bare_length_text(c, bare));
        if (hi[a] < -c->cells[a] || lo[a] > 2.0 * c->cells[a])
            return fail_key(m.r, m.node,
                            " is outside of the box: it reaches from %.6g to %.6g along %s, which "
                            "is periodic with cells from 0 to %d (center, min or move place it in "
                            "the box)%s",
                            lo[a], hi[a], key_axes[a], c->cells[a], bare_length_text(c, bare));
        if ((isfinite(lo[a]) && fabs(lo[a]) > REACH) || (isfinite(hi[a]) && fabs(hi[a]) > REACH))
            return fail_key(m.r, m.node,
                            " would reach from %.6g to %.6g along %s (at most %g cells from 0; a "
                            "smaller scale or move?)",
                            lo[a], hi[a], key_axes[a], REACH);
    }
    return STATUS_OK;
}

void shape_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_shape *const s = thing;
    const char *const kind = key_shapes[s->kind];
    const struct key *const key = keys_row(keys_below(SHAPE, kind).text);
    const bool moves = s->move[0] != 0 || s->move[1] != 0 || s->move[2] != 0;
    (void)row; /* a part's row has the same keys as SHAPE */
    write_open(w, kind);
    if (key->type == KEY_NAMES)
        things_write(w, key, s, shape_write);
    else
        record_write(w, key->path, 0, s);
    write_close(w);
    record_write(w, SHAPE, (turns(s) ? SHAPE_TURNS : 0) | (moves ? SHAPE_MOVES : 0), s);
}

void shape_free(struct case_shape *s)
{
    for (int k = 0; k < s->count; k++)
        shape_free(&s->parts[k]);
    free(s->parts);
    *s = (struct case_shape){0};
}
