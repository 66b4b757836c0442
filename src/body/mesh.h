/* A closed triangle mesh as a body: what is wrong with it, where it is put, the cells in it and the
 * links that it cuts. Coordinates of the whole grid, lattice units; cell i spans [i, i + 1].
 *
 * A point is inside where the mesh goes round it: the sum over the triangles that a line to the
 * point goes through, 1 where it enters and -1 where it leaves, is not 0. Parts may overlap, and a
 * part turned inside out within another is a cavity. Where triangles that meet do not agree on
 * which side is outside, inside is what an odd number of triangles parts from far away. A centre on
 * the surface itself is inside on the side of the low coordinates only. */
#ifndef TAGFLOW_MESH_H
#define TAGFLOW_MESH_H

#include "body/lines.h"
#include "body/stl.h"
#include "case/case.h"

/* Leaves out of a mesh what counts as flat or twice and looks at the edges of the rest, which may
 * be nothing. False: out of memory. */
bool mesh_look(struct stl *m, struct mesh_facts *facts);

/* The rest of the facts, of the mesh as it is placed. False: out of memory. */
bool mesh_measure(struct case_mesh *mesh);

/* The number of the part that each triangle belongs to, in the order of their first triangles; to
 * be freed. NULL: out of memory. */
uint32_t *mesh_parts(size_t vertices, size_t triangles, const uint32_t (*corner)[3],
                     uint32_t *count);

/* A box that holds the mesh, rotated. */
void mesh_extent(const struct stl *m, const double rotate[3], double lo[3], double hi[3]);

/* A box that holds the mesh where the case puts it: scaled, rotated and moved. */
void mesh_bounds(const struct case_mesh *from, double lo[3], double hi[3]);

/* Its vertices where the case puts them; to be freed. lo, hi: the box of mesh_bounds(). NULL: out
 * of memory. */
double (*mesh_place(const struct case_mesh *from, double lo[3], double hi[3]))[3];

struct mesh {
    double (*vertex)[3];
    struct triangles triangles;
    double lo[3], hi[3];
    bool agreed;                   /* its triangles agree on which side is outside */
    bool closed;                   /* if not, three axes vote */
    int outward;                   /* 1, or -1 when it is inside out */
    struct lines axis[3], pair[9]; /* pair: empty unless links are asked for */
};

/* The mesh of a case, which must outlive it, for rows and links of cells lo <= cell < hi. Whether
 * links will be asked for. False: out of memory, *m is zeroed. */
bool mesh_create(struct mesh *m, const struct case_mesh *from, const int lo[3], const int hi[3],
                 bool links);
void mesh_destroy(struct mesh *m);

/* inside[k] becomes 1 for those of the cells x .. x + count - 1 of the row (y, z) that have their
 * centre inside; the others stay as they are. */
void mesh_row(const struct mesh *m, int x, int count, int y, int z, uint8_t *inside);

/* The part, 0 < q <= 1, of the way from the centre of a cell outside along c to the centre of one
 * inside, at which it enters first. 1/2 where there is no triangle, as there may be in an open
 * mesh. */
double mesh_crossing(const struct mesh *m, const int cell[3], const int c[3]);

#endif
