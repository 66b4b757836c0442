/* A bitmap font for the lettering of images: printable ASCII, 5 x 7 dots and 2 rows below the line.
 */
#ifndef TAGFLOW_FONT_H
#define TAGFLOW_FONT_H

#include <stdbool.h>

enum {
    FONT_WIDTH = 5,
    FONT_HEIGHT = 9,  /* with what hangs below the line */
    FONT_ASCENT = 7,  /* of it above the line */
    FONT_ADVANCE = 6, /* from one letter to the next */
};

/* Whether letter has a dot at column x (from the left) of row y (from the top). Letters that are
 * not in the font look like a question mark. */
bool font_dot(char letter, int x, int y);

#endif
