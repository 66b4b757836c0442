/* A triangle mesh as a body; see mesh.h. */
#include "body/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/turn.h"
#include "lattice.h"

/* A link's ends may miss a triangle that they should touch by so many cells. */
#define NEAR 1e-9
/* The least part of a link before the surface. */
#define LEAST 0x1p-40
/* Lines through a mesh so large are not counted out. */
#define COUNTED 1e9

bool mesh_place(const struct stl *m, const struct case_mesh *how, struct mesh_place *place)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    turn_make(how->rotate, place->turn);
    place->scale = how->scale;
    for (size_t v = 0; v < m->vertices; v++) {
        double at[3];
        turn_apply((const double(*)[3])place->turn, m->vertex[v], at);
        for (int a = 0; a < 3; a++) {
            lo[a] = fmin(lo[a], at[a]);
            hi[a] = fmax(hi[a], at[a]);
        }
    }
    for (int a = 0; a < 3; a++) {
        place->shift[a] = how->at[a] - (how->centered ? 0.5 * how->scale * (lo[a] + hi[a]) : 0);
        place->lo[a] = place->shift[a] + how->scale * lo[a];
        place->hi[a] = place->shift[a] + how->scale * hi[a];
        if (!(place->lo[a] >= -LINES_FAR && place->hi[a] <= LINES_FAR))
            return false;
    }
    return true;
}

/* Volume, area, and what the mesh's shadow along each axis is in all, of every part. */
struct part {
    double volume, shadow[3];
    int64_t cells;
};

static void measure_parts(const struct mesh *m, const uint32_t *number, struct part *part,
                          double *area)
{
    for (size_t t = 0; t < m->triangles; t++) {
        struct part *const to = &part[number[t]];
        const double *const p = m->vertex[m->corner[t][0]], *const q = m->vertex[m->corner[t][1]],
                            *const r = m->vertex[m->corner[t][2]];
        double square = 0;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            const double n = (q[b] - p[b]) * (r[c] - p[c]) - (q[c] - p[c]) * (r[b] - p[b]);
            to->volume += (p[a] - m->lo[a]) * n / 6;
            to->shadow[a] += 0.25 * fabs(n);
            square += n * n;
        }
        *area += 0.5 * sqrt(square);
    }
}

/* Cells between the surfaces that a line crosses: hits add where it leaves, subtract where it
 * enters, the number of the first cell beyond. */
static bool count_cells(const struct mesh *m, const uint32_t *number, uint32_t parts,
                        struct part *part)
{
    static const int everywhere[2] = {-20000000, 20000000};
    const int lo[3] = {everywhere[0], everywhere[0], everywhere[0]},
              hi[3] = {everywhere[1], everywhere[1], everywhere[1]}, x[3] = {1, 0, 0};
    uint32_t(*const corner)[3] = malloc((m->triangles + 1) * sizeof *corner);
    size_t *const begin = calloc((size_t)parts + 2, sizeof *begin);
    bool done = corner && begin;
    for (size_t t = 0; done && t < m->triangles; t++)
        begin[number[t] + 2]++;
    for (uint32_t k = 0; done && k < parts; k++)
        begin[k + 2] += begin[k + 1];
    for (size_t t = 0; done && t < m->triangles; t++)
        memcpy(corner[begin[number[t] + 1]++], m->corner[t], sizeof *corner);
    for (uint32_t k = 0; done && k < parts; k++) {
        const struct triangles t = {m->vertices, begin[k + 1] - begin[k],
                                    (const double(*)[3])m->vertex,
                                    (const uint32_t(*)[3])(corner + begin[k])};
        struct lines l;
        done = lines_create(&l, &t, x, lo, hi);
        const size_t hits = done ? l.begin[(size_t)l.count[0] * (size_t)l.count[1]] : 0;
        for (size_t h = 0; h < hits; h++)
            part[k].cells -= l.hit[h].turn * lines_cell(l.hit[h].at);
        if (done)
            lines_destroy(&l);
    }
    free(corner);
    free(begin);
    return done;
}

static bool look_at_parts(struct mesh *m)
{
    uint32_t *const number = mesh_parts(m->vertices, m->triangles, m->corner, &m->cells.parts);
    struct part *const part = number ? calloc((size_t)m->cells.parts + 1, sizeof *part) : NULL;
    bool done = part != NULL;
    if (done)
        measure_parts(m, number, part, &m->cells.area);
    for (uint32_t k = 0; done && k < m->cells.parts; k++)
        m->cells.volume += part[k].volume;
    m->outward = done && m->cells.volume < 0 ? -1 : 1;
    const bool counted =
        m->closed && m->agreed && (m->hi[1] - m->lo[1]) * (m->hi[2] - m->lo[2]) < COUNTED;
    if (done && counted)
        done = count_cells(m, number, m->cells.parts, part);
    for (uint32_t k = 0; done && counted && k < m->cells.parts; k++) {
        double widest = 0;
        m->cells.cells += llabs(part[k].cells);
        for (int a = 0; a < 3; a++)
            widest = fmax(widest, part[k].shadow[a]);
        m->cells.lost += part[k].cells == 0;
        m->cells.thin += part[k].cells != 0 && fabs(part[k].volume) < (2 - NEAR) * widest;
    }
    free(part);
    free(number);
    return done;
}

/* Lines along the axes that inside is asked of, and along all pairs of directions for links. */
static bool draw_lines(struct mesh *m, const int lo[3], const int hi[3], bool links)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct triangles t = {m->vertices, m->triangles, (const double(*)[3])m->vertex,
                                m->corner};
    for (int k = 0; k < 9; k++) {
        if ((k == 0 || (k < 3 && !m->closed)) &&
            !lines_create(&m->axis[k], &t, c[2 * k + 1], lo, hi))
            return false;
        if (links && !lines_create(&m->pair[k], &t, c[2 * k + 1], lo, hi))
            return false;
    }
    return true;
}

bool mesh_create(struct mesh *m, const struct case_mesh *from, const int lo[3], const int hi[3],
                 bool links)
{
    struct mesh_place place;
    *m = (struct mesh){0};
    mesh_place(from->stl, from, &place);
    m->vertices = from->stl->vertices;
    m->triangles = from->stl->triangles;
    m->corner = (const uint32_t(*)[3])from->stl->triangle;
    m->agreed = from->agreed;
    m->closed = from->closed;
    memcpy(m->lo, place.lo, sizeof m->lo);
    memcpy(m->hi, place.hi, sizeof m->hi);
    m->vertex = malloc((m->vertices + 1) * sizeof *m->vertex);
    if (!m->vertex)
        goto failed;
    for (size_t v = 0; v < m->vertices; v++) {
        turn_apply((const double(*)[3])place.turn, from->stl->vertex[v], m->vertex[v]);
        for (int a = 0; a < 3; a++)
            m->vertex[v][a] = place.shift[a] + place.scale * m->vertex[v][a];
    }
    if (!draw_lines(m, lo, hi, links) || !look_at_parts(m))
        goto failed;
    return true;

failed:
    mesh_destroy(m);
    return false;
}

void mesh_destroy(struct mesh *m)
{
    free(m->vertex);
    for (int k = 0; k < 3; k++)
        lines_destroy(&m->axis[k]);
    for (int k = 0; k < 9; k++)
        lines_destroy(&m->pair[k]);
    *m = (struct mesh){0};
}

/* What the mesh says of a cell along one axis: how many of its two ways out end inside. */
static int votes_along(const struct mesh *m, const struct lines *l, const int cell[3])
{
    size_t count, passed = 0;
    const struct hit *const hit = lines_at(l, cell, &count);
    int before = 0, after = 0;
    for (; passed < count && hit[passed].at <= cell[l->main] + 0.5; passed++)
        before += hit[passed].turn;
    for (size_t h = passed; h < count; h++)
        after += hit[h].turn;
    if (m->agreed)
        return (before != 0) + (after != 0);
    return (int)(passed % 2 + (count - passed) % 2);
}

/* An open mesh: inside is where more than half of the ways along the axes say so. */
static void vote(const struct mesh *m, int x, int count, int y, int z, uint8_t *inside)
{
    for (int k = 0; k < count; k++) {
        const int cell[3] = {x + k, y, z};
        int votes = 0;
        if (cell[0] + 0.5 < m->lo[0] || cell[0] + 0.5 > m->hi[0])
            continue;
        for (int a = 0; a < 3; a++)
            votes += votes_along(m, &m->axis[a], cell);
        if (votes > 3)
            inside[k] = 1;
    }
}

void mesh_row(const struct mesh *m, int x, int count, int y, int z, uint8_t *inside)
{
    const int cell[3] = {x, y, z};
    size_t hits;
    if (y + 0.5 < m->lo[1] || y + 0.5 > m->hi[1] || z + 0.5 < m->lo[2] || z + 0.5 > m->hi[2])
        return;
    if (!m->closed) {
        vote(m, x, count, y, z, inside);
        return;
    }
    const struct hit *const hit = lines_at(&m->axis[0], cell, &hits);
    int sum = 0;
    for (size_t h = 0; h + 1 < hits; h++) {
        sum = m->agreed ? sum + hit[h].turn : !sum;
        if (!sum)
            continue;
        const int64_t begin = lines_cell(hit[h].at) - x, end = lines_cell(hit[h + 1].at) - x;
        for (int64_t k = begin > 0 ? begin : 0; k < end && k < count; k++)
            inside[k] = 1;
    }
}

/* The first hit on the way that enters (any hit, if `any`): the part of the way, or 2. */
static double first_hit(const struct mesh *m, const struct lines *l, const int cell[3], int way,
                        bool any)
{
    size_t count;
    const struct hit *const hit = lines_at(l, cell, &count);
    const double start = cell[l->main] + 0.5;
    double first = 2;
    for (size_t h = 0; h < count; h++) {
        const double q = way * (hit[h].at - start);
        if (q >= -NEAR && q <= 1 + NEAR && q < first && (any || hit[h].turn * way == m->outward))
            first = q;
    }
    return first;
}

double mesh_crossing(const struct mesh *m, const int cell[3], const int c[3])
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    int k = 0;
    while (k < 8 && memcmp(velocity[2 * k + 1], c, sizeof velocity[0]) != 0 &&
           memcmp(velocity[2 * k + 2], c, sizeof velocity[0]) != 0)
        k++;
    const struct lines *const l = &m->pair[k];
    double q = first_hit(m, l, cell, c[l->main], !m->agreed || !m->closed);
    if (q > 1 + NEAR)
        q = first_hit(m, l, cell, c[l->main], true);
    if (q > 1 + NEAR)
        return 0.5;
    return q < LEAST ? LEAST : q < 1 ? q : 1;
}
