/* Section of a case: patches, the parts of faces. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/opening.h"

static const char *const shapes[] = {"rectangle", "disc", "mask", NULL};

static enum status read_rectangle(const struct reader *r, const struct node *map,
                                  const int cells[3], const int axes[2], struct case_patch *p)
{
    char path[NODE_PATH];
    enum status s;
    if ((s = value_point(r, map, "patches.*.rectangle.from", cells, axes, p->from)) ||
        (s = value_point(r, map, "patches.*.rectangle.to", cells, axes, p->to)))
        return s;
    node_path(map, path, sizeof path);
    for (int k = 0; k < 2; k++) {
        if (p->from[k] > p->to[k])
            return fail_at(r->document, map->at, "%s: from %g is above to %g along %s (swap them)",
                           path, p->from[k], p->to[k], key_axes[axes[k]]);
        if (ceil(p->from[k] - 0.5) > floor(p->to[k] - 0.5))
            return fail_at(r->document, map->at,
                           "%s: no cell has its centre between %g and %g along %s (that of cell i "
                           "is i + 0.5)",
                           path, p->from[k], p->to[k], key_axes[axes[k]]);
    }
    return STATUS_OK;
}

static enum status read_disc(const struct reader *r, const struct node *map, const int cells[3],
                             const int axes[2], struct case_patch *p)
{
    char path[NODE_PATH];
    double nearest[2];
    enum status s;
    if ((s = value_point(r, map, "patches.*.disc.center", cells, axes, p->center)) ||
        (s = value_number(r, map, "patches.*.disc.radius", &p->radius)))
        return s;
    for (int k = 0; k < 2; k++)
        nearest[k] = floor(p->center[k]) + 0.5 - p->center[k];
    if (nearest[0] * nearest[0] + nearest[1] * nearest[1] <= p->radius * p->radius)
        return STATUS_OK;
    node_path(map, path, sizeof path);
    return fail_at(r->document, map->at,
                   "%s: no cell has its centre in it (that of cell i is i + 0.5)", path);
}

static enum status read_mask(const struct reader *r, const struct node *map, const int cells[3],
                             const int axes[2], struct case_patch *p)
{
    const int size[2] = {cells[axes[0]], cells[axes[1]]};
    const size_t all = (size_t)size[0] * (size_t)size[1];
    const enum status s =
        input_mask(r, map, "patches.*.mask", size, &p->mask, &p->file, &p->checksum);
    if (s || memchr(p->mask, 1, all))
        return s;
    return input_wrong(r, map, " has no white in it (what is white is inside)");
}

static enum status read_shape(const struct reader *r, const struct node *map, const int cells[3],
                              struct case_patch *p)
{
    char path[NODE_PATH];
    const struct node *found = NULL;
    int axes[2];
    face_axes(p->face, axes);
    for (int k = 0; shapes[k]; k++) {
        const struct node *n = node_get(map, shapes[k]);
        node_path(map, path, sizeof path);
        if (n && found)
            return fail_at(r->document, n->key_at, "%s has both %s and %s (keep one)", path,
                           found->key, n->key);
        if (n) {
            found = n;
            p->shape = (enum patch_shape)k;
        }
    }
    if (!found)
        return fail_at(r->document, map->key_at,
                       "%s has no shape (for example %s: {face: %s, disc: {center: [8, 8], radius: "
                       "4}, ...}; or rectangle or mask)",
                       path, map->key, key_faces[p->face]);
    return p->shape == PATCH_rectangle ? read_rectangle(r, found, cells, axes, p)
           : p->shape == PATCH_disc    ? read_disc(r, found, cells, axes, p)
                                       : read_mask(r, found, cells, axes, p);
}

/* What the patch's profile needs of its shape. */
static enum status check_profile(const struct reader *r, const struct node *map,
                                 const struct case_patch *p)
{
    char path[NODE_PATH];
    const enum profile profile = p->opening.profile;
    if (!opening_has_profile(&p->opening) || p->shape == PATCH_rectangle ||
        (p->shape == PATCH_disc && profile != PROFILE_duct))
        return STATUS_OK;
    const struct node *n = node_get(node_get(map, key_face_kinds[p->opening.kind]), "profile");
    node_path(n, path, sizeof path);
    return fail_at(r->document, n->at, "%s: not over a %s (%s)", path, shapes[p->shape],
                   p->shape == PATCH_disc ? "parabola is that of a pipe; or uniform, power or file"
                                          : "uniform or file");
}

static enum status read_patch(const struct reader *r, const struct node *map, struct flow_case *c,
                              struct case_patch *p)
{
    enum status s = value_choice(r, map, "patches.*.face", &p->face);
    if (s)
        return s;
    if (c->faces[p->face].kind == FACE_periodic)
        return fail_at(r->document, value_find(map, "patches.*.face")->at,
                       "patches.%s.face: %s is periodic, so it can have no parts", p->name,
                       key_faces[p->face]);
    if ((s = read_shape(r, map, c->cells, p)) ||
        (s = opening_read(r, map, "patches.*", p->face, c->cells, &p->opening)))
        return s;
    if (opening_wet(&p->opening) && c->cells[p->face / 2] < 2)
        return fail_at(r->document, map->key_at,
                       "patches.%s is regularised, whose plane lies on cells, but there is only "
                       "one cell along %s (at least 2, or rule: links)",
                       p->name, key_axes[p->face / 2]);
    return check_profile(r, map, p);
}

enum status section_patches(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "patches");
    enum status s = STATUS_OK;
    if (!map || !map->count)
        return STATUS_OK;
    if (map->count > CASE_PATCHES)
        return fail_at(r->document, map->key_at, "patches has %d entries (at most %d)", map->count,
                       CASE_PATCHES);
    c->patches = calloc((size_t)map->count, sizeof *c->patches);
    if (!c->patches)
        return fail_machine("no memory for the case's patches");
    for (const struct node *n = map->first; n && !s; n = n->next) {
        struct case_patch *p = &c->patches[c->patch_count++];
        snprintf(p->name, sizeof p->name, "%s", n->key);
        s = read_patch(r, n, c, p);
    }
    return s;
}

bool patch_holds(const struct case_patch *p, const int cells[3], int i, int j)
{
    int axes[2];
    face_axes(p->face, axes);
    const double x = i + 0.5, y = j + 0.5, dx = x - p->center[0], dy = y - p->center[1];
    switch (p->shape) {
    case PATCH_rectangle:
        return x >= p->from[0] && x <= p->to[0] && y >= p->from[1] && y <= p->to[1];
    case PATCH_disc:
        return dx * dx + dy * dy <= p->radius * p->radius;
    case PATCH_mask:
        return p->mask[(size_t)j * (size_t)cells[axes[0]] + (size_t)i];
    }
    return false;
}

static void put_pair(FILE *to, const char *before, const double v[2])
{
    put_number(to, before, v[0], ", ");
    put_number(to, "", v[1], "]");
}

static void write_patch(FILE *to, const struct case_patch *p)
{
    fprintf(to, "  %s: {face: %s, ", p->name, key_faces[p->face]);
    switch (p->shape) {
    case PATCH_rectangle:
        put_pair(to, "rectangle: {from: [", p->from);
        put_pair(to, ", to: [", p->to);
        break;
    case PATCH_disc:
        put_pair(to, "disc: {center: [", p->center);
        put_number(to, ", radius: ", p->radius, "");
        break;
    case PATCH_mask:
        fprintf(to, "mask: {file: ");
        put_text(to, p->file);
        put_checksum(to, p->checksum);
        break;
    }
    fprintf(to, "}, ");
    opening_write(to, &p->opening);
    fprintf(to, "}\n");
}

void patches_write(FILE *to, const struct flow_case *c)
{
    if (c->patch_count)
        fprintf(to, "patches:\n");
    for (int i = 0; i < c->patch_count; i++)
        write_patch(to, &c->patches[i]);
}

void patch_destroy(struct case_patch *patch)
{
    face_destroy(&patch->opening);
    free(patch->file);
    free(patch->mask);
    *patch = (struct case_patch){0};
}
