/* A body on the grid, whatever it is made of. Coordinates of the whole grid, lattice units; cell i
 * spans [i, i + 1]. Periodic images are the caller's business: here a body is where it says.
 *
 * What is found for a cell is the same on every machine and rank, and whatever else is asked for.
 */
#ifndef TAGFLOW_BODY_H
#define TAGFLOW_BODY_H

#include <mpi.h>

#include "body/mesh.h"
#include "body/shape.h"
#include "body/voxels.h"

struct body {
    const struct case_body *what;
    struct shape shape; /* when it is one */
    struct mesh mesh;
    struct voxels voxels;
};

/* Read what it is made of, as far as the cells lo <= cell < hi need it, which may go beyond
 * periodic faces; collective. STATUS_USAGE or STATUS_MACHINE, reported, the same on all ranks. */
enum status body_open(struct body *b, const struct case_body *what, const struct flow_case *c,
                      const int lo[3], const int hi[3], MPI_Comm comm);
void body_close(struct body *b);

/* A box that holds all of it; infinite where the body is. */
void body_bounds(const struct body *b, double lo[3], double hi[3]);

/* The shifts, in lengths of a periodic axis of n cells, at which what lies between lo and hi has
 * cells of the box: from *first to *last, none if that is less. Of what is many times longer than
 * the box no more than BODY_IMAGES on either side. */
enum { BODY_IMAGES = 16 };
void body_images(double lo, double hi, int n, int *first, int *last);

/* inside[k] becomes 1 for those of the cells x .. x + count - 1 of the row (y, z) that have their
 * centre in the body; the others stay as they are. */
void body_row(const struct body *b, int x, int count, int y, int z, uint8_t *inside);

/* The part, 0 < q <= 1, of the way from the centre of a cell outside along c to the centre of one
 * inside, at which it enters the body. */
double body_crossing(const struct body *b, const int cell[3], const int c[3]);

#endif
