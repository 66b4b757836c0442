/* Values between the centres of cells in a plane. NaN marks cells without a value. */
#ifndef TAGFLOW_SMOOTH_H
#define TAGFLOW_SMOOTH_H

#include "base/status.h"

/* [height][width], the lowest row first. */
struct smooth_plane {
    int width, height;
    const double *values;
};

/* The value at a place, in cells from the plane's lower left corner: linear between the centres of
 * the cells around it. Only finite values count, and only of cells that are joined to the place's
 * cell by sides of such cells. A cell with an infinite value shows it. NaN: the place is in the
 * solid, whose surface is smoother than its cells'. */
double smooth_at(const struct smooth_plane *plane, double x, double y);

/* The same for a row of `count` places, `per_cell` of them in a cell from the left side on: out[].
 */
void smooth_row(const struct smooth_plane *plane, int per_cell, double y, int count, double *out);

/* Replaces values of coarser cells, of which each fills 2^coarse[i] by 2^coarse[i] equal entries of
 * values[], by values linear between their centres. Width and height of the plane are multiples of
 * the largest cell. */
enum status smooth_coarse(const struct smooth_plane *plane, const unsigned char *coarse,
                          double *values);

#endif
