/* A body on the grid: a shape, a mesh or a voxel image. Coordinates of the whole grid, lattice
 * units; cell i spans [i, i + 1]. The caller handles periodic images: here a body is only at its
 * own position.
 *
 * The result for a cell is the same on every machine and rank, whatever else is asked for. */
#ifndef TAGFLOW_BODY_H
#define TAGFLOW_BODY_H

#include <mpi.h>

#include "body/mesh.h"
#include "body/shape.h"
#include "body/voxels.h"

struct body {
    const struct case_body *what;
    struct shape shape; /* used if the body is a shape */
    struct mesh mesh;
    struct voxels voxels;
};

/* Prepare the body for the cells lo <= cell < hi, which may extend beyond periodic faces, of a grid
 * of `cells`. normals: body_facing() will be called. Collective. STATUS_USAGE or STATUS_MACHINE,
 * reported, the same on all ranks. */
enum status body_open(struct body *b, const struct case_body *what, const int cells[3],
                      const bool periodic[3], const int lo[3], const int hi[3], bool normals,
                      MPI_Comm comm);
void body_close(struct body *b);

/* Of a body that surrounds the fluid, body_bounds() and body_row() are of the mesh, which holds the
 * fluid. */

/* A bounding box; infinite along axes where the body is. */
void body_bounds(const struct body *b, double lo[3], double hi[3]);

/* The shifts, in lengths of a periodic axis of n cells, at which an object from lo to hi overlaps
 * the box: *first to *last, none if *last < *first. At most BODY_IMAGES on either side of an object
 * that is many times longer than the box. */
enum { BODY_IMAGES = 16 };
void body_images(double lo, double hi, int n, int *first, int *last);

/* inside[k] becomes 1 for the cells x .. x + count - 1 of the line (y, z) whose centres are in the
 * body, or 2 + j where the voxel has label apart[j] of an image; others are unchanged. */
void body_row(const struct body *b, int x, int count, int y, int z, uint8_t *inside);

/* The wall distance q, 0 < q <= 1: the fraction of the link from the centre of a cell outside along
 * c to the centre of a cell inside, at which the link enters the body. Of one that surrounds the
 * fluid: where the link leaves this image of the mesh; 2: it does not. */
double body_crossing(const struct body *b, const int cell[3], const int c[3]);

/* The component along c of the unit normal of the surface where this link enters the body, 0 to 1
 * without its sign. c: a link of an axis. */
double body_facing(const struct body *b, const int cell[3], const int c[3]);

#endif
