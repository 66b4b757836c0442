/* Files with voxel images; see voxel_file.h. Here: raw files, what the first
 * bytes of a file tell, and functions for all formats. */
#include "body/voxel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/signals.h"

static const struct {
    const char *name;
    int bytes;
} types[] = {
#define X(name, number, lowest, highest) {#name, sizeof(number)},
    VOXEL_TYPE_LIST(X)
#undef X
};

/* How files begin that are no raw images: the format that is meant, and what to do. */
static const struct {
    const char *begin;
    int length;
    enum voxel_format format;
    const char *hint;
} known[] = {
    {"\x93NUMPY", 6, VOXEL_npy, "it is a .npy file: leave out size, type, order and skip"},
    {"\x89HDF\r\n\x1a\n", 8, VOXEL_hdf5, "it is an HDF5 file: name its dataset"},
    {"II*", 4, VOXEL_tiff, "it is a TIFF file: leave out size, type, order and skip"},
    {"MM\0*", 4, VOXEL_tiff, "it is a TIFF file: leave out size, type, order and skip"},
    {"II+", 4, VOXEL_tiff, "it is a TIFF file: leave out size, type, order and skip"},
    {"MM\0+", 4, VOXEL_tiff, "it is a TIFF file: leave out size, type, order and skip"},
    {"PK\3\4", 4, VOXEL_raw, "it is a zip archive, perhaps .npz: unpack it"},
    {"\x1f\x8b", 2, VOXEL_raw, "it is packed with gzip: unpack it"},
};

enum status voxel_file_wrong(char reason[VOXEL_REASON], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, VOXEL_REASON, format, list);
    va_end(list);
    return STATUS_USAGE;
}

enum status voxel_file_failed(char reason[VOXEL_REASON], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, VOXEL_REASON, format, list);
    va_end(list);
    return STATUS_MACHINE;
}

/* Sets the reason and returns STATUS_STOPPED: this process was asked to stop. */
static enum status stopped(char reason[VOXEL_REASON])
{
    snprintf(reason, VOXEL_REASON, ": %s came while it was read", signals_stop());
    return STATUS_STOPPED;
}

enum status voxel_file_buffer(struct voxel_file *f, size_t bytes, char reason[VOXEL_REASON])
{
    if (bytes <= f->buffer_bytes)
        return STATUS_OK;
    uint8_t *const more = realloc(f->buffer, bytes);
    if (!more)
        return voxel_file_failed(reason, ": no memory for %zu bytes of it", bytes);
    f->buffer = more;
    f->buffer_bytes = bytes;
    return STATUS_OK;
}

size_t voxel_file_bytes(enum voxel_type type)
{
    return (size_t)types[type].bytes;
}

/* A number of a wide type as label; *no_label: it is none. */
static int32_t label_of(double number, bool *no_label)
{
    const bool label =
        number >= INT16_MIN && number <= UINT16_MAX && number == (double)(int32_t)number;
    *no_label = *no_label || !label;
    return label ? (int32_t)number : 0;
}

enum status voxel_file_labels(const struct voxel_file *f, const void *from, size_t count,
                              int32_t *labels, char reason[VOXEL_REASON])
{
    bool wrong = false;
    double number = 0;
    switch (f->type) {
#define X(name, type, lowest, highest)                                                             \
    case VOXEL_##name: {                                                                           \
        const type *const value = from;                                                            \
        for (size_t k = 0; k < count; k++)                                                         \
            labels[k] = value[k];                                                                  \
        break;                                                                                     \
    }
        VOXEL_NARROW_LIST(X)
#undef X
#define X(name, type, lowest, highest)                                                             \
    case VOXEL_##name: {                                                                           \
        const type *const value = from;                                                            \
        for (size_t k = 0; k < count && !wrong; k++)                                               \
            labels[k] = label_of(number = (double)value[k], &wrong);                               \
        break;                                                                                     \
    }
        VOXEL_WIDE_LIST(X)
#undef X
    }
    if (!wrong)
        return STATUS_OK;
    return voxel_file_wrong(reason,
                            ": one of its voxels is %.9g, which is no label (whole numbers from %d "
                            "to %d; in Python: image.astype(\"uint16\"), or a threshold)",
                            number, INT16_MIN, UINT16_MAX);
}

/* Opens a regular file only: a pipe would block for ever. */
static enum status open_file(struct voxel_file *f, const char *path, int64_t *bytes,
                             char reason[VOXEL_REASON])
{
    struct stat info;
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0)
        return voxel_file_wrong(reason, ": %s (a path from the case file's folder, or from /)",
                                strerror(errno));
    if (fstat(f->fd, &info) != 0)
        return voxel_file_failed(reason, ": %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return voxel_file_wrong(reason, " is %s, not a file",
                                S_ISDIR(info.st_mode) ? "a folder" : "a device or a pipe");
    *bytes = info.st_size;
    return STATUS_OK;
}

/* Index in `known` of the file's first bytes; the number of entries: none fits. */
static size_t look(const struct voxel_file *f, int64_t bytes)
{
    char begin[8] = "";
    size_t k = 0;
    const size_t count = bytes < (int64_t)sizeof begin ? (size_t)bytes : sizeof begin;
    if (file_read_at(f->fd, begin, count, 0) != 0)
        return sizeof known / sizeof *known;
    while (k < sizeof known / sizeof *known &&
           (known[k].length > bytes || memcmp(begin, known[k].begin, (size_t)known[k].length) != 0))
        k++;
    return k;
}

enum status voxel_file_length(const struct voxel_file *f, int64_t bytes, const char *hint,
                              char reason[VOXEL_REASON])
{
    const int *const n = f->size;
    int64_t wanted = types[f->type].bytes;
    bool large = false;
    for (int a = 0; a < 3; a++)
        large |= __builtin_mul_overflow(wanted, n[a], &wanted);
    large |= __builtin_add_overflow(wanted, f->skip, &wanted);
    if (large)
        return voxel_file_wrong(reason, ": %d x %d x %d voxels are more than any file can hold",
                                n[0], n[1], n[2]);
    char after[48] = "";
    if (f->skip)
        snprintf(after, sizeof after, " after %" PRId64 " bytes", f->skip);
    if (wanted != bytes)
        return voxel_file_wrong(reason,
                                " has %" PRId64
                                " bytes, but %d x %d x %d voxels of %s%s make %" PRId64 "%s%s%s",
                                bytes, n[0], n[1], n[2], types[f->type].name, after, wanted,
                                *hint ? " (" : "", hint, *hint ? ")" : "");
    return STATUS_OK;
}

static enum status raw_open(struct voxel_file *f, const struct voxel_image *image, int64_t bytes,
                            char reason[VOXEL_REASON])
{
    const size_t k = look(f, bytes);
    memcpy(f->size, image->size, sizeof f->size);
    f->type = image->type;
    f->plain = true;
    f->big_endian = image->big_endian;
    f->skip = image->skip;
    return voxel_file_length(f, bytes, k < sizeof known / sizeof *known ? known[k].hint : "",
                             reason);
}

/* A file that should be a TIFF, and may be npy. */
static enum status told_open(struct voxel_file *f, int64_t bytes, char reason[VOXEL_REASON])
{
    const size_t k = look(f, bytes);
    f->format = VOXEL_tiff;
    if (k == sizeof known / sizeof *known || known[k].format == VOXEL_tiff)
        return voxel_tiff_open(f, reason);
    if (known[k].format != VOXEL_npy)
        return voxel_file_wrong(reason, " is not a TIFF or .npy file (%s)", known[k].hint);
    f->format = VOXEL_npy;
    return voxel_npy_open(f, bytes, reason);
}

/* Reads lines of a plane into the buffer, in one read if they are contiguous. */
static int read_rows(struct voxel_file *f, int z, const int lo[2], const int hi[2])
{
    const int64_t bytes = types[f->type].bytes, row = bytes * f->size[0];
    const size_t width = (size_t)(hi[0] - lo[0]) * (size_t)bytes;
    const int64_t first = f->skip + ((int64_t)z * f->size[1] + lo[1]) * row + lo[0] * bytes;
    if (lo[0] == 0 && hi[0] == f->size[0])
        return file_read_at(f->fd, f->buffer, width * (size_t)(hi[1] - lo[1]), first);
    for (int y = lo[1]; y < hi[1]; y++)
        if (file_read_at(f->fd, f->buffer + (size_t)(y - lo[1]) * width, width,
                         first + (y - lo[1]) * row) != 0)
            return -1;
    return 0;
}

/* Reverses the bytes of each number in the buffer. */
static void swap_bytes(struct voxel_file *f, size_t count)
{
    const size_t bytes = voxel_file_bytes(f->type);
    for (size_t k = 0; k < count; k++)
        for (size_t low = bytes * k, high = low + bytes - 1; low < high; low++, high--) {
            const uint8_t kept = f->buffer[low];
            f->buffer[low] = f->buffer[high];
            f->buffer[high] = kept;
        }
}

static enum status raw_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON])
{
    const size_t count = (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]);
    const enum status s = voxel_file_buffer(f, count * (size_t)types[f->type].bytes, reason);
    if (s)
        return s;
    if (read_rows(f, z, lo, hi) != 0)
        return voxel_file_failed(reason, ": %s (did it change meanwhile?)", strerror(errno));
    if (types[f->type].bytes > 1 && f->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        swap_bytes(f, count);
    return voxel_file_labels(f, f->buffer, count, labels, reason);
}

enum status voxel_file_open(struct voxel_file *f, const char *path, const struct voxel_image *image,
                            char reason[VOXEL_REASON])
{
    int64_t bytes = 0;
    *f = (struct voxel_file){.format = image->format, .fd = -1};
    enum status s = open_file(f, path, &bytes, reason);
    if (!s)
        s = f->format == VOXEL_raw    ? raw_open(f, image, bytes, reason)
            : f->format == VOXEL_hdf5 ? voxel_hdf5_open(f, path, image->dataset, reason)
                                      : told_open(f, bytes, reason);
    for (int a = 0; a < 2; a++)
        f->block[a] = f->block[a] > 0 ? f->block[a] : a ? 1 : f->size[1];
    for (int a = 0; a < 3 && !s; a++)
        if (f->size[a] < 1 || f->size[a] > VOXEL_AXIS)
            s = voxel_file_wrong(reason, " has %d voxels along an axis (at most %d)", f->size[a],
                                 VOXEL_AXIS);
    if (s)
        voxel_file_close(f);
    return s;
}

void voxel_file_close(struct voxel_file *f)
{
    voxel_hdf5_close(f);
    voxel_tiff_close(f);
    if (f->fd >= 0)
        close(f->fd);
    free(f->buffer);
    *f = (struct voxel_file){.fd = -1};
}

enum status voxel_file_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON])
{
    return f->plain                  ? raw_plane(f, z, lo, hi, labels, reason)
           : f->format == VOXEL_hdf5 ? voxel_hdf5_plane(f, z, lo, hi, labels, reason)
                                     : voxel_tiff_plane(f, z, lo, hi, labels, reason);
}

enum status voxel_file_each(struct voxel_file *f, const int lo[3], const int hi[3], int32_t *labels,
                            voxel_take *take, void *context, char reason[VOXEL_REASON])
{
    const int high = f->block[0], deep = f->block[1];
    enum status s = STATUS_OK;
    for (int layer = lo[2] / deep * deep; layer < hi[2] && !s; layer += deep)
        for (int band = lo[1] / high * high; band < hi[1] && !s; band += high) {
            const int from[2] = {lo[0], band > lo[1] ? band : lo[1]};
            const int to[2] = {hi[0], band + high < hi[1] ? band + high : hi[1]};
            const int first = layer > lo[2] ? layer : lo[2];
            for (int z = first; z < layer + deep && z < hi[2] && !s; z++) {
                s = signals_stop() ? stopped(reason)
                                   : voxel_file_plane(f, z, from, to, labels, reason);
                if (!s)
                    s = take(context, z, from, to, labels);
            }
        }
    return s;
}
