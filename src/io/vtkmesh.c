/* Values on triangles; see vtkmesh.h. */
#include "io/vtkmesh.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"

enum { TRIANGLE = 5 /* VTK_TRIANGLE */, NAME = 128 };

/* Datasets in this order. */
enum { POINT_COUNT, CELL_COUNT, ID_COUNT, POINTS, CONNECTIVITY, OFFSETS, TYPES, DATASETS };
_Static_assert((int)DATASETS == (int)VTKMESH_FIRST, "arrays follow");

static enum status add_datasets(struct h5file *file, int64_t points, int64_t triangles)
{
    static const char *const names[DATASETS] = {
        "NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds", "Points", "Connectivity",
        "Offsets",        "Types"};
    const int64_t size[DATASETS] = {1, 1, 1, points, 3 * triangles, triangles + 1, triangles};
    enum status status = STATUS_OK;
    for (int k = 0; k < DATASETS && !status; k++) {
        char path[NAME];
        snprintf(path, sizeof path, "/VTKHDF/%s", names[k]);
        const int64_t both[2] = {size[k], 3};
        status = h5file_add(file, path,
                            k == POINTS  ? SAMPLE_float64
                            : k == TYPES ? SAMPLE_uint8
                                         : SAMPLE_int64,
                            k == POINTS ? 2 : 1, both);
    }
    return status;
}

static enum status put(struct h5file *file, int dataset, int64_t count, const void *data)
{
    const int64_t start[2] = {0, 0}, size[2] = {count, 3};
    return h5file_write(file, dataset, start, size, data);
}

/* Rank 0: writes points and triangles. */
static enum status write_mesh(struct h5file *file, int64_t points, int64_t triangles,
                              const double (*point)[3], const uint32_t (*triangle)[3])
{
    const int64_t counts[] = {points, triangles, 3 * triangles};
    int64_t *const ids = malloc((size_t)(3 * triangles + 1) * sizeof *ids);
    uint8_t *const types = malloc((size_t)triangles);
    enum status status =
        ids && types ? STATUS_OK
                     : fail_machine("out of memory to write %lld triangles", (long long)triangles);
    for (int k = POINT_COUNT; k <= ID_COUNT && !status; k++)
        status = put(file, k, 1, &counts[k]);
    if (!status)
        status = put(file, POINTS, points, point);
    for (int64_t k = 0; k < 3 * triangles && !status; k++)
        ids[k] = triangle[k / 3][k % 3];
    if (!status)
        status = put(file, CONNECTIVITY, 3 * triangles, ids);
    for (int64_t k = 0; k <= triangles && !status; k++)
        ids[k] = 3 * k;
    for (int64_t k = 0; k < triangles && !status; k++)
        types[k] = TRIANGLE;
    if (!status)
        status = put(file, OFFSETS, triangles + 1, ids);
    if (!status)
        status = put(file, TYPES, triangles, types);
    free(ids);
    free(types);
    return status;
}

enum status vtkmesh_create(struct h5file **out, MPI_Comm comm, const char *path, int64_t points,
                           int64_t triangles, const double (*point)[3],
                           const uint32_t (*triangle)[3])
{
    static const int64_t version[2] = {1, 0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    enum status status = h5file_create(out, comm, path);
    if (status)
        return status;
    h5file_group(*out, "/VTKHDF");
    h5file_numbers(*out, "/VTKHDF", "Version", SAMPLE_int64, 2, version);
    h5file_word(*out, "/VTKHDF", "Type", "UnstructuredGrid");
    h5file_group(*out, "/VTKHDF/CellData");
    h5file_group(*out, "/provenance");
    status = add_datasets(*out, points, triangles);
    if (!status && rank == 0)
        status = write_mesh(*out, points, triangles, point, triangle);
    return status_agree(comm, status);
}

enum status vtkmesh_add(struct h5file *file, const char *name, int64_t triangles, int components,
                        enum sample sample)
{
    char path[NAME];
    const int length = snprintf(path, sizeof path, "/VTKHDF/CellData/%s", name);
    const int64_t size[2] = {triangles, components};
    assert(length < NAME);
    (void)length;
    return h5file_add(file, path, sample, components == 1 ? 1 : 2, size);
}
