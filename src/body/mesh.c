/* A triangle mesh as a body; see mesh.h. */
#include "body/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/turn.h"
#include "lattice.h"

/* Tolerance in cells for triangles that touch the end of a link. */
#define NEAR 1e-9
/* Smallest wall distance, as a fraction of the link. */
#define LEAST 0x1p-40

void mesh_extent(const struct stl *m, const double rotate[3], double lo[3], double hi[3])
{
    double turn[3][3];
    turn_make(rotate, turn);
    for (int a = 0; a < 3; a++) {
        lo[a] = INFINITY;
        hi[a] = -INFINITY;
    }
    for (size_t v = 0; v < m->vertices; v++) {
        double at[3];
        turn_apply((const double(*)[3])turn, m->vertex[v], at);
        for (int a = 0; a < 3; a++) {
            lo[a] = fmin(lo[a], at[a]);
            hi[a] = fmax(hi[a], at[a]);
        }
    }
}

/* The bounding box, and the shift of the scaled and rotated mesh. */
static void bounds(const struct case_mesh *from, double lo[3], double hi[3], double shift[3])
{
    mesh_extent(from->stl, from->rotate, lo, hi);
    for (int a = 0; a < 3; a++) {
        shift[a] = from->center[a] - 0.5 * from->scale * (lo[a] + hi[a]);
        lo[a] = shift[a] + from->scale * lo[a];
        hi[a] = shift[a] + from->scale * hi[a];
    }
}

void mesh_bounds(const struct case_mesh *from, double lo[3], double hi[3])
{
    double shift[3];
    bounds(from, lo, hi, shift);
}

double (*mesh_place(const struct case_mesh *from, double lo[3], double hi[3]))[3]
{
    const struct stl *const m = from->stl;
    double turn[3][3], shift[3];
    double(*const vertex)[3] = malloc((m->vertices + 1) * sizeof *vertex);
    turn_make(from->rotate, turn);
    bounds(from, lo, hi, shift);
    for (size_t v = 0; vertex && v < m->vertices; v++) {
        turn_apply((const double(*)[3])turn, m->vertex[v], vertex[v]);
        for (int a = 0; a < 3; a++)
            vertex[v][a] = shift[a] + from->scale * vertex[v][a];
    }
    return vertex;
}

/* Creates lines along the axes for `inside` (along x alone if the mesh is closed), and along the
 * pairs of directions of links, of which the first three are the axes. */
static bool draw_lines(struct mesh *m, const int lo[3], const int hi[3], enum mesh_links links)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int pairs = links == MESH_LINKS_all ? 9 : links == MESH_LINKS_axes ? 3 : 0;
    for (int k = 0; k < 9; k++) {
        if ((k == 0 || (k < 3 && !m->closed)) &&
            !lines_create(&m->axis[k], &m->triangles, c[2 * k + 1], lo, hi))
            return false;
        if (k < pairs && !lines_create(&m->pair[k], &m->triangles, c[2 * k + 1], lo, hi))
            return false;
    }
    return true;
}

bool mesh_create(struct mesh *m, const struct case_mesh *from, const int lo[3], const int hi[3],
                 enum mesh_links links)
{
    *m = (struct mesh){0};
    m->facts = &from->facts;
    m->fluid = from->fluid;
    m->agreed = from->facts.turned == 0;
    m->closed = from->facts.open == 0;
    m->outward = from->facts.volume < 0 ? -1 : 1;
    m->vertex = mesh_place(from, m->lo, m->hi);
    m->triangles =
        (struct triangles){from->stl->vertices, from->stl->triangles, (const double(*)[3])m->vertex,
                           (const uint32_t(*)[3])from->stl->triangle};
    if (m->vertex && draw_lines(m, lo, hi, links))
        return true;
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

/* Votes for `inside` along one axis: one for each of the two directions from the cell, 0 to 2. */
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

/* An open mesh: a cell is inside if more than half of the six directions vote so. */
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
        if (!mesh_holds(m->facts, sum))
            continue;
        const int64_t begin = lines_cell(hit[h].at) - x, end = lines_cell(hit[h + 1].at) - x;
        for (int64_t k = begin > 0 ? begin : 0; k < end && k < count; k++)
            inside[k] = 1;
    }
}

/* The crossings of the mesh on a link from a cell. */
struct link_hits {
    const struct hit *hit;
    size_t count;
    int way; /* 1 or -1: the direction of the link along the lines */
    double start;
};

static struct link_hits hits_of(const struct mesh *m, const int cell[3], const int c[3])
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    struct link_hits l;
    int k = 0;
    while (k < 8 && memcmp(velocity[2 * k + 1], c, sizeof velocity[0]) != 0 &&
           memcmp(velocity[2 * k + 2], c, sizeof velocity[0]) != 0)
        k++;
    const struct lines *const lines = &m->pair[k];
    l.way = c[lines->main];
    l.start = cell[lines->main] + 0.5;
    l.hit = lines_at(lines, cell, &l.count);
    return l;
}

/* The hit's fraction of the link. */
static double fraction_of(const struct link_hits *l, const struct hit *hit)
{
    return l->way * (hit->at - l->start);
}

static bool on_link(double q)
{
    return q >= -NEAR && q <= 1 + NEAR;
}

/* The first hit on the link that enters the mesh, or the first of all where none does or the mesh
 * does not tell; *fraction: of the link. NULL: none. */
static const struct hit *first_hit(const struct mesh *m, const int cell[3], const int c[3],
                                   double *fraction)
{
    const struct link_hits l = hits_of(m, cell, c);
    const struct hit *first = NULL;
    for (int any = !m->agreed || !m->closed; any < 2 && !first; any++)
        for (size_t h = 0; h < l.count; h++) {
            const double q = fraction_of(&l, &l.hit[h]);
            if (on_link(q) && (!first || q < *fraction) &&
                (any || l.hit[h].turn * l.way == m->outward)) {
                first = &l.hit[h];
                *fraction = q;
            }
        }
    return first;
}

/* The first hit on the link behind which the mesh does not hold it any more; of an open mesh the
 * first of all. NULL: none. */
static const struct hit *leaving_hit(const struct mesh *m, const int cell[3], const int c[3],
                                     double *fraction)
{
    const struct link_hits l = hits_of(m, cell, c);
    int sum = 0;
    if (!m->closed)
        return first_hit(m, cell, c, fraction);
    for (size_t k = 0; k < l.count; k++) {
        const struct hit *const hit = &l.hit[l.way > 0 ? k : l.count - 1 - k];
        const bool held = mesh_holds(m->facts, sum);
        sum = m->agreed ? sum + l.way * hit->turn : !sum;
        *fraction = fraction_of(&l, hit);
        if (held && !mesh_holds(m->facts, sum) && on_link(*fraction))
            return hit;
    }
    return NULL;
}

static double wall_distance(double q)
{
    return q < LEAST ? LEAST : q < 1 ? q : 1;
}

double mesh_crossing(const struct mesh *m, const int cell[3], const int c[3])
{
    double q;
    return first_hit(m, cell, c, &q) ? wall_distance(q) : 0.5;
}

double mesh_leaving(const struct mesh *m, const int cell[3], const int c[3])
{
    double q;
    return leaving_hit(m, cell, c, &q) ? wall_distance(q) : 2;
}

double mesh_facing(const struct mesh *m, const int cell[3], const int c[3])
{
    double q;
    const struct hit *const hit =
        m->fluid == MESH_FLUID_inside ? leaving_hit(m, cell, c, &q) : first_hit(m, cell, c, &q);
    return hit ? (double)hit->facing : 1;
}
