/* Section of a case: bodies. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

static enum status read_box(const struct reader *r, const struct node *map, struct case_shape *to)
{
    char path[NODE_PATH];
    enum status s;
    if ((s = value_numbers(r, map, "bodies.*.shape.box.from", UNIT_LENGTH, 3, to->from)) ||
        (s = value_numbers(r, map, "bodies.*.shape.box.to", UNIT_LENGTH, 3, to->to)))
        return s;
    node_path(map, path, sizeof path);
    for (int a = 0; a < 3; a++)
        if (to->from[a] >= to->to[a])
            return fail_at(r->document, map->at, "%s: from %g is not below to %g along %s", path,
                           to->from[a], to->to[a], key_axes[a]);
    return STATUS_OK;
}

static enum status read_sphere(const struct reader *r, const struct node *map,
                               struct case_shape *to)
{
    const enum status s =
        value_numbers(r, map, "bodies.*.shape.sphere.center", UNIT_LENGTH, 3, to->center);
    return s ? s : value_number(r, map, "bodies.*.shape.sphere.radius", &to->radius);
}

static enum status read_cylinder(const struct reader *r, const struct node *map,
                                 struct case_shape *to)
{
    enum status s;
    if ((s = value_numbers(r, map, "bodies.*.shape.cylinder.center", UNIT_LENGTH, 3, to->center)) ||
        (s = value_choice(r, map, "bodies.*.shape.cylinder.axis", &to->axis)))
        return s;
    return value_number(r, map, "bodies.*.shape.cylinder.radius", &to->radius);
}

static enum status read_shape(const struct reader *r, const struct node *map, struct case_shape *to)
{
    char path[NODE_PATH];
    const struct node *found = NULL;
    node_path(map, path, sizeof path);
    for (int k = 0; key_shapes[k]; k++) {
        const struct node *n = node_get(map, key_shapes[k]);
        if (n && found)
            return fail_at(r->document, n->key_at, "%s is both %s and %s (keep one)", path,
                           found->key, n->key);
        if (n) {
            found = n;
            to->kind = (enum shape_kind)k;
        }
    }
    if (!found)
        return fail_at(r->document, map->key_at,
                       "%s does not say which (for example shape: {sphere: {center: [32, 16, 16], "
                       "radius: 6}})",
                       path);
    return to->kind == SHAPE_box      ? read_box(r, found, to)
           : to->kind == SHAPE_sphere ? read_sphere(r, found, to)
                                      : read_cylinder(r, found, to);
}

static enum status read_body(const struct reader *r, const struct node *map,
                             const struct flow_case *c, struct case_body *body)
{
    enum status s;
    const struct node *const shape = value_find(map, "bodies.*.shape");
    const struct node *const image = value_find(map, "bodies.*.image");
    if ((s = value_one_of(r, map, "bodies.*.shape", "bodies.*.image")) ||
        (s = shape ? read_shape(r, shape, &body->shape)
                   : voxel_image_read(r, image, c, &body->image)))
        return s;
    return value_numbers(r, map, "bodies.*.velocity", UNIT_VELOCITY, 3, body->velocity);
}

enum status section_bodies(struct reader *r, struct flow_case *c)
{
    const struct node *const map = node_get(r->document->root, "bodies");
    enum status s = STATUS_OK;
    if (!map || !map->count)
        return STATUS_OK;
    if (map->count > CASE_BODIES)
        return fail_at(r->document, map->key_at, "bodies has %d entries (at most %d)", map->count,
                       CASE_BODIES);
    c->bodies = calloc((size_t)map->count, sizeof *c->bodies);
    if (!c->bodies)
        return fail_machine("no memory for the case's bodies");
    for (const struct node *n = map->first; n && !s; n = n->next) {
        struct case_body *const body = &c->bodies[c->body_count++];
        memcpy(body->name, n->key, strlen(n->key) + 1); /* outline_check */
        s = read_body(r, n, c, body);
    }
    return s;
}

static void write_shape(FILE *to, const struct case_shape *s)
{
    fprintf(to, "shape: {%s: {", key_shapes[s->kind]);
    switch (s->kind) {
    case SHAPE_box:
        fprintf(to, "from: ");
        put_vector(to, s->from);
        fprintf(to, ", to: ");
        put_vector(to, s->to);
        break;
    case SHAPE_cylinder:
        fprintf(to, "axis: %s, ", key_axes[s->axis]);
        /* fall through */
    case SHAPE_sphere:
        fprintf(to, "center: ");
        put_vector(to, s->center);
        put_number(to, ", radius: ", s->radius, "");
        break;
    }
    fprintf(to, "}}");
}

void bodies_write(FILE *to, const struct flow_case *c)
{
    if (c->body_count)
        fprintf(to, "bodies:\n");
    for (const struct case_body *b = c->bodies; b < c->bodies + c->body_count; b++) {
        fprintf(to, "  %s: {", b->name);
        if (b->image.file)
            voxel_image_write(to, &b->image);
        else
            write_shape(to, &b->shape);
        fprintf(to, ", velocity: ");
        put_vector(to, b->velocity);
        fprintf(to, "}\n");
    }
}
