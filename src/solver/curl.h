/* curl u by central differences, plane by plane of a box of cells. Enstrophy, the field `vorticity`
 * and images of it all come from here. The same to the bit for every cut of the flow.
 *
 *     curl_start .. curl_plane .. curl_at .. curl_end
 *
 * Beside a cell that is not fluid the difference uses, in its place, the velocity that puts the
 * wall's half-way between the two: 2 u_wall - u. */
#ifndef TAGFLOW_CURL_H
#define TAGFLOW_CURL_H

#include "solver/solver.h"

struct curl {
    struct solver *solver;
    struct box box; /* owned cells in which the curl is wanted; none: an empty box */
    size_t width;   /* cells of a row of a plane */
    int z;          /* height of plane[1] in the block */
    bool filled;    /* the planes hold something */
    /* Velocities at heights z - 1, z, z + 1 of the box and one cell around it, [rows][width][3]. */
    double *plane[3];
    /* What neighbour ranks sent of theirs, NULL where none lies across a cut:
     * xmin xmax ymin ymax zmin zmax, [cells of the whole layer][3]. */
    double *layer[6];
};

/* Exchange what neighbours need of each other, and make room. Collective, also for ranks whose box
 * is empty; the same status on all, failures reported. Without success there is nothing to end. */
enum status curl_start(struct curl *c, struct solver *s, const struct box *box);

/* Go to the plane of cells at height z of the block, box.lo[2] <= z < box.hi[2]; quick for the same
 * and for the next one. Not collective. STATUS_MACHINE, reported, when the backend failed; uses the
 * memory that solver_flow returns. */
enum status curl_plane(struct curl *c, int z);

/* curl u in lattice units, in a fluid cell (x, y) of that plane and of the box. */
void curl_at(const struct curl *c, int x, int y, double curl[3]);

void curl_end(struct curl *c);

#endif
