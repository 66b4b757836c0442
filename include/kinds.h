/* Kinds: what a step must know of a cell, by one number a cell. A kind is a cell type with the
 * links that come from cells that are not fluid. Without kinds a cell beside a wall loads the tags
 * of its 18 neighbours, and then tag, rule and velocity of each moving wall. */
#ifndef TAGFLOW_KINDS_H
#define TAGFLOW_KINDS_H

#include "boundary.h"

enum {
    KIND_PUSHES = 1,           /* some link leads into a wall whose rule changes populations */
    KIND_LINKS = (1 << Q) - 2, /* bit i: link i comes from a cell that is not fluid */
    KIND_AXES = (1 << Q_AXES) - 2,
    KIND_TYPE = 20,         /* lowest bit of the cell type */
    KIND_SWEPT = 1 << 27,   /* the kernel for boxes steps the cell */
    KIND_SEVERAL = 1 << 28, /* walls of several types change populations: ask their tags */
    KIND_MORE = 1 << 29,    /* not a kind: look it up in `more` */
    KINDS_AT_HAND = 239,    /* kinds in a kernel's argument */
};

struct cell_kind {
    uint32_t is;    /* KIND_* */
    uint32_t walls; /* bit i: link i comes from a wall whose rule changes populations; from bit
                     * KIND_TYPE: the type of these walls */
};

/* The kinds of a view's cells. The most frequent ones are at hand; behind them is KIND_MORE. */
struct cell_kinds {
    const void *number;           /* numbers of kinds, by the places of cells (view_place); only
                                   * owned cells have a true one */
    int bytes;                    /* of a number: 1, 2 or 4 */
    uint32_t zero;                /* 0, which a compiler does not know: see kind_held */
    int type;                     /* the most frequent cell type that is swept */
    const struct cell_kind *more; /* kinds KINDS_AT_HAND, KINDS_AT_HAND + 1, ... */
    struct cell_kind at_hand[KINDS_AT_HAND + 1];
    struct tag_row row;       /* of `type`: a kernel's argument needs no load */
    struct scalar_row scalar; /* of `type`, of the first set after the flow, if it is a scalar */
};

/* Number of the kind of the cell with this place. */
TAGFLOW_FN uint32_t kind_number(const struct cell_kinds *k, cell_index place)
{
    return k->bytes == 1   ? ((const uint8_t *)k->number)[place]
           : k->bytes == 2 ? ((const uint16_t *)k->number)[place]
                           : ((const uint32_t *)k->number)[place];
}

/* Numbers of cells n, even, and n + 1. */
TAGFLOW_FN void kind_numbers(const struct cell_kinds *k, cell_index n, uint32_t which[2])
{
#ifdef TAGFLOW_ON_GPU
    if (k->bytes == 4) {
        const uint2 both = *(const uint2 *)((const uint32_t *)k->number + n);
        which[0] = both.x;
        which[1] = both.y;
        return;
    }
    const uint32_t both = k->bytes == 1 ? *(const uint16_t *)((const uint8_t *)k->number + n)
                                        : *(const uint32_t *)((const uint16_t *)k->number + n);
    const int bits = 8 * k->bytes;
    which[0] = both & ((1u << bits) - 1);
    which[1] = both >> bits;
#else
    which[0] = kind_number(k, n);
    which[1] = kind_number(k, n + 1);
#endif
}

/* Returns `which`, but only when all these bits have been loaded. nvcc's assembler would otherwise
 * look up the kind as soon as its number is there, and load the rest after it: one wait more. */
TAGFLOW_FN uint32_t kind_held(const struct cell_kinds *k, uint32_t which, const uint32_t bits[Q])
{
    uint32_t any = 0;
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        any |= bits[i];
    return which | (any & k->zero);
}

/* The kind, or KIND_MORE: from the kernel's argument, so nothing waits for memory. */
TAGFLOW_FN struct cell_kind kind_at_hand(const struct cell_kinds *k, uint32_t which)
{
    return k->at_hand[which < KINDS_AT_HAND ? which : (uint32_t)KINDS_AT_HAND];
}

/* The kind; at_hand: as from kind_at_hand. */
TAGFLOW_FN struct cell_kind kind_of(const struct cell_kinds *k, uint32_t which,
                                    struct cell_kind at_hand)
{
    return at_hand.is & KIND_MORE ? k->more[which - KINDS_AT_HAND] : at_hand;
}

/* What an owned cell is, from its tag and its neighbours'; without KIND_SEVERAL. */
TAGFLOW_FN uint32_t kind_by_tags(const struct view *v, cell_index n, const struct around *a)
{
    const int tag = v->tags[n];
    const uint32_t type = (uint32_t)(tag & TAG_ROW) << KIND_TYPE;
    uint32_t links = 0, pushes = 0;
    if (!type_in(&v->swept, tag))
        return type;
    if (!(tag & TAG_BESIDE))
        return type | KIND_SWEPT;
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const uint8_t down = v->tags[n + neighbour(a, -(cx), -(cy), -(cz))];                       \
        const uint8_t up = v->tags[n + neighbour(a, cx, cy, cz)];                                  \
        links |= (uint32_t)type_in(&v->solid, down) << (i);                                        \
        links |= (uint32_t)type_in(&v->solid, up) << (j);                                          \
        pushes |= (uint32_t)(type_in(&v->pushing, down) | type_in(&v->pushing, up));               \
    }
    PAIR_LIST(X)
#undef X
    return type | KIND_SWEPT | links | (pushes ? KIND_PUSHES : 0);
}

/* The whole kind. */
TAGFLOW_FN struct cell_kind kind_with_walls(const struct view *v, cell_index n,
                                            const struct around *a)
{
    struct cell_kind kind = {kind_by_tags(v, n, a), 0};
    int wall = -1;
    if (!(kind.is & KIND_PUSHES))
        return kind;
#define LINK(in, cx, cy, cz)                                                                       \
    {                                                                                              \
        const int from = v->tags[n + neighbour(a, -(cx), -(cy), -(cz))] & TAG_ROW;                 \
        if (type_in(&v->pushing, from)) {                                                          \
            kind.is |= wall >= 0 && wall != from ? KIND_SEVERAL : 0;                               \
            kind.walls |= 1u << (in);                                                              \
            wall = from;                                                                           \
        }                                                                                          \
    }
#define X(i, j, cx, cy, cz, weight) LINK(i, cx, cy, cz) LINK(j, -(cx), -(cy), -(cz))
    PAIR_LIST(X)
#undef X
#undef LINK
    kind.walls |= (uint32_t)wall << KIND_TYPE;
    return kind;
}

TAGFLOW_FN int kind_type(uint32_t is)
{
    return (int)(is >> KIND_TYPE & TAG_ROW);
}

#endif
