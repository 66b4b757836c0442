/* Section of a case: patches, the parts of faces. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/opening.h"

static const char *const shapes[] = {"rectangle", "disc", "mask", NULL};

static enum status check_rectangle(struct map m, const struct case_patch *p)
{
    enum status s = STATUS_OK;
    for (int k = 0; k < 2 && !s && !m.r->origin; k++) { /* on a finer level it may have no cell */
        int span[2];
        s = value_span(m, p->from[k], p->to[k], m.r->axes[k], span);
    }
    return s;
}

static enum status check_disc(struct map m, const struct case_patch *p)
{
    double nearest[2];
    for (int k = 0; k < 2; k++)
        nearest[k] = floor(p->center[k]) + 0.5 - p->center[k];
    if (m.r->origin || nearest[0] * nearest[0] + nearest[1] * nearest[1] <= p->radius * p->radius)
        return STATUS_OK;
    return fail_value(m.r, m.node, ": no cell has its centre in it (that of cell i is i + 0.5)");
}

static enum status read_mask(struct map m, struct case_patch *p)
{
    const int size[2] = {m.r->c->cells[m.r->axes[0]], m.r->c->cells[m.r->axes[1]]};
    const size_t all = (size_t)size[0] * (size_t)size[1];
    const enum status s = input_mask(m, size, &p->mask, &p->file, &p->checksum);
    if (s || memchr(p->mask, 1, all))
        return s;
    return input_wrong(m, " has no white in it (what is white is inside)");
}

static enum status read_shape(struct map m, struct case_patch *p)
{
    struct map found;
    int shape = 0;
    enum status s = value_kind(m, shapes, "has both", "", &found, &shape);
    if (s)
        return s;
    if (!found.node)
        return fail_key(m.r, m.node,
                        " has no shape (for example %s: {face: %s, disc: {center: [8, 8], radius: "
                        "4}, ...}; or rectangle or mask)",
                        m.node->key, key_faces[p->face]);
    p->shape = (enum patch_shape)shape;
    s = record_read(found, 0, p);
    return s                             ? s
           : p->shape == PATCH_rectangle ? check_rectangle(found, p)
           : p->shape == PATCH_disc      ? check_disc(found, p)
                                         : read_mask(found, p);
}

/* Not every profile is defined on every shape. */
static enum status check_profile(struct map m, const struct case_patch *p)
{
    const enum profile profile = p->opening.profile;
    const bool round = profile_has(profile, PROFILE_HAS_radius);
    if ((!opening_has_profile(&p->opening) && !round) || p->shape == PATCH_rectangle ||
        (p->shape == PATCH_disc && profile != PROFILE_duct))
        return STATUS_OK;
    const struct node *n = node_get(map_get(m, key_face_kinds[p->opening.kind]), "profile");
    return fail_value(m.r, n, ": not over a %s (%s)", shapes[p->shape],
                      p->shape == PATCH_disc
                          ? "parabola is that of a pipe; or uniform, power, radius or file"
                          : "uniform, file, or height");
}

/* A mask has no middle from which a scalar's value could vary. */
static enum status check_scalars(struct map m, const struct case_patch *p)
{
    const struct flow_case *const c = m.r->c;
    const struct node *const kind = map_get(m, key_face_kinds[p->opening.kind]);
    for (int k = 0; k < c->scalar_count && p->shape == PATCH_mask; k++)
        if (profile_has(p->opening.scalar[k].profile, PROFILE_HAS_radius))
            return fail_value(
                m.r, node_get(node_get(node_get(kind, "scalars"), c->scalars[k].name), "value"),
                ": radius: not over a mask (height)");
    return STATUS_OK;
}

static void bounds_of_mask(const struct case_patch *p, int width, int height, int lo[2], int hi[2])
{
    lo[0] = width;
    lo[1] = height;
    hi[0] = hi[1] = 0;
    for (int v = 0; v < height; v++)
        for (int u = 0; u < width; u++) {
            const int at[2] = {u, v};
            for (int k = 0; k < 2 && p->mask[(size_t)v * (size_t)width + (size_t)u]; k++) {
                lo[k] = at[k] < lo[k] ? at[k] : lo[k];
                hi[k] = at[k] + 1 > hi[k] ? at[k] + 1 : hi[k];
            }
        }
}

/* The patch's bounding cells, lo <= cell < hi, along the face's axes. */
static void bounds_of(const struct case_patch *p, const int cells[3], int lo[2], int hi[2])
{
    int axes[2];
    face_axes(p->face, axes);
    if (p->mask) {
        bounds_of_mask(p, cells[axes[0]], cells[axes[1]], lo, hi);
        return;
    }
    for (int k = 0; k < 2; k++) {
        const int n = cells[axes[k]];
        double from = 0, to = n;
        if (p->shape == PATCH_rectangle) {
            from = p->from[k];
            to = p->to[k];
        } else if (p->shape == PATCH_disc) {
            from = p->center[k] - p->radius;
            to = p->center[k] + p->radius;
        }
        lo[k] = (int)fmax(ceil(from - 0.5), 0);
        hi[k] = (int)fmin(floor(to - 0.5) + 1, n);
    }
}

static struct opening_cells cells_of(const struct case_patch *p, const int cells[3])
{
    struct opening_cells of = {.face = p->face};
    bounds_of(p, cells, of.lo, of.hi);
    for (int k = 0; k < 2; k++)
        of.center[k] = p->shape == PATCH_disc ? p->center[k] : 0.5 * (p->from[k] + p->to[k]);
    return of;
}

enum status patch_read(struct map m, void *thing)
{
    struct case_patch *const p = thing;
    const struct flow_case *const c = m.r->c;
    struct reader on_face = *m.r;
    enum status s;
    if (!(p->opening.place = place_text(m.r->document, m.node->key_at)))
        return STATUS_MACHINE;
    if ((s = record_read(m, 0, p)))
        return s;
    face_axes(p->face, on_face.axes);
    m.r = &on_face;
    if (c->faces[p->face].kind == FACE_periodic)
        return fail_at(m.r->document, map_get(m, "face")->at,
                       "patches.%s.face: %s is periodic, so it can have no parts", p->name,
                       key_faces[p->face]);
    if ((s = read_shape(m, p)))
        return s;
    const struct opening_cells cells = cells_of(p, c->cells);
    if ((s = opening_read(m, &cells, &p->opening)))
        return s;
    if (face_on_nodes(&p->opening) && c->cells[p->face / 2] < 2)
        return fail_at(m.r->document, m.node->key_at,
                       "patches.%s is regularised, whose plane lies on cells, but there is only "
                       "one cell along %s (at least 2, or rule: links)",
                       p->name, key_axes[p->face / 2]);
    s = check_profile(m, p);
    return s ? s : check_scalars(m, p);
}

/* Is this cell in one of the patches after number k? */
static bool in_later(const struct flow_case *c, int k, int i, int j)
{
    for (int l = k + 1; l < c->patch_count; l++)
        if (c->patches[l].face == c->patches[k].face && patch_holds(&c->patches[l], c->cells, i, j))
            return true;
    return false;
}

/* Does one later rectangle cover all cells lo <= cell < hi? */
static bool in_rectangle(const struct flow_case *c, int k, const int lo[2], const int hi[2])
{
    for (const struct case_patch *p = c->patches + k + 1; p < c->patches + c->patch_count; p++)
        if (p->face == c->patches[k].face && p->shape == PATCH_rectangle &&
            patch_holds(p, c->cells, lo[0], lo[1]) &&
            patch_holds(p, c->cells, hi[0] - 1, hi[1] - 1))
            return true;
    return false;
}

/* Do later patches cover all cells of patch k? Above `most` cells only a single rectangle is
 * recognised; else each cell is tested. */
static bool is_covered(const struct flow_case *c, int k)
{
    static const double most = 0x1p26;
    const struct case_patch *const p = &c->patches[k];
    int lo[2], hi[2];
    bounds_of(p, c->cells, lo, hi);
    if (in_rectangle(c, k, lo, hi))
        return true;
    if ((double)(hi[0] - lo[0]) * (hi[1] - lo[1]) > most)
        return false;
    for (int j = lo[1]; j < hi[1]; j++)
        for (int i = lo[0]; i < hi[0]; i++)
            if (patch_holds(p, c->cells, i, j) && !in_later(c, k, i, j))
                return false;
    return true;
}

enum status patches_check(struct map m, struct flow_case *c)
{
    const struct node *n = m.node ? m.node->first : NULL;
    for (int k = 0; k < c->patch_count && !m.r->origin; k++, n = n->next)
        if (is_covered(c, k))
            return fail_at(m.r->document, n->key_at,
                           "patches.%s has no cell left: later patches cover all of it (remove it, "
                           "or put it after them)",
                           c->patches[k].name);
    return STATUS_OK;
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

void patch_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_patch *const p = thing;
    record_write(w, row, 0, p);
    write_open(w, shapes[p->shape]);
    record_write(w, keys_below(row, shapes[p->shape]).text, 0, p);
    write_close(w);
    opening_write(w, &p->opening);
}

void patch_destroy(struct case_patch *patch)
{
    face_destroy(&patch->opening);
    free(patch->file);
    free(patch->mask);
    *patch = (struct case_patch){0};
}
