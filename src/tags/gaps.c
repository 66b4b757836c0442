/* Each fluid cell notes on which sides it has walls. These notes, with those of adjacent cells,
 * also of neighbour ranks, show gaps of one and two cells. Only the notes of three planes are kept
 * at a time. */
#include "tags/gaps.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "boundary.h"
#include "tags/beyond.h"

/* Notes of a fluid cell: one bit per kind of wall, side (low, high) and axis. 0: not fluid. */
enum end { END_wall, END_shape, END_image, ENDS };
#define FLUID_CELL 1u

static uint32_t note_of(enum end end, int side, int axis)
{
    return 2u << (((int)end * 2 + side) * 3 + axis);
}

static uint32_t any_end(int side, int axis)
{
    return note_of(END_wall, side, axis) | note_of(END_shape, side, axis) |
           note_of(END_image, side, axis);
}

/* The kind of wall that the cell at a place of the block is to its neighbours; ENDS: no wall. */
static enum end end_at(const struct domain *d, const struct flow_case *c, const int at[3])
{
    const struct view *const v = &d->view;
    const size_t n =
        view_index(v, view_wrap(v, 0, at[0]), view_wrap(v, 1, at[1]), view_wrap(v, 2, at[2]));
    const uint8_t tag = v->tags[n] & TAG_ROW;
    const struct tag_row *const row = &v->rows[tag];
    if (row->fluid || boundary_open(row->boundary) || tag == TAG_ABSENT)
        return ENDS;
    return !row->body ? END_wall : c->bodies[row->body - 1].image.file ? END_image : END_shape;
}

struct noting {
    const struct domain *d;
    const struct flow_case *c;
    struct beyond beyond; /* notes of the cells one beyond the block */
    uint32_t *plane[3];   /* of planes z - 1, z and z + 1: [n[1] + 2][row] */
    size_t row;           /* n[0] + 2 */
};

static uint32_t note_cell(const void *context, int x, int y, int z)
{
    const struct noting *const all = context;
    const struct domain *const d = all->d;
    const size_t cell = view_index(&d->view, x, y, z);
    uint32_t notes = FLUID_CELL;
    if (!view_fluid(&d->view, cell))
        return 0;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const int step = 2 * side - 1;
            const int there[3] = {x + (a == 0) * step, y + (a == 1) * step, z + (a == 2) * step};
            const enum end end = end_at(d, all->c, there);
            if (end != ENDS)
                notes |= note_of(end, side, a);
        }
    return notes;
}

/* Index of a cell in noting.plane. */
static size_t place_of(const struct noting *all, int x, int y)
{
    return (size_t)(y + 1) * all->row + (size_t)(x + 1);
}

/* Makes the notes of a plane of the block, or of one beside it. */
static void note_plane(const struct noting *all, int z, uint32_t *notes)
{
    const int *const n = all->d->view.n;
    const bool owned = z >= 0 && z < n[2];
    for (int y = -1; y <= n[1]; y++)
        for (int x = -1; x <= n[0]; x++) {
            const bool inside = owned && y >= 0 && y < n[1] && x >= 0 && x < n[0];
            notes[place_of(all, x, y)] =
                inside ? note_cell(all, x, y, z) : beyond_at(&all->beyond, x, y, z);
        }
}

/* Notes of the two ends of the gap along an axis that contains the cell; 0: no gap. */
static uint32_t ends_of(const struct noting *all, size_t place, int axis)
{
    const uint32_t low = any_end(0, axis), high = any_end(1, axis), here = all->plane[1][place];
    if (here & low && here & high)
        return here & (low | high);
    const size_t step = axis == 0 ? 1 : all->row;
    for (int side = 0; side < 2; side++) {
        const uint32_t there = axis == 2 ? all->plane[side ? 0 : 2][place]
                                         : all->plane[1][side ? place - step : place + step];
        const uint32_t near = side ? high : low, far = side ? low : high;
        if (here & near && there & FLUID_CELL && there & far)
            return (here & near) | (there & far);
    }
    return 0;
}

/* Notes of the ends of all gaps that contain the cell; 0: no gap. */
static uint32_t gap_of(const struct noting *all, size_t place)
{
    const uint32_t here = all->plane[1][place];
    uint32_t ends[3], found = 0;
    bool open[3];
    if (!(here & ~FLUID_CELL))
        return 0;
    for (int a = 0; a < 3; a++) {
        ends[a] = ends_of(all, place, a);
        open[a] = !(here & (any_end(0, a) | any_end(1, a)));
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        if (all->d->cells[a] > GAPS_AXIS && (open[b] || open[c]) && (open[b] || ends[b]) &&
            (open[c] || ends[c]))
            found |= ends[a];
    }
    return found;
}

static uint32_t any_axis(enum end end)
{
    uint32_t notes = 0;
    for (int a = 0; a < 3; a++)
        notes |= note_of(end, 0, a) | note_of(end, 1, a);
    return notes;
}

static void add_gap(struct gaps *g, const struct domain *d, const int at[3])
{
    const int64_t cell =
        ((int64_t)(d->lo[2] + at[2]) * d->cells[1] + d->lo[1] + at[1]) * d->cells[0] + d->lo[0] +
        at[0];
    g->cells++;
    g->first = cell < g->first ? cell : g->first;
}

static void agree(const struct domain *d, struct gaps *g)
{
    MPI_Allreduce(MPI_IN_PLACE, &g->cells, 1, MPI_INT64_T, MPI_SUM, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &g->first, 1, MPI_INT64_T, MPI_MIN, d->comm);
}

/* Looks at each plane of the block. */
static void find(struct noting *all, struct gaps *shapes, struct gaps *images)
{
    const int *const n = all->d->view.n;
    note_plane(all, -1, all->plane[1]);
    note_plane(all, 0, all->plane[2]);
    for (int z = 0; z < n[2]; z++) {
        uint32_t *const last = all->plane[0];
        all->plane[0] = all->plane[1];
        all->plane[1] = all->plane[2];
        all->plane[2] = last;
        note_plane(all, z + 1, last);
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const uint32_t ends = gap_of(all, place_of(all, x, y));
                if (ends & any_axis(END_shape))
                    add_gap(shapes, all->d, (const int[3]){x, y, z});
                else if (ends & any_axis(END_image))
                    add_gap(images, all->d, (const int[3]){x, y, z});
            }
    }
}

enum status gaps_find(const struct domain *d, const struct flow_case *c, struct gaps *shapes,
                      struct gaps *images)
{
    struct noting all = {.d = d, .c = c, .row = (size_t)d->view.n[0] + 2};
    const size_t plane = all.row * ((size_t)d->view.n[1] + 2);
    uint32_t *const notes = malloc(3 * plane * sizeof *notes);
    *shapes = *images = (struct gaps){.first = INT64_MAX};
    enum status s =
        status_agree(d->comm, notes ? STATUS_OK
                                    : fail_machine("out of memory for the gaps in planes of %zu "
                                                   "cells",
                                                   plane));
    if (!s)
        s = beyond_exchange(&all.beyond, d, note_cell, &all);
    if (!s) {
        for (int k = 0; k < 3; k++)
            all.plane[k] = notes + (size_t)k * plane;
        find(&all, shapes, images);
        agree(d, shapes);
        agree(d, images);
        beyond_free(&all.beyond);
    }
    free(notes);
    return s;
}
