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

/* Cuts a box into pieces of at most `most` cells: piece 0, 1, ... in order of z, y, of whole planes
 * or else of whole lines along x, of which one is not more than `most` cells. False: no more. */
static inline bool box_piece(const struct box *box, size_t most, int number, struct box *piece)
{
    const int nx = box->hi[0] - box->lo[0], ny = box->hi[1] - box->lo[1],
              nz = box->hi[2] - box->lo[2];
    if (nx <= 0 || ny <= 0 || nz <= 0)
        return false;
    const size_t plane = (size_t)nx * (size_t)ny;
    *piece = *box;
    if (plane <= most) { /* whole planes */
        const int planes = (int)(most / plane), z = number * planes;
        if (number >= nz || z >= nz)
            return false;
        piece->lo[2] = box->lo[2] + z;
        piece->hi[2] = box->lo[2] + (z + planes < nz ? z + planes : nz);
        return true;
    }
    const int rows = (int)(most / (size_t)nx), pieces = (ny + rows - 1) / rows;
    const int z = number / pieces, y = number % pieces * rows;
    if (z >= nz)
        return false;
    piece->lo[2] = box->lo[2] + z;
    piece->hi[2] = piece->lo[2] + 1;
    piece->lo[1] = box->lo[1] + y;
    piece->hi[1] = box->lo[1] + (y + rows < ny ? y + rows : ny);
    return true;
}

#endif
