/* PNG images of a plane of cells, with a title and a colour bar. Format: docs/formats.md. */
#ifndef TAGFLOW_IMAGE_H
#define TAGFLOW_IMAGE_H

#include <stdbool.h>

#include "base/status.h"
#include "io/colormap.h"

/* A line of text in the file that is not shown. */
struct image_note {
    const char *key, *text; /* key: 1 to 79 letters, Latin-1; text: UTF-8 */
};

struct image {
    int width, height;    /* cells */
    const double *values; /* [height][width], the lowest row first; NaN: no fluid, drawn grey;
                           * infinite: not a finite number, drawn magenta and counted */
    enum colormap map;
    bool fixed_range;  /* false: the least and the largest value; diverging: symmetric about 0 */
    double range[2];   /* values beyond it get the colours of its ends */
    const char *title; /* ASCII: quantity, unit, step, time */
    const char *across, *up; /* names of the axes, or NULL */
    int notes;
    const struct image_note *note;
};

/* Writes the image, whole or not at all; failures are reported. A plane whose longer side has 600
 * cells or more gets one pixel per cell; a smaller one gets squares of pixels, so that its longer
 * side has 600 pixels or more. */
enum status image_write(const char *path, const struct image *image);

#endif
