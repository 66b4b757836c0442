/* The kernels: one list; all of them take a view, a box of its cells and a task.
 *
 *   step    one lattice update of the fluid cells of the box
 *   pack    populations that leave the box along `direction`, after a step -> buffer
 *   unpack  buffer -> populations; the box lies in the ghost layer opposite to `direction`
 *   get     canonical populations -> buffer                  [Q][cells of the box], stored type
 *   put     buffer -> canonical populations                  [Q][cells of the box], stored type
 *   flow    density - 1 and velocity -> buffer               [cells of the box][4], double
 *   curl    curl u -> buffer                                 [cells of the box][3], double
 *   sums    what they sum up to -> buffer                    [workers] struct sums
 *   drift   their velocities, summed up -> buffer        [workers] struct drift
 *   near    one lattice update of cells of the view's list, see surface.h
 *   forces  what a body gets in the step to come -> buffer   [workers] struct forces
 *   enstrophy   |curl u|^2 / 2 of them, summed up -> buffer  [workers] struct enstrophy
 *
 * Cells of a box are in order x fastest, then y, z. Where a cell is not fluid, pack, get, flow
 * and curl give zeros, unpack and put leave it alone, sums leave it out. `odd` is the parity of the
 * step that a step, pack or unpack belongs to; for the others that of the step to come.
 *
 * Boxes of near and forces are stretches of the list: from lo[0] to hi[0], and 0 to 1 along the
 * other axes.
 *
 * Sums, of one box in a launch, are shared by `workers`: threads of a GPU or of the host, each of
 * which takes some cells of the box and leaves one partial result. So nobody waits for anybody
 * else, and nothing depends on an order. */
#ifndef TAGFLOW_KERNEL_H
#define TAGFLOW_KERNEL_H

#include "cell.h"
#include "curl.h"
#include "sums.h"

/* clang-format off */
#define KERNEL_LIST(X) X(step) X(pack) X(unpack) X(get) X(put) X(flow) X(curl) X(sums) X(drift) X(enstrophy) X(near) X(forces)
/* clang-format on */

enum kernel {
#define X(name) KERNEL_##name,
    KERNEL_LIST(X)
#undef X
        KERNELS
};

struct task {
    int odd;
    int open;      /* there may be open boundaries: set by the backend */
    int direction; /* pack, unpack: 1..18, towards the receiver */
    int body;      /* forces: 1 + its number */
    int workers;   /* sums: how many, at least 1; 0 for other kernels */
    void *buffer;
    const double *layers; /* curl, enstrophy: velocities beyond the block, see curl.h */
};

/* What a kernel is to do in one go. */
struct work {
    struct box box;
    struct task task;
};
enum { WORK_MOST = Q - 1 }; /* at once: a message a direction */

TAGFLOW_FN size_t box_cells(const struct box *b)
{
    size_t cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= b->hi[a] > b->lo[a] ? (size_t)(b->hi[a] - b->lo[a]) : 0;
    return cells;
}

/* Does population i travel in the message along `direction`? Faces carry the 5 with a component
 * along the outward normal, edges 1. */
TAGFLOW_FN int travels(int direction, int i)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    for (int a = 0; a < 3; a++)
        if (c[direction][a] && c[i][a] != c[direction][a])
            return 0;
    return 1;
}

/* Number of populations in that message. */
TAGFLOW_FN int travellers(int direction)
{
    return direction <= 6 ? 5 : 1;
}

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* The kernels' work on one cell; `cell` of `cells` is its number in the box. */

TAGFLOW_FN void cell_pack(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    const stored *const populations = (const stored *)v->populations;
    stored *const buffer = (stored *)t.buffer;
    const int fluid = view_fluid(v, view_index(v, x, y, z));
    size_t place = cell;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            buffer[place] = fluid ? populations[store_address(v, t.odd, i, x, y, z)] : stored_of(0);
            place += cells;
        }
}

TAGFLOW_FN void cell_unpack(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                            int y, int z)
{
    stored *const populations = (stored *)v->populations;
    const stored *const buffer = (const stored *)t.buffer;
    size_t place = cell;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            populations[store_address(v, t.odd, i, x, y, z)] = buffer[place];
            place += cells;
        }
}

TAGFLOW_FN void cell_get(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                         int y, int z)
{
    const stored *const populations = (const stored *)v->populations;
    stored *const buffer = (stored *)t.buffer;
    const int fluid = view_fluid(v, view_index(v, x, y, z));
    for (int i = 0; i < Q; i++)
        buffer[(size_t)i * cells + cell] =
            fluid ? populations[canonical_address(v, t.odd, i, x, y, z)] : stored_of(0);
}

TAGFLOW_FN void cell_put(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                         int y, int z)
{
    stored *const populations = (stored *)v->populations;
    const stored *const buffer = (const stored *)t.buffer;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    for (int i = 0; i < Q; i++)
        populations[canonical_address(v, t.odd, i, x, y, z)] = buffer[(size_t)i * cells + cell];
}

TAGFLOW_FN void cell_flow(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    double flow[4];
    (void)cells;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    for (int k = 0; k < 4; k++)
        ((double *)t.buffer)[4 * cell + (size_t)k] = flow[k];
}

TAGFLOW_FN void cell_curl(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    double w[3] = {0, 0, 0};
    (void)cells;
    if (view_fluid(v, view_index(v, x, y, z)))
        curl_of(v, t.odd, t.open, t.layers, x, y, z, w);
    for (int a = 0; a < 3; a++)
        ((double *)t.buffer)[3 * cell + (size_t)a] = w[a];
}

/* The work of sums: a cell into the partial result of its worker. */
TAGFLOW_FN void cell_sums(const struct view *v, struct task t, size_t cell, int x, int y, int z,
                          struct sums *sums)
{
    double flow[4];
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    sums_add(sums, flow[0], flow_square(flow[1], flow[2], flow[3]), (int64_t)cell);
}

TAGFLOW_FN void cell_drift(const struct view *v, struct task t, size_t cell, int x, int y, int z,
                           struct drift *sum)
{
    double flow[4];
    (void)cell;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    flow_of(v, t.odd, t.open, x, y, z, flow);
    drift_add(sum, flow + 1);
}

TAGFLOW_FN void cell_near(const struct view *v, struct task t, size_t cell, size_t cells, int x,
                          int y, int z)
{
    (void)cell, (void)cells, (void)y, (void)z;
    near_step(v, t.odd, &v->near[x]);
}

TAGFLOW_FN void cell_forces(const struct view *v, struct task t, size_t cell, int x, int y, int z,
                            struct forces *sum)
{
    (void)cell, (void)y, (void)z;
    near_forces(v, t.odd, &v->near[x], t.body, sum);
}

TAGFLOW_FN void cell_enstrophy(const struct view *v, struct task t, size_t cell, int x, int y,
                               int z, struct enstrophy *sum)
{
    double w[3];
    (void)cell;
    if (!view_fluid(v, view_index(v, x, y, z)))
        return;
    curl_of(v, t.odd, t.open, t.layers, x, y, z, w);
    enstrophy_add(sum, w);
}

#endif
#endif
