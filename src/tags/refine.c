/* Levels from regions; see refine.h.
 *
 * From the finest level down: the regions of a level mark bricks, then the finer level does, whose
 * edge must keep its distance. Boxes of cells of regions are not wrapped; their cells are wrapped
 * into the case's box when they mark a brick. */
#include "tags/refine.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/box.h"
#include "base/message.h"
#include "base/signals.h"
#include "body/shape.h"
#include "tags/edges.h"
#include "tags/vicinity.h"

/* Words in one call of MPI, most. */
enum { MPI_MOST = 1 << 28 };

/* An interval of cells of an axis, wrapped: at most two pieces, of bricks lo <= brick < hi. */
struct pieces {
    int count, lo[2], hi[2];
};

/* The bricks that have cells lo <= cell < hi of an axis of n cells. */
static struct pieces wrap_pieces(int lo, int hi, int n, bool periodic)
{
    struct pieces p = {.count = 1};
    if (!periodic) {
        lo = lo < 0 ? 0 : lo;
        hi = hi > n ? n : hi;
    } else if (lo < hi) {
        const int length = (int64_t)hi - lo < n ? hi - lo : n;
        lo = length == n ? 0 : (lo % n + n) % n;
        hi = lo + length;
    }
    if (lo >= hi)
        return (struct pieces){0};
    p.lo[0] = lo / BRICK;
    p.hi[0] = ((hi < n ? hi : n) - 1) / BRICK + 1;
    if (hi > n) {
        p.lo[1] = 0;
        p.hi[1] = (hi - n - 1) / BRICK + 1;
        p.count = 2;
    }
    return p;
}

/* The same for all axes. False: there are none. */
static bool wrap_cells(const struct refined *r, int level, const struct box *b, struct pieces p[3])
{
    bool any = true;
    for (int a = 0; a < 3; a++) {
        p[a] = wrap_pieces(b->lo[a], b->hi[a], r->level[level].cells[a], r->periodic[a]);
        any = any && p[a].count;
    }
    return any;
}

/* Widens the level's bounds, in bricks, so that they hold these cells. n 0: no bounds yet. */
static void widen(struct refined *r, int level, const struct box *b)
{
    int *const first = r->level[level].first, *const n = r->level[level].n;
    struct pieces p[3];
    if (!wrap_cells(r, level, b, p))
        return;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < p[a].count; k++) {
            const int end = n[a] && first[a] + n[a] > p[a].hi[k] ? first[a] + n[a] : p[a].hi[k];
            first[a] = n[a] && first[a] < p[a].lo[k] ? first[a] : p[a].lo[k];
            n[a] = end - first[a];
        }
}

/* Index of a brick's bit. */
static size_t bit_of(const int first[3], const int n[3], int x, int y, int z)
{
    return ((size_t)(z - first[2]) * (size_t)n[1] + (size_t)(y - first[1])) * (size_t)n[0] +
           (size_t)(x - first[0]);
}

static size_t words_of(const int n[3])
{
    return ((size_t)n[0] * (size_t)n[1] * (size_t)n[2] + 63) / 64;
}

/* Marks all bricks that have one of these cells. They are inside of the level's bounds. */
static void mark_cells(struct refined *r, int level, const struct box *b)
{
    const int *const first = r->level[level].first, *const n = r->level[level].n;
    struct pieces p[3];
    if (!wrap_cells(r, level, b, p))
        return;
    for (int k = 0; k < p[2].count; k++)
        for (int z = p[2].lo[k]; z < p[2].hi[k]; z++)
            for (int j = 0; j < p[1].count; j++)
                for (int y = p[1].lo[j]; y < p[1].hi[j]; y++)
                    for (int i = 0; i < p[0].count; i++)
                        for (int x = p[0].lo[i]; x < p[0].hi[i]; x++) {
                            const size_t bit = bit_of(first, n, x, y, z);
                            r->level[level].in[bit / 64] |= (uint64_t)1 << bit % 64;
                        }
}

static int64_t count_bricks(const struct refined *r, int level)
{
    int64_t count = 0;
    for (size_t k = 0; k < words_of(r->level[level].n); k++)
        count += __builtin_popcountll(r->level[level].in[k]);
    return count;
}

/* The cells of a brick, counted from the first one of the level's bounds. */
static struct box brick_cells(const struct refined *r, int level, const int brick[3])
{
    struct box b;
    for (int a = 0; a < 3; a++) {
        const int n = r->level[level].cells[a];
        b.lo[a] = (r->level[level].first[a] + brick[a]) * BRICK;
        b.hi[a] = b.lo[a] + BRICK < n ? b.lo[a] + BRICK : n;
    }
    return b;
}

/* ---- regions ---- */

/* A region of the case on its level. */
struct region {
    const struct case_refine *what;
    struct box bounds;
    struct shape shape;   /* REFINE_shape */
    struct vicinity near; /* REFINE_around */
};

/* Bounds of the cells whose centres are between two places, in cells of the level. Along periodic
 * axes they may be outside of the box, but not without an end. */
static void put_bounds(const struct refined *r, int level, const double from[3], const double to[3],
                       struct box *b)
{
    for (int a = 0; a < 3; a++) {
        const bool open = r->periodic[a] && isfinite(from[a]) && isfinite(to[a]);
        const double least = open ? -0x1p30 : 0, most = open ? 0x1p30 : r->level[level].cells[a];
        b->lo[a] = (int)fmin(fmax(ceil(from[a] - 0.5), least), most);
        b->hi[a] = (int)fmin(fmax(floor(to[a] - 0.5) + 1, b->lo[a]), most);
    }
}

static enum status holds_nothing(const struct case_refine *what)
{
    return fail_case(what->place,
                     "refine.%s holds the centre of no cell of level %d: it is outside of the box, "
                     "or thinner than a cell (make it larger)",
                     what->name, what->level);
}

/* Collective. */
static enum status region_open(struct region *g, const struct refined *r, const struct flow_case *c,
                               const struct case_refine *what, MPI_Comm comm)
{
    const double by = ldexp(1, what->level);
    double from[3], to[3];
    *g = (struct region){.what = what};
    if (what->of == REFINE_around) {
        const enum status status =
            vicinity_create(&g->near, c, what, r->level[what->level].cells, comm);
        if (!status)
            vicinity_bounds(&g->near, g->bounds.lo, g->bounds.hi);
        return status;
    }
    for (int a = 0; a < 3; a++) { /* a flat axis has no length, so a box spans it */
        from[a] = r->flat[a] ? 0 : by * what->from[a];
        to[a] = r->flat[a] ? 1 : by * what->to[a];
    }
    if (what->of == REFINE_shape) {
        struct case_shape part = what->shape;
        const struct case_shape scaled = {
            .kind = SHAPE_union, .count = 1, .parts = &part, .scale = by};
        const enum status status =
            status_agree(comm, shape_create(&g->shape, &scaled)
                                   ? STATUS_OK
                                   : fail_machine("out of memory for the region %s", what->name));
        if (status)
            return status;
        memcpy(from, g->shape.lo, sizeof from);
        memcpy(to, g->shape.hi, sizeof to);
    }
    put_bounds(r, what->level, from, to, &g->bounds);
    return box_is_empty(&g->bounds) ? holds_nothing(what) : STATUS_OK;
}

static void region_close(struct region *g)
{
    shape_destroy(&g->shape);
    vicinity_destroy(&g->near);
}

/* Is any of these cells, not wrapped, of a brick and within the bounds, in the region? */
static bool region_has(const struct region *g, const struct box *b)
{
    uint8_t inside[BRICK] = {0};
    if (g->what->of == REFINE_around)
        return vicinity_near(&g->near, b->lo, b->hi);
    for (int z = b->lo[2]; z < b->hi[2]; z++)
        for (int y = b->lo[1]; y < b->hi[1]; y++) {
            shape_row(&g->shape, b->lo[0], b->hi[0] - b->lo[0], y, z, inside);
            for (int x = 0; x < BRICK; x++)
                if (inside[x])
                    return true;
        }
    return false;
}

/* The shifts, in lengths of the axis, at which lo <= cell < hi overlaps the region's bounds. */
static void images_of(const struct refined *r, const struct region *g, int axis, int lo, int hi,
                      int *first, int *last)
{
    const double n = r->level[g->what->level].cells[axis];
    *first = *last = 0;
    if (!r->periodic[axis])
        return;
    *first = (int)ceil(((double)g->bounds.lo[axis] - hi + 1) / n);
    *last = (int)floor(((double)g->bounds.hi[axis] - lo - 1) / n);
}

/* Is any cell of the brick, or of a periodic image of it, in the region? */
static bool brick_in(const struct refined *r, const struct region *g, const struct box *brick)
{
    const int *const n = r->level[g->what->level].cells;
    int first[3], last[3], at[3];
    for (int a = 0; a < 3; a++)
        images_of(r, g, a, brick->lo[a], brick->hi[a], &first[a], &last[a]);
    for (at[2] = first[2]; at[2] <= last[2]; at[2]++)
        for (at[1] = first[1]; at[1] <= last[1]; at[1]++)
            for (at[0] = first[0]; at[0] <= last[0]; at[0]++) {
                const int by[3] = {at[0] * n[0], at[1] * n[1], at[2] * n[2]};
                const struct box image = box_moved(brick, by, 1),
                                 b = box_common(&image, &g->bounds);
                if (!box_is_empty(&b) && region_has(g, &b))
                    return true;
            }
    return false;
}

/* Marks the bricks that have cells in the region; the ranks share the planes. *any: it has one. */
static void mark_region(struct refined *r, const struct region *g, int threads, MPI_Comm comm,
                        bool *any)
{
    const int level = g->what->level, *const n = r->level[level].n;
    uint64_t *const in = r->level[level].in;
    int rank, ranks, marked = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
#pragma omp parallel for num_threads(threads) schedule(dynamic) collapse(2) reduction(| : marked)
    for (int z = rank; z < n[2]; z += ranks)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0] && !signals_number(); x++) {
                const struct box brick = brick_cells(r, level, (const int[3]){x, y, z});
                const size_t bit =
                    ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
                if (!brick_in(r, g, &brick))
                    continue;
                marked = 1;
#pragma omp atomic
                in[bit / 64] |= (uint64_t)1 << bit % 64;
            }
    MPI_Allreduce(MPI_IN_PLACE, &marked, 1, MPI_INT, MPI_LOR, comm);
    *any = marked;
}

/* Joins the marks of all ranks. */
static void share_marks(struct refined *r, int level, MPI_Comm comm)
{
    const size_t words = words_of(r->level[level].n), most = MPI_MOST;
    for (size_t k = 0; k < words; k += most)
        MPI_Allreduce(MPI_IN_PLACE, r->level[level].in + k,
                      (int)(words - k < most ? words - k : most), MPI_UINT64_T, MPI_BOR, comm);
}

/* ---- levels ---- */

/* The cells of a level that a part of the next finer one needs around it. fine: cells of the finer
 * level. */
static struct box around_finer(const struct box *fine)
{
    struct box b;
    for (int a = 0; a < 3; a++) {
        b.lo[a] = fine->lo[a] / 2 - REFINE_APART;
        b.hi[a] = (fine->hi[a] + 1) / 2 + REFINE_APART;
    }
    return b;
}

/* Runs `body` for each brick of a level; b: its cells. */
#define EACH_BRICK(r, level_, body)                                                                \
    for (int z = 0; z < (r)->level[level_].n[2]; z++)                                              \
        for (int y = 0; y < (r)->level[level_].n[1]; y++)                                          \
            for (int x = 0; x < (r)->level[level_].n[0]; x++) {                                    \
                const struct box b = brick_cells(r, level_, (const int[3]){x, y, z});              \
                if (refined_holds(r, level_, b.lo[0], b.lo[1], b.lo[2]))                           \
                    body;                                                                          \
            }

static void grow(struct refined *r, int level)
{
    EACH_BRICK(r, level + 1, {
        const struct box near = around_finer(&b);
        mark_cells(r, level, &near);
    })
}

/* Allocates the bricks within the level's bounds. */
static enum status make_room(struct refined *r, int level)
{
    const int *const n = r->level[level].n;
    r->level[level].in = calloc(words_of(n), sizeof *r->level[level].in);
    if (!r->level[level].in)
        return fail_machine("out of memory for %d x %d x %d bricks of level %d", n[0], n[1], n[2],
                            level);
    return STATUS_OK;
}

/* Reduces the bounds to the bricks that are in the level. */
static enum status shrink(struct refined *r, int level)
{
    struct refined wide = *r;
    struct box all = {{INT_MAX, INT_MAX, INT_MAX}, {0, 0, 0}};
    EACH_BRICK(r, level, {
        for (int a = 0; a < 3; a++) {
            all.lo[a] = b.lo[a] < all.lo[a] ? b.lo[a] : all.lo[a];
            all.hi[a] = b.hi[a] > all.hi[a] ? b.hi[a] : all.hi[a];
        }
    })
    for (int a = 0; a < 3; a++) {
        r->level[level].lo[a] = all.lo[a];
        r->level[level].hi[a] = all.hi[a];
        r->level[level].first[a] = all.lo[a] / BRICK;
        r->level[level].n[a] = (all.hi[a] - 1) / BRICK + 1 - all.lo[a] / BRICK;
    }
    const enum status status = make_room(r, level);
    if (status) {
        r->level[level] = wide.level[level];
        return status;
    }
    EACH_BRICK(&wide, level, mark_cells(r, level, &b))
    free(wide.level[level].in);
    return STATUS_OK;
}

/* Marks the bricks of the level's regions. */
static enum status mark_regions(struct refined *r, const struct region *region, int regions,
                                int level, int threads, MPI_Comm comm)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < regions && !status; k++) {
        bool any = true;
        if (region[k].what->of == REFINE_box)
            mark_cells(r, level, &region[k].bounds);
        else
            mark_region(r, &region[k], threads, comm, &any);
        status = stop_agree(comm);
        if (!status && !any)
            status = holds_nothing(region[k].what);
    }
    if (!status)
        share_marks(r, level, comm);
    return status;
}

/* Sets the level's bounds, and makes its bricks. */
static enum status fill_level(struct refined *r, const struct region *region, int regions,
                              int level, int threads, MPI_Comm comm)
{
    for (int k = 0; k < regions; k++)
        widen(r, level, &region[k].bounds);
    if (level + 1 < r->levels) {
        struct box finer;
        memcpy(finer.lo, r->level[level + 1].lo, sizeof finer.lo);
        memcpy(finer.hi, r->level[level + 1].hi, sizeof finer.hi);
        finer = around_finer(&finer);
        widen(r, level, &finer);
    }
    enum status status = status_agree(comm, make_room(r, level));
    if (!status)
        status = mark_regions(r, region, regions, level, threads, comm);
    if (status)
        return status;
    const int64_t own = count_bricks(r, level);
    if (level + 1 < r->levels)
        grow(r, level);
    r->level[level].bricks = count_bricks(r, level);
    r->level[level].grown = r->level[level].bricks - own;
    status = stop_agree(comm);
    if (!status)
        status = status_agree(comm, shrink(r, level));
    return status ? status : stop_agree(comm);
}

/* Makes a level, after the next finer one. */
static enum status make_level(struct refined *r, const struct flow_case *c, int level,
                              MPI_Comm comm)
{
    int regions = 0;
    struct region *const region = calloc((size_t)c->refine_count, sizeof *region);
    enum status status = status_agree(
        comm, region ? STATUS_OK : fail_machine("out of memory for %d regions", c->refine_count));
    for (int k = 0; k < c->refine_count && !status; k++)
        if (c->refines[k].level == level)
            status = region_open(&region[regions++], r, c, &c->refines[k], comm);
    if (!status)
        status = fill_level(r, region, regions, level, case_threads(c), comm);
    for (int k = 0; k < regions; k++)
        region_close(&region[k]);
    free(region);
    return status;
}

static enum status size_levels(struct refined *r, const struct flow_case *c)
{
    for (int k = 0; k < c->refine_count; k++)
        r->levels = c->refines[k].level >= r->levels ? c->refines[k].level + 1 : r->levels;
    assert(r->levels <= LEVELS);
    for (int level = 1; level < r->levels; level++)
        for (int a = 0; a < 3; a++) {
            if (c->cells[a] > INT_MAX >> (level + 1))
                return fail_user("level %d has more than %d cells along %c (fewer levels, or fewer "
                                 "cells)",
                                 level, INT_MAX / 2, "xyz"[a]);
            r->level[level].cells[a] = c->cells[a] << case_halved(c, level, a);
        }
    const int *const n = r->level[r->levels - 1].cells;
    if (r->levels > 1 && (double)n[0] * n[1] * n[2] > (double)(INT64_MAX / (2 * Q)))
        return fail_user(
            "one grid of the cells of level %d would have %.2g cells, more than can be "
            "numbered (fewer levels, or fewer cells)",
            r->levels - 1, (double)n[0] * n[1] * n[2]);
    return STATUS_OK;
}

enum status refine_make(struct refined *r, const struct flow_case *c, MPI_Comm comm)
{
    bool periodic[3];
    for (int a = 0; a < 3; a++)
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    refined_none(r, c->cells, periodic);
    r->regions = c->refine_count;
    r->region = c->refines;
    enum status status = size_levels(r, c);
    for (int level = r->levels - 1; level > 0 && !status; level--)
        status = make_level(r, c, level, comm);
    if (!status)
        status = status_agree(comm, edges_fit(r, c));
    if (!status)
        edges_advise(r, c);
    if (status)
        refined_destroy(r);
    return status;
}
