/* A body that is a voxel image: the part of it that a rank's cells need, one byte a cell.
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
    int *place[3];  /* [n[a]] where among those kept a voxel is; -1: not here */
    int kept[3];    /* so many */
    uint8_t *solid; /* [kept[2]][kept[1]][kept[0]] */
};

/* Read what lies in the cells lo <= cell < hi, which may go beyond the ends of periodic axes of
 * the box. Collective. STATUS_MACHINE or STATUS_USAGE, reported by the body's name, the same on all
 * ranks; a failed one need not be closed. `image` has to stay. */
enum status voxels_open(struct voxels *v, const struct voxel_image *image, const char *name,
                        const int cells[3], const bool periodic[3], const int lo[3],
                        const int hi[3], MPI_Comm comm);
void voxels_close(struct voxels *v);

/* The cells it lies in. */
void voxels_bounds(const struct voxels *v, double lo[3], double hi[3]);

/* inside[k] becomes 1 for those of the cells x .. x + count - 1 of the row (y, z) that are solid;
 * of the cells in the image only those that were asked for are known. */
void voxels_row(const struct voxels *v, int x, int count, int y, int z, uint8_t *inside);

#endif
