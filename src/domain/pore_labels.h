/* Labels of the parts of the fluid in a region of the box, which pores.c counts and fills.
 *
 * Each rank labels the parts within its block by union-find (Hoshen and Kopelman, Phys. Rev. B 14,
 * 3438 (1976), for the sweep in rows). Labels of the layers beyond the block come from its
 * neighbours, and the pairs of labels that links across make go to all ranks, which join them
 * alike. Each pair carries through which ends of periodic axes its link goes; a part that is joined
 * to itself with a sum that is not 0 goes round (Machta et al., Phys. Rev. E 54, 1332 (1996)). */
#ifndef TAGFLOW_PORE_LABELS_H
#define TAGFLOW_PORE_LABELS_H

#include "domain/domain.h"

/* The label of a cell that is not fluid, or not in the region; and no part's label. */
#define PORE_SOLID 0u
#define PORE_NONE UINT32_MAX

/* Of each pair of opposite links one: those to cells that come later in a sweep. */
enum { PORE_FORWARD = 9 };
#define PORE_LINKS                                                                                 \
    {                                                                                              \
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {-1, 1, 0}, {1, 0, 1}, {-1, 0, 1}, {0, 1, 1},  \
            {0, -1, 1},                                                                            \
    }

/* What a part touches, bits: the lower and upper end of the region along axis a, 2 a and 2 a + 1;
 * an open face; and axes that it goes round, TOUCH_ROUND << a. */
enum { TOUCH_OPEN = 1 << 6, TOUCH_ROUND = 1 << 7, TOUCH_FLOW = TOUCH_OPEN | 7 * TOUCH_ROUND };

struct pore_part {
    int64_t cells, cell; /* how many, and the first of them in the box */
    uint32_t touches;
};

/* A link across the edge of a block joins these labels; `shift`: how often it passes the end of the
 * box along each axis, as (s[0] + 1) + 3 (s[1] + 1) + 9 (s[2] + 1). */
struct pore_pair {
    uint32_t from, to, shift;
};

/* Parts while they are joined: where a label lies from its parent, in boxes. */
struct pore_joined {
    uint32_t parent;
    int shift[3];
};

struct pore_labels {
    const struct domain *d;
    const struct flow_case *c;
    struct case_region region;
    size_t row, plane, all;
    uint32_t *label; /* [n[2] + 2][n[1] + 2][n[0] + 2]; from 1 on, those of all ranks are apart */
    uint32_t first, count;   /* labels of this rank: first + 1 .. first + count */
    uint64_t total;          /* of all ranks */
    struct pore_part *part;  /* [count] */
    struct pore_pair *pairs; /* of all ranks */
    size_t pair_count, room;
    uint32_t *node;             /* [nodes] the labels in pairs, ascending */
    struct pore_joined *joined; /* [nodes] */
    struct pore_part *whole;    /* [nodes] what the part is in all, at its root */
    size_t nodes;
    int64_t kept; /* first cell of a part that is not isolated although it looks so; -1 */
};

/* Label the fluid of a region, as the tags are now; *largest: cells of the largest part.
 * Collective; STATUS_MACHINE, reported, the same on all ranks: no memory, or a block or the number
 * of parts is beyond 2^32; then it need not be freed. */
enum status pore_labels_make(struct pore_labels *l, const struct domain *d,
                             const struct flow_case *c, const struct case_region *region,
                             int64_t *largest);
void pore_labels_free(struct pore_labels *l);

/* The label of a cell of the block, or of the layer about it. */
static inline size_t pore_labels_place(const struct pore_labels *l, int x, int y, int z)
{
    return (size_t)(z + 1) * l->plane + (size_t)(y + 1) * l->row + (size_t)(x + 1);
}

/* Is the cell of the box in the region? */
bool pore_labels_in(const struct case_region *region, const int g[3]);

/* Labels beyond the block, axis after axis, so that those beyond edges come, too. Collective,
 * likewise. */
enum status pore_labels_exchange(struct pore_labels *l);

/* Join what is one part across blocks, when labels within them are there. Collective, likewise. */
enum status pore_labels_join(struct pore_labels *l);

/* The whole part that a label of this rank belongs to. */
const struct pore_part *pore_labels_part(struct pore_labels *l, uint32_t label);

/* Does nothing flow through it? See struct pores. */
bool pore_labels_isolated(const struct pore_labels *l, const struct pore_part *part);

/* Every part once among all ranks: parts that cross no edge of a block on their rank, others on the
 * rank of their root's label. NULL: there are no more; *at begins as 0. */
const struct pore_part *pore_labels_next(struct pore_labels *l, uint32_t *at);

#endif
