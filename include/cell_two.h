/* The step of two cells by one thread of a GPU, in fp16: conversions and accesses do two
 * populations at once, and addresses are computed once. Same bits as cell_step. */
#ifndef TAGFLOW_CELL_TWO_H
#define TAGFLOW_CELL_TWO_H

#include "cell.h"

/* Two halves, of cells x (low) and x + 1, where x is even. */
TAGFLOW_FN uint32_t pair_load(const stored *p)
{
#ifdef TAGFLOW_ON_GPU
    return *(const uint32_t *)p;
#else
    return (uint32_t)p[0].bits | (uint32_t)p[1].bits << 16;
#endif
}

TAGFLOW_FN void pair_store(stored *p, uint32_t pair)
{
#ifdef TAGFLOW_ON_GPU
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

/* Halves that lie apart. */
TAGFLOW_FN uint32_t pair_apart(const stored *low, const stored *high)
{
    return low->bits | (uint32_t)high->bits << 16;
}

/* Populations of a set in two cells, where they are 8 bytes. */
TAGFLOW_FN void set_pair_load(const set_stored *p, number g[2])
{
#ifdef TAGFLOW_ON_GPU
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
#ifdef TAGFLOW_ON_GPU
    *(float2 *)p = make_float2(low, high);
#else
    p[0] = low;
    p[1] = high;
#endif
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

/* Indices of two cells and of their neighbours: along +x `low` of the first cell and `high` of the
 * second one, one word if the step along x is even. Along -x they have none: no c_i of an odd i
 * points there. */
struct two_around {
    struct around first;
    cell_index n, low, high, up;
};

TAGFLOW_FN struct two_around two_around(const struct view *v, struct line_steps line, int x, int y,
                                        int z)
{
    struct two_around a;
    a.first = position_around(v, line, x, y, z);
    a.n = position_index(v, x, y, z);
    a.up = (cell_index)line.up;
    a.low = a.n + a.up;
    a.high = a.n + 1 + (x + 1 == v->seam[0][1] ? 0 - (cell_index)v->across[0] : a.up);
    return a;
}

/* Loads the only scalar's populations of both cells, as in cells without links: g[i] of both. */
TAGFLOW_FN void pair_one_load(const struct view *v, int odd, const struct two_around *a,
                              number g[Q_AXES][2])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    set_pair_load(s.rest + a->n, g[0]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    set_pair_load(s.own[i / 2] + a->n, g[i]);                                                      \
    if (cx == 0) {                                                                                 \
        set_pair_load(s.next[i / 2] + (cell_index)(a->n + neighbour(&a->first, 0, cy, cz)), g[j]); \
    } else if (a->up & 1) {                                                                        \
        g[j][0] = s.next[i / 2][a->low];                                                           \
        g[j][1] = s.next[i / 2][a->high];                                                          \
    } else {                                                                                       \
        set_pair_load(s.next[i / 2] + a->low, g[j]);                                               \
    }
    AXIS_LIST(X)
#undef X
}

/* Loads again those whose links come from cells that are not fluid, from the other slot. */
TAGFLOW_FN void pair_one_links(const struct view *v, int odd, const struct two_around *a,
                               const struct cell_kind self[2], number g[Q_AXES][2])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    TAGFLOW_UNROLL
    for (int k = 0; k < 2; k++) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (self[k].is >> i & 1)                                                                       \
        g[i][k] = s.next[i / 2][a->n + (cell_index)k];                                             \
    if (self[k].is >> j & 1)                                                                       \
        g[j][k] = s.own[i / 2][cx != 0 ? (k ? a->high : a->low)                                    \
                                       : (cell_index)(a->n + neighbour(&a->first, 0, cy, cz) +     \
                                                      (cell_index)k)];
        AXIS_LIST(X)
#undef X
    }
}

/* Stores what leaves both cells: g, from one_leave. */
TAGFLOW_FN void pair_one_store(const struct view *v, int odd, const struct two_around *a,
                               number g[Q_AXES][2])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    set_pair_store(s.rest + a->n, g[0][0], g[0][1]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    set_pair_store(s.own[i / 2] + a->n, g[j][0], g[j][1]);                                         \
    if (cx == 0) {                                                                                 \
        set_pair_store(s.next[i / 2] + (cell_index)(a->n + neighbour(&a->first, 0, cy, cz)),       \
                       g[i][0], g[i][1]);                                                          \
    } else if (a->up & 1) {                                                                        \
        s.next[i / 2][a->low] = g[i][0];                                                           \
        s.next[i / 2][a->high] = g[i][1];                                                          \
    } else {                                                                                       \
        set_pair_store(s.next[i / 2] + a->low, g[i][0], g[i][1]);                                  \
    }
    AXIS_LIST(X)
#undef X
}

/* Loads the populations of both: those of odd i from `own` at the cells, those of even i from
 * `next` at their neighbours. */
TAGFLOW_FN void pairs_load(stored *const *own, stored *const *next, const struct two_around *a,
                           uint32_t f[Q])
{
#define X(i, j, cx, cy, cz, weight)                                                                \
    f[i] = pair_load(own[i / 2] + a->n);                                                           \
    if (cx == 0)                                                                                   \
        f[j] = pair_load(next[i / 2] + (cell_index)(a->n + neighbour(&a->first, 0, cy, cz)));
    PAIR_LIST(X)
#undef X
    if (a->up & 1) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx)                                                                                        \
        f[j] = pair_apart(next[i / 2] + (cell_index)(a->low + neighbour(&a->first, 0, cy, cz)),    \
                          next[i / 2] + (cell_index)(a->high + neighbour(&a->first, 0, cy, cz)));
        PAIR_LIST(X)
#undef X
    } else {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx)                                                                                        \
        f[j] = pair_load(next[i / 2] + (cell_index)(a->low + neighbour(&a->first, 0, cy, cz)));
        PAIR_LIST(X)
#undef X
    }
}

/* The step of the owned cells at positions x and x + 1 of a row, x even. The populations
 * of both lie in one word in the cells, and in their neighbours at the same x. So they do in
 * neighbours along x if the step along x is even: in lifted rows, but for the last line. Returns 0,
 * and nothing is done, if they are not both of the kind that this kernel sweeps, or if walls of
 * several types change populations of one. */
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
    kind_numbers(kinds, position_index(v, x, y, z), which);
    if (!v->early) {
        TAGFLOW_BARRIER;
        if (!(kind_at_hand(kinds, which[0]).is & (KIND_SWEPT | KIND_MORE)) ||
            !(kind_at_hand(kinds, which[1]).is & (KIND_SWEPT | KIND_MORE)))
            return 0;
    }
#define AROUND_TWO const struct two_around a = two_around(v, kind.along, x, y, z)
    {
        AROUND_TWO;
        first[0] = pair_load(rest + a.n);
        pairs_load(own, next, &a, first);
        if (one)
            pair_one_load(v, odd, &a, g);
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
        pairs_load(next, own, &a, other);
        if (one)
            pair_one_links(v, odd, &a, self, g);
        for (int i = 1; i < Q; i++)
            TAGFLOW_FORGET(other[i]);
        for (int i = 1; i < Q; i++)
            first[i] = pair_merge(first[i], other[i], pair_links(self, i));
    }
    if (!(self[0].is & self[1].is & KIND_SWEPT) || (self[0].is | self[1].is) & KIND_SEVERAL)
        return 0;
    TAGFLOW_UNROLL
    for (int k = 0; k < 2; k++) {
        const int at[3] = {row_x(v, x + k), y, z};
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
            walls_push(v, kinds, position_index(v, x + k, y, z), out[k]);
        }
    }
    FORGET_PLACE;
    AROUND_TWO;
    pair_store(rest + a.n, pair_of(out[0][0], out[1][0]));
    uint32_t on[Q];
#define X(i, j, cx, cy, cz, weight)                                                                \
    pair_store(own[i / 2] + a.n, pair_of(out[0][j], out[1][j]));                                   \
    on[i] = pair_of(out[0][i], out[1][i]);                                                         \
    if (cx == 0)                                                                                   \
        pair_store(next[i / 2] + (cell_index)(a.n + neighbour(&a.first, 0, cy, cz)), on[i]);
    PAIR_LIST(X)
#undef X
    if (a.up & 1) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx) {                                                                                      \
        next[i / 2][a.low + neighbour(&a.first, 0, cy, cz)].bits = (uint16_t)on[i];                \
        next[i / 2][a.high + neighbour(&a.first, 0, cy, cz)].bits = (uint16_t)(on[i] >> 16);       \
    }
        PAIR_LIST(X)
#undef X
    } else {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx)                                                                                        \
        pair_store(next[i / 2] + (cell_index)(a.low + neighbour(&a.first, 0, cy, cz)), on[i]);
        PAIR_LIST(X)
#undef X
    }
    if (one) {
        pair_one_store(v, odd, &a, g);
        TAGFLOW_ROLLED
        for (int k = 0; k < 2; k++) {
            struct carried c = carried[0];
            for (int axis = 0; axis < 3 && k; axis++)
                c.u[axis] = carried[1].u[axis];
            c.eddy = k ? carried[1].eddy : c.eddy;
            c.subgrid = k ? carried[1].subgrid : c.subgrid;
            one_walls(v, kinds, odd, kind.along, x + k, y, z, k ? self[1].is : self[0].is,
                      k ? t[1] : t[0], &c);
        }
    }
#undef AROUND_TWO
    return 1;
}

/* The step of the owned cells at positions x, even, and x + 1, of those in x0 <= position < x1. */
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
