/* A wall time: "11h50m", "90 s", "1 d 12 h", "11:50:00". Never simulated time: quantity.h. */
#ifndef TAGFLOW_WALL_H
#define TAGFLOW_WALL_H

#include <stdbool.h>

struct wall {
    double seconds; /* if bare: the number itself */
    bool bare;      /* no unit at all */
};

/* Read a wall time that fills the whole text: numbers with the units d, h, m or min, s, from the
 * largest unit down, each at most once, or HH:MM or HH:MM:SS. A sign is read only in front, so that
 * a negative time can be told from a wrong text. The decimal point: as in number_parse().
 * Returns NULL and fills *w, or returns what is wrong, in words that follow the quoted text. */
const char *wall_parse(const char *text, struct wall *w);

#endif
