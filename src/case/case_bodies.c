/* Section of a case: bodies. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

static enum status read_body(const struct reader *r, const struct node *map,
                             const struct flow_case *c, struct case_body *body)
{
    const struct node *const shape = value_find(map, "bodies.*.shape"), *const mesh = value_find(
                                                                            map, "bodies.*.mesh");
    enum status s = value_one_of(r, map, "bodies.*.shape", "bodies.*.mesh");
    if (!s && mesh)
        s = mesh_read(r, mesh, c, &body->mesh);
    if (!s && shape && !(s = shape_read(r, shape, &body->shape)))
        s = shape_check_box(r, shape, &body->shape, c);
    if (s)
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

void bodies_write(FILE *to, const struct flow_case *c)
{
    if (c->body_count)
        fprintf(to, "bodies:\n");
    for (int i = 0; i < c->body_count; i++) {
        const struct case_body *const b = &c->bodies[i];
        fprintf(to, "  %s: {%s: ", b->name, b->mesh.file ? "mesh" : "shape");
        if (b->mesh.file)
            mesh_write(to, &b->mesh);
        else
            shape_write(to, &b->shape);
        fprintf(to, ", velocity: ");
        put_vector(to, b->velocity);
        fprintf(to, "}\n");
    }
}

void body_destroy(struct case_body *body)
{
    shape_free(&body->shape);
    mesh_free(&body->mesh);
}
