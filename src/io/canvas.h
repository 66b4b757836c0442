/* A picture in memory: pixels of a palette, filled rectangles, and text. */
#ifndef TAGFLOW_CANVAS_H
#define TAGFLOW_CANVAS_H

#include <stdbool.h>

/* Colours of pixels, indices of the palette. */
enum {
    CANVAS_COLORS = 235, /* of a map, from 0; odd, so that a diverging map has a middle colour */
    CANVAS_INKS = 16,    /* from paper to ink */
    CANVAS_PAPER = CANVAS_COLORS,
    CANVAS_INK = CANVAS_PAPER + CANVAS_INKS - 1,
    CANVAS_SOLID, /* cells that are not fluid */
    CANVAS_BAD,   /* values that are not finite */
    CANVAS_PALETTE
};

struct canvas {
    int width, height;
    unsigned char *pixel; /* [height][width] from the top */
};

/* What is outside of the canvas is left out. */
void canvas_fill(struct canvas *canvas, int x, int y, int width, int height, int color);

/* Lines of ink around a rectangle, outside of it. */
void canvas_frame(struct canvas *canvas, int x, int y, int width, int height, int thickness);

struct lettering {
    double size; /* height of capitals, pixels */
    bool bold;
    bool turned; /* goes up instead of to the right */
};

/* The length of a text, pixels. NULL is an empty text. */
double canvas_text_length(const char *text, struct lettering how);

/* Draws text in ink on paper. It begins on the baseline at x, y; what is not paper or ink stays. */
void canvas_text(struct canvas *canvas, int x, int y, struct lettering how, const char *text);

#endif
