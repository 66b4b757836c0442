/* Files of refined grids, on one rank: boxes of a level, and where their cells lie in the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hdf5.h>
#include <mpi.h>

#include "domain/boxes.h"
#include "io/vtkamr.h"
#include "scratch.h"

enum { BRICKS = 5 };

/* Two levels: a box of 27 x 20 x 9 cells of level 0, bricks of level 1 in its corner at (8, 4, 0),
 * whose last brick along x and along z is smaller. */
struct some {
    struct refined grid;
    uint64_t bits[2];
};

static void some_make(struct some *s)
{
    static const int cells[3] = {27, 20, 9}, first[3] = {2, 1, 0}, n[3] = {BRICKS, 4, 3};
    *s = (struct some){.grid = {.levels = 2}};
    for (int a = 0; a < 3; a++) {
        s->grid.level[0].cells[a] = cells[a];
        s->grid.level[1].cells[a] = 2 * cells[a];
        s->grid.level[1].first[a] = first[a];
        s->grid.level[1].n[a] = n[a];
    }
    s->grid.level[1].in = s->bits;
}

static void some_add(struct some *s, int x, int y, int z)
{
    const int bit = (z * 4 + y) * BRICKS + x;
    s->bits[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static bool some_has(const struct some *s, const int cell[3])
{
    int brick[3];
    for (int a = 0; a < 3; a++) {
        brick[a] = cell[a] / BRICK - s->grid.level[1].first[a];
        if (cell[a] >= s->grid.level[1].cells[a] || brick[a] < 0 ||
            brick[a] >= s->grid.level[1].n[a])
            return false;
    }
    const int bit = (brick[2] * 4 + brick[1]) * BRICKS + brick[0];
    return s->bits[bit / 64] >> (bit % 64) & 1;
}

static int boxes_with(const struct boxes *b, const int cell[3])
{
    int found = 0;
    for (int i = 0; i < b->count; i++) {
        bool in = true;
        for (int a = 0; a < 3; a++)
            in = in && cell[a] >= b->box[i].lo[a] && cell[a] < b->box[i].hi[a];
        found += in;
    }
    return found;
}

/* Every cell of the level within the clip is in one box, and no other cell. */
static void check_cover(const struct some *s, const int lo[3], const int hi[3])
{
    struct boxes b;
    assert_int_equal(boxes_make(&b, &s->grid, 1, lo, hi), STATUS_OK);
    int c[3];
    for (c[2] = 0; c[2] < 20; c[2]++)
        for (c[1] = 0; c[1] < 42; c[1]++)
            for (c[0] = 0; c[0] < 56; c[0]++) {
                bool in = some_has(s, c);
                for (int a = 0; a < 3; a++)
                    in = in && c[a] >= lo[a] && c[a] < hi[a];
                assert_int_equal(boxes_with(&b, c), in);
            }
    boxes_destroy(&b);
}

static void boxes_hold_the_cells_of_the_level(void **state)
{
    (void)state;
    static const int zero[3] = {0, 0, 0}, all[3] = {54, 40, 18};
    static const int low[3] = {20, 10, 2}, high[3] = {52, 38, 17};
    uint32_t number = 1;
    for (int trial = 0; trial < 20; trial++) {
        struct some s;
        some_make(&s);
        for (int k = 0; k < 60; k++) {
            number = 1664525 * number + 1013904223;
            if (number >> 29 < (uint32_t)trial % 9)
                some_add(&s, k % BRICKS, k / BRICKS % 4, k / 20);
        }
        check_cover(&s, zero, all);
        check_cover(&s, low, high);
    }
}

/* Joined along x, then y, then z: a slab of 3 x 2 bricks below one of 3 x 2 with one more brick. */
static void boxes_join_along_x_y_z(void **state)
{
    (void)state;
    static const int zero[3] = {0, 0, 0}, all[3] = {54, 40, 18};
    static const struct box expected[2] = {{{16, 8, 0}, {40, 24, 16}}, {{16, 24, 8}, {24, 32, 16}}};
    struct some s;
    struct boxes b;
    some_make(&s);
    for (int k = 0; k < 12; k++)
        some_add(&s, k % 3, k / 3 % 2, k / 6);
    some_add(&s, 0, 2, 1);
    assert_int_equal(boxes_make(&b, &s.grid, 1, zero, all), STATUS_OK);
    assert_int_equal(b.count, 2);
    assert_memory_equal(b.box, expected, sizeof expected);
    boxes_destroy(&b);

    assert_int_equal(boxes_make(&b, &s.grid, 1, zero, (int[]){16, 40, 18}), STATUS_OK);
    assert_int_equal(b.count, 0);
    boxes_destroy(&b);
    assert_int_equal(boxes_make(&b, &s.grid, 0, (int[]){1, 2, 3}, (int[]){4, 5, 6}), STATUS_OK);
    assert_int_equal(b.count, 1);
    assert_memory_equal(b.box, (&(struct box){{1, 2, 3}, {4, 5, 6}}), sizeof(struct box));
    boxes_destroy(&b);
}

/* A number that tells level, cell and component. */
static double value_of(int level, int x, int y, int z, int component)
{
    return component + 10 * (x + 100 * (y + 100 * (z + 100.0 * level)));
}

static const struct box coarse[1] = {{{0, 0, 0}, {6, 5, 4}}};
static const struct box fine[3] = {
    {{2, 2, 2}, {7, 6, 3}}, {{8, 2, 2}, {10, 9, 7}}, {{2, 8, 5}, {3, 9, 6}}};
static const struct vtkamr_level levels[2] = {{0.5, 1, coarse}, {0.25, 3, fine}};

/* Writes an array, a part of each box at a time: parts that are cut along all axes. */
static void write_parts(struct vtkamr *a, int array, int components)
{
    for (int l = 1; l >= 0; l--)
        for (int b = levels[l].boxes - 1; b >= 0; b--)
            for (int part = 7; part >= 0; part--) {
                struct box box = levels[l].box[b];
                double values[3 * 6 * 7 * 5];
                size_t n = 0;
                for (int axis = 0; axis < 3; axis++) {
                    const int middle = (box.lo[axis] + box.hi[axis]) / 2;
                    *(part >> axis & 1 ? &box.lo[axis] : &box.hi[axis]) = middle;
                }
                for (int z = box.lo[2]; z < box.hi[2]; z++)
                    for (int y = box.lo[1]; y < box.hi[1]; y++)
                        for (int x = box.lo[0]; x < box.hi[0]; x++)
                            for (int k = 0; k < components; k++)
                                values[n++] = value_of(l, x, y, z, k);
                assert_int_equal(vtkamr_write(a, array, l, b, &box, values), STATUS_OK);
            }
}

static void check_array(hid_t file, int level, const char *name, int components)
{
    static double values[4096];
    char path[64];
    size_t n = 0;
    hsize_t size[2] = {0, 0};
    snprintf(path, sizeof path, "VTKHDF/Level%d/CellData/%s", level, name);
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), components == 1 ? 1 : 2);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (int b = 0; b < levels[level].boxes; b++) {
        const struct box *const box = &levels[level].box[b];
        for (int z = box->lo[2]; z < box->hi[2]; z++)
            for (int y = box->lo[1]; y < box->hi[1]; y++)
                for (int x = box->lo[0]; x < box->hi[0]; x++)
                    for (int k = 0; k < components; k++)
                        assert_true(values[n++] == value_of(level, x, y, z, k));
    }
    assert_int_equal(size[0] * (hsize_t)components, n);
    H5Sclose(space);
    H5Dclose(set);
}

static void assert_word(hid_t file, const char *name, const char *expected)
{
    char text[32] = "";
    const hid_t id = H5Aopen_by_name(file, "VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(id);
    assert_true(H5Aread(id, type, text) >= 0);
    assert_string_equal(text, expected);
    H5Tclose(type);
    H5Aclose(id);
}

static void cells_land_where_they_belong(void **state)
{
    (void)state;
    static const double origin[3] = {1, 2, 3};
    static const int32_t bounds[3][6] = {
        {2, 6, 2, 5, 2, 2}, {8, 9, 2, 8, 2, 6}, {2, 2, 8, 8, 5, 5}};
    struct vtkamr a;
    assert_int_equal(vtkamr_create(&a, MPI_COMM_WORLD, scratch_path("a"), origin, 2, levels),
                     STATUS_OK);
    assert_int_equal(vtkamr_add(&a, "velocity", 3, SAMPLE_float64), STATUS_OK);
    assert_int_equal(vtkamr_add(&a, "density", 1, SAMPLE_float64), STATUS_OK);
    write_parts(&a, 1, 1);
    write_parts(&a, 0, 3);
    assert_int_equal(h5file_close(a.file, true), STATUS_OK);
    vtkamr_free(&a);

    const hid_t file = H5Fopen(scratch_path("a"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_word(file, "Type", "OverlappingAMR");
    assert_word(file, "GridDescription", "XYZ");
    for (int l = 0; l < 2; l++) {
        check_array(file, l, "velocity", 3);
        check_array(file, l, "density", 1);
    }
    int32_t got[3][6];
    const hid_t boxes = H5Dopen2(file, "VTKHDF/Level1/AMRBox", H5P_DEFAULT);
    assert_true(H5Dread(boxes, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, got) >= 0);
    assert_memory_equal(got, bounds, sizeof got);
    H5Dclose(boxes);
    double spacing[3];
    const hid_t id = H5Aopen_by_name(file, "VTKHDF/Level1", "Spacing", H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, spacing) >= 0);
    assert_true(spacing[0] == 0.25 && spacing[1] == 0.25 && spacing[2] == 0.25);
    H5Aclose(id);
    H5Fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_hold_the_cells_of_the_level),
        cmocka_unit_test(boxes_join_along_x_y_z),
        SCRATCH_TEST(cells_land_where_they_belong),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
