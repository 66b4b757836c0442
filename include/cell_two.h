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

/* Populations of a set in two cells, where they are 8 bytes. */
TAGFLOW_FN void set_pair_load(const set_stored *p, number g[2])
{
#ifdef __CUDA_ARCH__
    const float2 both = *(const float2 *)p;
    g[0] = both.x;
    g[1] = both.y;
#else
    g[0] = p[0];
    g[1] = p[1];
#endif
}

TAGFLOW_FN void set_pair_store(set_stored *p, number low, number high)
{
#ifdef __CUDA_ARCH__
    *(float2 *)p = make_float2(low, high);
#else
    p[0] = low;
    p[1] = high;
#endif
}

/* Loads the only scalar's populations of cells n, even, and n + 1, as in cells without links: g[i]
 * of both. right: as in pair_beyond. */
TAGFLOW_FN void pair_one_load(const struct view *v, int odd, cell_index n, const struct around *a,
                              cell_index right, number g[Q_AXES][2])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    set_pair_load(s.rest + n, g[0]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    set_pair_load(s.own[i / 2] + n, g[i]);                                                         \
    if (cx == 0) {                                                                                 \
        set_pair_load(s.next[i / 2] + (n + neighbour(a, 0, cy, cz)), g[j]);                        \
    } else {                                                                                       \
        g[j][0] = s.next[i / 2][n + 1];                                                            \
        g[j][1] = s.next[i / 2][n + right];                                                        \
    }
    AXIS_LIST(X)
#undef X
}

/* Replaces those of links. */
TAGFLOW_FN void pair_one_links(const struct view *v, int odd, cell_index n, const struct around *a,
                               cell_index right, const struct cell_kind self[2],
                               number g[Q_AXES][2])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    TAGFLOW_UNROLL
    for (int k = 0; k < 2; k++) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (self[k].is >> i & 1)                                                                       \
        g[i][k] = s.next[i / 2][n + (cell_index)k];                                                \
    if (self[k].is >> j & 1)                                                                       \
        g[j][k] = s.own[i / 2][n + (cx == 0 ? neighbour(a, 0, cy, cz) + (cell_index)k              \
                                    : k     ? right                                                \
                                            : 1)];
        AXIS_LIST(X)
#undef X
    }
}

/* Stores what leaves both cells: g, from one_leave. */
TAGFLOW_FN void pair_one_store(const struct view *v, int odd, cell_index n, const struct around *a,
                               cell_index right, number g[Q_AXES][2])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    set_pair_store(s.rest + n, g[0][0], g[0][1]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    set_pair_store(s.own[i / 2] + n, g[j][0], g[j][1]);                                            \
    if (cx == 0) {                                                                                 \
        set_pair_store(s.next[i / 2] + (n + neighbour(a, 0, cy, cz)), g[i][0], g[i][1]);           \
    } else {                                                                                       \
        s.next[i / 2][n + 1] = g[i][0];                                                            \
        s.next[i / 2][n + right] = g[i][1];                                                        \
    }
    AXIS_LIST(X)
#undef X
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
                         const struct cell_kinds *kinds, int odd, int x, int y, int z,
                         struct step_kind kind)
{
    stored *const *const own = (stored *const *)s->own, *const *const next =
                                                            (stored *const *)s->next;
    stored *const rest = (stored *)s->rest;
    uint32_t first[Q], which[2];
    struct cell_kind self[2];
    real f[Q], out[2][Q];
    const int one = kind.scalars == SCALARS_one;
    number g[Q_AXES][2], t[2];
    struct carried carried[2];
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
        if (one)
            pair_one_load(v, odd, n, &a, right, g);
        for (int i = 0; i < Q; i++)
            TAGFLOW_FORGET(first[i]);
        for (int i = 0; i < Q_AXES && one; i++) {
            TAGFLOW_FORGET_REAL(g[i][0]);
            TAGFLOW_FORGET_REAL(g[i][1]);
        }
    }
    uint32_t bits[Q];
    for (int i = 0; i < Q; i++)
        bits[i] = one && i < Q_AXES ? first[i] | real_bits(g[i][0]) | real_bits(g[i][1]) : first[i];
    for (int k = 0; k < 2; k++) {
        which[k] = kind_held(kinds, which[k], bits);
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
        if (one)
            pair_one_links(v, odd, n, &a, right, self, g);
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
        const int type = kind_type(self[k].is),
                  at_hand = (!kind.forced || one) && type == kinds->type;
        const struct tag_row *const row = &v->rows[type];
        number before[Q_AXES], after[Q_AXES];
        for (int i = 0; i < Q_AXES && one; i++)
            before[i] = g[i][k];
        if (one)
            carried[k].lift = one_lift(v, kinds, type, before);
        cell_collide(v, row, at_hand && one ? cell_parts(&kinds->row) : cell_parts(row),
                     at_hand ? collision_parameters(v, &kinds->row) : collision_parameters(v, row),
                     at, kind, STORED_ONE, f, out[k], &carried[k]);
        if (one) {
            t[k] = one_leave(v, kinds, type, before, after, &carried[k]);
            for (int i = 0; i < Q_AXES; i++)
                g[i][k] = after[i];
        }
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
    if (one) {
        pair_one_store(v, odd, n, &a, right, g);
        TAGFLOW_ROLLED
        for (int k = 0; k < 2; k++) {
            struct carried c = carried[0];
            for (int axis = 0; axis < 3 && k; axis++)
                c.u[axis] = carried[1].u[axis];
            c.eddy = k ? carried[1].eddy : c.eddy;
            c.subgrid = k ? carried[1].subgrid : c.subgrid;
            one_walls(v, kinds, odd, x + k, y, z, k ? self[1].is : self[0].is, k ? t[1] : t[0], &c);
        }
    }
#undef OFF
#undef AROUND_TWO
    return 1;
}

/* The step of the owned cells x, even, and x + 1, of those that are in x0 <= cell < x1. */
TAGFLOW_FN void cell_step_two(const struct view *v, const struct slots *s,
                              const struct cell_kinds *kinds, int odd, int x0, int x1, int x, int y,
                              int z, struct step_kind kind)
{
    int done = 0;
    if (x >= x0 && x + 1 < x1)
        done = pair_step(v, s, kinds, odd, x, y, z, kind);
    TAGFLOW_ROLLED
    for (int k = x < x0; !done && k < 2 && x + k < x1; k++)
        cell_step(v, s, kinds, odd, x + k, y, z, kind);
}

#endif
