/* Shapes of bodies: reading a formula, or parts and what is made of them, and writing it back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/shape.h"
#include "case/sections.h"

#define SHAPE "bodies.*.shape"

/* Ends of a body lie within so many cells of 0: its images are counted in whole numbers, and
 * farther out a cell has few digits left. */
#define REACH 1e8

static enum status read_vector(const struct reader *r, const struct node *map, const char *row,
                               double to[3])
{
    return value_numbers(r, map, row, UNIT_LENGTH, 3, to);
}

static enum status read_box(const struct reader *r, const struct node *map, struct case_shape *to)
{
    char path[NODE_PATH];
    enum status s;
    if ((s = read_vector(r, map, SHAPE ".box.from", to->from)) ||
        (s = read_vector(r, map, SHAPE ".box.to", to->to)))
        return s;
    node_path(map, path, sizeof path);
    for (int a = 0; a < 3; a++)
        if (to->from[a] >= to->to[a])
            return fail_at(r->document, map->at, "%s: from %g is not below to %g along %s", path,
                           to->from[a], to->to[a], key_axes[a]);
    return STATUS_OK;
}

static enum status read_cylinder(const struct reader *r, const struct node *map,
                                 struct case_shape *to)
{
    enum status s;
    to->length = INFINITY;
    if ((s = read_vector(r, map, SHAPE ".cylinder.center", to->center)) ||
        (s = value_axis(r, map, SHAPE ".cylinder.axis", to->axis)) ||
        (s = value_number(r, map, SHAPE ".cylinder.radius", &to->radius)))
        return s;
    return value_number(r, map, SHAPE ".cylinder.length", &to->length);
}

static enum status read_capsule(const struct reader *r, const struct node *map,
                                struct case_shape *to)
{
    enum status s;
    if ((s = read_vector(r, map, SHAPE ".capsule.from", to->from)) ||
        (s = read_vector(r, map, SHAPE ".capsule.to", to->to)))
        return s;
    return value_number(r, map, SHAPE ".capsule.radius", &to->radius);
}

static enum status read_torus(const struct reader *r, const struct node *map, struct case_shape *to)
{
    enum status s;
    if ((s = read_vector(r, map, SHAPE ".torus.center", to->center)) ||
        (s = value_axis(r, map, SHAPE ".torus.axis", to->axis)) ||
        (s = value_number(r, map, SHAPE ".torus.radius", &to->radius)))
        return s;
    return value_number(r, map, SHAPE ".torus.tube", &to->tube);
}

static enum status read_half_space(const struct reader *r, const struct node *map,
                                   struct case_shape *to)
{
    const enum status s = read_vector(r, map, SHAPE ".half_space.point", to->center);
    return s ? s : value_axis(r, map, SHAPE ".half_space.normal", to->axis);
}

static enum status read_ellipsoid(const struct reader *r, const struct node *map,
                                  struct case_shape *to)
{
    char path[NODE_PATH];
    enum status s;
    if ((s = read_vector(r, map, SHAPE ".ellipsoid.center", to->center)) ||
        (s = read_vector(r, map, SHAPE ".ellipsoid.radii", to->radii)))
        return s;
    const struct node *const n = value_find(map, SHAPE ".ellipsoid.radii");
    node_path(n, path, sizeof path);
    for (int a = 0; a < 3; a++)
        if (!(to->radii[a] > 0))
            return fail_at(r->document, n->at, "%s: %g along %s is out of range (above 0)", path,
                           to->radii[a], key_axes[a]);
    return STATUS_OK;
}

static enum status read_sphere(const struct reader *r, const struct node *map,
                               struct case_shape *to)
{
    const enum status s = read_vector(r, map, SHAPE ".sphere.center", to->center);
    return s ? s : value_number(r, map, SHAPE ".sphere.radius", &to->radius);
}

/* The radius that gives the share asked for. */
static enum status read_share(const struct reader *r, const struct node *map, struct case_shape *to)
{
    char path[NODE_PATH];
    double share = 0;
    const enum status s = value_number(r, map, SHAPE ".pack.share", &share);
    if (s)
        return s;
    to->radius = to->length * pack_radius(to->pack, share);
    if (to->radius > 0)
        return STATUS_OK;
    const struct node *const n = value_find(map, SHAPE ".pack.share");
    node_path(n, path, sizeof path);
    return fail_at(r->document, n->at,
                   "%s: spheres of a pack %s fill at most %.4g without three of them meeting (give "
                   "radius for more)",
                   path, key_packs[to->pack], pack_share_max(to->pack));
}

static enum status read_pack(const struct reader *r, const struct node *map, struct case_shape *to)
{
    int pack = 0;
    enum status s;
    if ((s = value_choice(r, map, SHAPE ".pack.lattice", &pack)) ||
        (s = value_number(r, map, SHAPE ".pack.length", &to->length)) ||
        (s = read_vector(r, map, SHAPE ".pack.center", to->center)) ||
        (s = value_one_of(r, map, SHAPE ".pack.radius", SHAPE ".pack.share")))
        return s;
    to->pack = (enum shape_pack)pack;
    if (value_find(map, SHAPE ".pack.share"))
        return read_share(r, map, to);
    return value_number(r, map, SHAPE ".pack.radius", &to->radius);
}

static enum status read_parts(const struct reader *r, const struct node *map, struct case_shape *to)
{
    char path[NODE_PATH];
    enum status s = STATUS_OK;
    node_path(map, path, sizeof path);
    if (!map->count)
        return fail_at(r->document, map->at,
                       "%s has no parts (for example %s: {body: {sphere: {center: [32, 16, 16], "
                       "radius: 6}}, ...})",
                       path, map->key);
    if (map->count == 1 && to->kind != SHAPE_complement)
        return fail_at(r->document, map->at, "%s has only one part (at least two)", path);
    to->parts = calloc((size_t)map->count, sizeof *to->parts);
    if (!to->parts)
        return fail_machine("no memory for the parts of a body");
    for (const struct node *n = map->first; n && !s; n = n->next) {
        struct case_shape *const part = &to->parts[to->count++];
        memcpy(part->name, n->key, strlen(n->key) + 1); /* outline_check */
        s = shape_read(r, n, part);
    }
    return s;
}

static enum status read_kind(const struct reader *r, const struct node *map, struct case_shape *to)
{
    switch (to->kind) {
    case SHAPE_box:
        return read_box(r, map, to);
    case SHAPE_sphere:
        return read_sphere(r, map, to);
    case SHAPE_ellipsoid:
        return read_ellipsoid(r, map, to);
    case SHAPE_cylinder:
        return read_cylinder(r, map, to);
    case SHAPE_capsule:
        return read_capsule(r, map, to);
    case SHAPE_torus:
        return read_torus(r, map, to);
    case SHAPE_half_space:
        return read_half_space(r, map, to);
    case SHAPE_pack:
        return read_pack(r, map, to);
    case SHAPE_union:
    case SHAPE_difference:
    case SHAPE_intersection:
    case SHAPE_complement:
        break;
    }
    return read_parts(r, map, to);
}

/* The one map of a kind among the keys of `map`. */
static enum status find_kind(const struct reader *r, const struct node *map,
                             const struct node **found, enum shape_kind *kind)
{
    char path[NODE_PATH];
    *found = NULL;
    node_path(map, path, sizeof path);
    for (int k = 0; key_shapes[k]; k++) {
        const struct node *const n = node_get(map, key_shapes[k]);
        if (n && *found)
            return fail_at(r->document, n->key_at,
                           "%s is both %s and %s (keep one; union or intersection takes both)",
                           path, (*found)->key, n->key);
        if (n) {
            *found = n;
            *kind = (enum shape_kind)k;
        }
    }
    if (*found)
        return STATUS_OK;
    return fail_at(r->document, map->key_at,
                   "%s does not say which (for example %s: {sphere: {center: [32, 16, 16], radius: "
                   "6}})",
                   path, map->key);
}

static bool turns(const struct case_shape *s)
{
    return s->scale != 1 || s->rotate[0] != 0 || s->rotate[1] != 0 || s->rotate[2] != 0;
}

/* The point that stays where it is: a shape's centre, or that of the box that holds it. */
static enum status default_about(const struct reader *r, const struct node *map,
                                 struct case_shape *s)
{
    const double scale = s->scale;
    double rotate[3], move[3];
    struct shape made;
    char path[NODE_PATH];
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
        /* without the box's slack */
        s->about[a] = finite ? rint(0.5 * (made.lo[a] + made.hi[a]) * 0x1p20) / 0x1p20 : 0;
    }
    shape_destroy(&made);
    memcpy(s->rotate, rotate, sizeof rotate);
    memcpy(s->move, move, sizeof move);
    s->scale = scale;
    if (finite)
        return STATUS_OK;
    node_path(map, path, sizeof path);
    return fail_at(r->document, map->key_at,
                   "%s has no end along some axis, so rotate and scale need about (for example "
                   "about: [32, 16, 16])",
                   path);
}

/* Scale, rotation and move. */
static enum status read_placing(const struct reader *r, const struct node *map,
                                struct case_shape *to)
{
    enum status s;
    if ((s = value_number(r, map, SHAPE ".scale", &to->scale)) ||
        (s = value_numbers(r, map, SHAPE ".rotate", UNIT_NONE, 3, to->rotate)) ||
        (s = read_vector(r, map, SHAPE ".move", to->move)))
        return s;
    if (!turns(to))
        return value_refuse(r, map, SHAPE ".about", "without rotate or scale");
    return value_find(map, SHAPE ".about") ? read_vector(r, map, SHAPE ".about", to->about)
                                           : default_about(r, map, to);
}

enum status shape_read(const struct reader *r, const struct node *map, struct case_shape *to)
{
    const struct node *found;
    enum status s = find_kind(r, map, &found, &to->kind);
    if (!s)
        s = read_kind(r, found, to);
    return s ? s : read_placing(r, map, to);
}

enum status shape_check_box(const struct reader *r, const struct node *map,
                            const struct case_shape *shape, const struct flow_case *c)
{
    struct shape made;
    if (!shape_create(&made, shape))
        return fail_machine("no memory for a body");
    const enum status s = body_check_box(r, map, made.lo, made.hi, c);
    shape_destroy(&made);
    return s;
}

enum status body_check_box(const struct reader *r, const struct node *map, const double lo[3],
                           const double hi[3], const struct flow_case *c)
{
    char path[NODE_PATH];
    node_path(map, path, sizeof path);
    for (int a = 0; a < 3; a++) {
        if (lo[a] > hi[a])
            return fail_at(r->document, map->key_at, "%s is empty: its parts do not meet along %s",
                           path, key_axes[a]);
        if (c->faces[2 * a].kind != FACE_periodic && (hi[a] < 0.5 || lo[a] > c->cells[a] - 0.5))
            return fail_at(r->document, map->key_at,
                           "%s is outside of the box: it reaches from %.6g to %.6g along %s, which "
                           "has cells from 0 to %d",
                           path, lo[a], hi[a], key_axes[a], c->cells[a]);
        if ((isfinite(lo[a]) && fabs(lo[a]) > REACH) || (isfinite(hi[a]) && fabs(hi[a]) > REACH))
            return fail_at(r->document, map->key_at,
                           "%s would reach from %.6g to %.6g along %s (at most %g cells from 0; a "
                           "smaller scale or move?)",
                           path, lo[a], hi[a], key_axes[a], REACH);
    }
    return STATUS_OK;
}

static void put_axis(FILE *to, const char *before, const double axis[3])
{
    for (int a = 0; a < 3; a++)
        if (axis[a] == 1 && axis[(a + 1) % 3] == 0 && axis[(a + 2) % 3] == 0) {
            fprintf(to, "%s%s", before, key_axes[a]);
            return;
        }
    fputs(before, to);
    put_vector(to, axis);
}

static void put_point(FILE *to, const char *before, const double at[3])
{
    fputs(before, to);
    put_vector(to, at);
}

static void write_kind(FILE *to, const struct case_shape *s)
{
    switch (s->kind) {
    case SHAPE_box:
    case SHAPE_capsule:
        put_point(to, "from: ", s->from);
        put_point(to, ", to: ", s->to);
        break;
    case SHAPE_half_space:
        put_point(to, "point: ", s->center);
        put_axis(to, ", normal: ", s->axis);
        break;
    case SHAPE_ellipsoid:
        put_point(to, "center: ", s->center);
        put_point(to, ", radii: ", s->radii);
        break;
    case SHAPE_pack:
        fprintf(to, "lattice: %s, ", key_packs[s->pack]);
        put_number(to, "length: ", s->length, ", ");
        put_point(to, "center: ", s->center);
        break;
    case SHAPE_sphere:
    case SHAPE_cylinder:
    case SHAPE_torus:
        put_point(to, "center: ", s->center);
        break;
    default:
        break;
    }
    if (s->kind == SHAPE_cylinder || s->kind == SHAPE_torus)
        put_axis(to, ", axis: ", s->axis);
    if (s->radius > 0)
        put_number(to, ", radius: ", s->radius, "");
    if (s->kind == SHAPE_cylinder && isfinite(s->length))
        put_number(to, ", length: ", s->length, "");
    if (s->kind == SHAPE_torus)
        put_number(to, ", tube: ", s->tube, "");
    for (int k = 0; k < s->count; k++) {
        fprintf(to, "%s%s: ", k ? ", " : "", s->parts[k].name);
        shape_write(to, &s->parts[k]);
    }
}

void shape_write(FILE *to, const struct case_shape *s)
{
    fprintf(to, "{%s: {", key_shapes[s->kind]);
    write_kind(to, s);
    fputc('}', to);
    if (turns(s)) {
        put_number(to, ", scale: ", s->scale, "");
        put_point(to, ", rotate: ", s->rotate);
        put_point(to, ", about: ", s->about);
    }
    if (s->move[0] != 0 || s->move[1] != 0 || s->move[2] != 0)
        put_point(to, ", move: ", s->move);
    fputc('}', to);
}

void shape_free(struct case_shape *s)
{
    for (int k = 0; k < s->count; k++)
        shape_free(&s->parts[k]);
    free(s->parts);
    *s = (struct case_shape){0};
}
