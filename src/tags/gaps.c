/* Each fluid cell notes on which sides it has walls. These notes, with those of adjacent cells,
 * also of neighbour ranks, show gaps of one and two cells. */
#include "tags/gaps.h"

#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "boundary.h"
#include "tags/pore_labels.h"

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
    const struct tag_row *const row = &v->rows[v->tags[n] & TAG_ROW];
    if (row->fluid || boundary_open(row->boundary))
        return ENDS;
    return !row->body ? END_wall : c->bodies[row->body - 1].image.file ? END_image : END_shape;
}

static void note_cell(struct pore_labels *l, const int at[3])
{
    const struct domain *const d = l->d;
    uint32_t notes = FLUID_CELL;
    if (!view_fluid(&d->view, view_index(&d->view, at[0], at[1], at[2])))
        return;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const int there[3] = {at[0] + (a == 0) * (2 * side - 1),
                                  at[1] + (a == 1) * (2 * side - 1),
                                  at[2] + (a == 2) * (2 * side - 1)};
            const enum end end = end_at(d, l->c, there);
            if (end != ENDS)
                notes |= note_of(end, side, a);
        }
    l->label[pore_labels_place(l, at[0], at[1], at[2])] = notes;
}

/* Notes of the two ends of the gap along an axis that contains the cell; 0: no gap. */
static uint32_t ends_of(const struct pore_labels *l, size_t place, int axis)
{
    const ptrdiff_t steps[3] = {1, (ptrdiff_t)l->row, (ptrdiff_t)l->plane};
    const uint32_t low = any_end(0, axis), high = any_end(1, axis), here = l->label[place];
    if (here & low && here & high)
        return here & (low | high);
    for (int side = 0; side < 2; side++) {
        const uint32_t there = l->label[(ptrdiff_t)place + (side ? -1 : 1) * steps[axis]];
        const uint32_t near = side ? high : low, far = side ? low : high;
        if (here & near && there & FLUID_CELL && there & far)
            return (here & near) | (there & far);
    }
    return 0;
}

/* Notes of the ends of all gaps that contain the cell; 0: no gap. */
static uint32_t gap_of(const struct pore_labels *l, size_t place)
{
    const uint32_t here = l->label[place];
    uint32_t ends[3], found = 0;
    bool open[3];
    for (int a = 0; a < 3; a++) {
        ends[a] = ends_of(l, place, a);
        open[a] = !(here & (any_end(0, a) | any_end(1, a)));
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        if (l->d->cells[a] > GAPS_AXIS && (open[b] || open[c]) && (open[b] || ends[b]) &&
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

/* Runs `body` for each cell of the block. */
#define EACH_CELL(body)                                                                            \
    for (int z = 0; z < d->view.n[2]; z++)                                                         \
        for (int y = 0; y < d->view.n[1]; y++)                                                     \
            for (int x = 0; x < d->view.n[0]; x++) {                                               \
                const int at[3] = {x, y, z};                                                       \
                body;                                                                              \
            }

enum status gaps_find(const struct domain *d, const struct flow_case *c, struct gaps *shapes,
                      struct gaps *images)
{
    struct pore_labels l = {.d = d, .c = c};
    *shapes = *images = (struct gaps){.first = INT64_MAX};
    pore_labels_size(&l);
    l.label = calloc(l.all, sizeof *l.label);
    enum status s = status_agree(
        d->comm,
        l.label ? STATUS_OK : fail_machine("out of memory for the gaps in %zu cells", l.all));
    if (!s) {
        EACH_CELL(note_cell(&l, at))
        s = pore_labels_exchange(&l);
    }
    if (!s) {
        EACH_CELL({
            const uint32_t ends = gap_of(&l, pore_labels_place(&l, x, y, z));
            if (ends & any_axis(END_shape))
                add_gap(shapes, d, at);
            else if (ends & any_axis(END_image))
                add_gap(images, d, at);
        })
        agree(d, shapes);
        agree(d, images);
    }
    pore_labels_free(&l);
    return s;
}
