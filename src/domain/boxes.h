/* The cells of a level of a refined grid as a few boxes, for files of its results.
 *
 * Boxes hold whole bricks of the level, cells that a finer level covers too. They depend on the
 * grid alone: neighbouring bricks along x become one box, then equal boxes along y, then along z.
 */
#ifndef TAGFLOW_BOXES_H
#define TAGFLOW_BOXES_H

#include "domain/refined.h"
#include "slot.h"

struct boxes {
    int count;
    struct box *box; /* [count], by z, then y, then x of the first cell; cells of the level */
};

/* The boxes of a level, clipped to the cells lo <= cell < hi of the level. None if it has no cell
 * there. STATUS_MACHINE, reported: no memory. */
enum status boxes_make(struct boxes *b, const struct refined *r, int level, const int lo[3],
                       const int hi[3]);
void boxes_destroy(struct boxes *b);

#endif
