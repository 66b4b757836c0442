/* Rows of cells along x, cut into runs that one loop can update. Made once from the tags.
 *
 * A link from a cell that is not fluid has its population in the other slot of its pair. In runs of
 * fluid cells these populations are bounced: copied, before the loop, to where fluid would have
 * stored them, so that the loop needs no knowledge of walls. Populations of links from planes of
 * symmetry are copied in the same way, from where slip.h says. Links into walls that change what
 * leaves have masks as well.
 *
 * Mixed runs have all cells of a stretch of a row, with masks of all links. The first bit of a
 * mask, which no link needs, says whether the cell is one of the run. The masks of other cells hold
 * the distance to the run's next cell: so a loop skips rock, and does the fluid a vector at a time.
 *
 * A row that begins or ends at an open face has one RUN_CELLS cell there. The bulk run beside it
 * goes over this cell, too, so that the row has whole vectors: the cell's populations are loaded
 * before, and what the loop stores is replaced later. So a list has such cells first, and other
 * cells of RUN_CELLS last.
 */
#ifndef TAGFLOW_CPU_RUNS_H
#define TAGFLOW_CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "slot.h"

enum run_kind {
    RUN_BULK,  /* links from cells that are not fluid are bounced */
    RUN_RULED, /* the same, with masks of the links into one wall that has its own rule */
    RUN_MIXED, /* masks of both kinds; cells between may be solid or FLUID_listed */
    RUN_CELLS, /* all others, of one group */
    RUN_PORES, /* where only fluid cells have places: a stretch of them */
};

/* Rows with mixed runs have at least so many cells: the largest number of lanes of a vector. */
enum { RUN_LANES = 16 };

/* Bit of a mask of a mixed run: the cell is one of the run. If it is not set, the mask is 2 times
 * the distance to the run's next cell. */
enum { MASK_ACTIVE = 1 };

/* Flag of a cell of the view's list: it has a rule of an open boundary, or a link from one that is
 * not a plane of symmetry. It is stepped alone. */
enum { NEAR_ALONE = 0x80 };

/* Link `link` of the cells x0 <= x < x1 comes from cells that are not fluid. */
struct bounce {
    int x0, x1;
    uint8_t link;
    uint8_t from;  /* from a plane of symmetry: population of slip_from that the link brings */
    uint8_t wraps; /* the link's slot is at x less the number of cells of the row */
};

/* Cells that are alike: of the same type, with the same links from the same types of cells. Those
 * of different rows are stepped together. */
struct link_group {
    uint32_t links;    /* bit i: link i comes from a cell that is not fluid */
    uint32_t changes;  /* the rule of that cell changes what leaves into it */
    uint32_t mirrored; /* the link brings population from[i] from a plane of symmetry */
    uint8_t row;       /* type of the cells */
    uint8_t beyond[Q]; /* of these links: type of that cell */
    uint8_t from[Q];   /* population of slip_from that the link brings; 0: the cell's own */
};

/* Where only fluid cells have places (view_place): fluid cells of one row, of one type, with
 * consecutive places. The loop copies what lies elsewhere to buffers and back. Ranges end where
 * those of the next stretch begin. */
struct pore_stretch {
    uint32_t place, count;                  /* of the first cell; cells, at most STRETCH_CELLS */
    size_t piece, from_wall, to_wall, idle; /* first of its pieces etc. */
};
enum { STRETCH_CELLS = 256, PIECE = 16 };

/* Populations of a pair at the neighbours of cells `at` .. `at` + `count` - 1 of a stretch, which
 * lie at consecutive places. The pieces of a stretch are ordered by length, in classes that are
 * copied in the same way (up to 1, 2, 4, 8, 16 cells): a processor that predicts branches from
 * earlier ones is rarely wrong. */
struct pore_piece {
    uint32_t place;
    uint8_t at, count; /* count: at most PIECE */
    uint8_t pair;
};

/* Cell `at` of a stretch beside a cell that is not fluid, of a link of this pair. */
struct pore_link {
    uint8_t at, pair; /* pair: + LINK_IDLE in an idle cell */
};
enum { LINK_IDLE = 16 };

struct row_run {
    int x0, x1;   /* cells x0 <= x < x1 */
    size_t masks; /* mixed: index in `links` of the first of x1 - x0 masks */
    size_t rules; /* with a wall: index in `ruled` of the first of as many */
    /* Bulk and ruled: range in `bounce`; planes of symmetry from `mirror` on. */
    size_t bounce, mirror, bounce_end;
    uint32_t group;        /* of RUN_CELLS: index in `group`; of RUN_PORES: in `stretch` */
    uint8_t kind;          /* enum run_kind */
    uint8_t row;           /* type of the fluid cells */
    uint8_t end;           /* RUN_CELLS: one cell at an end of the row, beside a bulk run */
    uint8_t before, after; /* bulk: such cells before x0, and from x1 on; see below */
    uint8_t wall;          /* ruled and mixed: type of the wall whose links are `ruled`, 0: none */
};

struct runs {
    struct row_run *run;
    struct bounce *bounce;
    struct link_group *group;
    struct pore_stretch *stretch; /* [stretch_count + 1] */
    struct pore_piece *piece;
    struct pore_link *from_wall; /* population i, i = 2 pair + 1, comes from a wall */
    struct pore_link *to_wall;   /* population i leaves into a wall, i + 1 comes from there; of each
                                  * pair, the links have consecutive places */
    uint8_t *idle;               /* cells of stretches that other runs or ranks step */
    uint32_t *links; /* [mask_count] bit i: the cell's link i comes from a cell that is not fluid */
    uint32_t *ruled; /* [rule_count] bit i: it does, and that cell has type `wall` */
    uint8_t *near_row;  /* [near_cells] types of the cells of the view's list, and NEAR_ALONE */
    uint8_t *beyond;    /* [crossings] type of the cell from which the link comes */
    uint32_t *first;    /* [lists + 1] runs of list l: first[l] <= r < first[l + 1] */
    uint32_t *row_list; /* [ny nz] list of the row at (y, z), y fastest; equal rows share a list */
    size_t run_count, bounce_count, group_count, mask_count, rule_count, list_count;
    size_t stretch_count, piece_count, from_count, to_count, idle_count;
    size_t run_space, bounce_space, group_space, links_space, ruled_space, list_space;
    size_t stretch_space, piece_space, from_space, to_space, idle_space;
    void *room; /* [threads] of runs_room() bytes, for the step of scalars; NULL: there are none */
};

/* Cells of an array of a row in `room`, with room for whole vectors; bytes of a thread. */
enum { ROOM_ARRAYS = SETS + 5 };
static inline size_t runs_room_cells(const struct view *v)
{
    return ((size_t)v->n[0] + STRETCH_CELLS + 2 * RUN_LANES) / RUN_LANES * RUN_LANES;
}

static inline size_t runs_room(const struct view *v)
{
    return ROOM_ARRAYS * runs_room_cells(v) * sizeof(double);
}

/* Cuts all rows of the view's owned cells. STATUS_MACHINE, reported, when memory runs out. */
enum status runs_create(struct runs *runs, const struct view *v);
void runs_destroy(struct runs *runs);

#endif
