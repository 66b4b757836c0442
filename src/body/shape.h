/* Shapes by formulas, and what is made of them by union, difference, intersection and complement.
 * Coordinates of the whole grid, lattice units; cell i spans [i, i + 1].
 *
 * All of it is + - x / and sqrt, so that every machine and rank finds the same. Surfaces belong to
 * the shape; those of a part that is taken away do not. */
#ifndef TAGFLOW_BODY_SHAPE_H
#define TAGFLOW_BODY_SHAPE_H

#include "case/case.h"

/* A formula in a frame of its own: a point of the grid is turn (point - center) there. */
struct shape_leaf {
    enum shape_kind kind;
    enum shape_pack pack;
    double center[3];
    double turn[3][3]; /* rows: the frame's axes; a rotation */
    double size[3];    /* box: half its edges; ellipsoid: half its axes; others radius, half length
                          (infinite for a cylinder without ends) and a torus' tube; a pack: radius,
                          edge of its cubic cell */
};

/* A step of the calculation with a stack: a leaf is pushed, an operation takes one or two. */
struct shape_step {
    enum { SHAPE_PUSH, SHAPE_OR, SHAPE_AND, SHAPE_AND_NOT, SHAPE_NOT } what;
    struct shape_leaf leaf;
    double lo[3], hi[3]; /* a box that holds the leaf */
};

struct shape {
    int count;
    struct shape_step *step;
    double lo[3], hi[3]; /* a box that holds all of it; infinite where the shape is */
};

/* What the case says, made ready. False: out of memory. */
bool shape_create(struct shape *s, const struct case_shape *from);
void shape_destroy(struct shape *s);

/* Is the point in it? */
bool shape_holds(const struct shape *s, const double at[3]);

/* inside[k] becomes 1 for those of the cells x .. x + count - 1 of the row (y, z) that have their
 * centre in it; the others stay as they are. */
void shape_row(const struct shape *s, int x, int count, int y, int z, uint8_t *inside);

/* The part, 0 < q <= 1, of the way from the centre of a cell outside along c to the centre of one
 * inside, at which it enters the shape first; what is thinner than a sixteenth of the way may be
 * passed over. 1/2 where it does not enter. */
double shape_crossing(const struct shape *s, const int cell[3], const int c[3]);

/* The radius at which the spheres of a pack fill this share of space, in edges of its cubic cell;
 * they may overlap as long as no three of them do. 0: the share is larger than that. */
double pack_radius(enum shape_pack pack, double share);

/* The largest share for pack_radius(). */
double pack_share_max(enum shape_pack pack);

#endif
