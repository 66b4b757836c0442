/* One cell's step: load, arrive, subgrid, collide, leave, store.
 *
 * This is the whole step, for any cell: the GPU's kernels are made of it. The CPU's row loops
 * (src/cpu/rows.c) do the same for several cells at once and give the same bits. */
#ifndef TAGFLOW_CELL_H
#define TAGFLOW_CELL_H

#include "boundary.h"
#include "collision.h"
#include "slot.h"
#include "sponge.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Canonical population i of a fluid cell: the stored value at its effective load address. */
TAGFLOW_FN size_t canonical_address(const struct view *v, int odd, int i, int x, int y, int z)
{
    int bounce =
        i > 0 && (v->tags[view_index(v, x, y, z)] & TAG_BESIDE) && view_bounces(v, i, x, y, z);
    return load_address(v, odd, i, x, y, z, bounce);
}

/* From the index of an owned cell to those of its neighbours, wrapped where the axis wraps. */
struct around {
    cell_index up[3], down[3];
};

TAGFLOW_FN struct around around(const struct view *v, int x, int y, int z)
{
    const int at[3] = {x, y, z};
    const cell_index step[3] = {1, (cell_index)v->row, (cell_index)v->plane};
    struct around a;
    for (int axis = 0; axis < 3; axis++) {
        const int last = v->n[axis] - 1, wraps = !v->ghost[axis];
        a.up[axis] = (cell_index)(wraps && at[axis] == last ? -last : 1) * step[axis];
        a.down[axis] = (cell_index)(wraps && at[axis] == 0 ? last : -1) * step[axis];
    }
    return a;
}

/* To the neighbour at (cx, cy, cz). */
TAGFLOW_FN cell_index neighbour(const struct around *a, int cx, int cy, int cz)
{
    return (cx > 0   ? a->up[0]
            : cx < 0 ? a->down[0]
                     : 0) +
           (cy > 0   ? a->up[1]
            : cy < 0 ? a->down[1]
                     : 0) +
           (cz > 0   ? a->up[2]
            : cz < 0 ? a->down[2]
                     : 0);
}

/* Bit i: link i of the cell comes from a cell that is not fluid. */
TAGFLOW_FN uint32_t links_from_walls(const struct view *v, cell_index n, const struct around *a)
{
    uint32_t links = 0;
#define X(i, j, cx, cy, cz, weight)                                                                \
    links |= view_fluid(v, n + neighbour(a, -(cx), -(cy), -(cz))) ? 0 : 1u << (i);                 \
    links |= view_fluid(v, n + neighbour(a, cx, cy, cz)) ? 0 : 1u << (j);
    PAIR_LIST(X)
#undef X
    return links;
}

/* What the wall at (x, y, z) gives back of what leaves into it along (cx, cy, cz). */
TAGFLOW_FN real leave_into(const struct view *v, int x, int y, int z, int cx, int cy, int cz,
                           real out)
{
    const struct tag_row *const wall = &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
    return boundary_leave(wall->boundary, cx, cy, cz, out, wall_parameters(v, wall));
}

/* The step of an owned cell; `s` are the slots of its step. With `collision`, `subgrid` and
 * `forced` constant the rest is compiled for them.
 *
 * A GPU hides the latency of memory behind many threads, which share the registers: 48 each in
 * fp32 is what the TAGFLOW_FORGETs are for. Without them the sums over the moments' pairs, and all
 * addresses, would be kept from their first use to their last. */
TAGFLOW_FN void cell_step(const struct view *v, const struct slots *s, int x, int y, int z,
                          int collision, int subgrid, int forced)
{
    struct around a = around(v, x, y, z);
    cell_index n = view_index(v, x, y, z);
    const uint8_t tag = v->tags[n];
    const struct tag_row *const row = &v->rows[tag & TAG_ROW];
    stored *const *const own = (stored *const *)s->own, *const *const next =
                                                            (stored *const *)s->next;
    stored *const rest = (stored *)s->rest;
    uint32_t links = 0;
    real f[Q], out[Q];

    if (!row->fluid)
        return;
    if (tag & TAG_BESIDE)
        links = links_from_walls(v, n, &a);
    f[0] = (real)rest[n];
#define X(i, j, cx, cy, cz, weight)                                                                \
    f[i] = (real)own[i / 2][n];                                                                    \
    f[j] = (real)next[i / 2][n + neighbour(&a, cx, cy, cz)];
    PAIR_LIST(X)
#undef X
    if (links) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (links & 1u << (i))                                                                         \
        f[i] = (real)next[i / 2][n];                                                               \
    if (links & 1u << (j))                                                                         \
        f[j] = (real)own[i / 2][n + neighbour(&a, cx, cy, cz)];
        PAIR_LIST(X)
#undef X
    }
    boundary_arrive(row->boundary, f);

    const struct collision_parameters p = collision_parameters(v, row);
    const int with_force = forced == FORCED_mixed ? row->forced : forced;
    const struct moments m = moments(f, p, with_force);
    for (int i = 0; i < Q; i++)
        TAGFLOW_FORGET_REAL(f[i]);
    const int model = subgrid == SUBGRID_mixed ? row->subgrid : subgrid;
    real damping = 1;
    if (model != SUBGRID_none && row->damped)
        damping = damping_of_row(v, row, y, z) * (scalar)damping_along(v, row)[x];
    const struct rates r = subgrid_rates(model, f, m, p, damping, with_force);
    collide(collision == COLLISION_mixed ? row->collision : collision, f, out, m, p, r, with_force);

    if (collision == COLLISION_mixed && row->sponge)
        sponge_pull(sponge_target(v, row), (real)sponge_of_cell(v, row, x, y, z), out);

/* Each leave is to look up its wall anew. */
#define FORGET_PLACE                                                                               \
    TAGFLOW_FORGET(x);                                                                             \
    TAGFLOW_FORGET(y);                                                                             \
    TAGFLOW_FORGET(z)
    if (links) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (links & 1u << (j)) {                                                                       \
        FORGET_PLACE;                                                                              \
        out[i] = leave_into(v, x + (cx), y + (cy), z + (cz), cx, cy, cz, out[i]);                  \
    }                                                                                              \
    if (links & 1u << (i)) {                                                                       \
        FORGET_PLACE;                                                                              \
        out[j] = leave_into(v, x - (cx), y - (cy), z - (cz), -(cx), -(cy), -(cz), out[j]);         \
    }
        PAIR_LIST(X)
#undef X
    }
    FORGET_PLACE;
#undef FORGET_PLACE
    a = around(v, x, y, z);
    n = view_index(v, x, y, z);
    rest[n] = (stored)out[0];
#define X(i, j, cx, cy, cz, weight)                                                                \
    own[i / 2][n] = (stored)out[j];                                                                \
    next[i / 2][n + neighbour(&a, cx, cy, cz)] = (stored)out[i];
    PAIR_LIST(X)
#undef X
}

#endif
#endif
