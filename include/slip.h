/* Planes of symmetry: where the population lies that a link from such a plane brings. */
#ifndef TAGFLOW_SLIP_H
#define TAGFLOW_SLIP_H

#include "boundary.h"
#include "slot.h"

/* Direction i mirrored at a plane normal to the axis. */
TAGFLOW_FN int mirrored(int i, int axis)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    int j = 0;
    for (int k = 1; k < Q; k++) {
        int same = 1;
        for (int a = 0; a < 3; a++)
            same &= c[k][a] == (a == axis ? -c[i][a] : c[i][a]);
        j = same ? k : j;
    }
    return j;
}

/* Is the cell at (x, y, z) part of the same plane of symmetry as cell type `row`? */
TAGFLOW_FN int view_slips(const struct view *v, const struct tag_row *row, int x, int y, int z)
{
    const struct tag_row *const other = &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
    return !other->fluid && other->boundary == BOUNDARY_slip && other->face == row->face;
}

/* The cell beyond the plane at which cell (x, y, z) finds population `from`, mirrored, for its link
 * `in`; see slip_from. */
TAGFLOW_FN void slip_beside(int in, int from, int x, int y, int z, int beside[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    beside[0] = x - (c[in][0] != c[from][0] ? c[in][0] : 0);
    beside[1] = y - (c[in][1] != c[from][1] ? c[in][1] : 0);
    beside[2] = z - (c[in][2] != c[from][2] ? c[in][2] : 0);
}

/* Population `in` of cell (x, y, z), where that link comes from a plane of symmetry half a cell
 * outside: it is population `from`, mirrored, which the neighbour m along the plane sent to
 * `beside`, a cell beyond the plane. Returns `from`; 0 if m is not fluid or `beside` is not part of
 * this plane: then this link and m's link bounce back.
 *
 *               beside
 *              /
 *   ---------/---------- plane
 *          /  \
 *        m     (x, y, z)
 *
 * m keeps the population in a slot of its own link. The link has two slots and uses them in turn.
 * So nothing writes to this slot in the step that reads it. Between ranks it travels with m's other
 * populations of that direction. */
TAGFLOW_FN int slip_from(const struct view *v, const struct tag_row *row, int in, int x, int y,
                         int z, int beside[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int from = mirrored(in, row->face / 2);
    slip_beside(in, from, x, y, z, beside);
    return view_fluid(v, view_index(v, beside[0] - c[from][0], beside[1] - c[from][1],
                                    beside[2] - c[from][2])) &&
                   view_slips(v, row, beside[0], beside[1], beside[2])
               ? from
               : 0;
}

#endif
