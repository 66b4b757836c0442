/* The step of two cells by one thread of a GPU, in fp16: conversions and accesses do two
 * populations at once, and addresses are computed once. Same bits as cell_step. */
#ifndef TAGFLOW_CELL_TWO_H
#define TAGFLOW_CELL_TWO_H

#include "cell.h"

/* Two halves, of cells x (low) and x + 1, where x is even. */
TAGFLOW_FN uint32_t pair_load(const stored *p)
{
#ifdef __CUDA_ARCH__
    return *(const uint32_t *)p;
#else
    return (uint32_t)p[0].bits | (uint32_t)p[1].bits << 16;
#endif
}

TAGFLOW_FN void pair_store(stored *p, uint32_t pair)
{
#ifdef __CUDA_ARCH__
    *(uint32_t *)p = pair;
#else
    p[0].bits = (uint16_t)pair;
    p[1].bits = (uint16_t)(pair >> 16);
#endif
}

TAGFLOW_FN number pair_half(uint32_t pair, int k)
{
    const struct half h = {(uint16_t)(pair >> 16 * k)};
    return half_float(h);
}

/* One conversion on GPUs. */
TAGFLOW_FN uint32_t pair_of(float low, float high)
{
#ifdef __CUDA_ARCH__
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return (uint32_t)float_half(low).bits | (uint32_t)float_half(high).bits << 16;
#endif
}

/* Populations of two cells at their neighbours at cx. at: the neighbour of cell x along y and z
 * alone; down, right: index differences to x - 1 and x + 2. */
TAGFLOW_FN uint32_t pair_beyond(const stored *p, cell_index at, int cx, cell_index down,
                                cell_index right)
{
    if (cx == 0)
        return pair_load(p + at);
    const cell_index low = at + (cx > 0 ? 1 : down), high = at + (cx > 0 ? right : 0);
    return p[low].bits | (uint32_t)p[high].bits << 16;
}

/* `from` in the halves that are set in `mask`. */
TAGFLOW_FN uint32_t pair_merge(uint32_t pair, uint32_t from, uint32_t mask)
{
    return (pair & ~mask) | (from & mask);
}

/* Mask of the halves of the cells whose link i comes from a cell that is not fluid. */
TAGFLOW_FN uint32_t pair_links(const struct cell_kind self[2], int i)
{
    return (self[0].is >> i & 1 ? 0xffffu : 0) | (self[1].is >> i & 1 ? 0xffff0000u : 0);
}

/* The step of owned cells x and x + 1 of a row, x even. Where a slot is the cells' own, or their
 * neighbours' at the same x, the populations of both lie in one word. Returns 0, and nothing is
 * done, if they are not both of the kind that this kernel sweeps, or if walls of several types
 * change populations of one. */
TAGFLOW_FN int pair_step(const struct view *v, const struct slots *s,
                         const struct cell_kinds *kinds, int x, int y, int z, struct step_kind kind)
{
    stored *const *const own = (stored *const *)s->own, *const *const next =
                                                            (stored *const *)s->next;
    stored *const rest = (stored *)s->rest;
    uint32_t first[Q], which[2];
    struct cell_kind self[2];
    real f[Q], out[2][Q];
    kind_numbers(kinds, owned_index(v, x, y, z), which);
    if (!v->early) {
        TAGFLOW_BARRIER;
        if (!(kind_at_hand(kinds, which[0]).is & (KIND_SWEPT | KIND_MORE)) ||
            !(kind_at_hand(kinds, which[1]).is & (KIND_SWEPT | KIND_MORE)))
            return 0;
    }
/* The index differences to the neighbours along +x and -x of the pair, from cell x. */
#define AROUND_TWO                                                                                 \
    const struct around a = around(v, x, y, z);                                                    \
    const cell_index n = owned_index(v, x, y, z);                                                  \
    const cell_index right = x + 1 == v->seam[0][1] ? 1 - (cell_index)v->across[0] : 2
#define OFF(cy, cz) neighbour(&a, 0, cy, cz)
    {
        AROUND_TWO;
        first[0] = pair_load(rest + n);
#define X(i, j, cx, cy, cz, weight)                                                                \
    first[i] = pair_load(own[i / 2] + n);                                                          \
    first[j] = pair_beyond(next[i / 2], n + OFF(cy, cz), cx, a.down[0], right);
        PAIR_LIST(X)
#undef X
        for (int i = 0; i < Q; i++)
            TAGFLOW_FORGET(first[i]);
    }
    for (int k = 0; k < 2; k++) {
        which[k] = kind_held(kinds, which[k], first);
        self[k] = kind_at_hand(kinds, which[k]);
    }
    if ((self[0].is | self[1].is) & (KIND_LINKS | KIND_MORE)) {
        for (int k = 0; k < 2; k++)
            self[k] = kind_of(kinds, which[k], self[k]);
        /* All of the other slots at once: one wait. */
        uint32_t other[Q];
        FORGET_PLACE;
        AROUND_TWO;
#define X(i, j, cx, cy, cz, weight)                                                                \
    other[i] = pair_load(next[i / 2] + n);                                                         \
    other[j] = pair_beyond(own[i / 2], n + OFF(cy, cz), cx, a.down[0], right);
        PAIR_LIST(X)
#undef X
        for (int i = 1; i < Q; i++)
            TAGFLOW_FORGET(other[i]);
        for (int i = 1; i < Q; i++)
            first[i] = pair_merge(first[i], other[i], pair_links(self, i));
    }
    if (!(self[0].is & self[1].is & KIND_SWEPT) || (self[0].is | self[1].is) & KIND_SEVERAL)
        return 0;
    TAGFLOW_UNROLL
    for (int k = 0; k < 2; k++) {
        const int at[3] = {x + k, y, z};
        for (int i = 0; i < Q; i++)
            f[i] = pair_half(first[i], k);
        const struct tag_row *const row = &v->rows[kind_type(self[k].is)];
        cell_collide(v, row,
                     !kind.forced && kind_type(self[k].is) == kinds->type
                         ? collision_parameters(v, &kinds->row)
                         : collision_parameters(v, row),
                     at, kind, STORED_ONE, f, out[k], NULL);
        if (self[k].is & KIND_PUSHES) {
            FORGET_PLACE;
            walls_push(v, kinds, owned_index(v, x + k, y, z), out[k]);
        }
    }
    FORGET_PLACE;
    AROUND_TWO;
    pair_store(rest + n, pair_of(out[0][0], out[1][0]));
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const uint32_t back = pair_of(out[0][j], out[1][j]), on = pair_of(out[0][i], out[1][i]);   \
        pair_store(own[i / 2] + n, back);                                                          \
        if (cx == 0) {                                                                             \
            pair_store(next[i / 2] + (n + OFF(cy, cz)), on);                                       \
        } else {                                                                                   \
            next[i / 2][n + (cx > 0 ? 1 : a.down[0]) + OFF(cy, cz)].bits = (uint16_t)on;           \
            next[i / 2][n + (cx > 0 ? right : 0) + OFF(cy, cz)].bits = (uint16_t)(on >> 16);       \
        }                                                                                          \
    }
    PAIR_LIST(X)
#undef X
#undef OFF
#undef AROUND_TWO
    return 1;
}

/* The step of the owned cells x, even, and x + 1, of those that are in x0 <= cell < x1. */
TAGFLOW_FN void cell_step_two(const struct view *v, const struct slots *s,
                              const struct cell_kinds *kinds, int x0, int x1, int x, int y, int z,
                              struct step_kind kind)
{
    int done = 0;
    if (x >= x0 && x + 1 < x1)
        done = pair_step(v, s, kinds, x, y, z, kind);
    TAGFLOW_ROLLED
    for (int k = x < x0; !done && k < 2 && x + k < x1; k++)
        cell_step(v, s, kinds, 0, x + k, y, z, kind); /* without scalars: any parity */
}

#endif
