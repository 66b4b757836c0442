/* Voxel images in HDF5 files: a dataset [z][y][x] of numbers, whatever its layout and
 * filters, read by a second process (foreign/hdf5.h). */
#include <stdlib.h>

#include "body/voxel_file.h"
#include "foreign/hdf5.h"

_Static_assert((int)VOXEL_REASON == (int)FOREIGN_REASON, "reasons are passed on");

/* Is the dataset that is open an image? */
static enum status take_header(struct voxel_file *f, const struct foreign *d, const char *name,
                               char reason[VOXEL_REASON])
{
    if (d->type == FOREIGN_others)
        return voxel_file_wrong(
            reason, ": its dataset '%.60s' does not hold numbers (in Python: a.astype(\"uint8\"))",
            name);
    if (d->axes != 3)
        return voxel_file_wrong(reason, ": its dataset '%.60s' has %d axes, not 3 (z, y, x)%s",
                                name, d->axes,
                                d->axes == 2  ? " (in Python: a[None])"
                                : d->axes > 3 ? " (in Python: a[0], or another part)"
                                              : "");
    for (int a = 0; a < 3; a++) {
        if (d->size[a] < 1 || d->size[a] > VOXEL_AXIS)
            return voxel_file_wrong(reason,
                                    ": its dataset '%.60s' has %lld voxels along an axis (1 to %d)",
                                    name, (long long)d->size[a], VOXEL_AXIS);
        f->size[2 - a] = (int)d->size[a];
    }
    for (int a = 0; a < 2; a++)
        f->block[a] = d->block[1 - a] < f->size[a + 1] ? (int)d->block[1 - a] : f->size[a + 1];
    f->type = d->type == FOREIGN_reals ? d->each == 4 ? VOXEL_float32 : VOXEL_float64
              : d->each == 1           ? d->is_signed ? VOXEL_int8 : VOXEL_uint8
              : d->each == 2           ? d->is_signed ? VOXEL_int16 : VOXEL_uint16
              : d->each == 4           ? d->is_signed ? VOXEL_int32 : VOXEL_uint32
              : d->is_signed           ? VOXEL_int64
                                       : VOXEL_uint64;
    return STATUS_OK;
}

enum status voxel_hdf5_open(struct voxel_file *f, const char *path, const char *dataset,
                            char reason[VOXEL_REASON])
{
    struct foreign *const d = malloc(sizeof *d);
    if (!d)
        return voxel_file_failed(reason, ": no memory to read it");
    const enum status s = foreign_open(d, path, dataset, FOREIGN_AS_THEY_ARE, reason);
    if (s) {
        free(d);
        return s;
    }
    f->hdf5 = d;
    return take_header(f, d, dataset, reason);
}

enum status voxel_hdf5_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON])
{
    struct foreign *const d = f->hdf5;
    const size_t count = (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]);
    enum status s = voxel_file_buffer(f, count * d->each, reason);
    if (!s)
        s = foreign_plane(d, z, (int64_t[2]){lo[0], lo[1]}, (int64_t[2]){hi[0], hi[1]}, f->buffer,
                          reason);
    return s ? s : voxel_file_labels(f, f->buffer, count, labels, reason);
}

void voxel_hdf5_close(struct voxel_file *f)
{
    if (f->hdf5)
        foreign_close(f->hdf5);
    free(f->hdf5);
    f->hdf5 = NULL;
}
