/* Meshes of bodies: reading, placing, checking and describing them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/mesh.h"
#include "case/input.h"
#include "case/level.h"
#include "case/record.h"
#include "case/sections.h"

/* Is it a closed surface, or may it be open? */
static enum status check_closed(struct map m, const struct case_mesh *mesh)
{
    const struct mesh_facts *const f = &mesh->facts;
    if (!f->triangles)
        return input_wrong(m, " holds no triangle that has an area");
    if (f->open && !mesh->open)
        return input_wrong(m,
                           " is open: %zu of its edges are of an odd number of triangles (close "
                           "it, or open: accept)",
                           f->open);
    return STATUS_OK;
}

/* The scale, given directly or by the longest edge of the bounding box. */
static enum status read_scale(struct map m, const double lo[3], const double hi[3], double *scale)
{
    const double longest = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
    double size = 0;
    enum status s;
    *scale = 1;
    if (!map_get(m, "size"))
        return value_read(m, "scale", scale);
    if (map_get(m, "scale"))
        return value_one_of(m, "scale", "size");
    if ((s = value_read(m, "size", &size)))
        return s;
    *scale = size / longest;
    if (longest > 0 && isfinite(*scale) && *scale > 0)
        return STATUS_OK;
    return input_wrong(m, " has no extent that could be scaled");
}

/* The centre of the bounding box, given directly or by its lowest corner; default: the place in the
 * file's coordinates. */
static enum status read_center(struct map m, const double lo[3], const double hi[3],
                               struct case_mesh *to)
{
    double min[3];
    if (map_get(m, "center")) {
        if (map_get(m, "min"))
            return value_one_of(m, "center", "min");
        return value_read(m, "center", to->center);
    }
    for (int a = 0; a < 3; a++)
        min[a] = to->scale * lo[a];
    const enum status s = value_read(m, "min", min);
    for (int a = 0; a < 3; a++)
        to->center[a] = map_get(m, "min") ? min[a] + 0.5 * to->scale * (hi[a] - lo[a])
                                          : 0.5 * to->scale * (lo[a] + hi[a]);
    return s;
}

/* Units that users confuse: `times` small units are one large unit. The likeliest come first. */
static const struct {
    double times;
    const char *small, *large;
} units[] = {{1e3, "mm", "m"}, {25.4, "mm", "inches"}, {100, "cm", "m"},
             {10, "mm", "cm"}, {1e6, "um", "m"},       {304.8, "mm", "feet"}};

/* Would the mesh fit if it were `times` as large? It must be at least two cells long, no longer
 * than the box, and overlap it along axes that are not periodic. A placed mesh grows about its
 * centre, another one about 0. */
static bool would_fit(const struct flow_case *c, const double lo[3], const double hi[3],
                      double times, bool placed)
{
    static const double least = 2;
    bool fits = true;
    double longest = 0;
    for (int a = 0; a < 3; a++) {
        const double middle = 0.5 * (lo[a] + hi[a]), half = 0.5 * (hi[a] - lo[a]) * times;
        const double at = placed ? middle : middle * times;
        const bool ends = c->faces[2 * a].kind != FACE_periodic;
        longest = fmax(longest, 2 * half);
        fits = fits && 2 * half <= c->cells[a] &&
               (!ends || (at + half > 0.5 && at - half < c->cells[a] - 0.5));
    }
    return fits && longest >= least;
}

/* " (1000 times smaller it would fit: ...)"; empty if no unit fits. */
static void guess_unit(const struct flow_case *c, const double lo[3], const double hi[3],
                       bool placed, char text[160])
{
    *text = '\0';
    for (size_t k = 0; k < sizeof units / sizeof *units && !*text; k++)
        for (int larger = 0; larger < 2 && !*text; larger++)
            if (would_fit(c, lo, hi, larger ? units[k].times : 1 / units[k].times, placed))
                snprintf(text, 160,
                         " (%g times %s it would fit: is a length of 1 in the file a unit of %s, "
                         "not of %s?)",
                         units[k].times, larger ? "larger" : "smaller",
                         larger ? units[k].large : units[k].small,
                         larger ? units[k].small : units[k].large);
}

/* Refuses a mesh that is far larger than the box, outside of it, or smaller than a cell: its unit
 * is probably another one. */
static enum status check_size(struct map m, const double lo[3], const double hi[3], bool placed)
{
    const struct flow_case *const c = m.r->c;
    static const double larger = 2, volumes = 1000;
    double times = 1, longest = 0;
    bool large = true, outside = false;
    char unit[160];
    for (int a = 0; a < 3; a++) {
        const double part = (hi[a] - lo[a]) / c->cells[a];
        times *= part;
        large = large && part >= larger;
        longest = fmax(longest, hi[a] - lo[a]);
        outside = outside || (c->faces[2 * a].kind != FACE_periodic &&
                              (hi[a] < 0.5 || lo[a] > c->cells[a] - 0.5));
    }
    large = large && times > volumes;
    if (!large && !outside && longest >= 1)
        return STATUS_OK;
    guess_unit(c, lo, hi, placed, unit);
    if (!large && !*unit)
        return STATUS_OK; /* body_check_box and bodies_place report it */
    return fail_key(m.r, m.node,
                    " reaches from [%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g], %s the box of %d x "
                    "%d x %d cells%s",
                    lo[0], lo[1], lo[2], hi[0], hi[1], hi[2],
                    large     ? "which is far larger than"
                    : outside ? "which is outside of"
                              : "which is less than a cell of",
                    c->cells[0], c->cells[1], c->cells[2],
                    *unit ? unit : " (a smaller scale, or cut it to what is in the box)");
}

static enum status place(struct map m, struct case_mesh *to)
{
    double lo[3], hi[3];
    enum status s;
    mesh_extent(to->stl, to->rotate, lo, hi);
    if ((s = read_scale(m, lo, hi, &to->scale)) || (s = read_center(m, lo, hi, to)))
        return s;
    for (int a = 0; a < 3; a++) {
        const double half = 0.5 * to->scale * (hi[a] - lo[a]);
        lo[a] = to->center[a] - half;
        hi[a] = to->center[a] + half;
    }
    s = check_size(m, lo, hi, map_get(m, "center") || map_get(m, "min"));
    for (int a = 0; a < 3 && !s; a++) {
        if (!(lo[a] >= -LINES_FAR && hi[a] <= LINES_FAR))
            return input_wrong(m,
                               " would reach from %g to %g along %s (at most %g cells from 0; a "
                               "smaller scale, or another center or min?)",
                               lo[a], hi[a], key_axes[a], LINES_FAR);
    }
    return s ? s : body_check_box(m, lo, hi);
}

enum status mesh_read(struct map m, struct case_mesh *to)
{
    enum status s;
    if ((s = input_mesh(m, &to->stl, &to->file, &to->checksum)) ||
        (s = record_read(m, ALL_KINDS, to)))
        return s;
    if (m.r->origin)
        to->facts = level_facts(m);
    else if (!mesh_look(to->stl, &to->facts))
        return fail_machine("no memory for a mesh");
    if ((s = check_closed(m, to)) || (s = place(m, to)))
        return s;
    if ((!m.r->origin && !mesh_turn_parts(to)) || !mesh_measure(to))
        return fail_machine("no memory for a mesh");
    if (to->facts.volume == 0 && !to->open)
        return input_wrong(m, " encloses nothing: its volume is 0");
    return STATUS_OK;
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
        {f->open, "open edges: what is inside is decided by a majority of the axes"},
        {f->crowded, "edges of more than two triangles"},
        {f->turned,
         "edges whose triangles disagree on what is outside: inside is what lies behind an odd "
         "number of surfaces"},
        {f->righted, "triangles turned round, as their neighbours are"},
        {f->inverted, "parts were inside out and are turned round"},
        {f->lost, "parts hold the centre of no cell"},
        {f->thin, "parts are less than two cells thick"},
    };
    if (f->cells && length < size)
        length += (size_t)snprintf(text + length, size - length, ", %lld cells hold it",
                                   (long long)f->cells);
    if (f->cells && length < size) /* what parts share is twice in the volume */
        length += f->shared
                      ? (size_t)snprintf(text + length, size - length,
                                         ", %lld of them in several parts", (long long)f->shared)
                      : (size_t)snprintf(text + length, size - length, " (%+.2g %%)",
                                         100 * ((double)f->cells / fabs(f->volume) - 1));
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
