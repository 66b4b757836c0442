/* Section of a case: bodies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/mesh.h"
#include "body/shape.h"
#include "case/sections.h"

/* Exactly one of shape, mesh and image must be given. */
static enum status check_source(struct map m)
{
    static const char *const keys[] = {"shape", "mesh", "image"};
    char path[NODE_PATH], instead[2 * NODE_PATH + 32];
    const char *found = NULL;
    enum status s = STATUS_OK;
    for (size_t k = 0; k < sizeof keys / sizeof *keys && !s; k++) {
        if (!map_get(m, keys[k]))
            continue;
        if (found)
            s = value_one_of(m, found, keys[k]);
        found = keys[k];
    }
    if (s || found)
        return s;
    node_path(m.node, path, sizeof path);
    snprintf(instead, sizeof instead, " or %s.mesh or %s.image", path, path);
    return value_missing(m, keys[0], instead);
}

/* Sets body->lo, hi. Shapes: their bounds without the slack that shape.h adds, below 1e-6 cells. */
static enum status find_bounds(struct map m, struct case_body *body)
{
    struct shape shape;
    const double digits = ldexp(0x1p20, -m.r->level); /* the same ones on all levels */
    for (int a = 0; a < 3; a++) {
        body->lo[a] = 0;
        body->hi[a] = m.r->c->cells[a];
    }
    if (body->mesh.file)
        mesh_bounds(&body->mesh, body->lo, body->hi);
    if (!m.node)
        return STATUS_OK;
    if (!shape_create(&shape, &body->shape))
        return fail_machine("no memory for a body");
    for (int a = 0; a < 3; a++) {
        body->lo[a] = rint(shape.lo[a] * digits) / digits;
        body->hi[a] = rint(shape.hi[a] * digits) / digits;
    }
    shape_destroy(&shape);
    return body_check_box(m, body->lo, body->hi);
}

bool case_crosses(const struct flow_case *c, const struct case_body *body, int axis)
{
    return c->faces[2 * axis].kind == FACE_periodic &&
           body->hi[axis] - body->lo[axis] < c->cells[axis];
}

void case_pivot(const struct flow_case *c, const struct case_body *body, double pivot[3])
{
    for (int a = 0; a < 3; a++)
        pivot[a] = body->pivot_given                          ? body->pivot[a]
                   : isinf(body->lo[a]) || isinf(body->hi[a]) ? 0.5 * c->cells[a]
                                                              : 0.5 * (body->lo[a] + body->hi[a]);
}

/* Sets body->speed, an upper bound of the surface's speed: the velocity, plus the spin times the
 * distance from the pivot to the farthest corner of the bounding box inside the grid, or beyond a
 * periodic face. */
static void find_speed(const struct flow_case *c, struct case_body *body)
{
    const double *const w = body->spin;
    double square = 0, pivot[3];
    body->speed = magnitude(body->velocity);
    if (w[0] == 0 && w[1] == 0 && w[2] == 0)
        return;
    case_pivot(c, body, pivot);
    for (int a = 0; a < 3; a++) {
        const bool crosses = case_crosses(c, body, a);
        const double from = crosses ? body->lo[a] : fmax(body->lo[a], 0),
                     to = crosses ? body->hi[a] : fmin(body->hi[a], c->cells[a]);
        const double arm = fmax(fabs(from - pivot[a]), fabs(to - pivot[a]));
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        square += arm * arm * (w[b] * w[b] + w[d] * w[d]);
    }
    body->speed += sqrt(square);
}

/* The surface moves, but the cells of the body stand still: the heat in them would, too. */
static enum status check_conduct(struct map m, const struct case_body *body)
{
    for (int part = 0; part <= body->label_count && body->speed > 0; part++) {
        const struct node *const of =
            part ? node_get(map_get(m, "labels"), body->labels[part - 1].name) : m.node;
        for (int k = 0; k < m.r->c->scalar_count; k++) {
            const struct node *const n = node_get(node_get(of, "scalars"), m.r->c->scalars[k].name);
            if (n && case_body_wall(body, part, k)->kind == SCALAR_WALL_conduct)
                return fail_key(m.r, n,
                                ": the body conducts it, and its surface moves: what is in the "
                                "body would stand still (remove velocity and rotation, or give "
                                "value, flux or transfer)");
        }
    }
    return STATUS_OK;
}

static enum status read_scalars(struct map m, struct case_body *body)
{
    const struct scalar_place place = {.fallback = SCALAR_WALL_adiabatic};
    body->scalar = calloc(CASE_SCALARS, sizeof *body->scalar);
    if (!body->scalar)
        return fail_machine("no memory for a body");
    const enum status s = scalar_walls_read(m, place, body->scalar);
    return s ? s : labels_read(m, body);
}

enum status body_read(struct map m, void *thing)
{
    struct case_body *const body = thing;
    const double *const w = body->spin;
    const struct map shape = map_below(m, "shape"), mesh = map_below(m, "mesh"),
                     image = map_below(m, "image");
    enum status s;
    if (!(body->place = place_text(m.r->document, m.node->key_at)))
        return STATUS_MACHINE;
    if ((s = check_source(m)) || (s = labels_find(m, &body->image)) ||
        (mesh.node && (s = mesh_read(mesh, &body->mesh))) ||
        (image.node && (s = voxel_image_read(image, &body->image))) ||
        (shape.node && (s = shape_read(shape, &body->shape))) || (s = find_bounds(shape, body)) ||
        (s = record_read(m, 0, body)))
        return s;
    /* the speed of rotating surfaces is checked later, on the grid: near_list_make() */
    if ((s = check_mach(m.r, map_get(m, "velocity"), magnitude(body->velocity),
                        "the surface is as fast as")))
        return s;
    if (m.r->c->scalar_count && (s = read_scalars(m, body)))
        return s;
    if ((s = caps_read(m, body)))
        return s;
    body->turns = body->pivot_given || w[0] != 0 || w[1] != 0 || w[2] != 0;
    find_speed(m.r->c, body);
    return check_conduct(m, body);
}

enum status bodies_check(struct map m, struct flow_case *c)
{
    const struct case_body *first = NULL;
    for (int k = 0; k < c->body_count; k++) {
        const struct case_body *const body = &c->bodies[k];
        if (body->image.file && body->image.fill && case_caps(c))
            return fail_key(m.r, node_get(m.node, body->name),
                            ": isolated: fill does not know of caps (isolated: keep)");
        for (int i = 0; i < case_openings(c) && body->cap_count; i++)
            if (case_opening(c, i)->share > 0)
                return fail_key(
                    m.r, node_get(m.node, body->name),
                    " has caps, and an opening has a `share`, which does not count them "
                    "(let the vessel end at faces, or give pressures)");
        if (body->cap_count && 6 + c->patch_count + body->cap_count > CASE_GATES)
            return fail_key(m.r, node_get(m.node, body->name),
                            " has %d caps, and there are %d patches: together at most %d",
                            body->cap_count, c->patch_count, CASE_GATES - 6);
        if (!body_surrounds(body))
            continue;
        if (first)
            return fail_key(
                m.r, node_get(m.node, body->name),
                ": fluid: inside is given for %s, too: each of them makes all solid "
                "that is outside of its mesh (put the surfaces into one file: parts may "
                "overlap)",
                first->name);
        first = body;
    }
    return STATUS_OK;
}

void body_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_body *const body = thing;
    if (body->mesh.file) {
        write_open(w, "mesh");
        record_write(w, "bodies.*.mesh", body->mesh.open ? MESH_OPEN : 0, &body->mesh);
    } else if (body->image.file) {
        write_open(w, "image");
        record_write(w, "bodies.*.image", 1u << body->image.format, &body->image);
    } else {
        write_open(w, "shape");
        shape_write(w, "bodies.*.shape", &body->shape);
    }
    write_close(w);
    record_write(w, row, 0, body);
}

void body_destroy(struct case_body *body)
{
    free(body->place);
    shape_free(&body->shape);
    mesh_free(&body->mesh);
    voxel_image_destroy(&body->image);
    scalar_walls_destroy(body->scalar);
    free(body->scalar);
    labels_destroy(body);
    caps_destroy(body);
}

static bool shape_straight(const struct case_shape *s)
{
    bool straight = !s->rotate[0] && !s->rotate[1] && !s->rotate[2];
    if (!s->count && s->kind == SHAPE_half_space)
        straight = straight && (s->axis[0] != 0) + (s->axis[1] != 0) + (s->axis[2] != 0) == 1;
    else if (!s->count)
        straight = straight && s->kind == SHAPE_box;
    for (int k = 0; k < s->count; k++)
        straight = straight && shape_straight(&s->parts[k]);
    return straight;
}

bool case_straight(const struct case_body *body)
{
    return !body->mesh.file && !body->image.file && shape_straight(&body->shape);
}

bool case_oblique_flux(const struct flow_case *c, int body)
{
    const struct case_body *const b = &c->bodies[body];
    bool gives = false;
    for (int k = 0; k < c->scalar_count; k++)
        for (int part = 0; part <= b->label_count; part++)
            gives = gives || scalar_wall_flux(case_body_wall(b, part, k)->kind);
    return gives && !case_straight(b);
}

double case_body_size(const struct flow_case *c, const struct case_body *body)
{
    static const double plate = 4;
    double least = INFINITY;
    for (int a = 0; a < 3; a++) {
        const bool goes_on = c->faces[2 * a].kind == FACE_periodic;
        const double size = goes_on ? body->hi[a] - body->lo[a]
                                    : fmin(body->hi[a], c->cells[a]) - fmax(body->lo[a], 0);
        if (size >= plate && size < c->cells[a])
            least = fmin(least, size);
    }
    return isfinite(least) ? least : 0;
}
