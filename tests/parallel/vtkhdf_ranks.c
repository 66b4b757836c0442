/* Any number of ranks write one snapshot, each its box in small pieces; rank 0 then reads the file
 * with plain HDF5 and compares every value, and all ranks must have the same status.
 *
 *     vtkhdf_ranks PATH NX NY NZ [rank that fails]
 *
 * Exit status: 0 as it should be, 1 the machine failed (and no file was left), 9 a wrong value.
 * With a rank that fails, 1 is expected by the caller. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "io/vtkhdf.h"

enum {
    WRONG = 9,
    PIECE = 7 /* cells of a piece along each axis, so that boxes are cut unevenly */
};

static double density_at(int64_t g)
{
    return 1.0 + 1e-7 * (double)g;
}

static float velocity_at(int64_t g, int c)
{
    return (float)(0.25 * (double)(g % 1021) + 1000.0 * c);
}

static uint8_t tag_at(int64_t g)
{
    return (uint8_t)(g * 31 % 251);
}

/* Every rank writes [low, high) of the grid, piece by piece. */
static void write_box(struct vtkhdf *file, const int cells[3], const int low[3], const int high[3])
{
    static double density[PIECE * PIECE * PIECE];
    static float velocity[3 * PIECE * PIECE * PIECE];
    static uint8_t tag[PIECE * PIECE * PIECE];
    int start[3], count[3];
    for (start[2] = low[2]; start[2] < high[2]; start[2] += PIECE)
        for (start[1] = low[1]; start[1] < high[1]; start[1] += PIECE)
            for (start[0] = low[0]; start[0] < high[0]; start[0] += PIECE) {
                for (int a = 0; a < 3; ++a)
                    count[a] = high[a] - start[a] < PIECE ? high[a] - start[a] : PIECE;
                int n = 0;
                for (int z = 0; z < count[2]; ++z)
                    for (int y = 0; y < count[1]; ++y)
                        for (int x = 0; x < count[0]; ++x, ++n) {
                            int64_t g =
                                ((int64_t)(start[2] + z) * cells[1] + start[1] + y) * cells[0] +
                                start[0] + x;
                            density[n] = density_at(g);
                            tag[n] = tag_at(g);
                            for (int c = 0; c < 3; ++c)
                                velocity[3 * n + c] = velocity_at(g, c);
                        }
                vtkhdf_write(file, 0, start, count, density);
                vtkhdf_write(file, 1, start, count, velocity);
                vtkhdf_write(file, 2, start, count, tag);
            }
}

static int64_t read_array(hid_t file, const char *name, hid_t type, size_t bytes, int axes,
                          const int cells[3], int components, void **data)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    hsize_t size[4] = {0};
    const int expected[4] = {cells[2], cells[1], cells[0], components};
    if (space < 0 || H5Sget_simple_extent_ndims(space) != axes)
        return -1;
    H5Sget_simple_extent_dims(space, size, NULL);
    for (int a = 0; a < axes; ++a)
        if (size[a] != (hsize_t)expected[a])
            return -1;
    int64_t samples = (int64_t)cells[0] * cells[1] * cells[2] * components;
    *data = malloc((size_t)samples * bytes);
    if (!*data || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *data) < 0)
        return -1;
    H5Sclose(space);
    H5Dclose(set);
    return samples;
}

static int64_t count_wrong(const char *path, const int cells[3])
{
    double *density = NULL;
    float *velocity = NULL;
    uint8_t *tag = NULL;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return -1;
    int64_t n = read_array(file, "VTKHDF/PointData/density", H5T_NATIVE_DOUBLE, sizeof *density, 3,
                           cells, 1, (void **)&density);
    int64_t m = read_array(file, "VTKHDF/PointData/velocity", H5T_NATIVE_FLOAT, sizeof *velocity, 4,
                           cells, 3, (void **)&velocity);
    int64_t k = read_array(file, "VTKHDF/PointData/tag", H5T_NATIVE_UINT8, sizeof *tag, 3, cells, 1,
                           (void **)&tag);
    int64_t wrong = n < 0 || m < 0 || k < 0 ? -1 : 0;
    for (int64_t g = 0; wrong >= 0 && g < n; ++g) {
        wrong += density[g] != density_at(g);
        wrong += tag[g] != tag_at(g);
        for (int c = 0; c < 3; ++c)
            wrong += velocity[3 * g + c] != velocity_at(g, c);
    }
    H5Fclose(file);
    free(density);
    free(velocity);
    free(tag);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, cuts[3] = {0, 0, 0}, cells[3], low[3], high[3];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    if (argc < 5) {
        fail_user("usage: vtkhdf_ranks PATH NX NY NZ [rank that fails]");
        MPI_Finalize();
        return STATUS_USAGE;
    }
    const char *path = argv[1];
    int bad_rank = argc > 5 ? atoi(argv[5]) : -1;
    MPI_Dims_create(ranks, 3, cuts);
    for (int a = 0, r = rank; a < 3; r /= cuts[a], ++a) {
        cells[a] = atoi(argv[2 + a]);
        low[a] = (int)((int64_t)cells[a] * (r % cuts[a]) / cuts[a]);
        high[a] = (int)((int64_t)cells[a] * (r % cuts[a] + 1) / cuts[a]);
    }

    struct vtkhdf *file = NULL;
    const double origin[3] = {0.5, 0.5, 0.5}, spacing[3] = {1, 1, 1};
    bool created = vtkhdf_create(&file, MPI_COMM_WORLD, path, cells, origin, spacing) == STATUS_OK;
    bool ok = created && vtkhdf_add(file, "density", 1, SAMPLE_float64) == STATUS_OK &&
              vtkhdf_add(file, "velocity", 3, SAMPLE_float32) == STATUS_OK &&
              vtkhdf_add(file, "tag", 1, SAMPLE_uint8) == STATUS_OK;
    if (ok) {
        h5file_text(vtkhdf_file(file), "/provenance", "version", "test");
        h5file_numbers(vtkhdf_file(file), "/provenance", "ranks", SAMPLE_int32, 1, &ranks);
        write_box(file, cells, low, high);
    }
    int status = (int)vtkhdf_close(file, ok && rank != bad_rank), least, most;

    MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int result = least == most ? status : WRONG;
    if (rank == 0) {
        char temporary[4096];
        snprintf(temporary, sizeof temporary, "%s.tmp", path);
        if (access(temporary, F_OK) == 0) {
            printf("%s was left behind\n", temporary);
            result = WRONG;
        }
        if (result == STATUS_OK) {
            int64_t wrong = count_wrong(path, cells);
            printf("%d ranks as %d x %d x %d: %lld wrong values\n", ranks, cuts[0], cuts[1],
                   cuts[2], (long long)wrong);
            if (wrong != 0)
                result = WRONG;
        }
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return result;
}
