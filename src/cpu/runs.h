/* Rows of cells cut into runs that one loop can update: equal collision row, and either no link to
 * a cell that is not fluid or a mask of such links for every cell. Made once from the tags.
 *
 * A run with masks is either of fluid cells only or mixed: of all cells of a stretch of the row,
 * with the first bit of a mask, which no link needs, to say whether the cell is one of the run. The
 * masks of the others say how far on the next is that is: through rock, a loop goes from fluid to
 * fluid, a vector at a time, whatever lies between. */
#ifndef TAGFLOW_CPU_RUNS_H
#define TAGFLOW_CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "slot.h"

enum run_kind {
    RUN_BULK,  /* every link comes from a fluid cell */
    RUN_LINKS, /* masks say which links come from a wall; at most one wall has a rule of its own */
    RUN_MIXED, /* the same, but cells that are not fluid, or of another run, are between its own */
    RUN_CELLS, /* anything else: cell by cell */
};

/* Mixed runs are in rows of at least so many cells: the most lanes of a vector. */
enum { RUN_LANES = 16 };

/* In a mask of a mixed run: the cell is one of the run; if not, how many cells further on the next
 * is, times 2. */
enum { MASK_ACTIVE = 1 };

struct run {
    int x0, x1;   /* cells x0 <= x < x1 */
    int end;      /* mixed: a vector may hold cells of the row before this one, whatever they are */
    size_t masks; /* with masks: first of the run's x1 - x0 in `links` */
    size_t rules; /* with masks and a wall: first of as many in `ruled` */
    uint32_t any; /* with masks: all links' bits in the run */
    int only;     /* RUN_LINKS: the one cell that has any, -1: several have */
    uint8_t kind; /* enum run_kind */
    uint8_t row;  /* row of the fluid cells */
    uint8_t wall; /* with masks: row of the wall whose links are `ruled`, 0: none */
};

struct runs {
    struct run *run;
    uint32_t *links; /* [mask_count] bit i: the cell's link i comes from a cell that is not fluid */
    uint32_t *ruled; /* [rule_count] bit i: it does, and that cell's row is the run's `wall` */
    uint32_t *first; /* [lists + 1] runs of list l: first[l] <= r < first[l + 1] */
    uint32_t *row_list; /* [ny nz] list of the row (y, z), y fastest; equal rows share a list */
    size_t run_count, mask_count, rule_count, list_count;
    size_t run_space, links_space, ruled_space, list_space;
};

/* Cut all rows of the view's owned cells. STATUS_MACHINE, reported, when memory runs out. */
enum status runs_create(struct runs *runs, const struct view *v);
void runs_destroy(struct runs *runs);

#endif
