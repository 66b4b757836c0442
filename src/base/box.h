/* Boxes of cells, struct box of slot.h. */
#ifndef TAGFLOW_BOX_H
#define TAGFLOW_BOX_H

#include <stdbool.h>

#include "slot.h"

static inline bool box_is_empty(const struct box *b)
{
    return b->lo[0] >= b->hi[0] || b->lo[1] >= b->hi[1] || b->lo[2] >= b->hi[2];
}

/* Cells of both; empty if there are none. */
static inline struct box box_common(const struct box *a, const struct box *b)
{
    struct box c;
    for (int k = 0; k < 3; k++) {
        c.lo[k] = a->lo[k] > b->lo[k] ? a->lo[k] : b->lo[k];
        c.hi[k] = a->hi[k] < b->hi[k] ? a->hi[k] : b->hi[k];
    }
    return c;
}

/* The box, shifted by `sign` times `by`. */
static inline struct box box_moved(const struct box *b, const int by[3], int sign)
{
    struct box c = *b;
    for (int a = 0; a < 3; a++) {
        c.lo[a] += sign * by[a];
        c.hi[a] += sign * by[a];
    }
    return c;
}

#endif
