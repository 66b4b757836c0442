/* Results on a refined grid as VTKHDF OverlappingAMR, which ParaView 5.11 and newer versions read.
 * Each level has boxes of cells, and arrays with the cells of its boxes one box after the other.
 * Format: docs/formats.md.
 *
 *     vtkamr_create .. h5file attributes .. vtkamr_add .. vtkamr_write .. vtkamr_free, h5file_close
 *
 * A file that was created must be closed, also if a call in between failed. */
#ifndef TAGFLOW_VTKAMR_H
#define TAGFLOW_VTKAMR_H

#include "io/h5file.h"
#include "slot.h"

enum { VTKAMR_LEVELS = 9 };

struct vtkamr {
    struct h5file *file; /* its group /provenance exists */
    int levels, arrays;
    struct {
        double spacing;
        int boxes;
        const struct box *box; /* the caller's */
        int64_t *first;        /* [boxes + 1] number of its first cell among those of the level */
    } level[VTKAMR_LEVELS];
};

/* Boxes of a level, in cells of the level, which count from the file's origin. */
struct vtkamr_level {
    double spacing;
    int boxes; /* at least 1 */
    const struct box *box;
};

/* Starts the file `path`. origin: corner of cell (0, 0, 0) of all levels. Each level's cells are
 * half as wide as those of the level before. The same boxes on all ranks; they must outlive
 * vtkamr_free. Collective: one status on all ranks. If a->file was set, it must be closed, also if
 * this failed. */
enum status vtkamr_create(struct vtkamr *a, MPI_Comm comm, const char *path, const double origin[3],
                          int levels, const struct vtkamr_level *level);

/* Declares an array with `components` numbers per cell on all levels and reserves its place on
 * disk. Arrays are numbered 0, 1, .. in the order of the calls. Collective: one status on all
 * ranks. */
enum status vtkamr_add(struct vtkamr *a, const char *name, int components, enum sample sample);

/* Writes part of a box of an array. part: cells of the level, inside the box; data tightly packed
 * (z, y, x, component). Not collective; every part on any one rank. Errors as h5file_write. */
enum status vtkamr_write(struct vtkamr *a, int array, int level, int box, const struct box *part,
                         const void *data);

/* Frees memory; the file is closed by h5file_close or h5file_leave. */
void vtkamr_free(struct vtkamr *a);

#endif
