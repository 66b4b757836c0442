/* Voxel images as TIFF stacks: a page for every z, grey, 8 to 64 bits. libtiff reads through
 * functions of this file: it does not map the file, which may be truncated meanwhile, its memory is
 * limited, and it prints no messages itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

#include "base/file.h"
#include "body/voxel_file.h"

struct voxel_tiff {
    TIFF *tiff;
    int fd;
    off_t at, end;
    int page;         /* the current one; -1: none */
    char problem[96]; /* libtiff's first error message */
};

static tmsize_t read_some(thandle_t handle, void *to, tmsize_t bytes)
{
    struct voxel_tiff *const t = handle;
    if (bytes < 0 || t->at < 0 || t->at >= t->end)
        return 0;
    if (bytes > t->end - t->at)
        bytes = t->end - t->at;
    if (file_read_at(t->fd, to, (size_t)bytes, t->at) != 0)
        return -1;
    t->at += bytes;
    return bytes;
}

static tmsize_t write_none(thandle_t handle, void *from, tmsize_t bytes)
{
    (void)handle, (void)from, (void)bytes;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    struct voxel_tiff *const t = handle;
    const toff_t base = whence == SEEK_CUR   ? (toff_t)t->at
                        : whence == SEEK_END ? (toff_t)t->end
                                             : 0;
    if (base + offset > INT64_MAX)
        return (toff_t)-1;
    t->at = (off_t)(base + offset);
    return (toff_t)t->at;
}

static int close_none(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return (toff_t)((struct voxel_tiff *)handle)->end;
}

/* Keeps libtiff's first message, cut to a line. */
static int complain(TIFF *tiff, void *user, const char *module, const char *format, va_list list)
{
    struct voxel_tiff *const t = user;
    (void)tiff, (void)module;
    if (!*t->problem)
        vsnprintf(t->problem, sizeof t->problem, format, list);
    for (char *c = t->problem; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return 1;
}

static int say_nothing(TIFF *tiff, void *user, const char *module, const char *format, va_list list)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)list;
    return 1;
}

/* Sets the reason why a page cannot be read. */
static enum status bad_page(struct voxel_tiff *t, int z, char reason[VOXEL_REASON])
{
    const char *const why = *t->problem ? t->problem : "no more is known";
    const enum status s =
        voxel_file_wrong(reason, ": page %d of the TIFF file cannot be read (%s)", z + 1, why);
    *t->problem = '\0';
    return s;
}

/* The labels' type; false: they have none. */
static bool type_of(unsigned bits, unsigned format, enum voxel_type *type)
{
    static const struct {
        unsigned bits, format;
        enum voxel_type type;
    } types[] = {
        {8, SAMPLEFORMAT_UINT, VOXEL_uint8},      {8, SAMPLEFORMAT_INT, VOXEL_int8},
        {16, SAMPLEFORMAT_UINT, VOXEL_uint16},    {16, SAMPLEFORMAT_INT, VOXEL_int16},
        {32, SAMPLEFORMAT_UINT, VOXEL_uint32},    {32, SAMPLEFORMAT_INT, VOXEL_int32},
        {64, SAMPLEFORMAT_UINT, VOXEL_uint64},    {64, SAMPLEFORMAT_INT, VOXEL_int64},
        {32, SAMPLEFORMAT_IEEEFP, VOXEL_float32}, {64, SAMPLEFORMAT_IEEEFP, VOXEL_float64},
    };
    format = format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : format;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k].bits == bits && types[k].format == format) {
            *type = types[k].type;
            return true;
        }
    return false;
}

/* Refuses what is no plane of an image. */
static enum status check_kind(struct voxel_tiff *t, int z, unsigned colours,
                              char reason[VOXEL_REASON])
{
    uint16_t samples = 1;
    uint32_t kind = 0, depth[2] = {1, 1};
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_SUBFILETYPE, &kind);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_IMAGEDEPTH, &depth[0]);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_TILEDEPTH, &depth[1]);
    if (kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK))
        return voxel_file_wrong(reason,
                                ": page %d of the TIFF file is a %s, not a plane (save it anew "
                                "without)",
                                z + 1,
                                kind & FILETYPE_MASK ? "mask of another page" : "smaller copy");
    if (depth[0] > 1 || depth[1] > 1)
        return voxel_file_wrong(reason,
                                ": page %d of the TIFF file holds %u planes (save it anew, a page "
                                "for each z)",
                                z + 1, depth[0] > 1 ? depth[0] : depth[1]);
    if (samples != 1 || (colours != PHOTOMETRIC_MINISBLACK && colours != PHOTOMETRIC_MINISWHITE &&
                         colours != PHOTOMETRIC_PALETTE && colours != PHOTOMETRIC_MASK))
        return voxel_file_wrong(reason,
                                ": page %d of the TIFF file is in colour, or has several numbers a "
                                "pixel (save it in grey, without transparency)",
                                z + 1);
    return STATUS_OK;
}

/* Reads size and type of the current page. */
static enum status page_header(struct voxel_tiff *t, int z, int size[2], enum voxel_type *type,
                               bool *white_zero, char reason[VOXEL_REASON])
{
    uint32_t width = 0, height = 0;
    uint16_t bits = 1, format = SAMPLEFORMAT_UINT, colours = PHOTOMETRIC_MINISBLACK;
    TIFFGetField(t->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(t->tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetField(t->tiff, TIFFTAG_PHOTOMETRIC, &colours);
    *white_zero = colours == PHOTOMETRIC_MINISWHITE;
    const enum status s = check_kind(t, z, colours, reason);
    if (s)
        return s;
    if (!type_of(bits, format, type))
        return voxel_file_wrong(reason,
                                ": page %d of the TIFF file has %s of %u bits a pixel (save it "
                                "with 8 or 16; in Python: image.astype(\"uint8\"))",
                                z + 1,
                                format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_INT
                                    ? "numbers"
                                    : "reals or other data",
                                bits);
    if (width < 1 || width > VOXEL_AXIS || height < 1 || height > VOXEL_AXIS)
        return voxel_file_wrong(reason,
                                ": page %d of the TIFF file has %u x %u pixels (at most %d along "
                                "an axis)",
                                z + 1, width, height, VOXEL_AXIS);
    size[0] = (int)width;
    size[1] = (int)height;
    return STATUS_OK;
}

static TIFF *open_client(struct voxel_tiff *t)
{
    TIFFOpenOptions *const how = TIFFOpenOptionsAlloc();
    if (!how)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(how, VOXEL_TIFF_BYTES);
    TIFFOpenOptionsSetErrorHandlerExtR(how, complain, t);
    TIFFOpenOptionsSetWarningHandlerExtR(how, say_nothing, NULL);
    /* m: no memory mapping */
    TIFF *const tiff = TIFFClientOpenExt("TIFF", "rm", t, read_some, write_none, seek, close_none,
                                         size_of, NULL, NULL, how);
    TIFFOpenOptionsFree(how);
    return tiff;
}

enum status voxel_tiff_open(struct voxel_file *f, char reason[VOXEL_REASON])
{
    struct stat info;
    struct voxel_tiff *const t = calloc(1, sizeof *t);
    if (!t || fstat(f->fd, &info) != 0) {
        free(t);
        return voxel_file_failed(reason, ": no memory for a TIFF file");
    }
    t->fd = f->fd;
    t->end = info.st_size;
    f->tiff = t;
    t->tiff = open_client(t);
    if (!t->tiff)
        return voxel_file_wrong(reason,
                                " is not a TIFF file (%s; a raw image needs its size: [64, 64, "
                                "64], HDF5 a dataset)",
                                *t->problem ? t->problem : "no more is known");
    const tdir_t pages = TIFFNumberOfDirectories(t->tiff);
    if (pages < 1 || pages > VOXEL_AXIS)
        return voxel_file_wrong(reason, " is a TIFF file of %u pages (1 to %d)", (unsigned)pages,
                                VOXEL_AXIS);
    *t->problem = '\0';
    if (!TIFFSetDirectory(t->tiff, 0))
        return bad_page(t, 0, reason);
    t->page = 0;
    const enum status s = page_header(t, 0, f->size, &f->type, &f->white_zero, reason);
    return s ? s : voxel_stack_find(f, t->tiff, t->end, (int)pages, reason);
}

void voxel_tiff_close(struct voxel_file *f)
{
    struct voxel_tiff *const t = f->tiff;
    if (t && t->tiff)
        TIFFClose(t->tiff);
    free(t);
    f->tiff = NULL;
}

/* Goes to a page: the next one directly, others by following the chain of pages. */
static enum status turn_to(struct voxel_file *f, int z, char reason[VOXEL_REASON])
{
    struct voxel_tiff *const t = f->tiff;
    int size[2];
    enum voxel_type type;
    bool white_zero;
    const int before = t->page;
    if (before == z)
        return STATUS_OK;
    /* after a failure libtiff is between two pages: then search from the first one */
    t->page = -1;
    const int there = before >= 0 && before + 1 == z ? TIFFReadDirectory(t->tiff)
                                                     : TIFFSetDirectory(t->tiff, (tdir_t)z);
    if (!there)
        return bad_page(t, z, reason);
    const enum status s = page_header(t, z, size, &type, &white_zero, reason);
    if (s)
        return s;
    if (size[0] != f->size[0] || size[1] != f->size[1] || type != f->type ||
        white_zero != f->white_zero)
        return voxel_file_wrong(reason,
                                ": page %d of the TIFF file is of another size or type than the "
                                "first (%d x %d, not %d x %d)",
                                z + 1, size[0], size[1], f->size[0], f->size[1]);
    t->page = z;
    return STATUS_OK;
}

/* The rectangle of the page that is in the buffer. */
struct tiff_piece {
    int x, y, width, height;
};

static enum status copy_piece(const struct voxel_file *f, const struct tiff_piece *p,
                              const int lo[2], const int hi[2], int32_t *labels,
                              char reason[VOXEL_REASON])
{
    const size_t bytes = voxel_file_bytes(f->type);
    enum status s = STATUS_OK;
    const int first = p->x > lo[0] ? p->x : lo[0];
    const int last = p->x + p->width < hi[0] ? p->x + p->width : hi[0];
    for (int y = p->y > lo[1] ? p->y : lo[1];
         y < p->y + p->height && y < hi[1] && first < last && !s; y++) {
        const size_t from = (size_t)(y - p->y) * (size_t)p->width + (size_t)(first - p->x);
        const size_t to = (size_t)(y - lo[1]) * (size_t)(hi[0] - lo[0]) + (size_t)(first - lo[0]);
        s = voxel_file_labels(f, f->buffer + from * bytes, (size_t)(last - first), labels + to,
                              reason);
    }
    return s;
}

/* Strips: a fixed number of lines each, fewer in the last one. */
static enum status read_strips(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                               int32_t *labels, char reason[VOXEL_REASON])
{
    struct voxel_tiff *const t = f->tiff;
    uint32_t rows = 0;
    TIFFGetFieldDefaulted(t->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    const int height = rows == 0 || rows > (uint32_t)f->size[1] ? f->size[1] : (int)rows;
    const tmsize_t bytes = TIFFStripSize(t->tiff);
    const size_t pixel = voxel_file_bytes(f->type);
    if (bytes < 1 || bytes > VOXEL_TIFF_BYTES ||
        (size_t)bytes < (size_t)height * (size_t)f->size[0] * pixel)
        return voxel_file_wrong(reason, ": page %d of the TIFF file has strips of %.0f bytes",
                                z + 1, (double)bytes);
    enum status s = voxel_file_buffer(f, (size_t)bytes, reason);
    for (int strip = lo[1] / height; !s && strip * height < hi[1]; strip++) {
        const int below = f->size[1] - strip * height;
        const struct tiff_piece p = {0, strip * height, f->size[0],
                                     below < height ? below : height};
        const tmsize_t wanted = (tmsize_t)((size_t)p.height * (size_t)p.width * pixel);
        memset(f->buffer, 0, (size_t)bytes); /* not all decoders fill all of it */
        if (TIFFReadEncodedStrip(t->tiff, (uint32_t)strip, f->buffer, bytes) < wanted)
            s = bad_page(t, z, reason);
        else
            s = copy_piece(f, &p, lo, hi, labels, reason);
    }
    return s;
}

static enum status read_tiles(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                              int32_t *labels, char reason[VOXEL_REASON])
{
    struct voxel_tiff *const t = f->tiff;
    uint32_t width = 0, height = 0;
    TIFFGetField(t->tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(t->tiff, TIFFTAG_TILELENGTH, &height);
    const tmsize_t bytes = TIFFTileSize(t->tiff);
    const size_t pixel = voxel_file_bytes(f->type);
    if (width < 1 || width > VOXEL_AXIS || height < 1 || height > VOXEL_AXIS || bytes < 1 ||
        bytes > VOXEL_TIFF_BYTES || (size_t)bytes < (size_t)width * height * pixel)
        return voxel_file_wrong(reason, ": page %d of the TIFF file has tiles of %u x %u pixels",
                                z + 1, width, height);
    const int w = (int)width, h = (int)height;
    enum status s = voxel_file_buffer(f, (size_t)bytes, reason);
    for (int y = lo[1] / h * h; !s && y < hi[1]; y += h)
        for (int x = lo[0] / w * w; !s && x < hi[0]; x += w) {
            const struct tiff_piece p = {x, y, w, h};
            const uint32_t tile = TIFFComputeTile(t->tiff, (uint32_t)x, (uint32_t)y, 0, 0);
            memset(f->buffer, 0, (size_t)bytes);
            if (TIFFReadEncodedTile(t->tiff, tile, f->buffer, bytes) < bytes)
                s = bad_page(t, z, reason);
            else
                s = copy_piece(f, &p, lo, hi, labels, reason);
        }
    return s;
}

enum status voxel_tiff_plane(struct voxel_file *f, int z, const int lo[2], const int hi[2],
                             int32_t *labels, char reason[VOXEL_REASON])
{
    struct voxel_tiff *const t = f->tiff;
    const enum status s = turn_to(f, z, reason);
    if (s)
        return s;
    return TIFFIsTiled(t->tiff) ? read_tiles(f, z, lo, hi, labels, reason)
                                : read_strips(f, z, lo, hi, labels, reason);
}
