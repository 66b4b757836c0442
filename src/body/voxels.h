/* A body that is a voxel image: the part of it that a rank's cells need, one bit a cell; a few if
 * labels are told apart.
 *
 * Coordinates of the whole grid; the image lies in it. */
#ifndef TAGFLOW_VOXELS_H
#define TAGFLOW_VOXELS_H

#include <mpi.h>

#include "base/status.h"
#include "body/voxel_image.h"

struct voxels {
    const struct voxel_image *image;
    int n[3];       /* voxels along the axes of the grid */
    int *place[3];  /* [n[a]] index of a voxel among those kept; -1: not kept */
    int kept[3];    /* voxels kept along each axis */
    uint8_t *solid; /* [kept[2]][kept[1]][voxel_line(image, kept[0])], as image->kept */
    int cells[3];   /* of the box */
    bool periodic[3];
};

/* Cells beyond those of a link that voxels_facing() looks at. */
enum { VOXELS_REACH = 3 };

/* Take the voxels in the cells lo <= cell < hi, which may extend beyond the box along periodic
 * axes: from what the ranks of comm kept when they read the image together, else from the file.
 * Collective. STATUS_MACHINE or STATUS_USAGE, reported with the body's name, the same on all ranks;
 * after a failure it need not be closed. `image` must outlive *v. */
enum status voxels_open(struct voxels *v, const struct voxel_image *image, const char *name,
                        const int cells[3], const bool periodic[3], const int lo[3],
                        const int hi[3], MPI_Comm comm);
void voxels_close(struct voxels *v);

/* The cells of the image. */
void voxels_bounds(const struct voxels *v, double lo[3], double hi[3]);

/* inside[k], which is 0, becomes the value of the voxel (voxel_values) for the solid cells among x
 * .. x + count - 1 of the line (y, z). Cells of the image must be among those that were read. */
void voxels_row(const struct voxels *v, int x, int count, int y, int z, uint8_t *inside);

/* The component along c, a link of an axis from a cell to a solid one, of the unit normal of the
 * surface of solid voxels there, 0 to 1 without its sign: of the gradient of solid over a ball
 * around the middle of the link; from a solid voxel, of the gradient of the other one's label.
 * Cells up to VOXELS_REACH beyond the link must be among those that were read. */
double voxels_facing(const struct voxels *v, const int cell[3], const int c[3]);

#endif
