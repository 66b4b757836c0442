/* The planes of a TIFF file. ImageJ writes stacks above 4 GB as a single page: the planes follow
 * each other, and the page's description has their number. What a description says and what the
 * file holds must agree. Planes of several channels or times alternate; they are no image. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "body/voxel_file.h"

/* Most bytes after the last plane that only align what follows. */
enum { ALIGNED = 15 };

/* Sizes in the image description; 0: not given. planes: of all axes. */
struct said {
    int64_t planes, axis[3]; /* slices or z, channels, times */
};

/* The number after `key` in text before `end`, or 0. In XML it is in quotes. */
static int64_t number_after(const char *text, const char *end, const char *key)
{
    const char *at = text;
    for (; (at = strstr(at, key)) && at < end; at++) {
        if (at > text && at[-1] != '\n' && at[-1] != '\r' && at[-1] != ' ')
            continue;
        at += strlen(key);
        at += *at == '"' || *at == '\'';
        const long long value = strtoll(at, NULL, 10);
        return value < 0 ? 0 : value > VOXEL_AXIS ? VOXEL_AXIS + 1 : value;
    }
    return 0;
}

static void multiply(struct said *s)
{
    s->planes = 1;
    for (int a = 0; a < 3; a++)
        s->planes *= s->axis[a] ? s->axis[a] : 1; /* (2^20 + 1)^3 at most */
}

/* The shape that tifffile notes: {"shape": [12, 16, 24]}; the last two are y and x. */
static void take_shape(struct said *s, const char *text, const int size[3])
{
    int64_t n[8];
    int count = 0;
    const char *at = strstr(text, "\"shape\"");
    at = at ? strchr(at, '[') : NULL;
    while (at && (*at == '[' || *at == ',') && count < 8) {
        char *end;
        n[count] = strtoll(at + 1, &end, 10);
        if (end == at + 1 || n[count] < 1)
            return;
        n[count] = n[count] > VOXEL_AXIS ? VOXEL_AXIS + 1 : n[count];
        count++;
        at = end + strspn(end, " ");
    }
    if (count > 3 && n[count - 1] == 1)
        count--;
    if (!at || *at != ']' || count < 3 || n[count - 1] != size[0] || n[count - 2] != size[1])
        return;
    int axes = 0;
    for (int a = count - 3; a >= 0 && axes < 3; a--)
        if (n[a] > 1)
            s->axis[axes++] = n[a];
    multiply(s);
}

static struct said description_of(TIFF *tiff, const int size[3])
{
    struct said s = {0};
    char *text = NULL;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || !text)
        return s;
    const char *const end = text + strlen(text);
    const char *const pixels = strstr(text, "<OME") ? strstr(text, "<Pixels") : NULL;
    if (pixels) {
        const char *const close = strchr(pixels, '>');
        s.axis[0] = number_after(pixels, close ? close : end, "SizeZ=");
        s.axis[1] = number_after(pixels, close ? close : end, "SizeC=");
        s.axis[2] = number_after(pixels, close ? close : end, "SizeT=");
        multiply(&s);
    } else if (strncmp(text, "ImageJ=", 7) == 0 || strncmp(text, "SCIFIO=", 7) == 0) {
        s.axis[0] = number_after(text, end, "slices=");
        s.axis[1] = number_after(text, end, "channels=");
        s.axis[2] = number_after(text, end, "frames=");
        s.planes = number_after(text, end, "images=");
    } else {
        take_shape(&s, text, size);
    }
    return s;
}

/* The first byte of the page's pixels if they are not packed and lie one after the other; -1:
 * otherwise. */
static int64_t pixels_at(const struct voxel_file *f, TIFF *tiff)
{
    uint16_t packing = COMPRESSION_NONE, order = FILLORDER_MSB2LSB;
    uint32_t rows = 0;
    uint64_t *offset = NULL;
    const int64_t line = f->size[0] * (int64_t)voxel_file_bytes(f->type);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &packing);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &order);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    if (TIFFIsTiled(tiff) || packing != COMPRESSION_NONE || order != FILLORDER_MSB2LSB ||
        !TIFFGetField(tiff, TIFFTAG_STRIPOFFSETS, &offset) || !offset || offset[0] > INT64_MAX / 2)
        return -1;
    for (uint32_t k = 1; k < TIFFNumberOfStrips(tiff); k++)
        if (offset[k] != offset[k - 1] + (uint64_t)rows * (uint64_t)line)
            return -1;
    return (int64_t)offset[0];
}

static enum status alternate(const struct said *s, char reason[VOXEL_REASON])
{
    return voxel_file_wrong(
        reason,
        " is a TIFF file of %" PRId64 " slices, %" PRId64 " channels and %" PRId64
        " times, whose planes alternate (save one channel of one time, a page "
        "for each z)",
        s->axis[0] ? s->axis[0] : 1, s->axis[1] ? s->axis[1] : 1, s->axis[2] ? s->axis[2] : 1);
}

/* A single page: how many planes begin with it? *room: as many fit, *rest: bytes after them. */
static void find_room(const struct voxel_file *f, TIFF *tiff, int64_t bytes, int64_t *at,
                      int64_t *room, int64_t *rest)
{
    const int64_t plane = (int64_t)f->size[0] * f->size[1] * (int64_t)voxel_file_bytes(f->type);
    const uint64_t directory = TIFFCurrentDirOffset(tiff);
    *at = pixels_at(f, tiff);
    *room = 1;
    *rest = 0;
    if (*at < 0 || *at > bytes)
        return;
    const int64_t end =
        directory > (uint64_t)*at && directory < (uint64_t)bytes ? (int64_t)directory : bytes;
    *room = (end - *at) / plane;
    *rest = (end - *at) % plane;
}

enum status voxel_stack_find(struct voxel_file *f, void *tiff, int64_t bytes, int pages,
                             char reason[VOXEL_REASON])
{
    const struct said said = description_of(tiff, f->size);
    int64_t at = -1, room = pages, rest = 0;
    f->size[2] = pages;
    if ((said.axis[0] > 1) + (said.axis[1] > 1) + (said.axis[2] > 1) > 1)
        return alternate(&said, reason);
    if (pages == 1)
        find_room(f, tiff, bytes, &at, &room, &rest);
    if (said.planes > 1 && said.planes != room)
        return voxel_file_wrong(reason,
                                " is a TIFF file that says it has %" PRId64
                                " planes, but holds %" PRId64
                                " (is it whole? save it anew, a page for each z)",
                                said.planes, room);
    if (pages > 1 || room < 2)
        return STATUS_OK;
    if (said.planes < 2 && rest > ALIGNED)
        return voxel_file_wrong(reason,
                                " is a TIFF file of one page, but %" PRId64 " planes and %" PRId64
                                " bytes have room after it (save it anew, a page for each z)",
                                room - 1, rest);
    if (room > VOXEL_AXIS)
        return voxel_file_wrong(reason, " is a TIFF file of %" PRId64 " planes (1 to %d)", room,
                                VOXEL_AXIS);
    f->size[2] = (int)room;
    f->plain = true;
    f->skip = at;
    f->big_endian = TIFFIsBigEndian(tiff);
    return STATUS_OK;
}
