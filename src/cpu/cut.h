/* Runs of one row of cells (runs.c), for those who make the lists of all rows (lists.c). Functions
 * that return bool return false when memory runs out. */
#ifndef TAGFLOW_CPU_CUT_H
#define TAGFLOW_CPU_CUT_H

#include "cpu/runs.h"

/* Minimum length of ruled runs, where the row allows it: a full vector. Also the number of masks of
 * zero before and behind those of mixed runs. */
enum { BLOCK = 16 };

/* Links of one cell from cells that are not fluid. */
struct cell_links {
    uint64_t mirror; /* two bits a link: 1 + axis of the plane of symmetry that it comes from */
    uint32_t links, ruled;
    uint32_t group; /* of cells that may be RUN_CELLS */
    uint8_t row, wall;
    uint8_t kind; /* enum run_kind, or NOT_FLUID */
};

/* The groups of `runs`, found by a hash. */
struct group_table {
    struct runs *runs;
    uint32_t *next; /* [groups] 1 + the next group in the same bucket; 0: none */
    size_t space;
    uint32_t bucket[4096]; /* 1 + the first */
};

/* Number of a group, which is added if it is new. */
bool find_group(struct group_table *t, const struct link_group *g, uint32_t *number);

/* May the view have cells that belong to groups? */
bool has_groups(const struct view *v);

/* Sets `links` of the n[0] cells of a row, y + z ny, and finds their groups. */
bool look_at_row(const struct view *v, struct group_table *groups, size_t row,
                 struct cell_links *links);

/* Appends the runs of a row of nx cells, which it may change. wraps: the row is periodic. */
bool cut_row(struct runs *runs, struct cell_links *l, int nx, bool wraps);

/* Appends the runs of a row of a view with places: its stretches, then its single cells. */
bool cut_pores(struct runs *runs, const struct view *v, const struct cell_links *l, int y, int z);

/* Looks up the types of the cells of the view's list, and of those beyond their links. The arrays
 * exist. */
void list_near(struct runs *runs, const struct view *v);

#endif
