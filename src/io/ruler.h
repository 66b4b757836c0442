/* A line with ticks and numbers: the axes of a picture, and its bar of colours. */
#ifndef TAGFLOW_RULER_H
#define TAGFLOW_RULER_H

#include "io/canvas.h"

enum ruler_side { RULER_below, RULER_left, RULER_right };

/* Numbers from `low` at the left or lower end to `high` at the other. */
struct ruler {
    enum ruler_side side; /* where ticks and numbers are */
    int length;           /* pixels */
    double low, high;     /* low < high, finite, and their difference, too */
    double size;          /* of the letters */
    int thickness;        /* of the lines */
};

/* How far numbers go from the line, pixels. */
int ruler_depth(const struct ruler *ruler);

/* How far the first or last number goes beyond the ends of the line, at most. */
int ruler_beyond(const struct ruler *ruler);

/* Draws the ticks beside a line whose left or upper end is at x, y. */
void ruler_draw(const struct ruler *ruler, struct canvas *canvas, int x, int y);

#endif
