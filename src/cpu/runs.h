/* Rows of cells cut into runs that one loop can update. Made once from the tags.
 *
 * A link that comes from a cell that is not fluid has its population in the other slot of its pair.
 * In runs of fluid cells it is bounced: copied to where a loop looks for it, before the loop, so
 * that none needs to know of walls. Links to walls with a rule of their own have masks as well, for
 * what leaves.
 *
 * Mixed runs are of all cells of a stretch of the row, with masks of all links, and the first bit
 * of a mask, which no link needs, to say whether the cell is one of the run. The masks of the
 * others say how far on the next is that is: through rock, a loop goes from fluid to fluid, a
 * vector at a time, whatever lies between. */
#ifndef TAGFLOW_CPU_RUNS_H
#define TAGFLOW_CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "slot.h"

enum run_kind {
    RUN_BULK,  /* links that do not come from a fluid cell are bounced */
    RUN_RULED, /* the same, and masks say which of them lead to the one wall with its own rule */
    RUN_MIXED, /* masks of both, and cells that are not fluid, or of another run, between its own */
    RUN_CELLS, /* anything else: cell by cell */
};

/* Mixed runs are in rows of at least so many cells: the most lanes of a vector. */
enum { RUN_LANES = 16 };

/* In a mask of a mixed run: the cell is one of the run; if not, how many cells further on the next
 * is, times 2. */
enum { MASK_ACTIVE = 1 };

/* Link i of the cells x0 <= x < x1 comes from cells that are not fluid. */
struct bounce {
    uint32_t x0 : 27, link : 5;
    uint32_t x1 : 31, wraps : 1; /* this link's normal slot is at x less the row's cells */
};

struct run {
    int x0, x1;   /* cells x0 <= x < x1 */
    int end;      /* mixed: a vector may hold cells of the row before this one, whatever they are */
    size_t masks; /* mixed: first of the run's x1 - x0 in `links` */
    size_t rules; /* with a wall: first of as many in `ruled` */
    size_t bounce, bounce_end; /* bulk and ruled: in `bounce`, each link's in turn */
    uint8_t kind;              /* enum run_kind */
    uint8_t row;               /* row of the fluid cells */
    uint8_t wall; /* row of the wall whose links are `ruled`, 0: none; ruled and mixed */
};

struct runs {
    struct run *run;
    struct bounce *bounce;
    uint32_t *links; /* [mask_count] bit i: the cell's link i comes from a cell that is not fluid */
    uint32_t *ruled; /* [rule_count] bit i: it does, and that cell's row is the run's `wall` */
    uint32_t *first; /* [lists + 1] runs of list l: first[l] <= r < first[l + 1] */
    uint32_t *row_list; /* [ny nz] list of the row (y, z), y fastest; equal rows share a list */
    size_t run_count, bounce_count, mask_count, rule_count, list_count;
    size_t run_space, bounce_space, links_space, ruled_space, list_space;
};

/* Cut all rows of the view's owned cells. STATUS_MACHINE, reported, when memory runs out. */
enum status runs_create(struct runs *runs, const struct view *v);
void runs_destroy(struct runs *runs);

#endif
