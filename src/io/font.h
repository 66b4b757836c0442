/* A bitmap font for text in images: printable ASCII, 5 x 7 dots and 2 rows below the baseline. */
#ifndef TAGFLOW_FONT_H
#define TAGFLOW_FONT_H

#include <stdbool.h>

enum {
    FONT_WIDTH = 5,
    FONT_HEIGHT = 9,  /* including the part below the baseline */
    FONT_ASCENT = 7,  /* the part above the baseline */
    FONT_ADVANCE = 6, /* from one letter to the next */
};

/* Has the letter a dot at column x (from the left) of row y (from the top)? Letters that are not in
 * the font look like a question mark. */
bool font_dot(char letter, int x, int y);

#endif
