/* Points of a body's surface and their outward normals, where pressure and shear stress are
 * measured. Coordinates of the whole grid, lattice units. */
#ifndef TAGFLOW_SKIN_H
#define TAGFLOW_SKIN_H

#include <stdbool.h>

#include "body/solid.h"

/* NaN where a point does not exist. */
struct skin {
    int count;
    double (*at)[3], (*normal)[3]; /* normals: of length 1, out of the body */
};

/* The centroids of the triangles of a mesh with placed vertices (mesh_place()). False: out of
 * memory, *s is zeroed, here and below. */
bool skin_of_mesh(struct skin *s, const struct case_mesh *mesh, const double (*vertex)[3]);

/* A ring of points on a shape or a mesh. Rays from `center`, normal to `axis`, have `count` equal
 * angles; a point is where a ray leaves the body for the last time. The first ray is along the axis
 * after `axis` (x, y, z in cyclic order), the next ones turn towards the axis after that. reach:
 * longest distance from the center. */
bool skin_ring(struct skin *s, const struct case_body *body, const double center[3], int axis,
               int count, double reach);

/* The centre of the bounding box of a shape or mesh; of the grid along axes where the body is
 * infinite. False: out of memory. */
bool skin_middle(const struct case_body *body, const int cells[3], double middle[3]);

void skin_destroy(struct skin *s);

#endif
