/* A reference lattice update, as simple as possible: collide every cell, then every cell gathers
 * what its neighbours send. The benchmark compares the program's steps with it, bit for bit.
 *
 * Only the work inside a cell is the program's own code, compiled for one cell at a time: moments,
 * operator, subgrid model, and the rules of open faces and of surfaces that cross links, which take
 * populations of one cell. Streaming, walls, lids, planes of symmetry, periodic faces, neighbours,
 * the cells and links that a rule acts on, and the memory layout are implemented here from their
 * definitions, without slots and halos. So it is for scalars: value, collision and the rule of a
 * wall in the box are the program's, which neighbour sends what and the walls of faces are not.
 *
 * Layout: a block of cells with one layer around it, x fastest; all populations of a cell lie
 * together. plain.c is compiled once for each precision. */
#ifndef TAGFLOW_BENCH_PLAIN_H
#define TAGFLOW_BENCH_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "slot.h"

/* `what` outside the box: PLAIN_FACE + 0 .. 5 beyond a face that is a wall or a plane of symmetry;
 * PLAIN_EDGE beyond an edge of two such faces, or a corner: what goes there comes back. Beyond an
 * open face: a cell type. */
enum { PLAIN_FACE = 0x80, PLAIN_EDGE = PLAIN_FACE + 6 };

struct plain {
    int n[3];                   /* cells of the block, without the layer around it */
    uint8_t *what;              /* [n + 2] cell type, an index of rows, or PLAIN_* */
    const struct tag_row *rows; /* [TAG_ROWS] */
    double face_velocity[6][3]; /* of walls */
    bool mirrors[6];            /* faces that are planes of symmetry */
    const struct view *view;    /* what rules look up: given velocities, places of surfaces */
    uint32_t *listed; /* [n] 1 + the cell's number in view->near.cell, 0: none; NULL: no list */
    int sets;         /* the flow and the scalars */
    double (*face_scalar)[6][2]; /* [sets - 1]: a and b of a wall's a g_out + b */
    void *f; /* real[n + 2][plain_width]: f_i - w_i, then g_i of each scalar, as they arrive, then
              * collided */
};

/* Numbers of a cell in `f`, and the first of a set. */
static inline size_t plain_width(const struct plain *p)
{
    return Q + (size_t)(p->sets - 1) * Q_AXES;
}

static inline size_t plain_first(int set)
{
    return set ? Q + (size_t)(set - 1) * Q_AXES : 0;
}

/* A wrong population. */
struct plain_fault {
    int at[3], i; /* cell of the block, population */
    int set;
    double is, was_to_be;
};

struct plain_step {
    int storage, arithmetic; /* bits */
    size_t real;             /* bytes of a number in arithmetic */
    /* Copy populations of a set in a piece of the block, [q][cells of the piece], into p->f. */
    void (*take)(struct plain *p, int set, const struct box *piece, const void *populations);
    /* Collide all fluid cells of the block. A population that a rule sends back through a link into
     * a cell that is not fluid replaces the one that leaves. */
    void (*collide)(struct plain *p);
    /* Compare the populations of a set in a piece after the program's step, bit for bit, with those
     * that arrive after the collision in p->f, the layer around the block included. Returns the
     * number of differences; *fault: the first one. */
    size_t (*compare)(const struct plain *p, int set, const struct box *piece,
                      const void *populations, struct plain_fault *fault);
};

/* The plain step for a pair of precisions in bits; NULL: this program has no such kernels. */
const struct plain_step *plain_find(int storage, int arithmetic);

static inline size_t plain_cell(const struct plain *p, int x, int y, int z)
{
    const size_t nx = (size_t)p->n[0] + 2, ny = (size_t)p->n[1] + 2;
    return ((size_t)(z + 1) * ny + (size_t)(y + 1)) * nx + (size_t)(x + 1);
}

/* Number of a cell among those of the block alone. */
static inline size_t plain_own(const struct plain *p, int x, int y, int z)
{
    return ((size_t)z * (size_t)p->n[1] + (size_t)y) * (size_t)p->n[0] + (size_t)x;
}

static inline size_t plain_cells(const struct plain *p)
{
    return ((size_t)p->n[0] + 2) * ((size_t)p->n[1] + 2) * ((size_t)p->n[2] + 2);
}

#endif
