/* Meshes of bodies: reading where one is put, checking it, and writing that back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/mesh.h"
#include "case/input.h"
#include "case/sections.h"

#define MESH "bodies.*.mesh"

/* Is it a closed surface, or may it be open? */
static enum status check_closed(const struct reader *r, const struct node *map,
                                const struct case_mesh *mesh)
{
    const struct mesh_facts *const f = &mesh->facts;
    if (!f->triangles)
        return input_wrong(r, map, " holds no triangle that has an area");
    if (f->open && !mesh->open)
        return input_wrong(r, map,
                           " is open: %zu of its edges are of an odd number of triangles (close "
                           "it, or open: accept)",
                           f->open);
    return STATUS_OK;
}

/* By scale, or by the longest edge of the box that holds it. */
static enum status read_scale(const struct reader *r, const struct node *map, const double lo[3],
                              const double hi[3], double *scale)
{
    const double longest = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
    double size = 0;
    enum status s;
    *scale = 1;
    if (!value_find(map, MESH ".size"))
        return value_number(r, map, MESH ".scale", scale);
    if (value_find(map, MESH ".scale"))
        return value_one_of(r, map, MESH ".scale", MESH ".size");
    if ((s = value_number(r, map, MESH ".size", &size)))
        return s;
    *scale = size / longest;
    if (longest > 0 && isfinite(*scale) && *scale > 0)
        return STATUS_OK;
    return input_wrong(r, map, " has no extent that could be scaled");
}

/* By the centre of the box that holds it or the lowest corner, or as the file has it. */
static enum status read_center(const struct reader *r, const struct node *map, const double lo[3],
                               const double hi[3], struct case_mesh *to)
{
    double min[3];
    if (value_find(map, MESH ".center")) {
        if (value_find(map, MESH ".min"))
            return value_one_of(r, map, MESH ".center", MESH ".min");
        return value_numbers(r, map, MESH ".center", UNIT_LENGTH, 3, to->center);
    }
    for (int a = 0; a < 3; a++)
        min[a] = to->scale * lo[a];
    const enum status s = value_numbers(r, map, MESH ".min", UNIT_LENGTH, 3, min);
    for (int a = 0; a < 3; a++)
        to->center[a] = value_find(map, MESH ".min") ? min[a] + 0.5 * to->scale * (hi[a] - lo[a])
                                                     : 0.5 * to->scale * (lo[a] + hi[a]);
    return s;
}

static enum status place(const struct reader *r, const struct node *map, const struct flow_case *c,
                         struct case_mesh *to)
{
    double lo[3], hi[3];
    enum status s = value_numbers(r, map, MESH ".rotate", UNIT_NONE, 3, to->rotate);
    if (s)
        return s;
    mesh_extent(to->stl, to->rotate, lo, hi);
    if ((s = read_scale(r, map, lo, hi, &to->scale)) || (s = read_center(r, map, lo, hi, to)))
        return s;
    for (int a = 0; a < 3; a++) {
        const double half = 0.5 * to->scale * (hi[a] - lo[a]);
        lo[a] = to->center[a] - half;
        hi[a] = to->center[a] + half;
        if (!(lo[a] >= -LINES_FAR && hi[a] <= LINES_FAR))
            return input_wrong(r, map,
                               " would reach from %g to %g along %s (at most %g cells from 0; a "
                               "smaller scale?)",
                               lo[a], hi[a], key_axes[a], LINES_FAR);
    }
    return body_check_box(r, map, lo, hi, c);
}

enum status mesh_read(const struct reader *r, const struct node *map, const struct flow_case *c,
                      struct case_mesh *to)
{
    int open = 0;
    enum status s;
    if ((s = value_choice(r, map, MESH ".open", &open)) ||
        (s = input_mesh(r, map, MESH, &to->stl, &to->file, &to->checksum)))
        return s;
    to->open = open;
    if (!mesh_look(to->stl, &to->facts))
        return fail_machine("no memory for a mesh");
    if ((s = check_closed(r, map, to)) || (s = place(r, map, c, to)))
        return s;
    if (!mesh_measure(to))
        return fail_machine("no memory for a mesh");
    if (to->facts.volume == 0 && !to->open)
        return input_wrong(r, map, " encloses nothing: its volume is 0");
    return STATUS_OK;
}

void mesh_write(FILE *to, const struct case_mesh *m)
{
    fprintf(to, "{file: ");
    put_text(to, m->file);
    put_checksum(to, m->checksum);
    put_number(to, ", scale: ", m->scale, ", rotate: ");
    put_vector(to, m->rotate);
    fprintf(to, ", center: ");
    put_vector(to, m->center);
    fprintf(to, "%s}", m->open ? ", open: accept" : "");
}

void mesh_text(const struct case_mesh *m, char *text, size_t size)
{
    const struct mesh_facts *const f = &m->facts;
    size_t length =
        (size_t)snprintf(text, size, "mesh of %zu triangles, parts %u, volume %.6g, area %.6g",
                         f->triangles, (unsigned)f->parts, fabs(f->volume), f->area);
    const struct {
        size_t count;
        const char *what;
    } more[] = {
        {f->flat, "triangles without area left out"},
        {f->twice, "triangles that are there twice left out"},
        {f->open, "open edges: the axes vote on what is inside"},
        {f->crowded, "edges of more than two triangles"},
        {f->turned,
         "edges whose triangles disagree on what is outside: inside is beyond an odd number"},
        {f->lost, "parts hold the centre of no cell"},
        {f->thin, "parts are less than two cells thick"},
    };
    if (f->cells && length < size)
        length +=
            (size_t)snprintf(text + length, size - length, ", %lld cells hold it (%+.2g %%)",
                             (long long)f->cells, 100 * ((double)f->cells / fabs(f->volume) - 1));
    for (size_t k = 0; k < sizeof more / sizeof *more && length < size; k++)
        if (more[k].count)
            length += (size_t)snprintf(text + length, size - length, "; %zu %s", more[k].count,
                                       more[k].what);
}

void mesh_free(struct case_mesh *m)
{
    if (m->stl)
        stl_destroy(m->stl);
    free(m->stl);
    free(m->file);
    *m = (struct case_mesh){0};
}
