/* One cell's step: load, arrive, collide, leave, store.
 *
 * This is the whole step, for any cell. The CPU's row loops (src/cpu/rows.c) do the same for
 * several cells at once and give the same bits. */
#ifndef TAGFLOW_CELL_H
#define TAGFLOW_CELL_H

#include "boundary.h"
#include "collision.h"
#include "slot.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Canonical population i of a fluid cell: the stored value at its effective load address. */
TAGFLOW_FN size_t canonical_address(const struct view *v, int odd, int i, int x, int y, int z)
{
    int bounce =
        i > 0 && (v->tags[view_index(v, x, y, z)] & TAG_BESIDE) && view_bounces(v, i, x, y, z);
    return load_address(v, odd, i, x, y, z, bounce);
}

TAGFLOW_FN void cell_step(const struct view *v, int odd, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    stored *const populations = (stored *)v->populations;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    const struct tag_row *const row = &v->rows[tag & TAG_ROW];
    real f[Q], out[Q];

    if (!row->fluid)
        return;
    for (int i = 0; i < Q; i++)
        f[i] = (real)populations[canonical_address(v, odd, i, x, y, z)];
    boundary_arrive(row->boundary, f);

    const struct collision_parameters p = collision_parameters(row);
    const struct moments m = moments(f, p, row->forced);
    collide(row->collision, f, out, m, p, row->forced);

    for (int i = 0; i < Q; i++) {
        real value = out[i];
        if (i > 0 && (tag & TAG_BESIDE) && view_bounces(v, opposite(i), x, y, z)) {
            const size_t wall = view_index(v, x + c[i][0], y + c[i][1], z + c[i][2]);
            const struct tag_row *const w = &v->rows[v->tags[wall] & TAG_ROW];
            value =
                boundary_leave(w->boundary, c[i][0], c[i][1], c[i][2], value, wall_parameters(w));
        }
        populations[store_address(v, odd, i, x, y, z)] = (stored)value;
    }
}

#endif
#endif
