/* A voxel image in a case: a file of labels, the labels that are solid, and its position.
 *
 * One voxel is one cell of level 0, and 2^level cells of a finer level along each axis. The voxels
 * from <= v < to of the file are used, in reverse order along flipped axes; the first of them begins
 * in cell `at` of the whole grid. */
#ifndef TAGFLOW_VOXEL_IMAGE_H
#define TAGFLOW_VOXEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of labels in files: name, type of a number, lowest and highest label. Numbers of wide types
 * that are no labels are errors. */
#define VOXEL_NARROW_LIST(X)                                                                       \
    X(uint8, uint8_t, 0, UINT8_MAX)                                                                \
    X(int8, int8_t, INT8_MIN, INT8_MAX)                                                            \
    X(uint16, uint16_t, 0, UINT16_MAX)                                                             \
    X(int16, int16_t, INT16_MIN, INT16_MAX)
#define VOXEL_WIDE_LIST(X)                                                                         \
    X(uint32, uint32_t, 0, UINT16_MAX)                                                             \
    X(int32, int32_t, INT16_MIN, UINT16_MAX)                                                       \
    X(uint64, uint64_t, 0, UINT16_MAX)                                                             \
    X(int64, int64_t, INT16_MIN, UINT16_MAX)                                                       \
    X(float32, float, INT16_MIN, UINT16_MAX)                                                       \
    X(float64, double, INT16_MIN, UINT16_MAX)
#define VOXEL_TYPE_LIST(X) VOXEL_NARROW_LIST(X) VOXEL_WIDE_LIST(X)
enum voxel_type {
#define X(name, number, lowest, highest) VOXEL_##name,
    VOXEL_TYPE_LIST(X)
#undef X
};

/* Labels of all types: VOXEL_LABELS of them from VOXEL_LABEL_MIN on. */
enum { VOXEL_LABEL_MIN = INT16_MIN, VOXEL_LABELS = UINT16_MAX - INT16_MIN + 1 };

/* File formats. The keys of the case determine which, and the file itself whether it is npy or
 * tiff.
 */
#define VOXEL_FORMAT_LIST(X)                                                                       \
    X(raw)  /* `skip` bytes, then the labels, x the fastest */                                     \
    X(hdf5) /* a dataset [z][y][x] */                                                              \
    X(tiff) /* a grey page for every z, its first line y = 0 */                                    \
    X(npy)  /* an array [z][y][x] of numpy, not in Fortran order */
enum voxel_format {
#define X(name) VOXEL_##name,
    VOXEL_FORMAT_LIST(X)
#undef X
};

enum {
    VOXEL_SOLID = 64,     /* labels that are solid, at most */
    VOXEL_AXIS = 1 << 20, /* voxels along an axis, at most */
};

/* A label that occurs in the used part. */
struct voxel_label {
    int label;
    bool solid;
    int64_t voxels;
};

struct voxel_image {
    enum voxel_format format;
    char *file;           /* its absolute path */
    char *dataset;        /* hdf5, else NULL */
    int size[3];          /* of the file's image, along x, y, z */
    enum voxel_type type; /* of its labels */
    bool big_endian;      /* raw */
    bool white_zero;      /* tiff: programs that show it draw 0 white */
    int64_t skip;         /* raw: bytes before the labels */
    int solid[VOXEL_SOLID], solid_count;
    int apart[VOXEL_SOLID], apart_count; /* solid labels that cells are told by; ascending */
    int from[3], to[3];
    unsigned flip; /* bit a: axis a is reversed */
    int at[3], level;
    bool fill; /* isolated pores become solid, see pores.h */
    int label_count;
    struct voxel_label *labels; /* ascending */
    double width;               /* mean width of what is fluid, along x or y; 0: no bound */
    uint64_t checksum;          /* of the labels in the used part */
    /* The used voxels of the file's planes kept_from <= z < kept_to that this process has read, as
     * lines of voxel_values(). Lines of all processes make the whole image. NULL: none. */
    uint8_t *kept;
    int kept_from, kept_to;
};

/* Cells of the image along an axis. */
static inline int voxel_image_cells(const struct voxel_image *v, int axis)
{
    return (v->to[axis] - v->from[axis]) << v->level;
}

/* Value kept for a voxel with each label: 0: fluid, 1: solid, 2 + k: solid, and the label is
 * apart[k]. */
static inline void voxel_values(const struct voxel_image *v, uint8_t value[VOXEL_LABELS])
{
    for (int k = 0; k < v->solid_count; k++)
        value[v->solid[k] - VOXEL_LABEL_MIN] = 1;
    for (int k = 0; k < v->apart_count; k++)
        value[v->apart[k] - VOXEL_LABEL_MIN] = (uint8_t)(2 + k);
}

/* Bits that such a value takes: one, unless labels are told apart. */
static inline int voxel_bits(const struct voxel_image *v)
{
    int bits = 1;
    while (v->apart_count + 1 >= 1 << bits)
        bits++;
    return bits;
}

/* Bytes of one bit of each of n voxels: bit x % 8 of byte x / 8. A line of voxels is their lowest
 * bits, then their second ones, and so on. */
static inline size_t voxel_bit_line(int n)
{
    return ((size_t)n + 7) / 8;
}

static inline size_t voxel_line(const struct voxel_image *v, int n)
{
    return (size_t)voxel_bits(v) * voxel_bit_line(n);
}

#endif
