/* Voxel images: every format, type and byte order gives the labels that were written, a rank's part
 * is that of the whole and reads no more of the file, and every file that is no good gets a reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <tiffio.h>

#include "body/voxel_file.h"
#include "body/voxel_survey.h"
#include "body/voxels.h"
#include "foreign/hdf5.h"
#include "scratch.h"

enum { NX = 37, NY = 21, NZ = 11, CELLS = NX * NY * NZ };

static const char *const names[] = {
#define X(name, number, lowest, highest) #name,
    VOXEL_TYPE_LIST(X)
#undef X
};
enum { TYPES = sizeof names / sizeof *names };
static const struct {
    int lowest, highest, bytes;
} types[] = {
#define X(name, number, lowest, highest) {lowest, highest, sizeof(number)},
    VOXEL_TYPE_LIST(X)
#undef X
};

/* The label of a voxel: the type's ends occur, and 0 to 3 most of the time. */
static int label_at(int x, int y, int z, enum voxel_type type)
{
    const unsigned k = (unsigned)(x + NX * (y + NY * z)) * 2654435761u >> 7;
    return k % 101 == 0 ? types[type].lowest : k % 101 == 1 ? types[type].highest : (int)(k % 4);
}

/* A label as a number of the type, in the byte order of this machine or the other. */
static void put_label(enum voxel_type type, bool swapped, int label, uint8_t *to)
{
    const size_t size = (size_t)types[type].bytes;
    uint8_t bytes[8];
    switch (type) {
#define X(name, number, lowest, highest)                                                           \
    case VOXEL_##name: {                                                                           \
        const number value = (number)label;                                                        \
        memcpy(bytes, &value, sizeof value);                                                       \
        break;                                                                                     \
    }
        VOXEL_TYPE_LIST(X)
#undef X
    }
    for (size_t k = 0; k < size; k++)
        to[k] = bytes[swapped ? size - 1 - k : k];
}

/* The image as bytes of the type, in the byte order of this machine or the other. */
static uint8_t *image_bytes(enum voxel_type type, bool swapped)
{
    const size_t size = (size_t)types[type].bytes;
    uint8_t *const bytes = malloc(CELLS * size);
    assert_non_null(bytes);
    for (int z = 0, k = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++, k++)
                put_label(type, swapped, label_at(x, y, z, type), bytes + (size_t)k * size);
    return bytes;
}

static void write_bytes(const char *path, const void *before, size_t skip, const void *bytes,
                        size_t length)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(before, 1, skip, file), skip);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void write_hdf5(const char *path, enum voxel_type type, bool chunked)
{
    const hid_t kinds[] = {H5T_NATIVE_UINT8, H5T_NATIVE_INT8, H5T_STD_U16BE, H5T_STD_I16BE,
                           H5T_STD_U32BE,    H5T_STD_I32LE,   H5T_STD_U64LE, H5T_STD_I64BE,
                           H5T_IEEE_F32BE,   H5T_IEEE_F64LE};
    const hid_t memory[] = {H5T_NATIVE_UINT8,  H5T_NATIVE_INT8,   H5T_NATIVE_UINT16,
                            H5T_NATIVE_INT16,  H5T_NATIVE_UINT32, H5T_NATIVE_INT32,
                            H5T_NATIVE_UINT64, H5T_NATIVE_INT64,  H5T_NATIVE_FLOAT,
                            H5T_NATIVE_DOUBLE};
    const hsize_t size[3] = {NZ, NY, NX}, chunk[3] = {4, 8, 16};
    uint8_t *const bytes = image_bytes(type, false);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(3, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t link = H5Pcreate(H5P_LINK_CREATE);
    assert_true(H5Pset_create_intermediate_group(link, 1) >= 0);
    if (chunked) {
        assert_true(H5Pset_chunk(how, 3, chunk) >= 0);
        assert_true(H5Pset_deflate(how, 6) >= 0);
    }
    const hid_t set = H5Dcreate2(file, "scan/labels", kinds[type], space, link, how, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, memory[type], H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    H5Dclose(set);
    H5Pclose(link);
    H5Pclose(how);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    free(bytes);
}

struct layout {
    const char *name, *mode;
    int rows, tile; /* of a strip; edge of a tile, 0: strips */
    uint16_t packing;
};

static const struct layout layouts[] = {
    {"strips", "w", 5, 0, COMPRESSION_NONE},
    {"page", "wb", NY, 0, COMPRESSION_NONE}, /* big endian */
    {"lzw", "w", 4, 0, COMPRESSION_LZW},
    {"deflate", "w8", 4, 0, COMPRESSION_ADOBE_DEFLATE}, /* BigTIFF */
    {"tiles", "w", 0, 16, COMPRESSION_NONE},
    {"packed tiles", "w", 0, 16, COMPRESSION_PACKBITS},
};

static void write_page(TIFF *tiff, const struct layout *how, const uint8_t *page, size_t bytes)
{
    if (!how->tile) {
        for (uint32_t y = 0; y < NY; y++)
            assert_int_equal(
                TIFFWriteScanline(tiff, (void *)(uintptr_t)(page + y * NX * bytes), y, 0), 1);
        return;
    }
    const int t = how->tile;
    for (int y = 0; y < NY; y += t)
        for (int x = 0; x < NX; x += t) {
            uint8_t tile[16 * 16 * 8] = {0};
            for (int j = 0; j < t && y + j < NY; j++)
                memcpy(tile + (size_t)(j * t) * bytes, page + (size_t)((y + j) * NX + x) * bytes,
                       (size_t)(NX - x < t ? NX - x : t) * bytes);
            assert_true(TIFFWriteTile(tiff, tile, (uint32_t)x, (uint32_t)y, 0, 0) > 0);
        }
}

static void write_tiff(const char *path, enum voxel_type type, const struct layout *how, int odd)
{
    uint8_t *const bytes = image_bytes(type, false);
    const size_t size = (size_t)types[type].bytes;
    TIFF *const tiff = TIFFOpen(path, how->mode);
    assert_non_null(tiff);
    for (int z = 0; z < NZ; z++) {
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, z == odd ? NX - 1 : NX);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, NY);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, (int)(8 * size));
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, how->packing);
        if (types[type].lowest < 0)
            TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
                         type < VOXEL_float32 ? SAMPLEFORMAT_INT : SAMPLEFORMAT_IEEEFP);
        if (how->tile) {
            TIFFSetField(tiff, TIFFTAG_TILEWIDTH, how->tile);
            TIFFSetField(tiff, TIFFTAG_TILELENGTH, how->tile);
        } else {
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, how->rows);
        }
        write_page(tiff, how, bytes + (size_t)z * NX * NY * size, size);
        assert_int_equal(TIFFWriteDirectory(tiff), 1);
    }
    TIFFClose(tiff);
    free(bytes);
}

static struct voxel_image plain(enum voxel_format format, enum voxel_type type, char *path)
{
    static char dataset[] = "scan/labels";
    const struct voxel_image image = {.format = format,
                                      .file = path,
                                      .dataset = dataset,
                                      .size = {NX, NY, NZ},
                                      .type = type,
                                      .solid = {1, 3},
                                      .solid_count = 2,
                                      .to = {NX, NY, NZ}};
    return image;
}

static const int parts[][6] = {{0, 0, 0, NX, NY, NZ},
                               {NX - 1, NY - 1, NZ - 1, NX, NY, NZ},
                               {3, 0, 2, 4, NY, 9},
                               {5, 7, 0, 33, 18, NZ}};

/* Every plane, whole and in parts, in ascending order and back again. */
static void check_labels(const struct voxel_image *image, const char *what)
{
    static int32_t labels[NX * NY];
    char reason[VOXEL_REASON] = "";
    struct voxel_file f;
    if (voxel_file_open(&f, image->file, image, reason))
        fail_msg("%s:%s", what, reason);
    assert_int_equal(f.type, image->type);
    assert_int_equal(f.size[0], NX);
    assert_int_equal(f.size[1], NY);
    assert_int_equal(f.size[2], NZ);
    for (int k = 0; k < 2 * NZ; k++) {
        const int z = k < NZ ? k : 2 * NZ - 1 - k;
        const int *const p = parts[k % 4];
        if (voxel_file_plane(&f, z, p, p + 3, labels, reason))
            fail_msg("%s, plane %d:%s", what, z, reason);
        for (int y = p[1], i = 0; y < p[4]; y++)
            for (int x = p[0]; x < p[3]; x++, i++)
                if (labels[i] != label_at(x, y, z, image->type))
                    fail_msg("%s: voxel %d %d %d is %d, not %d", what, x, y, z, labels[i],
                             label_at(x, y, z, image->type));
    }
    voxel_file_close(&f);
}

static void raw_files_are_read(void **state)
{
    (void)state;
    char *const path = scratch_path("image.raw");
    for (int type = 0; type < TYPES; type++)
        for (int order = 0; order < 2; order++)
            for (int skip = 0; skip < 24; skip += 23) {
                struct voxel_image image = plain(VOXEL_raw, (enum voxel_type)type, path);
                uint8_t *const bytes = image_bytes(image.type, order == 1);
                image.big_endian = order == 1;
                image.skip = skip;
                write_bytes(path, "a header of 23 bytes...", (size_t)skip, bytes,
                            (size_t)(CELLS * types[type].bytes));
                check_labels(&image, names[type]);
                free(bytes);
            }
}

static void hdf5_files_are_read(void **state)
{
    (void)state;
    char *const path = scratch_path("image.h5");
    for (int type = 0; type < TYPES; type++)
        for (int chunked = 0; chunked < 2; chunked++) {
            const struct voxel_image image = plain(VOXEL_hdf5, (enum voxel_type)type, path);
            write_hdf5(path, image.type, chunked == 1);
            check_labels(&image, names[type]);
        }
}

static void tiff_stacks_are_read(void **state)
{
    (void)state;
    char *const path = scratch_path("image.tif");
    for (int type = 0; type < TYPES; type++)
        for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
            const struct voxel_image image = plain(VOXEL_tiff, (enum voxel_type)type, path);
            write_tiff(path, image.type, &layouts[k], -1);
            check_labels(&image, layouts[k].name);
        }
}

/* A .npy file of the image. version 1 has a length of 2 bytes, 2 of 4. */
static void write_npy(const char *path, const char *descr, int version, const char *shape,
                      const void *bytes, size_t length)
{
    char text[256];
    uint8_t begin[512] = "\x93NUMPY";
    snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': False, 'shape': (%s), }%*s\n",
             descr, shape, 20, "");
    const size_t at = version == 1 ? 10 : 12, header = strlen(text);
    begin[6] = (uint8_t)version;
    begin[8] = (uint8_t)header;
    memcpy(begin + at, text, header);
    write_bytes(path, begin, at + header, bytes, length);
}

static void npy_files_are_read(void **state)
{
    static const char *const kinds[] = {"u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"};
    (void)state;
    char *const path = scratch_path("image.npy");
    for (int type = 0; type < TYPES; type++)
        for (int big = 0; big < 2; big++) {
            const struct voxel_image image = plain(VOXEL_tiff, (enum voxel_type)type, path);
            uint8_t *const bytes = image_bytes(image.type, big == 1);
            char descr[16];
            snprintf(descr, sizeof descr, "'%c%s'", big ? '>' : '<', kinds[type]);
            write_npy(path, descr, 1 + big, big ? "11L, 21L, 37L" : "11, 21, 37", bytes,
                      (size_t)(CELLS * types[type].bytes));
            check_labels(&image, names[type]);
            free(bytes);
        }
}

/* numpy's bool is an enumeration in HDF5, and PyTables' a field of bits. */
static void booleans_are_read(void **state)
{
    static const char *const words[] = {"FALSE", "TRUE"};
    static uint8_t values[CELLS];
    static int32_t labels[NX * NY];
    const int lo[2] = {0, 0}, hi[2] = {NX, NY};
    const hsize_t size[3] = {NZ, NY, NX};
    (void)state;
    const hid_t named = H5Tenum_create(H5T_STD_I8LE);
    for (int8_t k = 0; k < 2; k++)
        assert_true(H5Tenum_insert(named, words[k], &k) >= 0);
    for (int k = 0; k < CELLS; k++)
        values[k] = k * 7 % 5 < 2;
    for (int bits = 0; bits < 2; bits++) {
        const hid_t type = bits ? H5T_NATIVE_B8 : named;
        char *const path = scratch_path("image.h5"), reason[VOXEL_REASON] = "";
        const struct voxel_image image = plain(VOXEL_hdf5, bits ? VOXEL_uint8 : VOXEL_int8, path);
        const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(3, size, NULL), link = H5Pcreate(H5P_LINK_CREATE);
        struct voxel_file f;
        H5Pset_create_intermediate_group(link, 1);
        const hid_t set = H5Dcreate2(file, image.dataset, type, space, link, H5P_DEFAULT, 0);
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(set);
        H5Pclose(link);
        H5Sclose(space);
        assert_true(H5Fclose(file) >= 0);
        assert_int_equal(voxel_file_open(&f, path, &image, reason), STATUS_OK);
        assert_int_equal(f.type, image.type);
        for (int z = 0; z < NZ; z++) {
            assert_int_equal(voxel_file_plane(&f, z, lo, hi, labels, reason), STATUS_OK);
            for (int k = 0; k < NX * NY; k++)
                assert_int_equal(labels[k], values[z * NX * NY + k]);
        }
        voxel_file_close(&f);
    }
    H5Tclose(named);
}

/* A TIFF file with a single page, as ImageJ and others write large stacks: all planes follow each
 * other, before or after the page's entries. */
struct one_page {
    enum voxel_type type;
    bool big, entries_last;
    int planes, tail; /* bytes after all */
    const char *description;
    int tag, more, value; /* an entry with another value, or one more */
};

static void put_number(uint8_t **to, bool big, int bytes, size_t value)
{
    for (int k = 0; k < bytes; k++)
        (*to)[big ? bytes - 1 - k : k] = (uint8_t)(value >> 8 * k);
    *to += bytes;
}

static void write_one_page(const char *path, const struct one_page *p)
{
    enum { ENTRIES = 13, PIXELS = 1024 }; /* pixels begin there, or end 8 bytes later */
    const size_t size = (size_t)types[p->type].bytes, plane = NX * NY * size;
    const size_t all = plane * (size_t)p->planes, even = all + all % 2;
    const size_t at = p->entries_last ? 8 : PIXELS, entries = p->entries_last ? 8 + even : 8;
    const size_t text = entries + 2 + ENTRIES * 12 + 4, length = strlen(p->description) + 1;
    const size_t data[][4] = {
        {254, 4, 1, 0},
        {256, 4, 1, NX},
        {257, 4, 1, NY},
        {258, 3, 1, 8 * size},
        {259, 3, 1, 1},
        {262, 3, 1, 1},
        {270, 2, length, text},
        {273, 4, 1, at},
        {277, 3, 1, 1},
        {278, 4, 1, NY},
        {279, 4, 1, plane},
        {339, 3, 1,
         types[p->type].lowest == 0 ? 1
         : p->type < VOXEL_float32  ? 2
                                    : 3},
        {(size_t)(p->more ? p->more : 40000), 4, 1, (size_t)p->value},
    };
    uint8_t *const file = calloc(PIXELS + even + PIXELS + (size_t)p->tail, 1), *to = file;
    uint8_t *const bytes =
        image_bytes(p->type, p->big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__));
    assert_non_null(file);
    memcpy(to, p->big ? "MM" : "II", 2);
    to += 2;
    put_number(&to, p->big, 2, 42);
    put_number(&to, p->big, 4, entries);
    to = file + entries;
    put_number(&to, p->big, 2, ENTRIES);
    for (int k = 0; k < ENTRIES; k++) {
        uint8_t *end = to + 12;
        put_number(&to, p->big, 2, data[k][0]);
        put_number(&to, p->big, 2, data[k][1]);
        put_number(&to, p->big, 4, data[k][2]);
        put_number(&to, p->big, data[k][1] == 3 ? 2 : 4,
                   data[k][0] == (size_t)p->tag ? (size_t)p->value : data[k][3]);
        to = end;
    }
    memcpy(file + text, p->description, length);
    for (size_t k = 0; k < all; k++)
        file[at + k] = bytes[k % (plane * NZ)];
    write_bytes(path, file, (p->entries_last ? text + length : at + all) + (size_t)p->tail, "", 0);
    free(bytes);
    free(file);
}

static const char imagej[] = "ImageJ=1.53t\nimages=11\nslices=11\nloop=false\n",
                  tifffile[] = "{\"shape\": [11, 21, 37], \"truncated\": true}",
                  ome[] = "<?xml version=\"1.0\"?><OME><Image><Pixels SizeX=\"37\" SizeY=\"21\" "
                          "SizeZ=\"11\" SizeC=\"1\" SizeT=\"1\"/></Image></OME>";

static void stacks_of_one_page_are_read(void **state)
{
    static const char *const descriptions[] = {imagej, tifffile, ome, ""};
    (void)state;
    char *const path = scratch_path("image.tif");
    for (int type = 0; type < TYPES; type++)
        for (int way = 0; way < 4; way++) {
            const struct one_page page = {.type = (enum voxel_type)type,
                                          .big = way % 2,
                                          .entries_last = way / 2 == type % 2,
                                          .planes = NZ,
                                          .description = descriptions[(way + type) % 4]};
            const struct voxel_image image = plain(VOXEL_tiff, page.type, path);
            write_one_page(path, &page);
            check_labels(&image, names[type]);
        }
}

/* The labels of plain() that are told apart: none, the second, both, and with 0 and 2, which are
 * solid then, all. */
static void tell_apart(struct voxel_image *image, int way)
{
    static const int apart[][4] = {{0}, {3}, {1, 3}, {0, 1, 2, 3}}, counts[] = {0, 1, 2, 4};
    memcpy(image->apart, apart[way], sizeof apart[way]);
    image->apart_count = counts[way];
    if (way == 3) {
        memcpy(image->solid, apart[way], sizeof apart[way]);
        image->solid_count = 4;
    }
}

/* What a cell with this label should be. */
static int value_of(const struct voxel_image *image, int label)
{
    int value = 0;
    for (int k = 0; k < image->solid_count; k++)
        value = image->solid[k] == label ? 1 : value;
    for (int k = 0; k < image->apart_count; k++)
        value = image->apart[k] == label ? 2 + k : value;
    return value;
}

static void values_take_few_bits(void **state)
{
    static const int bits[] = {1, 2, 2, 3};
    struct voxel_image image = {.solid_count = VOXEL_SOLID};
    (void)state;
    for (int way = 0; way < 4; way++) {
        tell_apart(&image, way);
        assert_int_equal(voxel_bits(&image), bits[way]);
        assert_int_equal(voxel_line(&image, 9), 2 * bits[way]);
    }
    image.apart_count = VOXEL_SOLID;
    assert_int_equal(voxel_bits(&image), 7); /* 65 is the largest */
}

/* Bytes that this process has read by system calls so far. */
static long long bytes_read(void)
{
    long long bytes = -1;
    FILE *const file = fopen("/proc/self/io", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "rchar: %lld", &bytes), 1);
    fclose(file);
    return bytes;
}

/* The part of every block of a cut box, its ghost cells and what lies round periodic ends, cropped
 * and flipped, against the image itself. Returns the bytes that a block read, at most. */
static long long check_parts(struct voxel_image *image, const int cuts[3])
{
    static const int cells[3] = {NX + 2, NY, NZ + 3};
    static const bool periodic[3] = {true, true, false};
    uint8_t inside[NX + 4];
    long long most = 0;
    image->at[0] = 1;
    image->at[2] = 2;
    for (int b = 0; b < cuts[0] * cuts[1] * cuts[2]; b++) {
        const int block[3] = {b % cuts[0], b / cuts[0] % cuts[1], b / cuts[0] / cuts[1]};
        struct voxels v;
        int lo[3], hi[3];
        for (int a = 0; a < 3; a++) {
            const int ghost = cuts[a] > 1 || !periodic[a];
            lo[a] = cells[a] * block[a] / cuts[a] - ghost;
            hi[a] = cells[a] * (block[a] + 1) / cuts[a] + ghost;
        }
        const long long before = bytes_read();
        assert_int_equal(voxels_open(&v, image, "b", cells, periodic, lo, hi, MPI_COMM_SELF), 0);
        const long long more = bytes_read() - before;
        most = more > most ? more : most;
        for (int z = lo[2]; z < hi[2]; z++)
            for (int y = lo[1]; y < hi[1]; y++) {
                /* as periodic images are asked for: shifted, if that is in the image */
                const int gy = (y + cells[1]) % cells[1];
                for (int shift = -1; shift <= 1; shift++) {
                    memset(inside, 0, sizeof inside);
                    voxels_row(&v, lo[0] + shift * cells[0], hi[0] - lo[0], gy, z, inside);
                    for (int x = lo[0]; x < hi[0]; x++) {
                        const int g[3] = {x + shift * cells[0], gy, z};
                        int f[3];
                        bool in = true;
                        for (int a = 0; a < 3; a++) {
                            const int n = image->to[a] - image->from[a], i = g[a] - image->at[a];
                            in &= i >= 0 && i < n;
                            f[a] = image->from[a] + (image->flip & 1u << a ? n - 1 - i : i);
                        }
                        const int label = in ? label_at(f[0], f[1], f[2], image->type) : 0;
                        if (inside[x - lo[0]] != (in ? value_of(image, label) : 0))
                            fail_msg("cell %d %d %d is %d, label %d", g[0], g[1], g[2],
                                     inside[x - lo[0]], label);
                    }
                }
            }
        voxels_close(&v);
    }
    return most;
}

/* Writes the image in a format. */
static struct voxel_image write_image(enum voxel_format format, unsigned flip, char *path)
{
    struct voxel_image image = plain(format, VOXEL_int16, path);
    uint8_t *const bytes = image_bytes(image.type, false);
    if (format == VOXEL_raw)
        write_bytes(path, "", 0, bytes, 2 * CELLS);
    else if (format == VOXEL_hdf5)
        write_hdf5(path, image.type, flip % 2);
    else
        write_tiff(path, image.type, &layouts[flip % 6], -1);
    free(bytes);
    image.flip = flip;
    return image;
}

static const int cuts[][3] = {{1, 1, 1}, {1, 1, 4}, {1, 3, 2}, {3, 2, 2}, {2, 1, 1}};

static void parts_are_those_of_the_whole(void **state)
{
    (void)state;
    char *const path = scratch_path("image");
    for (int format = 0; format < 3; format++)
        for (unsigned flip = 0; flip < 8; flip += format == VOXEL_hdf5 ? 3 : 1) { /* slow */
            struct voxel_image image = write_image((enum voxel_format)format, flip, path);
            tell_apart(&image, (int)flip % 4);
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
                check_parts(&image, cuts[k]);
            memcpy(image.from, (int[3]){4, 3, 2}, sizeof image.from);
            memcpy(image.to, (int[3]){31, 20, 10}, sizeof image.to);
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
                check_parts(&image, cuts[k]);
        }
}

/* The survey keeps all that blocks need. They do not read the file again. */
static void files_are_read_once(void **state)
{
    (void)state;
    char *const path = scratch_path("image"), reason[VOXEL_REASON] = "";
    for (int format = 0; format < 3; format++)
        for (unsigned flip = 0; flip < 8; flip += 3)
            for (int cropped = 0; cropped < 2; cropped++) {
                struct voxel_image image = write_image((enum voxel_format)format, flip, path);
                tell_apart(&image, (int)flip / 3 + cropped);
                if (cropped) {
                    memcpy(image.from, (int[3]){4, 3, 2}, sizeof image.from);
                    memcpy(image.to, (int[3]){31, 20, 10}, sizeof image.to);
                }
                assert_int_equal(voxel_survey(&image, NULL, reason), STATUS_OK);
                assert_int_equal(image.kept_from, image.from[2]);
                assert_int_equal(image.kept_to, image.to[2]);
                for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
                    assert_true(check_parts(&image, cuts[k]) <= 256); /* /proc/self/io itself */
                free(image.labels);
                free(image.kept);
            }
}

/* A block of the largest size takes so many voxels, its ghost cells and both ends included. */
static long long largest_part(const int cut[3])
{
    const int n[3] = {NX, NY, NZ}, cells[3] = {NX + 2, NY, NZ + 3};
    long long all = 1;
    for (int a = 0; a < 3; a++) {
        const int most = (cells[a] + cut[a] - 1) / cut[a] + 2;
        all *= most < n[a] ? most : n[a];
    }
    return all;
}

/* What it takes to open the file: of an HDF5 file, to start the second process as well, whose bytes
 * count when it has ended. */
static long long bytes_to_open(const struct voxel_image *image)
{
    char reason[VOXEL_REASON];
    struct voxel_file f;
    const long long before = bytes_read();
    assert_int_equal(voxel_file_open(&f, image->file, image, reason), STATUS_OK);
    voxel_file_close(&f);
    return bytes_read() - before;
}

/* Raw: to the byte. HDF5: every byte again through a pipe, and what it takes to open it. TIFF:
 * whole strips or tiles of the planes, and the chain of pages. */
static void a_rank_reads_its_part_and_no_more(void **state)
{
    (void)state;
    char *const path = scratch_path("image");
    for (int format = 0; format < 3; format++) {
        struct voxel_image image = plain((enum voxel_format)format, VOXEL_uint8, path);
        uint8_t *const bytes = image_bytes(image.type, false);
        struct stat info;
        if (format == VOXEL_raw)
            write_bytes(path, "", 0, bytes, CELLS);
        else if (format == VOXEL_hdf5)
            write_hdf5(path, image.type, false);
        else
            write_tiff(path, image.type, &layouts[0], -1);
        free(bytes);
        assert_int_equal(stat(path, &info), 0);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            const long long most = check_parts(&image, cuts[k]);
            long long allowed = largest_part(cuts[k]) + 256; /* /proc/self/io itself */
            if (format == VOXEL_hdf5)
                allowed += largest_part(cuts[k]) + bytes_to_open(&image) + 8192;
            if (format == VOXEL_tiff) {
                /* whole rows, and strips of 5 of them */
                const long long planes = (NZ + 3 + cuts[k][2] - 1) / cuts[k][2] + 2;
                allowed = (planes < NZ ? planes : NZ) * NX * NY + 3 * (info.st_size - CELLS) + 4096;
            }
            if (most > allowed)
                fail_msg("format %d, cut %zu: %lld bytes read, %lld allowed", format, k, most,
                         allowed);
        }
    }
}

static void labels_are_counted(void **state)
{
    (void)state;
    char *const path = scratch_path("image.raw"), reason[VOXEL_REASON] = "";
    uint64_t sums[3];
    uint8_t *const bytes = image_bytes(VOXEL_int16, false);
    write_bytes(path, "", 0, bytes, 2 * CELLS);
    struct voxel_image image = plain(VOXEL_raw, VOXEL_int16, path);
    for (int k = 0; k < 3; k++) {
        int64_t all = 0;
        image.from[2] = k == 1;
        assert_int_equal(voxel_survey(&image, NULL, reason), STATUS_OK);
        assert_int_equal(image.label_count, 6);
        assert_int_equal(image.labels[0].label, INT16_MIN);
        assert_int_equal(image.labels[5].label, INT16_MAX);
        for (int i = 0; i < 6; i++) {
            int64_t count = 0;
            for (int cell = image.from[2] * NX * NY; cell < CELLS; cell++)
                count += label_at(cell % NX, cell / NX % NY, cell / NX / NY, VOXEL_int16) ==
                         image.labels[i].label;
            if (k < 2)
                assert_int_equal(image.labels[i].voxels, count);
            assert_int_equal(image.labels[i].solid,
                             image.labels[i].label == 1 || image.labels[i].label == 3);
            all += image.labels[i].voxels;
        }
        assert_int_equal(all, (NZ - image.from[2]) * NX * NY);
        sums[k] = image.checksum;
        free(image.labels);
        free(image.kept);
        image.labels = NULL;
        if (k == 1) { /* one voxel becomes another */
            bytes[2 * 777] ^= 1;
            write_bytes(path, "", 0, bytes, 2 * CELLS);
        }
    }
    assert_true(sums[0] != sums[1] && sums[0] != sums[2]);
    free(bytes);
}

static void must_refuse(struct voxel_image *image, const char *says)
{
    char reason[VOXEL_REASON] = "";
    struct voxel_file f;
    assert_int_equal(voxel_file_open(&f, image->file, image, reason), STATUS_USAGE);
    if (!strstr(reason, says) || strlen(reason) >= VOXEL_REASON)
        fail_msg("expected '%s' in '%s'", says, reason);
}

static void bad_raw_files_are_refused(void **state)
{
    (void)state;
    struct voxel_image image = plain(VOXEL_raw, VOXEL_uint8, scratch_path("image.raw"));
    must_refuse(&image, "No such file");
    write_bytes(image.file, "", 0, "abc", 3);
    must_refuse(&image, " has 3 bytes, but 37 x 21 x 11 voxels of uint8 make 8547");
    image.skip = 5;
    must_refuse(&image, "after 5 bytes make 8552");
    image.skip = INT64_MAX;
    must_refuse(&image, "more than any file can hold");
    image.file = scratch;
    must_refuse(&image, "is a folder");
    static char device[] = "/dev/zero";
    image.file = device;
    must_refuse(&image, "is a device or a pipe");
}

static void put_hdf5(const char *path, hid_t type, int axes, const hsize_t *size)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(axes, size, NULL);
    const hid_t link = H5Pcreate(H5P_LINK_CREATE);
    assert_true(H5Pset_create_intermediate_group(link, 1) >= 0);
    const hid_t set = H5Dcreate2(file, "scan/labels", type, space, link, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(link);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
}

static void bad_hdf5_files_are_refused(void **state)
{
    (void)state;
    static char none[] = "scan/none", group[] = "scan";
    const hsize_t size[4] = {4, 4, 4, 4}, large[3] = {1, 1, (1 << 20) + 1}, empty[3] = {0, 4, 4};
    struct voxel_image image = plain(VOXEL_hdf5, VOXEL_uint8, scratch_path("image.h5"));
    write_bytes(image.file, "", 0, "\x89HDF\r\n\x1a\n and no more", 20);
    must_refuse(&image, "cannot be read as an HDF5 file");
    put_hdf5(image.file, H5T_C_S1, 3, size);
    must_refuse(&image, "does not hold numbers (in Python: a.astype(\"uint8\"))");
    put_hdf5(image.file, H5T_NATIVE_INT8, 2, size);
    must_refuse(&image, "has 2 axes, not 3");
    put_hdf5(image.file, H5T_NATIVE_INT8, 4, size);
    must_refuse(&image, "has 4 axes, not 3");
    put_hdf5(image.file, H5T_NATIVE_INT8, 3, large);
    must_refuse(&image, "has 1048577 voxels along an axis");
    put_hdf5(image.file, H5T_NATIVE_INT8, 3, empty);
    must_refuse(&image, "has 0 voxels along an axis");
    image.dataset = none;
    must_refuse(&image, "holds no dataset 'scan/none'");
    image.dataset = group;
    must_refuse(&image, "holds no dataset 'scan'");
}

/* A page of such a kind, with nothing in it. */
static void put_tiff(const char *path, int bits, int samples, int format, uint32_t width)
{
    uint8_t *const row = calloc(width, 16);
    TIFF *const tiff = TIFFOpen(path, "w");
    assert_non_null(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 2);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, samples > 1 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 1);
    assert_non_null(row);
    TIFFWriteScanline(tiff, row, 0, 0);
    TIFFClose(tiff);
    free(row);
}

static void bad_tiff_files_are_refused(void **state)
{
    (void)state;
    static int32_t labels[NX * NY];
    const int lo[2] = {0, 0}, hi[2] = {NX, NY};
    char reason[VOXEL_REASON] = "";
    struct voxel_file f;
    struct voxel_image image = plain(VOXEL_tiff, VOXEL_uint8, scratch_path("image.tif"));
    write_bytes(image.file, "", 0, "no TIFF", 7);
    must_refuse(&image, " is not a TIFF file (");
    put_tiff(image.file, 8, 3, SAMPLEFORMAT_UINT, 4);
    must_refuse(&image, "page 1 of the TIFF file is in colour");
    put_tiff(image.file, 16, 1, SAMPLEFORMAT_IEEEFP, 4);
    must_refuse(&image, "has reals or other data of 16 bits a pixel");
    put_tiff(image.file, 1, 1, SAMPLEFORMAT_UINT, 4);
    must_refuse(&image, "has numbers of 1 bits a pixel (save it with 8 or 16");
    put_tiff(image.file, 8, 1, SAMPLEFORMAT_UINT, (1 << 20) + 1);
    must_refuse(&image, "has 1048577 x 2 pixels");

    /* what is wrong in a later page, or where the pixels are, is found there */
    write_tiff(image.file, VOXEL_uint8, &layouts[0], 4);
    assert_int_equal(voxel_file_open(&f, image.file, &image, reason), STATUS_OK);
    assert_int_equal(voxel_file_plane(&f, 3, lo, hi, labels, reason), STATUS_OK);
    assert_int_equal(voxel_file_plane(&f, 4, lo, hi, labels, reason), STATUS_USAGE);
    assert_non_null(strstr(reason, "page 5 of the TIFF file is of another size or type"));
    voxel_file_close(&f);
    write_tiff(image.file, VOXEL_uint8, &layouts[2], -1);
    FILE *const file = fopen(image.file, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0); /* the first strip, packed */
    for (int k = 0; k < 40; k++)
        assert_int_equal(fputc(0xff, file), 0xff);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(voxel_file_open(&f, image.file, &image, reason), STATUS_OK);
    assert_int_equal(voxel_file_plane(&f, 0, lo, hi, labels, reason), STATUS_USAGE);
    assert_non_null(strstr(reason, "page 1 of the TIFF file cannot be read ("));
    voxel_file_close(&f);
}

/* What a description says and what the file holds must agree; other things than planes are refused.
 */
static void bad_stacks_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct one_page page;
        const char *says;
    } bad[] = {
        {{.planes = 7, .description = imagej}, "says it has 11 planes, but holds 7"},
        {{.planes = 12, .description = imagej}, "says it has 11 planes, but holds 12"},
        {{.planes = 1, .description = ome}, "says it has 11 planes, but holds 1"},
        {{.planes = NZ, .description = tifffile, .more = 266, .value = 2}, "but holds 1"},
        {{.planes = NZ, .description = "", .tail = 100}, "10 planes and 100 bytes have room after"},
        {{.planes = NZ, .description = "ImageJ=1\nimages=11\nchannels=11\nslices=3\n"},
         "3 slices, 11 channels and 1 times, whose planes alternate"},
        {{.planes = 12, .description = "{\"shape\": [2, 6, 21, 37]}"}, "whose planes alternate"},
        {{.planes = 12, .description = "<OME><Pixels SizeZ='6' SizeC='2' SizeT='1'>"},
         "whose planes alternate"},
        {{.planes = NZ, .description = "", .more = 32997, .value = NZ},
         "page 1 of the TIFF file holds "
         "11 planes"},
        {{.planes = NZ, .description = "", .tag = 277, .value = 2}, "several numbers a pixel"},
        {{.planes = NZ, .description = "", .tag = 254, .value = 1},
         "page 1 of the TIFF file is a "
         "smaller copy"},
    };
    struct voxel_image image = plain(VOXEL_tiff, VOXEL_uint8, scratch_path("image.tif"));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_one_page(image.file, &bad[k].page);
        must_refuse(&image, bad[k].says);
    }
}

static void bad_npy_files_are_refused(void **state)
{
    (void)state;
    static uint8_t bytes[16 * CELLS];
    struct voxel_image image = plain(VOXEL_tiff, VOXEL_uint8, scratch_path("image.npy"));
    static const struct {
        const char *descr, *shape, *says;
    } bad[] = {
        {"'|u1'", "11, 21, 38", " has 8643 bytes, but 38 x 21 x 11 voxels of uint8 after 96 bytes"},
        {"'<c8'", "11, 21, 37", " holds '<c8', not numbers"},
        {"'|O'", "11, 21, 37", " holds '|O', not numbers"},
        {"[('a', '<u2')]", "11, 21, 37", " holds a structured array"},
        {"'|u1'", "231, 37", "array of 2 axes, not 3 (z, y, x) (in Python: a[None])"},
        {"'|u1'", "1, 11, 21, 37", "array of 4 axes"},
        {"'|u1'", "0, 21, 37", "has 0 voxels along an axis"},
        {"'|u1'", "99999999999999999999, 21, 37", "has 9223372036854775807 voxels along an axis"},
        {"'|u1'", "11, x, 37", "has no header of one"},
        {"'|u1", "11, 21, 37", "has no header of one"},
        {"'|u1', 'fortran_order': True, 'more': 1", "11, 21, 37", "has no header of one"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_npy(image.file, bad[k].descr, 1, bad[k].shape, bytes, CELLS);
        must_refuse(&image, bad[k].says);
    }
    static const char fortran[] = "\x93NUMPY\1\0\x3f\0{'descr': '|u1', 'fortran_order': True , "
                                  "'shape': (1, 1, 2)}  \n12";
    write_bytes(image.file, fortran, sizeof fortran - 1, "", 0);
    must_refuse(&image, " is in Fortran order (in Python: numpy.save(");
    write_bytes(image.file, "\x93NUMPY\4\0\x3f\0....", 14, "", 0);
    must_refuse(&image, " is a .npy file of version 4 (1 to 3)");
    write_bytes(image.file, "\x93NUMPY\1\0\xff\xff....", 14, "", 0);
    must_refuse(&image, "has no header of one");
    write_bytes(image.file, "PK\3\4....", 8, "", 0);
    must_refuse(&image, "it is a zip archive, perhaps .npz");
}

static void numbers_that_are_no_labels_are_refused(void **state)
{
    (void)state;
    static const double wrong[] = {0.5, -32769, 65536, 1e300, NAN, -INFINITY};
    char *const path = scratch_path("image.raw"), reason[VOXEL_REASON] = "";
    const int lo[2] = {0, 0}, hi[2] = {2, 1};
    struct voxel_image image = plain(VOXEL_raw, VOXEL_float64, path);
    memcpy(image.size, (int[3]){2, 1, 1}, sizeof image.size);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const double two[2] = {65535, wrong[k]};
        int32_t labels[2];
        struct voxel_file f;
        write_bytes(path, "", 0, two, sizeof two);
        assert_int_equal(voxel_file_open(&f, path, &image, reason), STATUS_OK);
        assert_int_equal(voxel_file_plane(&f, 0, lo, hi, labels, reason), STATUS_USAGE);
        assert_non_null(strstr(reason, "which is no label (whole numbers from -32768 to 65535"));
        voxel_file_close(&f);
    }
}

/* A file that is cut while it is read is an error, not a signal. */
static void files_that_shrink_are_refused(void **state)
{
    (void)state;
    static int32_t labels[NX * NY];
    const int lo[2] = {0, 0}, hi[2] = {NX, NY};
    char *const path = scratch_path("image");
    for (int format = 0; format < 3; format++) {
        char reason[VOXEL_REASON] = "";
        struct voxel_file f;
        const struct voxel_image image = plain((enum voxel_format)format, VOXEL_uint8, path);
        uint8_t *const bytes = image_bytes(image.type, false);
        if (format == VOXEL_raw)
            write_bytes(path, "", 0, bytes, CELLS);
        else if (format == VOXEL_hdf5)
            write_hdf5(path, image.type, true);
        else
            write_tiff(path, image.type, &layouts[2], -1);
        free(bytes);
        assert_int_equal(voxel_file_open(&f, path, &image, reason), STATUS_OK);
        assert_int_equal(truncate(path, 64), 0);
        assert_int_not_equal(voxel_file_plane(&f, NZ - 1, lo, hi, labels, reason), STATUS_OK);
        assert_true(*reason != '\0');
        voxel_file_close(&f);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(raw_files_are_read),
        SCRATCH_TEST(hdf5_files_are_read),
        SCRATCH_TEST(tiff_stacks_are_read),
        SCRATCH_TEST(npy_files_are_read),
        SCRATCH_TEST(booleans_are_read),
        SCRATCH_TEST(stacks_of_one_page_are_read),
        cmocka_unit_test(values_take_few_bits),
        SCRATCH_TEST(parts_are_those_of_the_whole),
        SCRATCH_TEST(files_are_read_once),
        SCRATCH_TEST(a_rank_reads_its_part_and_no_more),
        SCRATCH_TEST(labels_are_counted),
        SCRATCH_TEST(bad_raw_files_are_refused),
        SCRATCH_TEST(bad_hdf5_files_are_refused),
        SCRATCH_TEST(bad_tiff_files_are_refused),
        SCRATCH_TEST(bad_stacks_are_refused),
        SCRATCH_TEST(bad_npy_files_are_refused),
        SCRATCH_TEST(numbers_that_are_no_labels_are_refused),
        SCRATCH_TEST(files_that_shrink_are_refused),
    };
    if (count > 1 && strcmp(arguments[1], FOREIGN_COMMAND) == 0)
        return foreign_serve(count - 2, arguments + 2);
    MPI_Init(&count, &arguments);
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
