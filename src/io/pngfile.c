/* A PNG file of a canvas; see pngfile.h. */
#include "io/pngfile.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/message.h"

/* The PNG in memory. It is written to disk when it is complete, whole or not at all. */
struct png_bytes {
    unsigned char *data;
    size_t length, room;
    char reason[128];
};

static void append_bytes(png_structp png, png_bytep data, size_t length)
{
    struct png_bytes *bytes = png_get_io_ptr(png);
    if (length > bytes->room - bytes->length) {
        size_t room = 2 * bytes->room + length;
        unsigned char *larger = realloc(bytes->data, room);
        if (!larger)
            png_error(png, "no memory");
        bytes->data = larger;
        bytes->room = room;
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void nothing_to_flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp reason)
{
    struct png_bytes *bytes = png_get_error_ptr(png);
    snprintf(bytes->reason, sizeof bytes->reason, "%s", reason);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp reason)
{
    (void)png;
    (void)reason;
}

static void fill_palette(enum colormap map, png_color palette[CANVAS_PALETTE])
{
    static const unsigned char ink[3] = {38, 38, 43}, solid[3] = {150, 150, 150},
                               bad[3] = {255, 0, 255};
    for (int i = 0; i < CANVAS_PALETTE; ++i) {
        unsigned char rgb[3];
        if (i < CANVAS_COLORS)
            colormap_color(map, (double)i / (CANVAS_COLORS - 1), rgb);
        else if (i == CANVAS_SOLID || i == CANVAS_BAD)
            memcpy(rgb, i == CANVAS_SOLID ? solid : bad, 3);
        else
            for (int c = 0; c < 3; ++c)
                rgb[c] = (unsigned char)(255 - (255 - ink[c]) * (i - CANVAS_PAPER) /
                                                   (CANVAS_INK - CANVAS_PAPER));
        palette[i] = (png_color){.red = rgb[0], .green = rgb[1], .blue = rgb[2]};
    }
}

static void write_notes(png_structp png, png_infop info, const struct image_notes *notes)
{
    for (int i = 0; i < notes->count; ++i) {
        char key[80];
        snprintf(key, sizeof key, "%s", notes->note[i].key);
        png_text text = {.compression = PNG_ITXT_COMPRESSION_NONE, .key = key};
        text.text = (char *)(size_t)notes->note[i].text; /* libpng only reads it */
        png_set_text(png, info, &text, 1);
    }
}

/* Encodes the PNG. False, with bytes->reason, if a call of libpng fails. After a longjmp the code
 * uses only variables that have not changed since setjmp. */
static bool encode(const struct canvas *canvas, enum colormap map, const struct image_notes *notes,
                   struct png_bytes *bytes)
{
    png_color palette[CANVAS_PALETTE];
    fill_palette(map, palette);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, bytes, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        snprintf(bytes->reason, sizeof bytes->reason, "no memory");
        png_destroy_write_struct(&png, NULL);
        return false;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, bytes, append_bytes, nothing_to_flush);
    png_set_IHDR(png, info, (png_uint_32)canvas->width, (png_uint_32)canvas->height, 8,
                 PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png, info, palette, CANVAS_PALETTE);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    write_notes(png, info, notes);
    png_write_info(png, info);
    for (int y = 0; y < canvas->height; ++y)
        png_write_row(png, canvas->pixel + (size_t)y * (size_t)canvas->width);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return true;
}

enum status pngfile_write(const char *path, const struct canvas *canvas, enum colormap map,
                          const struct image_notes *notes)
{
    struct png_bytes bytes = {.data = NULL};
    enum status status = STATUS_OK;
    if (!encode(canvas, map, notes, &bytes))
        status = fail_machine("cannot make the image %s: %s", path, bytes.reason);
    else
        status = file_replace(path, bytes.data, bytes.length);
    free(bytes.data);
    return status;
}
