/* PNG images of a plane of cells; see image.h.
 *
 *   title                                      title
 *   when   min and max                         when   min and max
 *        +--------------+  ++                        +----------------------------+
 *      2 +              |  ||- 0.1  s              1 +                            |
 *    y   |  the plane   |  ||       p              0 +-+------------+-------------+
 *      0 +-+------+-----+  ++- 0    e                  0            1          x
 *          0      1   x             ed               +----------------------------+
 *                                                    +-+--------------------+-----+
 *                                                      0       speed       0.1
 */
#include "io/image.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "io/canvas.h"
#include "io/ruler.h"
#include "io/smooth.h"

enum {
    LONGER_SIDE = 600, /* pixels, at least */
    LONGEST = 10,      /* the longer side in shorter ones */
    MOST_CELLS = 8192, /* drawn along a side; of more some are left out */
    LINES = 6,
    LINE = 160,
    LABEL = 96
};

/* What the colours show. */
struct shown_range {
    enum colormap map;
    double low, high;   /* of the map */
    double from, to;    /* of the bar: the part of the map that the plane has */
    double least, most; /* of the finite values; least > most: there are none */
    size_t bad;         /* number of infinite values */
};

/* Sizes and positions in pixels. */
struct layout {
    int per_cell[2];         /* across, up */
    double size;             /* of letters */
    int thickness;           /* of lines */
    int margin, pitch;       /* of lines of text */
    int x, y, width, height; /* of the plane */
    int bar_x, bar_y;
    bool bar_below;
    struct ruler across, up, bar;
    int lines;
    char line[LINES][LINE]; /* below the title */
};

static struct shown_range range_of(const struct image *image)
{
    struct shown_range r = {.map = image->map, .least = INFINITY, .most = -INFINITY};
    const size_t cells = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < cells; ++i) {
        const double v = image->values[i];
        r.bad += isinf(v) != 0;
        if (!isfinite(v))
            continue;
        r.least = v < r.least ? v : r.least;
        r.most = v > r.most ? v : r.most;
    }
    r.low = image->fixed_range ? image->range[0] : r.least;
    r.high = image->fixed_range ? image->range[1] : r.most;
    if (!isfinite(r.low) || !isfinite(r.high))
        r.low = r.high = 0;
    /* Limits both, so that their difference is finite. */
    r.low = fmin(fmax(r.low, -1e300), 1e300);
    r.high = fmin(fmax(r.high, -1e300), 1e300);
    /* The values are equal, up to rounding: takes a range around them. */
    const double size = fmax(fabs(r.low), fabs(r.high));
    if (!(r.high - r.low > fmax(1e-12 * size, 1e-300))) {
        const double middle = r.low, half = 0.5 * size;
        r.low = half > 1e-300 ? middle - half : r.map == COLORMAP_diverging ? -1 : 0;
        r.high = half > 1e-300 ? middle + half : 1;
    }
    /* Magnitudes begin at 0, unless that would leave much of the map unused. */
    if (!image->fixed_range && r.low > 0 && r.low < 0.1 * r.high)
        r.low = 0;
    r.from = r.low;
    r.to = r.high;
    /* The middle of a diverging map is 0. Where nearly all values have one sign, half of the map
     * would be empty. */
    if (r.map == COLORMAP_diverging) {
        if (!image->fixed_range && fmin(-r.low, r.high) < 0.1 * fmax(-r.low, r.high))
            r.map = COLORMAP_sequential;
        else
            r.low = -(r.high = fmax(-r.low, r.high));
    }
    return r;
}

static int color_of(double value, const struct shown_range *r)
{
    if (isnan(value))
        return CANVAS_SOLID;
    if (isinf(value))
        return CANVAS_BAD;
    const double t = (value - r->low) / (r->high - r->low) * (CANVAS_COLORS - 1);
    return t <= 0 ? 0 : t >= CANVAS_COLORS - 1 ? CANVAS_COLORS - 1 : (int)(t + 0.5);
}

static struct lettering plain(const struct layout *at)
{
    return (struct lettering){.size = at->size};
}

static struct lettering turned(const struct layout *at)
{
    return (struct lettering){.size = at->size, .turned = true};
}

static struct lettering title_of(const struct layout *at)
{
    return (struct lettering){.size = 1.2 * at->size, .bold = true};
}

static int length_of(const char *text, struct lettering how)
{
    return (int)ceil(canvas_text_length(text, how));
}

/* Shortens a text to this length. */
static void shorten(char *text, struct lettering how, int most)
{
    size_t length = strlen(text);
    while (length > 4 && length_of(text, how) > most)
        snprintf(text + --length - 3, 4, "...");
}

/* "quantity [unit]" */
static const char *label_of(const char *name, const char *unit, char text[LABEL])
{
    const bool has = unit && *unit;
    snprintf(text, LABEL, "%s%s%s%s", name ? name : "", has ? " [" : "", has ? unit : "",
             has ? "]" : "");
    return text;
}

/* Adds words to the lines below the title. */
static void add_words(struct layout *at, int width, const char *words)
{
    char longer[LINE];
    if (!words || !*words)
        return;
    if (at->lines) {
        const char *const last = at->line[at->lines - 1];
        const int n = snprintf(longer, sizeof longer, "%s    %s", last, words);
        if (n < LINE && length_of(longer, plain(at)) <= width) {
            memcpy(at->line[at->lines - 1], longer, sizeof longer);
            return;
        }
    }
    if (at->lines < LINES)
        snprintf(at->line[at->lines++], LINE, "%s", words);
}

/* every: of so many cells along both axes one is drawn. */
static void add_lines(struct layout *at, const struct image *image, const int every[2],
                      const struct shown_range *r, int width)
{
    char text[LINE];
    add_words(at, width, image->when);
    for (int a = 0; a < 2; a++) {
        const char *const axis = a ? image->up.name : image->across.name;
        snprintf(text, sizeof text, "every %d cells along %s", every[a], axis ? axis : "a side");
        if (every[a] > 1)
            add_words(at, width, text);
    }
    snprintf(text, sizeof text, "min %.4g    max %.4g", r->least, r->most);
    if (r->least <= r->most)
        add_words(at, width, text);
    snprintf(text, sizeof text, "%zu not finite", r->bad);
    if (r->bad)
        add_words(at, width, text);
    else if (r->least > r->most)
        add_words(at, width, "no fluid here");
    const bool up = at->per_cell[1] > at->per_cell[0];
    const char *const name = up ? image->up.name : image->across.name;
    snprintf(text, sizeof text, "%s stretched %.3g times", name ? name : "cells",
             up ? (double)at->per_cell[1] / at->per_cell[0]
                : (double)at->per_cell[0] / at->per_cell[1]);
    if (at->per_cell[0] != at->per_cell[1])
        add_words(at, width, text);
}

/* Pixels of a cell along both axes. */
static void size_cells(const struct image *image, int per_cell[2])
{
    const int n[2] = {image->width, image->height}, longer = n[1] > n[0];
    const int cells = n[longer],
              factor = cells < LONGER_SIDE ? (LONGER_SIDE + cells - 1) / cells : 1;
    const int least = cells * factor / LONGEST, shorter = n[!longer] * factor;
    per_cell[longer] = factor;
    per_cell[!longer] = shorter < least ? (least + n[!longer] - 1) / n[!longer] : factor;
}

static struct ruler ruler_of(const struct layout *at, enum ruler_side side, int length, double low,
                             double high)
{
    return (struct ruler){side, length, low, high, at->size, at->thickness};
}

/* Computes the layout and the size of the canvas. */
static struct layout lay_out(const struct image *image, const int every[2],
                             const struct shown_range *r, struct canvas *canvas)
{
    struct layout at = {.lines = 0};
    size_cells(image, at.per_cell);
    at.width = image->width * at.per_cell[0];
    at.height = image->height * at.per_cell[1];
    const int longer = at.width > at.height ? at.width : at.height;
    const double scale = longer > 5400 ? 6 : longer > 900 ? longer / 900.0 : 1;
    at.size = 10 * scale;
    at.thickness = (int)(scale + 0.5);
    at.margin = (int)(14 * scale);
    at.pitch = (int)(19 * scale);
    at.bar_below = at.width >= 2 * at.height;
    at.across = ruler_of(&at, RULER_below, at.width, image->across.low, image->across.high);
    at.up = ruler_of(&at, RULER_left, at.height, image->up.low, image->up.high);
    at.bar = ruler_of(&at, at.bar_below ? RULER_below : RULER_right,
                      at.bar_below ? at.width : at.height, r->from, r->to);

    const int half = at.pitch / 2, thick = at.pitch; /* of the bar */
    at.x = at.margin + (image->up.name ? at.pitch + ruler_depth(&at.up) : 0);
    int right = at.x + at.width, beyond = image->across.name ? ruler_beyond(&at.across) : 0;
    if (at.bar_below && ruler_beyond(&at.bar) > beyond)
        beyond = ruler_beyond(&at.bar);
    at.bar_x = at.bar_below ? at.x : right + (beyond > at.pitch ? beyond : at.pitch);
    right =
        at.bar_below ? right + beyond : at.bar_x + thick + ruler_depth(&at.bar) + at.pitch + half;
    const int title = at.x + length_of(image->title, title_of(&at));
    right = title > right ? title : right;
    add_lines(&at, image, every, r, right - at.x);
    for (int k = 0; k < at.lines; k++) {
        const int line = at.x + length_of(at.line[k], plain(&at));
        right = line > right ? line : right;
    }
    canvas->width = right + at.margin;

    at.y = at.margin + at.pitch * (at.lines + 1) + half;
    int bottom = at.y + at.height;
    if (image->across.name)
        bottom += ruler_depth(&at.across) + at.pitch;
    at.bar_y = at.bar_below ? bottom + at.pitch : at.y;
    if (at.bar_below)
        bottom = at.bar_y + thick + ruler_depth(&at.bar) + at.pitch;
    canvas->height = bottom + at.margin;
    return at;
}

static void draw_plane(struct canvas *canvas, const struct layout *at,
                       const struct smooth_plane *plane, double *shown, const struct shown_range *r)
{
    for (int y = 0; y < at->height; y++) {
        const double up = (at->height - y - 0.5) / at->per_cell[1];
        unsigned char *const row =
            canvas->pixel + (size_t)(at->y + y) * (size_t)canvas->width + at->x;
        smooth_row(plane, at->per_cell[0], up, at->width, shown);
        for (int x = 0; x < at->width; x++)
            row[x] = (unsigned char)color_of(shown[x], r);
    }
    canvas_frame(canvas, at->x, at->y, at->width, at->height, at->thickness);
}

static void draw_bar(struct canvas *canvas, const struct layout *at, const struct image *image,
                     const struct shown_range *r)
{
    const int thick = at->pitch, length = at->bar.length;
    char text[LABEL];
    label_of(image->quantity, image->unit, text);
    shorten(text, plain(at), at->bar_below ? at->width : at->height);
    for (int k = 0; k < length; k++) {
        const int color = color_of(r->from + (r->to - r->from) * ((k + 0.5) / length), r);
        if (at->bar_below)
            canvas_fill(canvas, at->bar_x + k, at->bar_y, 1, thick, color);
        else
            canvas_fill(canvas, at->bar_x, at->bar_y + length - 1 - k, thick, 1, color);
    }
    if (at->bar_below) {
        canvas_frame(canvas, at->bar_x, at->bar_y, length, thick, at->thickness);
        ruler_draw(&at->bar, canvas, at->bar_x, at->bar_y + thick);
        canvas_text(canvas, at->bar_x + (length - length_of(text, plain(at))) / 2,
                    at->bar_y + thick + ruler_depth(&at->bar) + at->pitch, plain(at), text);
        return;
    }
    canvas_frame(canvas, at->bar_x, at->bar_y, thick, length, at->thickness);
    ruler_draw(&at->bar, canvas, at->bar_x + thick, at->bar_y);
    canvas_text(canvas, at->bar_x + thick + ruler_depth(&at->bar) + at->pitch,
                at->bar_y + (length + length_of(text, turned(at))) / 2, turned(at), text);
}

static void draw_axes(struct canvas *canvas, const struct layout *at, const struct image *image)
{
    char text[LABEL];
    const int bottom = at->y + at->height;
    if (image->across.name) {
        label_of(image->across.name, image->across.unit, text);
        ruler_draw(&at->across, canvas, at->x, bottom);
        canvas_text(canvas, at->x + (at->width - length_of(text, plain(at))) / 2,
                    bottom + ruler_depth(&at->across) + at->pitch, plain(at), text);
    }
    if (image->up.name) {
        label_of(image->up.name, image->up.unit, text);
        ruler_draw(&at->up, canvas, at->x, at->y);
        canvas_text(canvas, at->margin + (int)at->size,
                    at->y + (at->height + length_of(text, turned(at))) / 2, turned(at), text);
    }
}

/* plane: the values; shown: room for those of a row of pixels. */
static void draw(struct canvas *canvas, const struct layout *at, const struct image *image,
                 const struct smooth_plane *plane, double *shown, const struct shown_range *r)
{
    canvas_fill(canvas, 0, 0, canvas->width, canvas->height, CANVAS_PAPER);
    canvas_text(canvas, at->x, at->margin + (int)(1.2 * at->size), title_of(at), image->title);
    for (int k = 0; k < at->lines; k++)
        canvas_text(canvas, at->x, at->margin + at->pitch * (k + 2) - at->pitch / 4, plain(at),
                    at->line[k]);
    draw_plane(canvas, at, plane, shown, r);
    draw_axes(canvas, at, image);
    draw_bar(canvas, at, image, r);
}

/* Draws a plane whose range of colours is known. */
static enum status write_plane(const char *path, const struct image *image, const int every[2],
                               const struct shown_range *range)
{
    const size_t cells = (size_t)image->width * (size_t)image->height;
    struct canvas canvas = {0};
    const struct layout at = lay_out(image, every, range, &canvas);
    const struct smooth_plane plane = {image->width, image->height, image->values};
    double *const shown = malloc((size_t)at.width * sizeof *shown);
    double *const smoothed = image->coarse ? malloc(cells * sizeof *smoothed) : NULL;
    enum status status = STATUS_OK;
    canvas.pixel = malloc((size_t)canvas.width * (size_t)canvas.height);
    if (!canvas.pixel || !shown || (image->coarse && !smoothed))
        status = fail_machine("no memory for the image %s (%d x %d pixels)", path, canvas.width,
                              canvas.height);
    if (!status && smoothed) {
        memcpy(smoothed, image->values, cells * sizeof *smoothed);
        status = smooth_coarse(&plane, image->coarse, smoothed);
    }
    if (!status) {
        const struct smooth_plane drawn = {image->width, image->height,
                                           smoothed ? smoothed : image->values};
        draw(&canvas, &at, image, &drawn, shown, range);
        status = pngfile_write(path, &canvas, range->map, &image->notes);
    }
    free(smoothed);
    free(shown);
    free(canvas.pixel);
    return status;
}

enum status image_write(const char *path, const struct image *image)
{
    assert(image->width > 0 && image->height > 0);
    const int n[2] = {image->width, image->height};
    const struct shown_range r = range_of(image);
    int every[2], left[2];
    for (int a = 0; a < 2; a++) {
        every[a] = (n[a] + MOST_CELLS - 1) / MOST_CELLS;
        left[a] = (n[a] + every[a] - 1) / every[a];
    }
    if (every[0] == 1 && every[1] == 1)
        return write_plane(path, image, every, &r);
    const size_t cells = (size_t)left[0] * (size_t)left[1];
    double *const values = malloc(cells * sizeof *values);
    if (!values)
        return fail_machine("no memory for the image %s", path);
    for (int y = 0; y < left[1]; y++)
        for (int x = 0; x < left[0]; x++)
            values[(size_t)y * (size_t)left[0] + (size_t)x] =
                image->values[(size_t)(y * every[1]) * (size_t)n[0] + (size_t)(x * every[0])];
    struct image thinned = *image;
    thinned.width = left[0];
    thinned.height = left[1];
    thinned.values = values;
    thinned.coarse = NULL; /* cells of coarser levels stay squares */
    const enum status status = write_plane(path, &thinned, every, &r);
    free(values);
    return status;
}
