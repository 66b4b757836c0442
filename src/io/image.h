/* PNG images of a plane of cells, with a title and a colour bar. Format: docs/formats.md. */
#ifndef TAGFLOW_IMAGE_H
#define TAGFLOW_IMAGE_H

#include <stdbool.h>

#include "base/status.h"
#include "io/colormap.h"

/* A line of text kept in the file, not shown. */
struct image_note {
    const char *key, *text; /* key: 1 to 79 letters, Latin-1; text: UTF-8 */
};

struct image {
    int width, height;    /* cells */
    const double *values; /* [height][width], the lowest row first; NaN: no fluid, drawn grey */
    enum colormap map;
    bool fixed_range;  /* false: the least and the largest value; diverging: symmetric about 0 */
    double range[2];   /* colours of what lies beyond are those of the ends */
    const char *title; /* ASCII: quantity, unit, step, time */
    const char *across, *up; /* names of the axes, or NULL */
    int notes;
    const struct image_note *note;
};

/* Writes the image: a small plane with each cell as a square of several pixels, so that the longer
 * side has 600 or more, a larger one with a pixel a cell. Whole or not at all; failures reported.
 */
enum status image_write(const char *path, const struct image *image);

#endif
