/* The neighbourhood of a body on a level of a refined grid: what lies within a distance of its
 * cells, farther along a stream. Coordinates of the level's cells, not wrapped. */
#ifndef TAGFLOW_VICINITY_H
#define TAGFLOW_VICINITY_H

#include <mpi.h>

#include "case/case.h"

/* Cells of the level that lie at least between a body's cells and the edge of its
 * neighbourhood. */
enum { VICINITY_LEAST = 2 };

/* The cells lo <= cell < hi that hold all cells of the body in a part of the box; empty: there are
 * none. */
struct vicinity_part {
    int lo[3], hi[3];
};

/* A tree: parts of BRICK^3 cells, then 2^3 parts of the layer before. */
struct vicinity_layer {
    int n[3];
    struct vicinity_part *part; /* x fastest */
};

enum { VICINITY_LAYERS = 32 };

struct vicinity {
    int layers;
    struct vicinity_layer layer[VICINITY_LAYERS];
    int begin[3];    /* the first cell of the first part of layer 0 */
    uint32_t *mixed; /* of each part of layer 0: 1 + its place in `cells`; 0: the body has all cells
                      * of the part's bounds, or none */
    uint64_t *cells; /* [][BRICK] bit BRICK y + x of plane z, from the part's first cell: the body
                      * has it */
    /* The neighbourhood of a cell: all that is nearer than `distance` to the line from first to
     * last, in cells along the stream. */
    double distance, first, last, stream[3];
};

/* Finds the cells of the body of c->refines[...] in the box of `cells` cells of level what->level.
 * Collective. STATUS_MACHINE, reported; STATUS_USAGE, reported: the body has no cell there. */
enum status vicinity_create(struct vicinity *v, const struct flow_case *c,
                            const struct case_refine *what, const int cells[3], MPI_Comm comm);
void vicinity_destroy(struct vicinity *v);

/* The same, but a body without a cell there is no error: *none, and nothing was made. */
enum status vicinity_look(struct vicinity *v, const struct flow_case *c,
                          const struct case_refine *what, const int cells[3], MPI_Comm comm,
                          bool *none);

/* All of the neighbourhood lies in the cells lo <= cell < hi, and its tree takes so many bytes,
 * beside the cells at the body's surface: from the body's bounding box alone. STATUS_MACHINE,
 * reported. */
enum status vicinity_most(const struct flow_case *c, const struct case_refine *what,
                          const int cells[3], int lo[3], int hi[3], double *bytes);

/* All of the neighbourhood lies in the cells lo <= cell < hi. */
void vicinity_bounds(const struct vicinity *v, int lo[3], int hi[3]);

/* Is any cell lo <= cell < hi in the neighbourhood? */
bool vicinity_near(const struct vicinity *v, const int lo[3], const int hi[3]);

#endif
