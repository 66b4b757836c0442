/* Where each population is stored; no other file knows. Esoteric Pull (Lehmann, Computation 10:92,
 * 2022): one copy of the populations, streamed in place:
 *
 *   load   f_i      from slot (odd step ? i : opposite(i))   of cell n (i odd)  or n - c_i (i even)
 *   store  f*_i     to   slot (odd step ? opposite(i) : i)   of cell n + c_i (i odd)  or n (i even)
 *
 * Hence store(t, i, n) == load(t + 1, i, n + c_i), which is the streaming. In one step a cell
 * stores f*_i where it loaded f_opposite(i), and no other cell uses that slot: cells may be updated
 * in any order, without races.
 *
 * A link i of n whose upstream cell n - c_i is not fluid loads from load(t, opposite(i), n - c_i):
 * the same cell, the *other* slot of the pair. It finds what n stored into the wall at the previous
 * step: bounce-back with the wall half-way in space and in time. */
#ifndef TAGFLOW_SLOT_H
#define TAGFLOW_SLOT_H

#include <stddef.h>

#include "lattice.h"
#include "platform.h"
#include "tag.h"

/* A cell of the list beside surfaces, see surface.h: fluid, or it conducts a scalar. */
struct near_cell {
    int32_t at[3];  /* coordinates in the block */
    uint32_t links; /* bit i: population i comes from a cell that is not fluid */
    uint32_t first; /* first of its crossings: one per bit set in `links`, in order */
};

/* One kind of populations, which are stored in fluid cells and stream. */
struct population_set {
    void *populations; /* [q][stride]; set SET_flow: f_i - w_i, see stored.h */
    size_t stride;     /* elements between slots */
    uint8_t q;         /* populations of a cell: velocities 0 .. q - 1 of the lattice */
    uint8_t bits;      /* bits of an element */
};
enum { SET_flow = 0, SETS = 7 };

/* Numbers of 32 cells or links that have a place: bit k of `bits` is set if the k-th has one, and
 * places are numbered in order from `first`. See view_place. */
struct place_word {
    TAGFLOW_ALIGNED(8) uint32_t bits; /* a GPU loads both at once */
    uint32_t first;
};

/* The list of cells beside surfaces. */
struct surface_list {
    const struct near_cell *cell; /* [count] */
    const float *crossing;        /* [crossings] where links meet the surface: fraction of the
                                   * link from the cell */
    const float *facing;          /* [crossings] component along the link, one of an axis, of
                                   * the surface's unit normal; NULL: no wall is oblique */
    const float *speed;           /* [crossings] of links into caps: of a velocity, what the cap
                                   * gives, along its normal; else 1; NULL: there are no caps */
    size_t count, crossings;
};

/* A set of cell types: bit (type % 32) of word [type / 32]. */
struct type_set {
    uint32_t word[TAG_ROWS / 32];
};

/* Parameters for kernels of scalars, beside the sets. */
struct scalar_physics {
    const struct scalar_row *row; /* [sets - 1][TAG_ROWS] of the sets after the flow; NULL: they are
                                   * no scalars */
    double gravity[3];            /* of buoyancy */
    double mean_flow[3];          /* mean velocity of the fluid, for scalars with a mean gradient */
    struct {
        double least, most;
    } range[SETS]; /* of scalars with the limiter: its bounds, relative to the reference */
    /* From view_derive: */
    struct type_set holding; /* cell types: not fluid, but they hold scalars, HOLDS_swept */
    int any_holding;         /* there are such types */
    int lifts;               /* scalars make buoyancy */
    int walls;               /* walls give something to scalars */
};

/* Lifted rows, of a GPU: a row of n = K L owned cells is K lines of L cells. Cell x lies in
 * line x % K, at place x / K: the neighbour at x + 1 has the same place in the next line.
 *
 *   x = 0  K  2K  ...  | 1  K+1  2K+1  ... | ... | K-1  2K-1  ...  n-1 |        K lines
 *
 * A cell's position counts these from 0 on. Cells 0 and n - 1 have positions 0 and n - 1. Ghost
 * cells at both ends of a row lie as in plain rows. See docs/gpu.md. */
struct lifted_rows {
    int lines;        /* K; plain: 1 */
    int line;         /* L, a power of two; plain: 1 */
    int bits;         /* 2^bits = L; plain: 31 */
    int back;         /* K L - 1; plain: 0 */
    uint32_t inverse; /* 2^32 / K, rounded up, which divides by K; plain: 0 */
    int first, last;  /* positions of the first cells of lines 1 and K - 1; plain: before and after
                       * all positions */
    int32_t up[2];    /* index steps to x + 1: before `last`, from there on */
    int32_t down[2];  /* to x - 1: from `first` on, before it */
};
/* Longest lifted row: `inverse` divides exactly. */
enum { LIFTED_MOST = 65536 };

/* One rank's block of cells with its sets of populations: all that a kernel needs, passed by value.
 *
 * Owned cells are (0,0,0) to (n-1). An axis with ghost = 1 has one more layer on both sides
 * (neighbour rank or wall). An axis with ghost = 0 is periodic within the block: indices wrap. */
struct view {
    struct population_set set[SETS];
    int sets;                   /* number of sets in use */
    const uint8_t *tags;        /* [cells] */
    const struct tag_row *rows; /* [TAG_ROWS] */
    const double *table;        /* [table_values] profiles etc.; cell types hold indices */
    size_t table_values;
    struct surface_list near;
    int lo[3]; /* coordinates in the whole box of owned cell (0,0,0) */
    const struct place_word
        *place;                    /* [place_words] of cells; NULL: place = index, see view_place */
    const struct place_word *link; /* [Q / 2][link_words] of links into cells that are not fluid */
    size_t place_words, link_words;
    size_t cells;         /* cells of the block, with ghost layers and padding: size of `tags` */
    size_t origin;        /* index of owned cell (0,0,0) */
    ptrdiff_t row, plane; /* index steps along y and z; along x it is 1, but see `lifted` */
    int n[3];
    int ghost[3];
    double signal[SIGNALS]; /* time functions at this step, see tag.h */
    double *layers; /* velocities of neighbour ranks' cells beside the block, see curl.h; or NULL */
    /* For kernels, from view_derive: */
    struct type_set swept, solid; /* cell types: fluid that the kernel for boxes steps; not fluid */
    struct type_set pushing;      /* cell types: walls whose rule changes populations */
    int early;                    /* load populations before the kind is known */
    int seam[3][2];               /* owned coordinates whose neighbours wrap; -1: none */
    ptrdiff_t across[3];          /* index difference between them */
    struct lifted_rows lifted;    /* with them seam[0] are positions, and ghost cells beside a row
                                   * count as a wrap: across[0] is -1 */
    struct scalar_physics scalars;
};

/* The flow's slots at a step. For each pair (i, i + 1) of directions, numbered from 0, `own` is the
 * slot from which a cell loads f_i, at the cell itself, and `next` the slot from which it loads
 * f_{i+1}, at its neighbour at c_i. A link whose upstream cell is not fluid loads from the other
 * one of these two slots, at the same cell. Stores go to the same two slots: f*_{i+1} to `own`,
 * f*_i to `next`. */
struct slots {
    void *rest, *own[9], *next[9];
};

/* Index of a cell: 32-bit on GPUs, where differences wrap. */
#ifdef TAGFLOW_GPU
typedef uint32_t cell_index;
#else
typedef size_t cell_index;
#endif

/* Owned or ghost cells lo <= (x, y, z) < hi of a view. */
struct box {
    int lo[3], hi[3];
};

TAGFLOW_FN size_t box_cells(const struct box *b)
{
    size_t cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= b->hi[a] > b->lo[a] ? (size_t)(b->hi[a] - b->lo[a]) : 0;
    return cells;
}

/* Coordinates of cell n of a box, x fastest. */
struct coordinates {
    int x, y, z;
};
TAGFLOW_FN struct coordinates box_cell(const struct box *b, size_t n)
{
    const cell_index nx = (cell_index)(b->hi[0] - b->lo[0]), ny = (cell_index)(b->hi[1] - b->lo[1]);
    const cell_index cell = (cell_index)n, row = cell / nx;
    const struct coordinates c = {b->lo[0] + (int)(cell % nx), b->lo[1] + (int)(row % ny),
                                  b->lo[2] + (int)(row / ny)};
    return c;
}

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

/* Coordinate a along an axis, wrapped if the axis is periodic within the block. */
TAGFLOW_FN int view_wrap(const struct view *v, int axis, int a)
{
    if (v->ghost[axis])
        return a;
    return a < 0 ? a + v->n[axis] : a >= v->n[axis] ? a - v->n[axis] : a;
}

/* Rows begin at multiples of these bytes of the flow's populations: of a sector, the least that a
 * GPU moves; long rows on GPUs of a line, so that a warp's access touches one line, not two. */
enum { ROW_BYTES = 32, GPU_ROW_BYTES = 128 };

/* Lays out the cells of a block with n and ghost set. In each row the index of owned cell 0 is a
 * multiple of `align`. A ghost cell x = -1 is the last cell of the padding before it:
 *
 *   | 0  1  2  ...  n - 1  n  .  .  -1 | 0  1  2  ...
 */
TAGFLOW_FN void view_lay_out(struct view *v, size_t align)
{
    const size_t row = (size_t)v->n[0] + 2 * (size_t)v->ghost[0];
    const size_t before = v->ghost[0] ? align : 0;
    v->row = (ptrdiff_t)((row + align - 1) / align * align);
    v->plane = v->row * (v->n[1] + 2 * v->ghost[1]);
    v->origin = before + (size_t)(v->ghost[1] * v->row + v->ghost[2] * v->plane);
    v->cells = before + (size_t)v->plane * ((size_t)v->n[2] + 2 * (size_t)v->ghost[2]);
}

/* Index of the first cell of the first row, ghost cells included. */
TAGFLOW_FN size_t view_first(const struct view *v)
{
    return v->origin - (size_t)(v->ghost[0] + v->ghost[1] * v->row + v->ghost[2] * v->plane);
}

/* Position of an owned cell in a lifted row. */
TAGFLOW_FN int lifted_position(const struct lifted_rows *l, int x)
{
    const int place = (int)((uint64_t)(uint32_t)x * l->inverse >> 32);
    return (x - place * l->lines) * l->line + place;
}

/* Position of a cell in its row. Only code for GPUs knows lifted rows. */
TAGFLOW_FN int row_position(const struct view *v, int x)
{
#ifdef TAGFLOW_LIFTED
    const int owned = x >= 0 && x < v->n[0];
    const int position = lifted_position(&v->lifted, owned ? x : 0);
    return owned ? position : x; /* ghost cells */
#else
    (void)v;
    return x;
#endif
}

/* The owned cell at a position. */
TAGFLOW_FN int row_x(const struct view *v, int position)
{
#ifdef TAGFLOW_LIFTED
    return position * v->lifted.lines - (position >> v->lifted.bits) * v->lifted.back;
#else
    (void)v;
    return position;
#endif
}

/* Index of a cell of the block, or of one at most one cell beyond it: in a ghost layer, or wrapped.
 */
TAGFLOW_FN cell_index view_index(const struct view *v, int x, int y, int z)
{
    return (cell_index)v->origin + (cell_index)row_position(v, view_wrap(v, 0, x)) +
           (cell_index)view_wrap(v, 1, y) * (cell_index)v->row +
           (cell_index)view_wrap(v, 2, z) * (cell_index)v->plane;
}

/* Index of the owned cell at a position of row (y, z). */
TAGFLOW_FN cell_index position_index(const struct view *v, int position, int y, int z)
{
    return (cell_index)v->origin + (cell_index)position + (cell_index)y * (cell_index)v->row +
           (cell_index)z * (cell_index)v->plane;
}

/* Index of an owned cell in arrays of the host, which has plain rows. */
TAGFLOW_FN cell_index host_index(const struct view *v, int x, int y, int z)
{
    return position_index(v, x, y, z);
}

/* Index of an owned cell. */
TAGFLOW_FN cell_index owned_index(const struct view *v, int x, int y, int z)
{
    return position_index(v, row_position(v, x), y, z);
}

/* Has cell or link k a place, and which? w: the word of k. */
TAGFLOW_FN int word_has(struct place_word w, cell_index k)
{
    return (int)(w.bits >> k % 32 & 1);
}

TAGFLOW_FN cell_index word_place(struct place_word w, cell_index k)
{
    return (cell_index)w.first + (cell_index)TAGFLOW_POPCOUNT(w.bits & ((1u << k % 32) - 1));
}

/* Place of a cell within each slot. Normally the place is the cell's index. Where much of a block
 * is solid, only fluid cells have places, numbered in the order of their indices: so the place of
 * x + 1 follows the place of x if both are fluid.
 *
 * A fluid cell n keeps populations of the pair (i, i + 1) also at its neighbour at c_i. If that
 * neighbour is not fluid, the link has a place of its own, behind those of the cells. For each pair
 * these links are numbered in the order of n (domain/sparse.h). */
TAGFLOW_FN int has_place(const struct place_word *words, cell_index k)
{
    return word_has(words[k / 32], k);
}

TAGFLOW_FN cell_index place_in(const struct place_word *words, cell_index k)
{
    return word_place(words[k / 32], k);
}

/* Place of a fluid cell. */
TAGFLOW_FN cell_index view_place(const struct view *v, cell_index cell)
{
    return v->place ? place_in(v->place, cell) : cell;
}

/* Place at which the fluid cell with place `own` keeps populations of a pair at its neighbour m.
 * Only for views with places. */
TAGFLOW_FN cell_index sparse_next(const struct view *v, int pair, cell_index own, cell_index m)
{
    return has_place(v->place, m) ? place_in(v->place, m)
                                  : place_in(v->link + (size_t)pair * v->link_words, own);
}

/* The same for any view and cell (x, y, z), whose neighbour is at c_i, i = 2 pair + 1. */
TAGFLOW_FN cell_index next_place(const struct view *v, int pair, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int *const to = c[2 * pair + 1];
    const cell_index m = view_index(v, x + to[0], y + to[1], z + to[2]);
    if (!v->place)
        return m;
    return has_place(v->place, m) ? place_in(v->place, m)
                                  : sparse_next(v, pair, view_place(v, view_index(v, x, y, z)), m);
}

/* Place of a pair's populations at the cell (x, y, z), which may be one that is not fluid, beyond a
 * link of its neighbour at - c_i, i = 2 pair + 1. */
TAGFLOW_FN cell_index pair_place(const struct view *v, int pair, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int *const to = c[2 * pair + 1];
    const cell_index n = view_index(v, x, y, z);
    if (!v->place || has_place(v->place, n))
        return view_place(v, n);
    return next_place(v, pair, x - to[0], y - to[1], z - to[2]);
}

/* Index differences from an owned cell to its neighbours, wrapped where the axis wraps. */
struct around {
    cell_index up[3], down[3];
};

/* Index steps along x in a line. In a kernel's argument: a cell_index has another size on the host.
 */
struct line_steps {
    int32_t up, down;
};

/* In the line of a position. */
TAGFLOW_FN struct line_steps line_steps(const struct view *v, int position)
{
    struct line_steps s = {1, -1};
#ifdef TAGFLOW_LIFTED
    s.up = position < v->lifted.last ? v->lifted.up[0] : v->lifted.up[1];
    s.down = position >= v->lifted.first ? v->lifted.down[0] : v->lifted.down[1];
#else
    (void)v, (void)position;
#endif
    return s;
}

/* Of the cell at a position of row (y, z), in whose line these are the steps. */
TAGFLOW_FN struct around position_around(const struct view *v, struct line_steps line, int position,
                                         int y, int z)
{
    const int at[3] = {position, y, z};
    const cell_index up[3] = {(cell_index)line.up, (cell_index)v->row, (cell_index)v->plane};
    const cell_index down[3] = {(cell_index)line.down, 0 - (cell_index)v->row,
                                0 - (cell_index)v->plane};
    struct around a;
    for (int axis = 0; axis < 3; axis++) {
        a.up[axis] = at[axis] == v->seam[axis][1] ? 0 - (cell_index)v->across[axis] : up[axis];
        a.down[axis] = at[axis] == v->seam[axis][0] ? (cell_index)v->across[axis] : down[axis];
    }
    return a;
}

TAGFLOW_FN struct around around(const struct view *v, int x, int y, int z)
{
    const int position = row_position(v, x);
    return position_around(v, line_steps(v, position), position, y, z);
}

/* Index difference to the neighbour at (cx, cy, cz). */
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

/* Places of an owned cell and of its neighbours at c_i of odd i, [i / 2]. */
struct places {
    cell_index own, next[9];
};

/* Places in a view in which every cell has one. */
TAGFLOW_FN struct places places_of(cell_index n, const struct around *a)
{
    struct places p;
    p.own = n;
#define X(i, j, cx, cy, cz, weight) p.next[i / 2] = n + neighbour(a, cx, cy, cz);
    PAIR_LIST(X)
#undef X
    return p;
}

/* The same where only fluid cells have places; own: of fluid cell n; beside: some of its links lead
 * into cells that are not fluid. For GPUs: all words are loaded before one is looked at, so a cell
 * waits once. In a cell that is not beside walls x + 1 follows x in all rows, unless the row wraps
 * between them: this saves three words of nine. */
TAGFLOW_FN struct places sparse_places(const struct view *v, cell_index n, const struct around *a,
                                       cell_index own, int beside)
{
    const int plain = !beside && a->up[0] == 1;
    const struct place_word none = {0, 0};
    struct place_word word[Q / 2], link[Q / 2];
    struct places p;
    p.own = own;
#define X(i, j, cx, cy, cz, weight)                                                                \
    p.next[i / 2] = n + neighbour(a, cx, cy, cz);                                                  \
    word[i / 2] = link[i / 2] = none;                                                              \
    if (!plain || cx == 0 || cy + cz < 0)                                                          \
        word[i / 2] = v->place[p.next[i / 2] / 32];
    PAIR_LIST(X)
#undef X
    for (int k = 0; k < Q / 2 && beside; k++)
        link[k] = v->link[(size_t)k * v->link_words + own / 32];
    for (int k = 0; k < Q / 2; k++) {
        TAGFLOW_FORGET(word[k].bits);
        TAGFLOW_FORGET(link[k].bits);
    }
    for (int k = 0; k < Q / 2; k++) {
        const int here = plain | word_has(word[k], p.next[k]);
        p.next[k] = word_place(here ? word[k] : link[k], here ? p.next[k] : own);
    }
    if (plain) {
        p.next[0] = p.own + 1;     /* c_1 = (1, 0, 0) */
        p.next[3] = p.next[1] + 1; /* c_7 = (1, 1, 0), c_3 = (0, 1, 0) */
        p.next[4] = p.next[2] + 1; /* c_9 = (1, 0, 1), c_5 = (0, 0, 1) */
    }
    return p;
}

/* Place from which population i of cell (x, y, z) is loaded, in either slot of its pair. */
TAGFLOW_FN cell_index load_place(const struct view *v, int i, int x, int y, int z)
{
    return i == 0  ? view_place(v, view_index(v, x, y, z))
           : i & 1 ? pair_place(v, i / 2, x, y, z)
                   : next_place(v, i / 2 - 1, x, y, z);
}

/* Offset, in elements from the start of the set's populations, from which population i of cell (x,
 * y, z) is loaded at an odd or even step. `bounce`: the link's upstream cell is not fluid. */
TAGFLOW_FN size_t load_address(const struct view *v, int set, int odd, int i, int x, int y, int z,
                               int bounce)
{
    const int slot = slot_load(odd, bounce ? opposite(i) : i);
    return (size_t)slot * v->set[set].stride + load_place(v, i, x, y, z);
}

/* Offset, in the same units, to which the collided population i is stored. */
TAGFLOW_FN size_t store_address(const struct view *v, int set, int odd, int i, int x, int y, int z)
{
    const cell_index place =
        i & 1 ? next_place(v, i / 2, x, y, z) : view_place(v, view_index(v, x, y, z));
    return (size_t)slot_store(odd, i) * v->set[set].stride + place;
}

/* The same element of a set in a view whose rows are lifted, for an offset in plain rows. */
TAGFLOW_FN uint64_t lifted_address(const struct view *v, int set, uint64_t at)
{
    const uint64_t stride = v->set[set].stride, place = at % stride;
    const uint64_t first = view_first(v) + (uint64_t)v->ghost[0]; /* cell 0 of the first row */
    const uint64_t x = place < first ? UINT64_MAX : (place - first) % (uint64_t)v->row;
    return x < (uint64_t)v->n[0] ? at - x + (uint64_t)lifted_position(&v->lifted, (int)x) : at;
}

/* The flow's slots at an odd or even step, for populations of `bytes` each. */
TAGFLOW_FN struct slots slots_at(const struct view *v, int odd, size_t bytes)
{
    char *const f = (char *)v->set[SET_flow].populations;
    const size_t stride = v->set[SET_flow].stride;
    struct slots s;
    s.rest = f;
    for (int i = 1; i < Q; i += 2) {
        s.own[i / 2] = f + (size_t)slot_load(odd, i) * stride * bytes;
        s.next[i / 2] = f + (size_t)slot_load(odd, i + 1) * stride * bytes;
    }
    return s;
}

/* The slot from which population i > 0 is loaded if its link comes from fluid. */
TAGFLOW_FN const void *load_slot(const struct slots *s, int i)
{
    return i & 1 ? s->own[i / 2] : s->next[i / 2 - 1];
}

TAGFLOW_FN int type_in(const struct type_set *set, int tag)
{
    const int type = tag & TAG_ROW;
    return (int)(set->word[type / 32] >> type % 32 & 1);
}

TAGFLOW_FN int view_fluid(const struct view *v, size_t cell)
{
    return v->rows[v->tags[cell] & TAG_ROW].fluid != FLUID_none;
}

/* Body force per mass at this step in cells of this type. */
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
