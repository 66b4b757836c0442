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

/* Two tags, of cells x (low) and x + 1. */
TAGFLOW_FN uint32_t tag_pair(const uint8_t *tag)
{
#ifdef __CUDA_ARCH__
    return *(const uint16_t *)tag;
#else
    return tag[0] | (uint32_t)tag[1] << 8;
#endif
}

TAGFLOW_FN int pair_swept(const struct view *v, uint32_t tags)
{
    return type_in(&v->swept, (int)tags) && type_in(&v->swept, (int)(tags >> 8));
}

/* Puts a population of cell x + k into its pair. */
TAGFLOW_FN uint32_t pair_put(uint32_t pair, int k, stored s)
{
    return (pair & 0xffff0000u >> 16 * k) | (uint32_t)s.bits << 16 * k;
}

/* The step of owned cells x and x + 1 of a row, x even. Where a slot is the cells' own, or their
 * neighbours' at the same x, the populations of both lie in one word. Returns 0, and nothing is
 * done, if they are not both of the kind that this kernel sweeps, or if a link leads into a wall
 * whose rule changes populations. */
TAGFLOW_FN int pair_step(const struct view *v, const struct slots *s, int x, int y, int z,
                         uint32_t tags, struct step_kind kind)
{
    stored *const *const own = (stored *const *)s->own, *const *const next =
                                                            (stored *const *)s->next;
    stored *const rest = (stored *)s->rest;
    uint32_t first[Q], links = 0;
    real f[Q], out[2][Q];
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
    if (cx == 0)                                                                                   \
        first[j] = pair_load(next[i / 2] + (n + OFF(cy, cz)));                                     \
    else                                                                                           \
        first[j] = next[i / 2][n + (cx > 0 ? 1 : a.down[0]) + OFF(cy, cz)].bits |                  \
                   (uint32_t)next[i / 2][n + (cx > 0 ? right : 0) + OFF(cy, cz)].bits << 16;
        PAIR_LIST(X)
#undef X
        for (int i = 0; i < Q; i++)
            TAGFLOW_FORGET(first[i]);
    }
    TAGFLOW_FORGET(tags);
    if (tags & (TAG_BESIDE | TAG_BESIDE << 8)) {
        TAGFLOW_ROLLED
        for (int k = 0; k < 2; k++) {
            FORGET_PLACE;
            const struct around a = around(v, x + k, y, z);
            const cell_index n = owned_index(v, x + k, y, z);
            const uint32_t here = tags >> 8 * k & TAG_BESIDE ? links_of_step(v, n, &a) : 0;
            links |= here;
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (here & 1u << (i))                                                                          \
        first[i] = pair_put(first[i], k, next[i / 2][n]);                                          \
    if (here & 1u << (j))                                                                          \
        first[j] = pair_put(first[j], k, own[i / 2][n + neighbour(&a, cx, cy, cz)]);
            PAIR_LIST(X)
#undef X
        }
    }
    if (!pair_swept(v, tags) || links & 1)
        return 0;
    TAGFLOW_UNROLL
    for (int k = 0; k < 2; k++) {
        const int at[3] = {x + k, y, z};
        const struct tag_row *const row = &v->rows[tags >> 8 * k & TAG_ROW];
        for (int i = 0; i < Q; i++)
            f[i] = pair_half(first[i], k);
        cell_collide(v, row, at, kind, STORED_ONE, f, out[k], NULL);
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
TAGFLOW_FN void cell_step_two(const struct view *v, const struct slots *s, int x0, int x1, int x,
                              int y, int z, struct step_kind kind)
{
    const uint32_t tags = tag_pair(v->tags + owned_index(v, x, y, z));
    int done = 0;
    if (x >= x0 && x + 1 < x1) {
        int load = v->early;
        if (!load) {
            TAGFLOW_BARRIER;
            load = pair_swept(v, tags);
        }
        if (load)
            done = pair_step(v, s, x, y, z, tags, kind);
    }
    TAGFLOW_ROLLED
    for (int k = x < x0; !done && k < 2 && x + k < x1; k++)
        cell_step(v, s, 0, x + k, y, z, kind); /* without scalars: any parity */
}

#endif
