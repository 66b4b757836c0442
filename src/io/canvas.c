/* A picture in memory; see canvas.h. */
#include "io/canvas.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "io/font.h"

void canvas_fill(struct canvas *canvas, int x, int y, int width, int height, int color)
{
    const int right = x + width < canvas->width ? x + width : canvas->width;
    const int bottom = y + height < canvas->height ? y + height : canvas->height;
    const int left = x > 0 ? x : 0;
    for (int row = y > 0 ? y : 0; row < bottom && left < right; row++)
        memset(canvas->pixel + (size_t)row * (size_t)canvas->width + left, color,
               (size_t)(right - left));
}

void canvas_frame(struct canvas *canvas, int x, int y, int width, int height, int thickness)
{
    const int w = width + 2 * thickness, left = x - thickness, top = y - thickness;
    canvas_fill(canvas, left, top, w, thickness, CANVAS_INK);
    canvas_fill(canvas, left, y + height, w, thickness, CANVAS_INK);
    canvas_fill(canvas, left, y, thickness, height, CANVAS_INK);
    canvas_fill(canvas, x + width, y, thickness, height, CANVAS_INK);
}

/* Half the width of the pen. */
static double pen_of(struct lettering how)
{
    return how.size * (how.bold ? 0.088 : 0.06);
}

double canvas_text_length(const char *text, struct lettering how)
{
    double length = 0;
    struct font_letter letter;
    for (; text && *text; text++) {
        font_letter(*text, &letter);
        length += letter.advance * how.size;
    }
    return length;
}

static double square(double x)
{
    return x * x;
}

/* The distance of a point from a line. */
static double distance(const double line[4], double x, double y)
{
    const double dx = line[2] - line[0], dy = line[3] - line[1], length = dx * dx + dy * dy;
    double t = length > 0 ? ((x - line[0]) * dx + (y - line[1]) * dy) / length : 0;
    t = fmin(fmax(t, 0.0), 1.0);
    return sqrt(square(line[0] + t * dx - x) + square(line[1] + t * dy - y));
}

/* Makes the pixel as dark as the share of it that a pen covers. */
static void ink(struct canvas *canvas, int x, int y, double share)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height || !(share > 0))
        return;
    unsigned char *const pixel = canvas->pixel + (size_t)y * (size_t)canvas->width + x;
    const int shade = CANVAS_PAPER + (int)(fmin(share, 1.0) * (CANVAS_INKS - 1) + 0.5);
    if (*pixel >= CANVAS_PAPER && *pixel < shade && *pixel <= CANVAS_INK)
        *pixel = (unsigned char)shade;
}

/* Draws a letter that begins `along` pixels after x, y, line by line: where two lines cover a part
 * of a pixel, the larger part counts. */
static void draw_letter(struct canvas *canvas, int x, int y, double along, struct lettering how,
                        const struct font_letter *letter)
{
    const double pen = pen_of(how), size = how.size, reach = pen + 0.5;
    for (int k = 0; k < letter->count; k++) {
        const double *const line = letter->line[k];
        const int first = (int)floor(along + fmin(line[0], line[2]) * size - reach);
        const int last = (int)floor(along + fmax(line[0], line[2]) * size + reach);
        const int low = (int)floor(fmin(line[1], line[3]) * size - reach);
        const int high = (int)floor(fmax(line[1], line[3]) * size + reach);
        for (int v = low; v <= high; v++)
            for (int u = first; u <= last; u++) {
                const double off =
                    size * distance(line, (u + 0.5 - along) / size, (v + 0.5) / size);
                ink(canvas, how.turned ? x - 1 - v : x + u, how.turned ? y - 1 - u : y - 1 - v,
                    reach - off);
            }
    }
}

void canvas_text(struct canvas *canvas, int x, int y, struct lettering how, const char *text)
{
    double along = 0.1 * how.size;
    struct font_letter letter;
    for (; text && *text; text++) {
        font_letter(*text, &letter);
        draw_letter(canvas, x, y, along, how, &letter);
        along += letter.advance * how.size;
    }
}
