/* The letters of images, as strokes of a pen: printable ASCII. */
#ifndef TAGFLOW_FONT_H
#define TAGFLOW_FONT_H

enum { FONT_LINES = 96 };

/* The middle of the pen's strokes, as straight lines {x, y, x, y}. The unit is the height of a
 * capital; y goes up from the baseline, x to the right from the beginning of the letter. */
struct font_letter {
    double advance; /* to the beginning of the next letter */
    int count;
    double line[FONT_LINES][4];
};

/* Letters that are not in the font look like a question mark. */
void font_letter(char letter, struct font_letter *to);

#endif
