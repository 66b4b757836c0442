/* Chambers: the largest connected parts of the fluid (pores.h), in order of size. With `refine` a
 * part leads through several levels. */
#ifndef TAGFLOW_CHAMBERS_H
#define TAGFLOW_CHAMBERS_H

#include "tags/level_parts.h"

enum { CHAMBERS = 16, CHAMBER_NONE = 255 };

struct chambers {
    int count;
    double cells[CHAMBERS]; /* in cells of level 0 */
    uint64_t name[CHAMBERS];
    struct joined_parts parts;
};

/* Finds them; the same for every decomposition. Collective. STATUS_MACHINE, reported, the same on
 * all ranks; then there is nothing to free. */
enum status chambers_find(const struct paths_level *level, int levels, struct chambers *found);
void chambers_free(struct chambers *found);

/* The number of the chamber of each owned cell of a level, into of_cell[view.cells]; CHAMBER_NONE:
 * it is not fluid, or in a smaller part. Collective. STATUS_MACHINE as above. */
enum status chambers_number(const struct chambers *found, const struct paths_level *level,
                            uint8_t *of_cell);

#endif
