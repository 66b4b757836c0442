/* A solid in a case: its shape, mesh or image, its position, and the motion of its surface. */
#ifndef TAGFLOW_SOLID_H
#define TAGFLOW_SOLID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "body/voxel_image.h"

enum { BODY_NAME = 64 }; /* bytes of a name */

/* Shapes of a body. Coordinates and lengths in lattice units; cell i spans [i, i + 1], so that its
 * centre is i + 1/2. A cell belongs to the body if its centre does. */
#define SHAPE_LIST(X)                                                                              \
    X(box)          /* between two corners */                                                      \
    X(sphere)       /* about a centre */                                                           \
    X(ellipsoid)    /* about a centre, with semi-axes along x, y and z */                          \
    X(cylinder)     /* about an axis through a centre, of finite length or without ends */         \
    X(capsule)      /* all points within a radius of the line between two points */                \
    X(torus)        /* a tube about a circle about an axis */                                      \
    X(half_space)   /* all behind a plane */                                                       \
    X(pack)         /* spheres that repeat in all of space */                                      \
    X(union)        /* of parts: what is in any of them */                                         \
    X(difference)   /* of parts: the first without the others */                                   \
    X(intersection) /* of parts: what is in all of them */                                         \
    X(complement)   /* of parts: what is in none of them */
#define X(name) SHAPE_##name,
enum shape_kind { SHAPE_LIST(X) };
#undef X

/* Sphere centres in the cubic cell of a pack: its corners; corners and centre; corners and centres
 * of the faces. */
#define PACK_LIST(X) X(simple) X(body_centred) X(face_centred)
#define X(name) PACK_##name,
enum shape_pack { PACK_LIST(X) };
#undef X

/* Unused members are 0. */
struct case_shape {
    char name[BODY_NAME]; /* as a part of another */
    enum shape_kind kind;
    double from[3], to[3]; /* box: corners; capsule: ends of its line */
    double center[3];      /* others; half_space: a point of its plane; pack: centre of a sphere */
    double radius;         /* sphere, cylinder, capsule, torus (of the circle), pack */
    double radii[3];       /* ellipsoid */
    double tube;           /* torus: radius of the tube */
    double axis[3];        /* cylinder, torus: any length; half_space: points out of it */
    double length;         /* cylinder: INFINITY without ends; pack: edge of its cubic cell */
    enum shape_pack pack;
    int count;                        /* of parts */
    struct case_shape *parts;         /* of their own */
    double scale, rotate[3], move[3]; /* then scaled and rotated (degrees about x, then y, then z)
                                         about `about`, then moved */
    double about[3];
};

/* A part of a mesh that is inside out beside another one, and lies only partly in that. */
struct mesh_doubt {
    uint32_t parts;      /* how many there are; of the first: */
    size_t triangles;    /* its number of triangles */
    double lo[3], hi[3]; /* its bounding box */
    bool cavity;         /* it is hollow; otherwise solid */
};

/* Facts about a mesh; volume and area in cells and their faces, as placed. */
struct mesh_facts {
    size_t triangles; /* without flat and duplicate ones, which are left out */
    size_t flat;      /* with two corners at one place */
    size_t twice;     /* the same corners in the same order as another one */
    size_t open;      /* edges of an odd number of triangles: there the mesh is not closed */
    size_t crowded;   /* edges of more than two */
    size_t turned;    /* edges of an even number that disagree on which side is outside */
    size_t righted;   /* triangles that were turned, so that they agree */
    size_t inverted;  /* parts that were inside out, and were turned */
    bool hollow;      /* parts that are inside out are cavities; each of them is empty */
    struct mesh_doubt doubt;
    double volume; /* enclosed, negative if the mesh is inside out */
    double area;
    uint32_t parts; /* connected parts, without a common vertex */
    uint32_t thin;  /* parts with a mean thickness below two cells along one of the axes */
    uint32_t lost;  /* parts that hold no cell centre */
    int64_t cells;  /* all, beyond the grid, too; 0: not counted (open, turned or large) */
    int64_t shared; /* cells in several parts */
    double sheets;  /* area of sheets that are thinner than a cell, of one side */
};

/* On which side of a mesh is the fluid? */
#define MESH_FLUID_LIST(X)                                                                         \
    X(outside) /* the body is what the mesh encloses */                                            \
    X(inside)  /* the body is what the mesh and its periodic images leave */
#define X(name) MESH_FLUID_##name,
enum mesh_fluid { MESH_FLUID_LIST(X) };
#undef X

struct stl;
/* A triangle mesh from an STL file, placed. */
struct case_mesh {
    char *file;        /* absolute path; NULL: the body is no mesh */
    uint64_t checksum; /* of its triangles */
    struct stl *stl;   /* as in the file, see body/stl.h */
    bool open;         /* it may be open */
    enum mesh_fluid fluid;
    double scale;     /* cells in a length of 1 in the file */
    double rotate[3]; /* degrees about x, then y, then z */
    double center[3]; /* centre of its bounding box after scaling and rotation */
    struct mesh_facts facts;
};

/* Where the wall of a body is. */
#define BODY_WALL_LIST(X)                                                                          \
    X(halfway)      /* half-way between the centres of fluid and solid cells */                    \
    X(interpolated) /* where the surface is; see surface.h */
#define X(name) BODY_WALL_##name,
enum body_wall { BODY_WALL_LIST(X) };
#undef X

/* A solid in the flow. */
struct case_body {
    char name[BODY_NAME];
    char *place;             /* position in the case file, for fail_case(); or NULL */
    struct case_shape shape; /* when it is neither mesh nor image */
    struct case_mesh mesh;
    struct voxel_image image; /* image.file NULL: the body is no image */
    enum body_wall wall;
    double velocity[3];  /* of its surface; the body itself does not move */
    double spin[3];      /* angular velocity of its surface, radians a step */
    double lo[3], hi[3]; /* bounding box, in cells; of an image: the whole grid */
    double speed;        /* upper bound of the surface's speed, from its bounding box */
    bool turns;          /* rotation is given */
    bool pivot_given;
    double pivot[3];                 /* a point on the rotation axis; else the middle of the body */
    struct case_scalar_wall *scalar; /* [CASE_SCALARS] of case.h; NULL: the case has no scalars */
    int cap_count;
    struct case_cap *caps; /* of case.h */
    int label_count;
    struct case_label *labels; /* of case.h; ascending, as image.apart */
};

/* Is the body all that its mesh and periodic images of it leave? */
static inline bool body_surrounds(const struct case_body *body)
{
    return body->mesh.file && body->mesh.fluid == MESH_FLUID_inside;
}

#endif
