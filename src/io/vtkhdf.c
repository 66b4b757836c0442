/* Snapshots as VTKHDF ImageData; see vtkhdf.h.
 *
 * Format: VTK's "VTKHDF File Format", version 1.0, the newest that VTK 9.1 reads. */
#include "io/vtkhdf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"

enum { NAME = 256 };

struct vtkhdf {
    struct h5file *file;
    int points[3]; /* along each axis: as many as cells, but at least 2 */
    bool thin[3];  /* one cell thick: both points have its values */
};

enum status vtkhdf_start(struct h5file **out, MPI_Comm comm, const char *path, const char *type)
{
    static const int64_t version[2] = {1, 0};
    const enum status status = h5file_create(out, comm, path);
    if (status)
        return status;
    h5file_group(*out, "/VTKHDF");
    h5file_numbers(*out, "/VTKHDF", "Version", SAMPLE_int64, 2, version);
    h5file_word(*out, "/VTKHDF", "Type", type);
    return STATUS_OK;
}

enum status vtkhdf_create(struct vtkhdf **out, MPI_Comm comm, const char *path, const int cells[3],
                          const double origin[3], const double spacing[3])
{
    struct h5file *file;
    enum status status = vtkhdf_start(&file, comm, path, "ImageData");
    if (status != STATUS_OK)
        return status;

    static const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double first[3];
    int32_t extent[6];
    for (int axis = 0; axis < 3; axis++) {
        const bool thin = cells[axis] == 1;
        first[axis] = thin ? origin[axis] - spacing[axis] / 2 : origin[axis];
        extent[2 * axis] = 0;
        extent[2 * axis + 1] = thin ? 1 : cells[axis] - 1;
    }
    h5file_numbers(file, "/VTKHDF", "WholeExtent", SAMPLE_int32, 6, extent);
    h5file_numbers(file, "/VTKHDF", "Origin", SAMPLE_float64, 3, first);
    h5file_numbers(file, "/VTKHDF", "Spacing", SAMPLE_float64, 3, spacing);
    h5file_numbers(file, "/VTKHDF", "Direction", SAMPLE_float64, 9, direction);
    h5file_group(file, "/VTKHDF/PointData");
    h5file_group(file, "/provenance");
    h5file_numbers(file, "/provenance", "cells", SAMPLE_int32, 3, cells);

    struct vtkhdf *made = malloc(sizeof *made);
    int failed = !made, any_failed = failed;
    if (failed)
        fail_machine("no memory for %s", path);
    MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, comm);
    if (any_failed || !made) {
        free(made);
        return h5file_close(file, false);
    }
    *made = (struct vtkhdf){.file = file};
    for (int axis = 0; axis < 3; axis++) {
        made->thin[axis] = cells[axis] == 1;
        made->points[axis] = extent[2 * axis + 1] + 1;
    }
    *out = made;
    return STATUS_OK;
}

enum status vtkhdf_add(struct vtkhdf *file, const char *name, int components, enum sample sample)
{
    char path[NAME];
    int length = snprintf(path, sizeof path, "/VTKHDF/PointData/%s", name);
    assert(length < NAME);
    (void)length;
    const int64_t size[4] = {file->points[2], file->points[1], file->points[0], components};
    return h5file_add(file->file, path, sample, components == 1 ? 3 : 4, size);
}

enum status vtkhdf_write(struct vtkhdf *file, int array, const int start[3], const int count[3],
                         const void *data)
{
    int axes;
    const int64_t *size = h5file_size(file->file, array, &axes);
    if (!size)
        return STATUS_MACHINE;
    const int64_t many[4] = {count[2], count[1], count[0], axes == 4 ? size[3] : 1};
    enum status status = STATUS_OK;
    for (int copy = 0; copy < 8 && !status; copy++) { /* bit a: to the second point along axis a */
        const int side[3] = {copy & 1, copy >> 1 & 1, copy >> 2};
        const int64_t from[4] = {start[2] + side[2], start[1] + side[1], start[0] + side[0], 0};
        if ((!side[0] || file->thin[0]) && (!side[1] || file->thin[1]) &&
            (!side[2] || file->thin[2]))
            status = h5file_write(file->file, array, from, many, data);
    }
    return status;
}

struct h5file *vtkhdf_file(struct vtkhdf *file)
{
    return file->file;
}

struct h5file *vtkhdf_release(struct vtkhdf *file)
{
    struct h5file *const released = file->file;
    free(file);
    return released;
}

enum status vtkhdf_close(struct vtkhdf *file, bool ok)
{
    if (!file)
        return ok ? STATUS_OK : STATUS_MACHINE;
    enum status status = h5file_close(file->file, ok);
    free(file);
    return status;
}
