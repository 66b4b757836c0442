/* PNG images of a plane of cells: a title, two axes with lengths, and a bar of colours. */
#ifndef TAGFLOW_IMAGE_H
#define TAGFLOW_IMAGE_H

#include <stdbool.h>

#include "base/status.h"
#include "io/colormap.h"
#include "io/pngfile.h"

/* An axis of the plane; without a name it is not drawn. */
struct image_axis {
    const char *name, *unit;
    double low, high; /* where the plane begins and ends, in this unit */
};

struct image {
    int width, height;    /* cells */
    const double *values; /* [height][width], the lowest row first; NaN: no fluid, drawn grey;
                           * infinite: not a finite number, drawn magenta and counted */
    const unsigned char *coarse; /* [height][width]: the cell is a part of one of 2^coarse by
                                  * 2^coarse cells; NULL: none is */
    enum colormap map;           /* diverging: the quantity has a sign */
    bool fixed_range;            /* false: that of the values */
    double range[2];             /* values beyond it get the colours of its ends */
    const char *title, *when, *quantity, *unit; /* ASCII; NULL: empty */
    struct image_axis across, up;
    struct image_notes notes;
};

/* Writes the image, whole or not at all; failures are reported. A plane whose longer side has 600
 * cells or more gets one pixel per cell along it, a smaller one a whole number of pixels, 600 or
 * more in all. Cells are squares, except where the shorter side would get less than a tenth of the
 * longer one's pixels. Of more than 8192 cells along a side every second one is drawn, or fewer. */
enum status image_write(const char *path, const struct image *image);

#endif
