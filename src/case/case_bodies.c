/* Section of a case: bodies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

static enum status read_rotation(const struct reader *r, const struct node *body,
                                 struct case_body *to)
{
    const struct node *const map = value_find(body, "bodies.*.rotation");
    if (!map)
        return STATUS_OK;
    to->pivot_given = value_find(map, "bodies.*.rotation.about");
    const enum status s = value_numbers(r, map, "bodies.*.rotation.rate", UNIT_RATE, 3, to->spin);
    return s ? s : value_numbers(r, map, "bodies.*.rotation.about", UNIT_LENGTH, 3, to->pivot);
}

/* What it is made of is said once. */
static enum status check_source(const struct reader *r, const struct node *map)
{
    static const char *const rows[] = {"bodies.*.shape", "bodies.*.mesh", "bodies.*.image"};
    char path[NODE_PATH], instead[2 * NODE_PATH + 32];
    const char *found = NULL;
    enum status s = STATUS_OK;
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !s; k++) {
        if (!value_find(map, rows[k]))
            continue;
        if (found)
            s = value_one_of(r, map, found, rows[k]);
        found = rows[k];
    }
    if (s || found)
        return s;
    node_path(map, path, sizeof path);
    snprintf(instead, sizeof instead, " or %s.mesh or %s.image", path, path);
    return value_missing(r, map, rows[0], instead);
}

/* What turns is checked where the box is: bodies_list(). */
static enum status check_velocity(const struct reader *r, const struct node *map,
                                  const struct case_body *body)
{
    char path[NODE_PATH];
    const double *const u = body->velocity;
    const double mach = sqrt(3 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
    if (mach <= MACH_MAX)
        return STATUS_OK;
    const struct node *const value = value_find(map, "bodies.*.velocity");
    node_path(value, path, sizeof path);
    return fail_at(r->document, value->at,
                   "%s: the surface is as fast as %.4g cells a step, Mach %.3g (at most Mach %g, "
                   "%.3g cells a step: %s)",
                   path, mach / sqrt(3.0), mach, MACH_MAX, MACH_MAX / sqrt(3.0),
                   r->units.given ? "take a smaller units.dt"
                                  : "with a smaller viscosity the Reynolds number stays");
}

static enum status read_body(const struct reader *r, const struct node *map,
                             const struct flow_case *c, struct case_body *body)
{
    const struct node *const shape = value_find(map, "bodies.*.shape"), *const mesh = value_find(
                                                                            map, "bodies.*.mesh");
    const struct node *const image = value_find(map, "bodies.*.image");
    int wall = 0;
    enum status s = check_source(r, map);
    if (!s && mesh)
        s = mesh_read(r, mesh, c, &body->mesh);
    if (!s && image)
        s = voxel_image_read(r, image, c, &body->image);
    if (!s && shape && !(s = shape_read(r, shape, &body->shape)))
        s = shape_check_box(r, shape, &body->shape, c);
    if (s || (s = value_choice(r, map, "bodies.*.wall", &wall)) ||
        (s = read_rotation(r, map, body)))
        return s;
    body->wall = (enum body_wall)wall;
    s = value_numbers(r, map, "bodies.*.velocity", UNIT_VELOCITY, 3, body->velocity);
    return s ? s : check_velocity(r, map, body);
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

void bodies_write(FILE *to, const struct flow_case *c)
{
    if (c->body_count)
        fprintf(to, "bodies:\n");
    for (int i = 0; i < c->body_count; i++) {
        const struct case_body *const b = &c->bodies[i];
        fprintf(to, "  %s: {%s: ", b->name,
                b->mesh.file    ? "mesh"
                : b->image.file ? "image"
                                : "shape");
        if (b->mesh.file)
            mesh_write(to, &b->mesh);
        else if (b->image.file)
            voxel_image_write(to, &b->image);
        else
            shape_write(to, &b->shape);
        fprintf(to, ", wall: %s, velocity: ", key_body_walls[b->wall]);
        put_vector(to, b->velocity);
        if (b->pivot_given || b->spin[0] || b->spin[1] || b->spin[2]) {
            fprintf(to, ", rotation: {rate: ");
            put_vector(to, b->spin);
            if (b->pivot_given) {
                fprintf(to, ", about: ");
                put_vector(to, b->pivot);
            }
            fputc('}', to);
        }
        fprintf(to, "}\n");
    }
}

void body_destroy(struct case_body *body)
{
    shape_free(&body->shape);
    mesh_free(&body->mesh);
    voxel_image_destroy(&body->image);
}
