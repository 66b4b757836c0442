/* A triangle mesh as a body: its defects, placement, cells inside, and the links that it cuts.
 * Coordinates of the whole grid, lattice units; cell i spans [i, i + 1].
 *
 * A point is inside if its winding number is not 0: the sum over the triangles on a line to the
 * point, 1 where the line enters and -1 where it leaves. Parts may overlap; an inside-out part
 * within another one is a cavity, where it is below 1. Triangles that disagree with their
 * neighbours on which side is outside are turned first, and so are inside-out parts that are no
 * cavities (mesh_turn_parts). Where that cannot be done, a point is inside if a line to it crosses
 * an odd number of triangles. A cell centre exactly on the surface is inside on the side of the low
 * coordinates only. */
#ifndef TAGFLOW_MESH_H
#define TAGFLOW_MESH_H

#include "body/lines.h"
#include "body/solid.h"
#include "body/stl.h"

/* Removes flat and duplicate triangles from a mesh, perhaps all, checks the edges of the others,
 * and turns triangles of a closed mesh until neighbours agree. False: out of memory. */
bool mesh_look(struct stl *m, struct mesh_facts *facts);

/* Turns parts of a placed mesh that are inside out, but no cavities. After mesh_look(), before
 * mesh_measure(). False: out of memory. */
bool mesh_turn_parts(struct case_mesh *mesh);

/* Computes the other facts, of the placed mesh. False: out of memory. */
bool mesh_measure(struct case_mesh *mesh);

/* ---- for the functions above ---- */

/* Counts open, crowded and turned edges. */
bool mesh_look_at_edges(const struct stl *m, struct mesh_facts *facts);
/* Turns triangles so that neighbours agree, where that is possible. */
bool mesh_agree(struct stl *m, size_t *turned);
void mesh_turn_triangle(struct stl *m, size_t t);
/* The shell of each triangle, as mesh_parts(): connected by edges of two triangles. Parts if such
 * shells are not closed. */
uint32_t *mesh_shells(const struct stl *m, uint32_t *count);
/* Adds up sheets that are thinner than a cell: facts->sheets. */
bool mesh_find_sheets(const struct triangles *t, const double lo[3], const double hi[3],
                      struct mesh_facts *facts);
/* Is the mesh closed, and small enough that its cells can be counted? */
bool mesh_small(const struct mesh_facts *facts, const double lo[3], const double hi[3]);

/* The triangles of part k: corner[begin[k]] to corner[begin[k + 1] - 1]. */
struct mesh_sorted {
    uint32_t (*corner)[3];
    size_t *begin;
};
bool mesh_sort(const struct triangles *t, const uint32_t *number, uint32_t parts,
               struct mesh_sorted *s);
struct triangles mesh_part(const struct triangles *t, const struct mesh_sorted *s, uint32_t k);
void mesh_sorted_free(struct mesh_sorted *s);

/* A box that holds every mesh, for lines_create(). */
extern const int mesh_everywhere[2][3];

/* Is a point with this winding number inside? Of a mesh whose triangles agree. */
static inline bool mesh_holds(const struct mesh_facts *facts, int sum)
{
    return facts->hollow ? sum > 0 : sum != 0;
}

/* The part of each triangle; parts are numbered in the order of their first triangles. To be freed.
 * NULL: out of memory. */
uint32_t *mesh_parts(size_t vertices, size_t triangles, const uint32_t (*corner)[3],
                     uint32_t *count);

/* Bounding box of the rotated mesh. */
void mesh_extent(const struct stl *m, const double rotate[3], double lo[3], double hi[3]);

/* Bounding box of the placed mesh: scaled, rotated and moved. */
void mesh_bounds(const struct case_mesh *from, double lo[3], double hi[3]);

/* The placed vertices; to be freed. lo, hi: as by mesh_bounds(). NULL: out of memory. */
double (*mesh_place(const struct case_mesh *from, double lo[3], double hi[3]))[3];

struct mesh {
    double (*vertex)[3];
    struct triangles triangles;
    double lo[3], hi[3];
    const struct mesh_facts *facts;
    enum mesh_fluid fluid;
    bool agreed;                   /* its triangles agree on which side is outside */
    bool closed;                   /* if not, three axes vote */
    int outward;                   /* 1, or -1 when it is inside out */
    struct lines axis[3], pair[9]; /* pair: empty unless links are asked for */
};

/* The links that will be asked for. */
enum mesh_links { MESH_LINKS_none, MESH_LINKS_axes, MESH_LINKS_all };

/* Prepare the mesh of a case, which must outlive *m, for cells lo <= cell < hi. False: out of
 * memory, *m is zeroed. */
bool mesh_create(struct mesh *m, const struct case_mesh *from, const int lo[3], const int hi[3],
                 enum mesh_links links);
void mesh_destroy(struct mesh *m);

/* inside[k] becomes 1 for the cells x .. x + count - 1 of the line (y, z) whose centres are inside;
 * others are unchanged. */
void mesh_row(const struct mesh *m, int x, int count, int y, int z, uint8_t *inside);

/* The wall distance q, 0 < q <= 1: the fraction of the link from the centre of a cell outside along
 * c to the centre of a cell inside, at which the link first enters. 1/2 if the link meets no
 * triangle, possible with an open mesh. */
double mesh_crossing(const struct mesh *m, const int cell[3], const int c[3]);

/* The fraction of the link, 0 < q <= 1, at which a link first leaves the mesh; 2: it does not. */
double mesh_leaving(const struct mesh *m, const int cell[3], const int c[3]);

/* The component along a link of an axis of the unit normal of the triangle that mesh_crossing()
 * finds, or mesh_leaving() where the fluid is inside, 0 to 1 without its sign; 1 if there is none.
 */
double mesh_facing(const struct mesh *m, const int cell[3], const int c[3]);

#endif
