/* Caps: flat parts of a mesh's surface through which fluid enters and leaves it. Coordinates of the
 * whole grid, lattice units. */
#ifndef TAGFLOW_MESH_CAP_H
#define TAGFLOW_MESH_CAP_H

#include "body/solid.h"

/* A flat part of the surface, or the part of it in a disc. */
struct mesh_cap {
    double center[3]; /* as given; the part holds the point of the surface that is nearest to it */
    double radius;    /* of a disc about the center; 0: all of the flat part */
    double away;      /* distance of the center from the surface */
    double point[3], normal[3]; /* of its plane; the normal points into the mesh */
    double area;
    double slack; /* greatest distance of its corners from the plane */
    double lo[3], hi[3];
    size_t count, edges;
    uint32_t *number;         /* [count] of its triangles, ascending */
    double (*triangle)[3][3]; /* [count] their corners */
    double (*edge)[2][3];     /* [edges] its outline */
};

/* Finds the part: the triangle nearest to the center, and all that are joined to it by edges, lie
 * in its plane to a quarter of `cell` and are turned from it by 15 degrees at most. False: out of
 * memory. */
bool mesh_cap_find(struct mesh_cap *cap, const struct case_mesh *mesh, double cell);
void mesh_cap_free(struct mesh_cap *cap);

/* Is the point of the surface in the cap? */
bool mesh_cap_holds(const struct mesh_cap *cap, const double p[3]);

/* The distance of a point of the cap from its outline. */
double mesh_cap_depth(const struct mesh_cap *cap, const double p[3]);

/* Do two caps have a part of the surface in common? */
bool mesh_cap_meets(const struct mesh_cap *one, const struct mesh_cap *other);

#endif
