/* Shapes by formulas, and their union, difference, intersection and complement. Coordinates of the
 * whole grid, lattice units; cell i spans [i, i + 1].
 *
 * Only + - x / and sqrt are used, so that every machine and rank gets the same result. The surface
 * belongs to the shape; the surface of a subtracted part does not. */
#ifndef TAGFLOW_BODY_SHAPE_H
#define TAGFLOW_BODY_SHAPE_H

#include "body/solid.h"

/* A formula in its own frame, where a point of the grid has the coordinates turn (point -
 * center). */
struct shape_leaf {
    enum shape_kind kind;
    enum shape_pack pack;
    double center[3];
    double turn[3][3]; /* rows: the frame's axes; a rotation */
    double size[3];    /* box: half its edges; ellipsoid: half its axes; others radius, half length
                          (infinite for a cylinder without ends) and a torus' tube; a pack: radius,
                          edge of its cubic cell */
};

/* A step of the evaluation with a stack: push a leaf, or apply an operation to the top one or
 * two. */
struct shape_step {
    enum { SHAPE_PUSH, SHAPE_OR, SHAPE_AND, SHAPE_AND_NOT, SHAPE_NOT } what;
    struct shape_leaf leaf;
    double lo[3], hi[3]; /* bounding box of the leaf */
};

struct shape {
    int count;
    struct shape_step *step;
    double lo[3], hi[3]; /* bounding box of all; infinite where the shape is */
};

/* Prepare a shape of the case. False: out of memory. */
bool shape_create(struct shape *s, const struct case_shape *from);
void shape_destroy(struct shape *s);

/* Is the point in the shape? */
bool shape_holds(const struct shape *s, const double at[3]);

/* inside[k] becomes 1 for the cells x .. x + count - 1 of the line (y, z) whose centres are in the
 * shape; others are unchanged. */
void shape_row(const struct shape *s, int x, int count, int y, int z, uint8_t *inside);

/* The wall distance q, 0 < q <= 1: the fraction of the link from the centre of a cell outside along
 * c to the centre of a cell inside, at which the link first enters the shape. Parts thinner than a
 * sixteenth of the link may be missed. 1/2 if it does not enter. */
double shape_crossing(const struct shape *s, const int cell[3], const int c[3]);

/* The component along axis `axis` of the unit normal of the shape's surface at this point of it, 0
 * to 1 without its sign: of the nearest surface of its formulas. */
double shape_facing(const struct shape *s, const double at[3], int axis);

/* Parts thinner than a cell, or that hold the centre of no cell. */
struct shape_thin {
    int parts, lost;  /* of both kinds; without a centre */
    double thickness; /* of the first, in cells */
    const char *name; /* of the first, from the case; "": the shape itself */
};

/* False: out of memory. */
bool shape_find_thin(const struct case_shape *from, struct shape_thin *found);

/* The radius at which the spheres of a pack fill this share of space, in edges of its cubic cell.
 * Two spheres may overlap, but not three; 0: that would be needed for this share. */
double pack_radius(enum shape_pack pack, double share);

/* The largest share for pack_radius(). */
double pack_share_max(enum shape_pack pack);

#endif
