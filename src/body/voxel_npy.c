/* Voxel images as .npy files of numpy: an array [z][y][x] of numbers in C order. The header is
 * text; the rest is read as a raw file. Format: numpy.lib.format, versions 1 to 3. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "body/voxel_file.h"

/* Bytes before the length of the header, and most bytes of the header. numpy writes 128. */
enum { MAGIC = 8, HEADER = 1 << 14, AXES = 32 };

struct header {
    char type[16]; /* as "<u2"; "": of a structured array */
    bool type_given, fortran, order_given, shape_given;
    int axes;
    int64_t size[AXES];
};

static bool take(const char **at, const char *what)
{
    *at += strspn(*at, " \t\n");
    if (strncmp(*at, what, strlen(what)) != 0)
        return false;
    *at += strlen(what);
    return true;
}

/* A text in quotes; only its begin is kept. */
static bool take_text(const char **at, char *text, size_t room)
{
    *at += strspn(*at, " \t\n");
    const char quote = **at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *const begin = *at + 1, *const end = strchr(begin, quote);
    if (!end)
        return false;
    const size_t length = (size_t)(end - begin) < room ? (size_t)(end - begin) : room - 1;
    for (size_t k = 0; k < length; k++)
        text[k] = begin[k];
    text[length] = '\0';
    *at = end + 1;
    return true;
}

/* "(12, 16, 24)" */
static bool take_shape(const char **at, struct header *h)
{
    if (!take(at, "("))
        return false;
    while (!take(at, ")")) {
        char *end;
        if (h->axes == AXES || **at < '0' || **at > '9')
            return false;
        h->size[h->axes++] = strtoll(*at, &end, 10); /* too large: INT64_MAX */
        *at = end + (*end == 'L');                   /* of Python 2 */
        if (!take(at, ",") && **at != ')')
            return false;
    }
    return h->shape_given = true;
}

static bool take_entry(const char **at, struct header *h)
{
    char key[16];
    if (!take_text(at, key, sizeof key) || !take(at, ":"))
        return false;
    if (strcmp(key, "shape") == 0)
        return take_shape(at, h);
    if (strcmp(key, "descr") == 0)
        return h->type_given = take(at, "[") || take_text(at, h->type, sizeof h->type);
    if (strcmp(key, "fortran_order") != 0)
        return false;
    h->fortran = take(at, "True");
    return h->order_given = h->fortran || take(at, "False");
}

/* False: no header of numpy. A structured type ends the look. */
static bool parse(const char *at, struct header *h)
{
    if (!take(&at, "{"))
        return false;
    while (!take(&at, "}")) {
        if (!take_entry(&at, h))
            return false;
        if (h->type_given && !*h->type)
            return true;
        take(&at, ",");
    }
    return h->type_given && h->order_given && h->shape_given;
}

/* Labels of numpy's types, without their byte order. */
static bool take_type(struct voxel_file *f, const char *type)
{
    static const struct {
        const char *name;
        enum voxel_type type;
    } types[] = {{"b1", VOXEL_uint8},   {"u1", VOXEL_uint8},  {"i1", VOXEL_int8},
                 {"u2", VOXEL_uint16},  {"i2", VOXEL_int16},  {"u4", VOXEL_uint32},
                 {"i4", VOXEL_int32},   {"u8", VOXEL_uint64}, {"i8", VOXEL_int64},
                 {"f4", VOXEL_float32}, {"f8", VOXEL_float64}};
    if (!*type || !strchr("<>|", *type))
        return false;
    f->big_endian = *type == '>';
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (strcmp(type + 1, types[k].name) == 0) {
            f->type = types[k].type;
            return true;
        }
    return false;
}

/* Checks the header, and takes what it says. */
static enum status take_header(struct voxel_file *f, struct header *h, char reason[VOXEL_REASON])
{
    for (char *c = h->type; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (!take_type(f, h->type))
        return voxel_file_wrong(reason,
                                " holds %s%s%s, not numbers of a known type (in Python: "
                                "a.astype(\"uint8\"))",
                                *h->type ? "'" : "a structured array", h->type,
                                *h->type ? "'" : "");
    if (h->axes != 3)
        return voxel_file_wrong(reason, " holds an array of %d axes, not 3 (z, y, x)%s", h->axes,
                                h->axes == 2  ? " (in Python: a[None])"
                                : h->axes > 3 ? " (in Python: a[0], or another part)"
                                              : "");
    if (h->fortran)
        return voxel_file_wrong(reason, " is in Fortran order (in Python: numpy.save(file, "
                                        "numpy.ascontiguousarray(a)), where a is [z][y][x])");
    for (int a = 0; a < 3; a++) {
        if (h->size[a] < 1 || h->size[a] > VOXEL_AXIS)
            return voxel_file_wrong(reason, " has %" PRId64 " voxels along an axis (1 to %d)",
                                    h->size[a], VOXEL_AXIS);
        f->size[2 - a] = (int)h->size[a];
    }
    return STATUS_OK;
}

enum status voxel_npy_open(struct voxel_file *f, int64_t bytes, char reason[VOXEL_REASON])
{
    static const char damaged[] = " begins as a .npy file, but has no header of one (is it whole?)";
    uint8_t begin[MAGIC + 4] = {0};
    struct header h = {.axes = 0};
    if (bytes < (int64_t)sizeof begin || file_read_at(f->fd, begin, sizeof begin, 0) != 0)
        return voxel_file_wrong(reason, "%s", damaged);
    const bool old = begin[6] == 1;
    const int64_t at = MAGIC + (old ? 2 : 4);
    int64_t length = begin[MAGIC] | begin[MAGIC + 1] << 8;
    if (!old)
        length |= (int64_t)begin[MAGIC + 2] << 16 | (int64_t)begin[MAGIC + 3] << 24;
    if (begin[6] < 1 || begin[6] > 3)
        return voxel_file_wrong(reason, " is a .npy file of version %d (1 to 3)", begin[6]);
    if (length > HEADER || at + length > bytes)
        return voxel_file_wrong(reason, "%s", damaged);
    char *const text = calloc((size_t)length + 1, 1);
    if (!text)
        return voxel_file_failed(reason, ": no memory for %" PRId64 " bytes of it", length);
    const bool read = file_read_at(f->fd, text, (size_t)length, at) == 0;
    const bool good = read && parse(text, &h);
    free(text);
    if (!good)
        return voxel_file_wrong(reason, "%s", damaged);
    f->plain = true;
    f->skip = at + length;
    const enum status s = take_header(f, &h, reason);
    return s ? s : voxel_file_length(f, bytes, "is it whole, does it hold one array?", reason);
}
