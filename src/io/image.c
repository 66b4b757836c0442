/* PNG images of a plane of cells; see image.h.
 *
 *   +-----------------------------------------+
 *   | title                                   |
 *   | min and max                             |
 *   |    +--------------------+  ++           |
 *   | up |     the plane      |  || - 0.1     |
 *   |    |                    |  || - 0.05    |
 *   |    +--------------------+  ++           |
 *   |           across                        |
 *   +-----------------------------------------+
 *
 * Pixels are indices into a palette: the map's colours and a few greys. */
#include "io/image.h"

#include <assert.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/message.h"
#include "io/font.h"

enum {
    COLORS = 251, /* of the map, from index 0; odd, so that a diverging map has a middle colour */
    WHITE = COLORS,
    BLACK,
    GREY, /* cells that are not fluid */
    DIM,  /* text with min and max */
    BAD,  /* infinite values */
    PALETTE,
    LONGER_SIDE = 600, /* pixels, at least */
    LABEL = 32
};

struct canvas {
    int width, height;
    unsigned char *pixel; /* [height][width] from the top */
};

struct shown_range {
    double low, high;   /* of the colours */
    double least, most; /* of the finite values; least > most: there are none */
    size_t bad;         /* number of infinite values */
};

/* Sizes and positions in pixels. factor: pixels per cell; scale: pixels per dot of the font. */
struct layout {
    int factor, scale;
    int plane_x, plane_y, plane_width, plane_height;
    int bar_x, bar_width, bar_height;
};

static void fill(struct canvas *canvas, int x, int y, int width, int height, int color)
{
    int right = x + width < canvas->width ? x + width : canvas->width;
    int bottom = y + height < canvas->height ? y + height : canvas->height;
    int left = x > 0 ? x : 0;
    for (int row = y > 0 ? y : 0; row < bottom && left < right; ++row)
        memset(canvas->pixel + (size_t)row * (size_t)canvas->width + left, color,
               (size_t)(right - left));
}

/* Draws text with its upper left corner at x, y. */
static void letter(struct canvas *canvas, int x, int y, int scale, int color, const char *text)
{
    for (; *text; ++text, x += FONT_ADVANCE * scale)
        for (int row = 0; row < FONT_HEIGHT; ++row)
            for (int column = 0; column < FONT_WIDTH; ++column)
                if (font_dot(*text, column, row))
                    fill(canvas, x + column * scale, y + row * scale, scale, scale, color);
}

static int text_width(const char *text, int scale)
{
    return text ? (int)strlen(text) * FONT_ADVANCE * scale : 0;
}

static struct shown_range range_of(const struct image *image)
{
    struct shown_range range = {.least = INFINITY, .most = -INFINITY};
    size_t cells = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < cells; ++i) {
        double v = image->values[i];
        range.bad += isinf(v) != 0;
        if (!isfinite(v))
            continue;
        range.least = v < range.least ? v : range.least;
        range.most = v > range.most ? v : range.most;
    }
    range.low = image->fixed_range ? image->range[0] : range.least;
    range.high = image->fixed_range ? image->range[1] : range.most;
    if (!isfinite(range.low) || !isfinite(range.high))
        range.low = range.high = 0;
    if (!image->fixed_range && image->map == COLORMAP_diverging) {
        range.high = fmax(fabs(range.low), fabs(range.high));
        range.low = -range.high;
    }
    /* Limits both, so that their difference is finite. */
    range.low = fmin(fmax(range.low, -1e300), 1e300);
    range.high = fmin(fmax(range.high, -1e300), 1e300);
    /* The values are equal, up to rounding: takes a range around them. */
    double size = fmax(fabs(range.low), fabs(range.high));
    if (!(range.high - range.low > fmax(1e-12 * size, 1e-300))) {
        double middle = range.low, half = 0.5 * size;
        range.low = half > 1e-300 ? middle - half : image->map == COLORMAP_diverging ? -1 : 0;
        range.high = half > 1e-300 ? middle + half : 1;
    }
    return range;
}

/* Text of a tick's value, with as few digits as tell ticks apart. step: distance of ticks; size:
 * largest |value| of the range. */
static void format_tick(char text[LABEL], double value, double step, double size)
{
    int last = (int)floor(log10(step) + 1e-9), first = (int)floor(log10(size) + 1e-9);
    if (fabs(value) < 1e-6 * step) {
        snprintf(text, LABEL, "0");
    } else if (first >= -4 && first < 5) {
        snprintf(text, LABEL, "%.*f", last < 0 ? -last : 0, value);
    } else {
        int digits = (int)floor(log10(fabs(value)) + 1e-9) - last;
        char long_form[LABEL];
        snprintf(long_form, sizeof long_form, "%.*e", digits > 0 ? digits : 0, value);
        char *e = strchr(long_form, 'e');
        *e = '\0';
        snprintf(text, LABEL, "%.20se%d", long_form, atoi(e + 1));
    }
}

/* 1, 2 or 5 times a power of ten, so that the span has about `wanted` steps. */
static double tick_step(double span, int wanted)
{
    double raw = span / wanted, power = pow(10.0, floor(log10(raw)));
    double ratio = raw / power;
    return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

/* Draws the ticks beside the bar, except if canvas is NULL. Returns the width of the widest label.
 */
static int draw_ticks(struct canvas *canvas, const struct layout *at, struct shown_range range)
{
    double size = fmax(fabs(range.low), fabs(range.high)), span = range.high - range.low;
    int line = 2 * FONT_HEIGHT * at->scale, room = at->bar_height / line;
    double step = tick_step(span, room < 2 ? 1 : room > 8 ? 8 : room);
    int widest = 0;
    double first = ceil(range.low / step - 1e-6), last = floor(range.high / step + 1e-6);
    int ticks = (int)(last - first) + 1;
    for (int i = 0; i < ticks; ++i) {
        char text[LABEL];
        double value = (first + i) * step;
        format_tick(text, value, step, size);
        int width = text_width(text, at->scale);
        widest = width > widest ? width : widest;
        if (!canvas)
            continue;
        double share = fmin(fmax((value - range.low) / span, 0.0), 1.0);
        int x = at->bar_x + at->bar_width;
        int y = at->plane_y + (int)lround((1 - share) * (at->bar_height - 1));
        fill(canvas, x, y - at->scale / 2, 3 * at->scale, at->scale, BLACK);
        letter(canvas, x + 5 * at->scale, y - FONT_ASCENT * at->scale / 2, at->scale, BLACK, text);
    }
    return widest;
}

static int color_of(double value, struct shown_range range)
{
    if (isnan(value))
        return GREY;
    if (isinf(value))
        return BAD;
    double t = (value - range.low) / (range.high - range.low) * (COLORS - 1);
    return t <= 0 ? 0 : t >= COLORS - 1 ? COLORS - 1 : (int)(t + 0.5);
}

static void draw_plane(struct canvas *canvas, const struct layout *at, const struct image *image,
                       struct shown_range range)
{
    for (int y = 0; y < image->height; ++y) {
        const double *row = image->values + (size_t)(image->height - 1 - y) * (size_t)image->width;
        int top = at->plane_y + y * at->factor;
        unsigned char *first = canvas->pixel + (size_t)top * (size_t)canvas->width + at->plane_x;
        for (int x = 0; x < image->width; ++x)
            memset(first + (size_t)x * (size_t)at->factor, color_of(row[x], range),
                   (size_t)at->factor);
        for (int again = 1; again < at->factor; ++again)
            memcpy(first + (size_t)again * (size_t)canvas->width, first, (size_t)at->plane_width);
    }
}

static void draw_bar(struct canvas *canvas, const struct layout *at)
{
    for (int y = 0; y < at->bar_height; ++y) {
        double t = 1 - (y + 0.5) / at->bar_height;
        fill(canvas, at->bar_x, at->plane_y + y, at->bar_width, 1, (int)(t * COLORS));
    }
}

static void draw_frame(struct canvas *canvas, int x, int y, int width, int height)
{
    fill(canvas, x - 1, y - 1, width + 2, 1, BLACK);
    fill(canvas, x - 1, y + height, width + 2, 1, BLACK);
    fill(canvas, x - 1, y - 1, 1, height + 2, BLACK);
    fill(canvas, x + width, y - 1, 1, height + 2, BLACK);
}

/* Computes the layout and the size of the canvas. */
static struct layout lay_out(const struct image *image, struct shown_range range,
                             const char *extremes, struct canvas *canvas)
{
    struct layout at = {0};
    int longer = image->width > image->height ? image->width : image->height;
    at.factor = longer < LONGER_SIDE ? (LONGER_SIDE + longer - 1) / longer : 1;
    at.plane_width = image->width * at.factor;
    at.plane_height = image->height * at.factor;
    longer *= at.factor;
    at.scale = longer < 1400 ? 2 : longer / 700 + 1;
    int unit = FONT_ADVANCE * at.scale, line = (FONT_HEIGHT + 3) * at.scale;

    at.plane_x = unit + (image->up ? text_width(image->up, at.scale) + unit / 2 : 0);
    at.plane_y = unit + 2 * line + unit / 2;
    at.bar_x = at.plane_x + at.plane_width + 2 * unit;
    at.bar_width = 2 * unit;
    int least = 8 * line;
    at.bar_height = at.plane_height > least ? at.plane_height : least;

    canvas->width = at.bar_x + at.bar_width + unit + draw_ticks(NULL, &at, range) + unit;
    int title = text_width(image->title, at.scale), below = text_width(extremes, at.scale);
    int text = unit + (title > below ? title : below) + unit;
    if (canvas->width < text)
        canvas->width = text;
    canvas->height = at.plane_y + at.bar_height + unit + (image->across ? line : 0);
    return at;
}

static void draw(struct canvas *canvas, const struct layout *at, const struct image *image,
                 struct shown_range range, const char *extremes)
{
    int unit = FONT_ADVANCE * at->scale, line = (FONT_HEIGHT + 3) * at->scale;
    fill(canvas, 0, 0, canvas->width, canvas->height, WHITE);
    if (image->title)
        letter(canvas, unit, unit, at->scale, BLACK, image->title);
    letter(canvas, unit, unit + line, at->scale, DIM, extremes);
    draw_frame(canvas, at->plane_x, at->plane_y, at->plane_width, at->plane_height);
    draw_plane(canvas, at, image, range);
    draw_frame(canvas, at->bar_x, at->plane_y, at->bar_width, at->bar_height);
    draw_bar(canvas, at);
    draw_ticks(canvas, at, range);
    if (image->across)
        letter(canvas, at->plane_x + (at->plane_width - text_width(image->across, at->scale)) / 2,
               at->plane_y + at->plane_height + unit / 2 + 1, at->scale, BLACK, image->across);
    if (image->up)
        letter(canvas, unit / 2, at->plane_y + at->plane_height / 2 - line / 2, at->scale, BLACK,
               image->up);
}

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

static void fill_palette(enum colormap map, png_color palette[PALETTE])
{
    static const unsigned char own[PALETTE - COLORS][3] = {
        {255, 255, 255}, {0, 0, 0}, {150, 150, 150}, {95, 95, 95}, {255, 0, 255}};
    for (int i = 0; i < PALETTE; ++i) {
        unsigned char rgb[3];
        if (i < COLORS)
            colormap_color(map, (double)i / (COLORS - 1), rgb);
        else
            memcpy(rgb, own[i - COLORS], 3);
        palette[i] = (png_color){.red = rgb[0], .green = rgb[1], .blue = rgb[2]};
    }
}

static void write_notes(png_structp png, png_infop info, const struct image *image)
{
    for (int i = 0; i < image->notes; ++i) {
        char key[80];
        snprintf(key, sizeof key, "%s", image->note[i].key);
        png_text text = {.compression = PNG_ITXT_COMPRESSION_NONE, .key = key};
        text.text = (char *)(size_t)image->note[i].text; /* libpng only reads it */
        png_set_text(png, info, &text, 1);
    }
}

/* Encodes the PNG. False, with bytes->reason, if a call of libpng fails. After a longjmp the code
 * uses only variables that have not changed since setjmp. */
static bool encode(const struct canvas *canvas, const struct image *image, struct png_bytes *bytes)
{
    png_color palette[PALETTE];
    fill_palette(image->map, palette);
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
    png_set_PLTE(png, info, palette, PALETTE);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    write_notes(png, info, image);
    png_write_info(png, info);
    for (int y = 0; y < canvas->height; ++y)
        png_write_row(png, canvas->pixel + (size_t)y * (size_t)canvas->width);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return true;
}

enum status image_write(const char *path, const struct image *image)
{
    assert(image->width > 0 && image->height > 0);
    struct shown_range range = range_of(image);
    char extremes[128] = "no fluid here", bad[48] = "";
    if (range.bad)
        snprintf(bad, sizeof bad, "  %zu not finite", range.bad);
    if (range.least <= range.most)
        snprintf(extremes, sizeof extremes, "min %.6g  max %.6g%s", range.least, range.most, bad);
    else if (range.bad)
        snprintf(extremes, sizeof extremes, "%s", bad + 2);

    struct canvas canvas = {0};
    struct layout at = lay_out(image, range, extremes, &canvas);
    canvas.pixel = malloc((size_t)canvas.width * (size_t)canvas.height);
    if (!canvas.pixel)
        return fail_machine("no memory for the image %s (%d x %d pixels)", path, canvas.width,
                            canvas.height);
    draw(&canvas, &at, image, range, extremes);

    struct png_bytes bytes = {.data = NULL};
    enum status status = STATUS_OK;
    if (!encode(&canvas, image, &bytes))
        status = fail_machine("cannot make the image %s: %s", path, bytes.reason);
    else
        status = file_replace(path, bytes.data, bytes.length);
    free(bytes.data);
    free(canvas.pixel);
    return status;
}
