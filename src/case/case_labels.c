/* Part of a body in a case: bodies.*.labels, what scalars meet at the labels of an image. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

const struct case_scalar_wall *case_body_wall(const struct case_body *body, int part, int scalar)
{
    const struct case_scalar_wall *const of_label =
        part ? &body->labels[part - 1].scalar[scalar] : NULL;
    return of_label && of_label->kind != SCALAR_WALL_inherited ? of_label : &body->scalar[scalar];
}

bool case_body_conducts(const struct case_body *body, int scalar)
{
    bool any = false;
    for (int part = 0; part <= body->label_count; part++)
        any = any || case_body_wall(body, part, scalar)->kind == SCALAR_WALL_conduct;
    return any;
}

/* The label that a name stands for. A label has one name only, so that none is given twice. */
static enum status number_of(const struct reader *r, const struct node *n, int *label)
{
    char text[32], *end;
    const long number = strtol(n->key, &end, 10);
    snprintf(text, sizeof text, "%ld", number);
    if (strcmp(text, n->key) != 0 || number < VOXEL_LABEL_MIN ||
        number >= VOXEL_LABEL_MIN + VOXEL_LABELS)
        return fail_key(r, n, ": its name is not the number of a label (%d to %d, as in %s)",
                        VOXEL_LABEL_MIN, VOXEL_LABEL_MIN + VOXEL_LABELS - 1,
                        "labels: {1: {scalars: ...}}");
    *label = (int)number;
    return STATUS_OK;
}

static int by_number(const void *a, const void *b)
{
    const int first = *(const int *)a, second = *(const int *)b;
    return (first > second) - (first < second);
}

static int by_label(const void *a, const void *b)
{
    return by_number(&((const struct case_label *)a)->label,
                     &((const struct case_label *)b)->label);
}

enum status labels_find(struct map m, struct voxel_image *v)
{
    const struct node *const labels = map_get(m, "labels");
    enum status s = STATUS_OK;
    if (!labels || labels->kind != NODE_MAPPING)
        return STATUS_OK;
    if (!map_get(m, "image"))
        return value_refuse(m, "labels", "without an image");
    for (const struct node *n = labels->first; n && !m.r->c->scalar_count; n = n->next)
        if (!n->count) /* keys in it are reported as having no effect */
            return value_refuse(m, "labels", "without scalars");
    if (labels->count > VOXEL_SOLID)
        return fail_key(m.r, labels, " has %d entries (at most %d)", labels->count, VOXEL_SOLID);
    for (const struct node *n = labels->first; n && !s && m.r->c->scalar_count; n = n->next)
        s = number_of(m.r, n, &v->apart[v->apart_count++]);
    if (!s)
        qsort(v->apart, (size_t)v->apart_count, sizeof *v->apart, by_number);
    return s;
}

/* Only solid labels have a surface. */
static enum status check_solid(const struct reader *r, const struct node *n, int label,
                               const struct voxel_image *v)
{
    bool solid = false, occurs = false;
    for (int k = 0; k < v->solid_count; k++)
        solid = solid || v->solid[k] == label;
    for (int k = 0; k < v->label_count; k++)
        occurs = occurs || v->labels[k].label == label;
    if (solid)
        return STATUS_OK;
    if (!occurs)
        return fail_key(r, n,
                        ": label %d does not occur in the image, or in the part of it that is "
                        "taken (remove it)",
                        label);
    return fail_key(r, n, ": the voxels with label %d are fluid (add it to image.solid)", label);
}

enum status label_read(struct map m, void *thing)
{
    struct case_label *const label = thing;
    const struct scalar_place place = {.fallback = SCALAR_WALL_inherited};
    bool any = false;
    enum status s = number_of(m.r, m.node, &label->label);
    if (s || (s = scalar_walls_read(m, place, label->scalar)))
        return s;
    for (int k = 0; k < m.r->c->scalar_count; k++)
        any = any || label->scalar[k].kind != SCALAR_WALL_inherited;
    return any ? STATUS_OK
               : fail_key(m.r, m.node,
                          " gives no condition (for example %s: {scalars: {%s: {value: "
                          "1}}})",
                          label->name, m.r->c->scalars[0].name);
}

enum status labels_read(struct map m, struct case_body *body)
{
    const struct map labels = map_below(m, "labels");
    enum status s = things_read(labels, body);
    for (int k = 0; k < body->label_count && !s; k++) {
        const struct case_label *const l = &body->labels[k];
        s = check_solid(m.r, node_get(labels.node, l->name), l->label, &body->image);
    }
    if (!s && body->label_count)
        qsort(body->labels, (size_t)body->label_count, sizeof *body->labels, by_label);
    return s;
}

void labels_write(struct writer *w, const struct key *key, const void *from)
{
    if (!things_of(key, from).count)
        return;
    write_open(w, keys_name(key));
    things_write(w, key, from, NULL);
    write_close(w);
}

void labels_destroy(struct case_body *body)
{
    for (int k = 0; k < body->label_count; k++)
        scalar_walls_destroy(body->labels[k].scalar);
    free(body->labels);
}
