/* Which cells belong to which level of a refined grid.
 *
 * Level 0 has the cells of the box; each further level halves them, but not along flat axes. A
 * level above 0 is a union of bricks. A brick is 4^3 cells of the coarser level, and 8^3 of its
 * own; at the end of the box it may be smaller. A cell of a level is `absent` if a finer level
 * covers it. Every rank knows all bricks.
 */
#ifndef TAGFLOW_REFINED_H
#define TAGFLOW_REFINED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Levels of a run, most; cells of a brick along an axis, of the level before and of its own. */
enum { LEVELS = 9, BRICK_PARENTS = 4, BRICK = 2 * BRICK_PARENTS };

struct case_refine;
struct refined {
    int levels;  /* at least 1 */
    int regions; /* of the case, which must outlive it */
    const struct case_refine *region;
    bool periodic[3]; /* axes of the box */
    bool flat[3];     /* those along which all levels have one cell, see case_flat() */
    struct {
        int cells[3];       /* of the whole box, in cells of this level */
        int lo[3], hi[3];   /* the smallest box that holds all cells of the level */
        int first[3], n[3]; /* that box in bricks: the first, and how many; level 0: unused */
        uint64_t *in;       /* bits of these bricks, x fastest: it belongs to the level */
        int64_t bricks;     /* of the level; level 0: unused */
        int64_t grown;      /* those of them that are only there to keep the edge of the finer
                             * level away from the level's own */
    } level[LEVELS];
};

/* How often the cells of level 0 are halved along an axis, to those of a level. r: NULL for one. */
static inline int refined_halved(const struct refined *r, int level, int axis)
{
    return r && r->flat[axis] ? 0 : level;
}

/* A cell of level l is the part 2^-(l n) of a cell of level 0, n: this of 3; a face of a cell, or a
 * link, is that part of a face, n: this of 2. Flat axes do not count. */
static inline int refined_dimensions(const struct refined *r, int dimensions)
{
    for (int a = 0; a < 3; a++)
        dimensions -= r && r->flat[a];
    return dimensions;
}

/* A place in cells of a level, in cells of level 0. Along flat axes levels have their middle in
 * common. */
double refined_place(const struct refined *r, int level, int axis, double at);

/* Does the level hold this cell of its own size, covered by a finer level or not? Coordinates wrap
 * along periodic axes; beyond other faces: false. */
bool refined_holds(const struct refined *r, int level, int x, int y, int z);

/* Is it a cell of the level that no finer level covers? */
bool refined_has(const struct refined *r, int level, int x, int y, int z);

/* Cells of a level within lo <= cell < hi, in its own cells and within the box: all that the level
 * holds; or those that no finer level covers. */
int64_t refined_held(const struct refined *r, int level, const int lo[3], const int hi[3]);
int64_t refined_own(const struct refined *r, int level, const int lo[3], const int hi[3]);

/* Cells of a level that no finer level covers, fluid or not. */
int64_t refined_cells(const struct refined *r, int level);

/* A refined grid of one level. */
void refined_none(struct refined *r, const int cells[3], const bool periodic[3]);
void refined_destroy(struct refined *r);

#endif
