/* Snapshots, on one rank: the format, and that a file is whole or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hdf5.h>
#include <mpi.h>

#include "base/file.h"
#include "io/vtkhdf.h"
#include "scratch.h"

static const int cells[3] = {7, 5, 3};
static const double origin[3] = {0.5, -1, 2}, spacing[3] = {1, 0.5, 0.25};

static struct vtkhdf *started(const char *path, const int grid[3])
{
    struct vtkhdf *file = NULL;
    assert_int_equal(vtkhdf_create(&file, MPI_COMM_WORLD, path, grid, origin, spacing), STATUS_OK);
    return file;
}

static hid_t attribute(hid_t file, const char *object, const char *name)
{
    hid_t id = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0);
    return id;
}

static void assert_numbers(hid_t file, const char *object, const char *name, int count,
                           const double *expected)
{
    double got[16];
    hid_t id = attribute(file, object, name), space = H5Aget_space(id);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_int_equal(H5Sget_simple_extent_ndims(space), count > 1);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, got) >= 0);
    assert_memory_equal(got, expected, (size_t)count * sizeof *got);
    H5Sclose(space);
    H5Aclose(id);
}

static void assert_text(hid_t file, const char *object, const char *name, const char *expected)
{
    char *got = NULL;
    hid_t id = attribute(file, object, name), type = H5Aget_type(id);
    assert_true(H5Tis_variable_str(type) > 0);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_UTF8);
    assert_true(H5Aread(id, type, &got) >= 0);
    assert_string_equal(got, expected);
    H5free_memory(got);
    H5Tclose(type);
    H5Aclose(id);
}

static void header_is_what_vtk_expects(void **state)
{
    (void)state;
    struct vtkhdf *file = started(scratch_path("a"), cells);
    assert_int_equal(vtkhdf_close(file, true), STATUS_OK);

    hid_t id = H5Fopen(scratch_path("a"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(id >= 0);
    assert_numbers(id, "VTKHDF", "Version", 2, (double[]){1, 0});
    assert_numbers(id, "VTKHDF", "WholeExtent", 6, (double[]){0, 6, 0, 4, 0, 2});
    assert_numbers(id, "VTKHDF", "Origin", 3, origin);
    assert_numbers(id, "VTKHDF", "Spacing", 3, spacing);
    assert_numbers(id, "VTKHDF", "Direction", 9, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
    assert_true(H5Lexists(id, "VTKHDF/PointData", H5P_DEFAULT) > 0);

    char text[16] = "";
    hid_t kind = attribute(id, "VTKHDF", "Type"), type = H5Aget_type(kind);
    assert_int_equal(H5Tget_class(type), H5T_STRING);
    assert_false(H5Tis_variable_str(type));
    assert_int_equal(H5Tget_cset(type), H5T_CSET_ASCII);
    assert_int_equal(H5Tget_size(type), strlen("ImageData"));
    assert_true(H5Aread(kind, type, text) >= 0);
    assert_string_equal(text, "ImageData");
    H5Tclose(type);
    H5Aclose(kind);
    H5Fclose(id);
}

/* Boxes in odd order, of all shapes a part of an axis can have, cover the grid. */
static void boxes_land_where_they_belong(void **state)
{
    (void)state;
    static const int cut[3][3] = {{0, 3, 7}, {0, 5, 5}, {0, 1, 3}};
    struct vtkhdf *file = started(scratch_path("a"), cells);
    assert_int_equal(vtkhdf_add(file, "velocity", 3, SAMPLE_float32), STATUS_OK);
    assert_int_equal(vtkhdf_add(file, "tag", 1, SAMPLE_uint8), STATUS_OK);
    for (int part = 7; part >= 0; --part) {
        int start[3], count[3], n = 0;
        float velocity[3 * 7 * 5 * 3];
        uint8_t tag[7 * 5 * 3];
        for (int a = 0; a < 3; ++a) {
            start[a] = cut[a][part >> a & 1];
            count[a] = cut[a][(part >> a & 1) + 1] - start[a];
        }
        for (int z = start[2]; z < start[2] + count[2]; ++z)
            for (int y = start[1]; y < start[1] + count[1]; ++y)
                for (int x = start[0]; x < start[0] + count[0]; ++x, ++n) {
                    tag[n] = (uint8_t)(x + 7 * (y + 5 * z));
                    for (int c = 0; c < 3; ++c)
                        velocity[3 * n + c] = (float)(10 * tag[n] + c);
                }
        assert_int_equal(vtkhdf_write(file, 0, start, count, velocity), STATUS_OK);
        assert_int_equal(vtkhdf_write(file, 1, start, count, tag), STATUS_OK);
    }
    assert_int_equal(vtkhdf_close(file, true), STATUS_OK);
    assert_int_equal(scratch_files(0), 1);

    float velocity[3][5][7][3];
    uint8_t tag[3][5][7];
    hid_t id = H5Fopen(scratch_path("a"), H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t one = H5Dopen2(id, "VTKHDF/PointData/velocity", H5P_DEFAULT);
    hid_t two = H5Dopen2(id, "VTKHDF/PointData/tag", H5P_DEFAULT);
    hsize_t size[4];
    hid_t space = H5Dget_space(one);
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 4);
    assert_memory_equal(size, ((hsize_t[]){3, 5, 7, 3}), sizeof size);
    H5Sclose(space);
    space = H5Dget_space(two);
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 3);
    H5Sclose(space);
    assert_true(H5Dread(one, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, velocity) >= 0);
    assert_true(H5Dread(two, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, tag) >= 0);
    for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 7; ++x) {
                assert_int_equal(tag[z][y][x], x + 7 * (y + 5 * z));
                for (int c = 0; c < 3; ++c)
                    assert_true(velocity[z][y][x][c] == (float)(10 * tag[z][y][x] + c));
            }
    H5Dclose(two);
    H5Dclose(one);
    H5Fclose(id);
}

static void notes_are_kept_however_long(void **state)
{
    (void)state;
    enum { LENGTH = 300000 };
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    for (int i = 0; i < LENGTH; ++i)
        text[i] = (char)('!' + i % 90);
    text[LENGTH] = '\0';
    struct vtkhdf *file = started(scratch_path("a"), cells);
    struct h5file *const notes = vtkhdf_file(file);
    int64_t step = INT64_C(9007199254740993);
    h5file_text(notes, "/provenance", "case", text);
    h5file_text(notes, "/provenance", "host", "");
    h5file_text(notes, "/provenance", "unit", "\xc2\xb5m");
    h5file_numbers(notes, "/provenance", "time", SAMPLE_float64, 1, (double[]){0.1});
    h5file_numbers(notes, "/provenance", "step", SAMPLE_int64, 1, &step);
    assert_int_equal(vtkhdf_close(file, true), STATUS_OK);

    hid_t id = H5Fopen(scratch_path("a"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_text(id, "provenance", "case", text);
    assert_text(id, "provenance", "host", "");
    assert_text(id, "provenance", "unit", "\xc2\xb5m");
    assert_numbers(id, "provenance", "time", 1, (double[]){0.1});
    step = 0;
    hid_t number = attribute(id, "provenance", "step");
    assert_true(H5Aread(number, H5T_NATIVE_INT64, &step) >= 0);
    assert_true(step == INT64_C(9007199254740993));
    H5Aclose(number);
    H5Fclose(id);
    free(text);
}

static char *content(const char *path, size_t *length)
{
    char *text = NULL;
    assert_int_equal(file_read(path, 1 << 24, &text, length), STATUS_OK);
    return text;
}

static void the_same_results_make_the_same_file(void **state)
{
    (void)state;
    char *text[2];
    size_t length[2];
    for (int i = 0; i < 2; ++i) {
        static const double density[7 * 5 * 3] = {1, 2, 3};
        struct vtkhdf *file = started(scratch_path("a"), cells);
        assert_int_equal(vtkhdf_add(file, "density", 1, SAMPLE_float64), STATUS_OK);
        assert_int_equal(vtkhdf_write(file, 0, (int[]){0, 0, 0}, cells, density), STATUS_OK);
        h5file_text(vtkhdf_file(file), "/provenance", "version", "1");
        assert_int_equal(vtkhdf_close(file, true), STATUS_OK);
        text[i] = content(scratch_path("a"), &length[i]);
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(text[0], text[1], length[0]);
    free(text[0]);
    free(text[1]);
}

static void assert_only_old_file(void)
{
    size_t length;
    char *text = content(scratch_path("a"), &length);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(scratch_files(0), 1);
}

static void giving_up_keeps_the_old_file(void **state)
{
    (void)state;
    assert_int_equal(file_replace(scratch_path("a"), "old", 3), STATUS_OK);
    struct vtkhdf *file = started(scratch_path("a"), cells);
    assert_int_equal(vtkhdf_add(file, "density", 1, SAMPLE_float64), STATUS_OK);
    assert_int_equal(vtkhdf_close(file, false), STATUS_MACHINE);
    assert_only_old_file();
}

/* The limit on the size of files stands in for a full disk; each point at which it can bite. */
static void no_room_is_one_line_and_keeps_the_old_file(void **state)
{
    (void)state;
    static const int grid[3] = {128, 64, 64}; /* 4 MiB of float64 */
    static double density[128 * 64 * 64];
    const struct {
        rlim_t create, add, write;
        const char *says;
    } cases[] = {
        {100000, 100000, 100000, "cannot create"},
        {RLIM_INFINITY, 3000000, 3000000, "no room for /VTKHDF/PointData/density (0.004 GB)"},
        {RLIM_INFINITY, RLIM_INFINITY, 3000000, "cannot write"},
    };
    assert_int_equal(file_replace(scratch_path("a"), "old", 3), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct vtkhdf *file = NULL;
        scratch_listen();
        scratch_limit(cases[i].create);
        enum status created =
            vtkhdf_create(&file, MPI_COMM_WORLD, scratch_path("a"), grid, origin, spacing);
        scratch_limit(cases[i].add);
        enum status added = file ? vtkhdf_add(file, "density", 1, SAMPLE_float64) : created;
        scratch_limit(cases[i].write);
        enum status written = added;
        for (int again = 0; file && again < 3; ++again) /* also after add has failed */
            written = vtkhdf_write(file, 0, (int[]){0, 0, 0}, grid, density);
        if (file)
            h5file_text(vtkhdf_file(file), "/provenance", "version", "1");
        scratch_limit(RLIM_INFINITY); /* HDF5 in memory must not meet one that came later */
        enum status closed = vtkhdf_close(file, file != NULL);
        const char *heard = scratch_heard();
        assert_int_equal(closed, STATUS_MACHINE);
        assert_int_equal(created, i < 1 ? STATUS_MACHINE : STATUS_OK);
        assert_int_equal(added, i < 2 ? STATUS_MACHINE : STATUS_OK);
        assert_int_equal(written, STATUS_MACHINE);
        assert_one_line(heard, cases[i].says);
        assert_only_old_file();
    }
}

static void two_arrays_of_one_name_are_refused(void **state)
{
    (void)state;
    struct vtkhdf *file = started(scratch_path("a"), cells);
    assert_int_equal(vtkhdf_add(file, "density", 1, SAMPLE_float64), STATUS_OK);
    scratch_listen();
    enum status again = vtkhdf_add(file, "density", 1, SAMPLE_float64);
    const char *heard = scratch_heard();
    assert_int_equal(again, STATUS_MACHINE);
    assert_one_line(heard, "name already exists");
    assert_int_equal(vtkhdf_close(file, true), STATUS_MACHINE);
    assert_int_equal(scratch_files(0), 0);
}

/* Sizes that overflow 64 bits are an error, not a small file. */
static void a_dataset_larger_than_any_file_is_refused(void **state)
{
    (void)state;
    static const int grid[3] = {INT32_MAX, INT32_MAX, INT32_MAX};
    struct vtkhdf *file = started(scratch_path("a"), grid);
    scratch_listen();
    enum status added = vtkhdf_add(file, "density", 1, SAMPLE_float64);
    const char *heard = scratch_heard();
    assert_int_equal(added, STATUS_MACHINE);
    assert_one_line(heard, "larger than any file");
    assert_int_equal(vtkhdf_close(file, true), STATUS_MACHINE);
    assert_int_equal(scratch_files(0), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(header_is_what_vtk_expects),
        SCRATCH_TEST(boxes_land_where_they_belong),
        SCRATCH_TEST(notes_are_kept_however_long),
        SCRATCH_TEST(the_same_results_make_the_same_file),
        SCRATCH_TEST(giving_up_keeps_the_old_file),
        SCRATCH_TEST(no_room_is_one_line_and_keeps_the_old_file),
        SCRATCH_TEST(two_arrays_of_one_name_are_refused),
        SCRATCH_TEST(a_dataset_larger_than_any_file_is_refused),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
