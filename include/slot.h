/* Where a population lives: the only place that knows (Esoteric Pull: Lehmann, Computation 10:92,
 * 2022). One copy of the populations, streamed in place:
 *
 *   load   f_i      from slot (odd step ? i : opposite(i))   of cell n (i odd)  or n - c_i (i even)
 *   store  f*_i     to   slot (odd step ? opposite(i) : i)   of cell n + c_i (i odd)  or n (i even)
 *
 * Hence store(t, i, n) == load(t + 1, i, n + c_i): that is the streaming. In one step a cell stores
 * where it loaded (f*_i where it loaded f_opposite(i)), and nobody else touches that: any order, no
 * race.
 *
 * A link i of n whose upstream cell n - c_i is not fluid loads what the wall gives back:
 * load(t, opposite(i), n - c_i), the same cell in the *other* slot of the pair. What n stored into
 * the wall at the step before is there: half-way bounce-back, half-way in time too. */
#ifndef TAGFLOW_SLOT_H
#define TAGFLOW_SLOT_H

#include <stddef.h>

#include "lattice.h"
#include "platform.h"
#include "tag.h"

/* A cell beside surfaces that are reached by a list, see surface.h. */
struct near_cell {
    int32_t at[3];  /* coordinates in the block */
    uint32_t links; /* bit i: population i comes from a cell that is not fluid */
    uint32_t first; /* place of the first of its crossings: one for each of those links, in order */
};

/* One rank's block of cells: all that a kernel needs, by value.
 * Owned cells are (0,0,0) to (n-1); an axis with ghost = 1 has one more layer on both sides
 * (neighbour rank or wall), one with ghost = 0 is periodic within the block and wraps by index. */
struct view {
    void *populations;          /* stored[Q][stride]: f_i - w_i, see stored.h */
    const uint8_t *tags;        /* [cells] */
    const struct tag_row *rows; /* [TAG_ROWS] */
    const double *table;        /* [table_values] profiles and the like: rows know their places */
    size_t table_values;
    const struct near_cell *near; /* [near_cells] */
    const float *crossing; /* [crossings] where links meet the surface, parts of their length */
    size_t near_cells, crossings;
    int lo[3];            /* coordinates of owned cell (0,0,0) in the whole box */
    size_t stride;        /* elements between slots */
    const uint32_t *line; /* [cells >> line_bits] places, see view_place; NULL: all in order */
    int line_bits;
    size_t origin;        /* index of owned cell (0,0,0) */
    ptrdiff_t row, plane; /* index steps of y and z; that of x is 1 */
    int n[3];
    int ghost[3];
    double signal[SIGNALS]; /* at this step, see tag.h */
};

/* The slots of a step: for each pair (i, i + 1), counted from 0, that from which f_i of a cell is
 * loaded, at the cell itself, and that of f_{i+1}, at its neighbour at c_i. A link whose upstream
 * cell is not fluid loads from the other of the two at the same place, and stores go where loads
 * came from, the other way round. */
struct slots {
    void *rest, *own[9], *next[9];
};

/* Index of a cell: on a GPU, where it fits, in 32 bits; modulo their range. */
#ifdef __CUDACC__
typedef uint32_t cell_index;
#else
typedef size_t cell_index;
#endif

/* Owned or ghost cells lo <= (x, y, z) < hi of a view. */
struct box {
    int lo[3], hi[3];
};

TAGFLOW_FN int opposite(int i)
{
    return i == 0 ? 0 : (i & 1) ? i + 1 : i - 1;
}

TAGFLOW_FN int slot_load(int odd, int i)
{
    return odd ? i : opposite(i);
}

TAGFLOW_FN int slot_store(int odd, int i)
{
    return odd ? opposite(i) : i;
}

/* Coordinate a of an axis, wrapped if the axis is periodic within the block. */
TAGFLOW_FN int view_wrap(const struct view *v, int axis, int a)
{
    if (v->ghost[axis])
        return a;
    return a < 0 ? a + v->n[axis] : a >= v->n[axis] ? a - v->n[axis] : a;
}

/* Cells of the block, ghost layers and what pads rows included. */
TAGFLOW_FN size_t view_cells(const struct view *v)
{
    return (size_t)v->plane * ((size_t)v->n[2] + 2 * (size_t)v->ghost[2]);
}

/* Index of a cell at most one beyond the block; within ghost layers or wrapped. */
TAGFLOW_FN cell_index view_index(const struct view *v, int x, int y, int z)
{
    return (cell_index)v->origin + (cell_index)view_wrap(v, 0, x) +
           (cell_index)view_wrap(v, 1, y) * (cell_index)v->row +
           (cell_index)view_wrap(v, 2, z) * (cell_index)v->plane;
}

/* Place of a cell in each of the slots. Where much of a block is solid only some lines, of 2^bits
 * cells along x each, have one, in the order of their cells: those of fluid cells and of the
 * neighbours in which these keep populations (domain/sparse.h). So x + 1 follows x wherever both
 * have a place. */
enum { LINE_DROPPED = -1 }; /* as uint32_t, in view.line: its cells have no place */

TAGFLOW_FN cell_index sparse_place(const struct view *v, cell_index cell)
{
    const cell_index in_line = ((cell_index)1 << v->line_bits) - 1;
    return ((cell_index)v->line[cell >> v->line_bits] << v->line_bits) + (cell & in_line);
}

TAGFLOW_FN cell_index view_place(const struct view *v, cell_index cell)
{
    return v->line ? sparse_place(v, cell) : cell;
}

/* Offset from the start of the populations of the address from which population i of cell
 * (x, y, z) is loaded at an odd or even step; `bounce`: the link's upstream cell is not fluid. */
TAGFLOW_FN size_t load_address(const struct view *v, int odd, int i, int x, int y, int z,
                               int bounce)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    int slot = slot_load(odd, bounce ? opposite(i) : i);
    cell_index cell = (i & 1) || i == 0 ? view_index(v, x, y, z)
                                        : view_index(v, x - c[i][0], y - c[i][1], z - c[i][2]);
    return (size_t)slot * v->stride + view_place(v, cell);
}

/* The same for the address to which the collided population i is stored. */
TAGFLOW_FN size_t store_address(const struct view *v, int odd, int i, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    cell_index cell =
        (i & 1) ? view_index(v, x + c[i][0], y + c[i][1], z + c[i][2]) : view_index(v, x, y, z);
    return (size_t)slot_store(odd, i) * v->stride + view_place(v, cell);
}

/* The slots of an odd or even step of populations of `bytes` each. */
TAGFLOW_FN struct slots slots_at(const struct view *v, int odd, size_t bytes)
{
    char *const f = (char *)v->populations;
    struct slots s;
    s.rest = f;
    for (int i = 1; i < Q; i += 2) {
        s.own[i / 2] = f + (size_t)slot_load(odd, i) * v->stride * bytes;
        s.next[i / 2] = f + (size_t)slot_load(odd, i + 1) * v->stride * bytes;
    }
    return s;
}

/* Is the cell fluid? */
TAGFLOW_FN int view_fluid(const struct view *v, size_t cell)
{
    return v->rows[v->tags[cell] & TAG_ROW].fluid != FLUID_none;
}

/* Body force per mass that acts in a cell of that row at this step. */
TAGFLOW_FN double view_acceleration(const struct view *v, const struct tag_row *row, int axis)
{
    return row->acceleration[axis] * v->signal[row->force_signal];
}

/* Does link i of cell (x, y, z) come from a cell that is not fluid? */
TAGFLOW_FN int view_bounces(const struct view *v, int i, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    return !view_fluid(v, view_index(v, x - c[i][0], y - c[i][1], z - c[i][2]));
}

#endif
