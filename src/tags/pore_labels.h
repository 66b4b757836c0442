/* Labels of the parts of the fluid in a region of the box; pores.c counts and fills the parts.
 *
 * Each rank cuts the rows of its block into runs of fluid cells, and labels the parts within the
 * block by union-find over runs (sweep in rows: Hoshen and Kopelman, Phys. Rev. B 14, 3438 (1976)).
 * Neighbours send labels of the layers beyond the block. Links
 * across block edges give pairs of labels; all ranks receive all pairs and join them identically.
 * Each pair holds how its link passes the ends of periodic axes. A part that is joined to itself
 * with a non-zero sum of these goes round (Machta et al., Phys. Rev. E 54, 1332 (1996)). */
#ifndef TAGFLOW_PORE_LABELS_H
#define TAGFLOW_PORE_LABELS_H

#include "tags/beyond.h"

/* PORE_SOLID: the label of a cell that is not fluid or not in the region. PORE_NONE: no part's
 * label. */
#define PORE_SOLID 0u
#define PORE_NONE UINT32_MAX

/* One of each pair of opposite links: those to cells that come later in a sweep. */
enum { PORE_FORWARD = 9 };
#define PORE_LINKS                                                                                 \
    {                                                                                              \
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {-1, 1, 0}, {1, 0, 1}, {-1, 0, 1}, {0, 1, 1},  \
            {0, -1, 1},                                                                            \
    }

/* Contacts of a part, as bits: 2 a and 2 a + 1: the lower and the upper end of the region along
 * axis a; TOUCH_OPEN: an open face; TOUCH_ROUND << a: it goes round axis a. */
enum { TOUCH_OPEN = 1 << 6, TOUCH_ROUND = 1 << 7, TOUCH_FLOW = TOUCH_OPEN | 7 * TOUCH_ROUND };

enum { PORE_CAP = 63 };

struct pore_part {
    int64_t cells, cell; /* number of cells, and the first in the box */
    int64_t inflow;      /* sum of velocities into it that faces give, in units of 2^-30 */
    uint64_t
        openings; /* bit k: it has cells beside opening k of faces.h; bit PORE_CAP - k: cap k */
    uint32_t touches;
};

/* Labels joined by a link across the edge of a block. `shift`: how often the link passes the end of
 * the box along each axis, s = -1, 0 or 1, as (s[0] + 1) + 3 (s[1] + 1) + 9 (s[2] + 1). */
struct pore_pair {
    uint32_t from, to, shift;
};

/* Union-find over labels in pairs: shift: position of a label relative to its parent, in box
 * lengths. */
struct pore_joined {
    uint32_t parent;
    int shift[3];
};

/* Fluid cells x0 <= x < x1 of a row of the block, in the region. */
struct pore_run {
    int x0, x1;
    uint32_t label; /* from 1 on, unique among ranks */
};

struct pore_labels {
    const struct domain *d;
    const struct flow_case *c;
    struct case_region region;
    bool fluid[TAG_ROWS];         /* types of cells */
    bool faces;                   /* links across edges of cells do not count: scalars have none */
    size_t *row;                  /* [n[1] n[2] + 1] first run of each row (y, z), y fastest */
    struct pore_run *run;         /* [row[n[1] n[2]]] */
    struct beyond beyond;         /* labels of the cells one beyond the block */
    uint32_t first, count;        /* labels of this rank: first + 1 .. first + count */
    uint64_t total;               /* of all ranks */
    struct pore_part *part;       /* [count] */
    struct pore_pair *pairs;      /* of all ranks */
    size_t pair_count, pair_room; /* pairs that fit */
    uint32_t *node;               /* [nodes] the labels in pairs, ascending */
    struct pore_joined *joined;   /* [nodes] */
    struct pore_part *whole;      /* [nodes] the whole part, at its root */
    size_t nodes;
    int64_t kept; /* first cell of the part kept by keep_largest; -1: none */
};

/* Labels the fluid of a region, with its present tags; *largest: cells of the largest part.
 * Collective. STATUS_MACHINE, reported, the same on all ranks: no memory, or the runs of a block or
 * the number of parts exceed 2^32; then there is nothing to free. */
enum status pore_labels_make(struct pore_labels *l, const struct domain *d,
                             const struct flow_case *c, const struct case_region *region,
                             int64_t *largest);
void pore_labels_free(struct pore_labels *l);

/* The runs of the row (y, z) of the block: *end is behind the last. */
struct pore_run *pore_labels_row(const struct pore_labels *l, int y, int z, struct pore_run **end);

/* The label of a cell of the block, or of the layer around it. */
uint32_t pore_labels_at(const struct pore_labels *l, int x, int y, int z);

/* Is the cell of the box in the region? */
bool pore_labels_in(const struct case_region *region, const int g[3]);

/* Exchanges labels of the layers beyond the block. Collective, errors likewise. */
enum status pore_labels_exchange(struct pore_labels *l);

/* Joins parts across blocks, after blocks are labelled and labels exchanged. Collective, errors
 * likewise. */
enum status pore_labels_join(struct pore_labels *l);

/* The whole part that a label of this rank belongs to. */
const struct pore_part *pore_labels_part(struct pore_labels *l, uint32_t label);

/* The label of the whole part, the same for all its labels on all ranks: of the part that
 * pore_labels_next() gives with *at = label - first, on one rank. */
uint32_t pore_labels_whole(const struct pore_labels *l, uint32_t label);

/* Is the part isolated? See struct pores. */
bool pore_labels_isolated(const struct pore_labels *l, const struct pore_part *part);

/* Iterates over parts, each on exactly one rank: parts within a block on their rank, others on the
 * rank of their root's label. *at: 0 at first. NULL: no more parts. */
const struct pore_part *pore_labels_next(struct pore_labels *l, uint32_t *at);

#endif
