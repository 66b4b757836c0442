/* Results on a refined grid; see vtkamr.h.
 *
 * Format: VTK's "VTKHDF File Format", version 1.0, type OverlappingAMR. */
#include "io/vtkamr.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/vtkhdf.h"

enum { NAME = 256 };

/* Copies the levels and numbers the cells of their boxes. */
static enum status number_cells(struct vtkamr *a, const struct vtkamr_level *level)
{
    for (int l = 0; l < a->levels; l++) {
        const int boxes = level[l].boxes;
        int64_t *const first = malloc(((size_t)boxes + 1) * sizeof *first);
        if (!first)
            return fail_machine("out of memory for the boxes of a level");
        first[0] = 0;
        for (int b = 0; b < boxes; b++)
            first[b + 1] = first[b] + (int64_t)box_cells(&level[l].box[b]);
        a->level[l].spacing = level[l].spacing;
        a->level[l].boxes = boxes;
        a->level[l].box = level[l].box;
        a->level[l].first = first;
    }
    return STATUS_OK;
}

/* Adds the group of a level and its boxes, which are dataset number `level`. */
static enum status add_level(struct vtkamr *a, int level, int rank)
{
    char group[32], path[NAME];
    const int boxes = a->level[level].boxes;
    const int64_t start[2] = {0, 0}, size[2] = {boxes, 6};
    const double spacing = a->level[level].spacing;
    snprintf(group, sizeof group, "/VTKHDF/Level%d", level);
    h5file_group(a->file, group);
    h5file_numbers(a->file, group, "Spacing", SAMPLE_float64, 3,
                   (const double[]){spacing, spacing, spacing});
    snprintf(path, sizeof path, "%s/AMRBox", group);
    enum status status = h5file_add(a->file, path, SAMPLE_int32, 2, size);
    snprintf(path, sizeof path, "%s/CellData", group);
    h5file_group(a->file, path);
    if (status || rank != 0)
        return status;
    int32_t(*const bounds)[6] = malloc((size_t)boxes * sizeof *bounds);
    if (!bounds)
        return fail_machine("out of memory for the boxes of a level");
    for (int b = 0; b < boxes; b++)
        for (int axis = 0; axis < 3; axis++) {
            bounds[b][2 * axis] = a->level[level].box[b].lo[axis];
            bounds[b][2 * axis + 1] = a->level[level].box[b].hi[axis] - 1;
        }
    status = h5file_write(a->file, level, start, size, bounds);
    free(bounds);
    return status;
}

enum status vtkamr_create(struct vtkamr *a, MPI_Comm comm, const char *path, const double origin[3],
                          int levels, const struct vtkamr_level *level)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    assert(levels <= VTKAMR_LEVELS);
    *a = (struct vtkamr){.levels = levels};
    enum status status = status_agree(comm, number_cells(a, level));
    if (!status)
        status = vtkhdf_start(&a->file, comm, path, "OverlappingAMR");
    if (status)
        return status;
    h5file_numbers(a->file, "/VTKHDF", "Origin", SAMPLE_float64, 3, origin);
    h5file_word(a->file, "/VTKHDF", "GridDescription", "XYZ");
    h5file_group(a->file, "/provenance");
    for (int l = 0; l < levels && !status; l++)
        status = status_agree(comm, add_level(a, l, rank));
    return status;
}

enum status vtkamr_add(struct vtkamr *a, const char *name, int components, enum sample sample)
{
    enum status status = STATUS_OK;
    for (int l = 0; l < a->levels && !status; l++) {
        char path[NAME];
        const int length = snprintf(path, sizeof path, "/VTKHDF/Level%d/CellData/%s", l, name);
        assert(length < NAME);
        (void)length;
        const int64_t size[2] = {a->level[l].first[a->level[l].boxes], components};
        status = h5file_add(a->file, path, sample, components == 1 ? 1 : 2, size);
    }
    a->arrays++;
    return status;
}

enum status vtkamr_write(struct vtkamr *a, int array, int level, int box, const struct box *part,
                         const void *data)
{
    const struct box *const b = &a->level[level].box[box];
    const int dataset = a->levels * (1 + array) + level; /* after the boxes of all levels */
    int axes;
    const int64_t *const all = h5file_size(a->file, dataset, &axes);
    if (!all)
        return STATUS_MACHINE;
    const int64_t components = axes == 2 ? all[1] : 1;
    int64_t size[4] = {0, 0, 0, components}, start[4] = {0}, count[4] = {0, 0, 0, components};
    for (int axis = 0; axis < 3; axis++) {
        assert(part->lo[axis] >= b->lo[axis] && part->hi[axis] <= b->hi[axis]);
        size[2 - axis] = b->hi[axis] - b->lo[axis];
        start[2 - axis] = part->lo[axis] - b->lo[axis];
        count[2 - axis] = part->hi[axis] - part->lo[axis];
    }
    return h5file_write_array(a->file, dataset, a->level[level].first[box] * components, 4, size,
                              start, count, data);
}

void vtkamr_free(struct vtkamr *a)
{
    for (int l = 0; l < a->levels; l++)
        free(a->level[l].first);
    *a = (struct vtkamr){0};
}
