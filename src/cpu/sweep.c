/* Several steps in one sweep over memory (temporal blocking).
 *
 * A cell may make step s + 1 as soon as it and its 18 neighbours have made step s: a population's
 * slot passes between the two cells of a link alone, one step after the other (include/slot.h). No
 * order of cells that keeps this rule changes a bit.
 *
 * A sweep goes along an axis, normally z. At its position w it makes step 0 of plane w, then step 1
 * of plane w - 1, and so on: the planes w - steps to w stay in the cache. So that they fit, it
 * takes some rows of the planes at a time, a tile. Each step's rows lie one below those of the step
 * before:
 *
 *            tile 0    tile 1    tile 2
 *   step 0  |---------|---------|---------|
 *   step 1  |--------|---------|----------|
 *   step 2  |-------|---------|-----------|
 *
 * Threads have slabs of planes. A thread does not wait for its neighbours: each step leaves out one
 * more plane at a cut between two slabs. After all threads have done this, a second pass makes what
 * is missing at the cuts, step s of the planes cut - s to cut + s - 1:
 *
 *   step 2  |             /----\             |      first pass outside, second pass inside
 *   step 1  |            /------\            |
 *   step 0  |-----------|--------|-----------|
 *
 * Where the axis is periodic within the block, its end is a cut, too. Along the other axis the last
 * tile of a periodic block does the same. At faces where ranks exchange halos, each step leaves out
 * one more layer, too: the solver makes these when their neighbours' messages are there. */
#include "cpu/sweep.h"

#include <assert.h>

#include <omp.h>

/* Sweeps of several steps pay for blocks of so many times the last-level cache (docs/lab/speed.md);
 * a host with one busy thread does not wait for memory long enough. */
static const double caches_least = 16;
/* Share of a thread's part of the last-level cache that the planes of a tile may take. */
static const double cache_room = 0.5;
/* Least length of a tile's rows in each of the 19 streams, in bytes. Shorter ones, which the
 * second-level cache would hold, are slower: the processor's prefetch begins anew in each. */
static const double stream_least = 32 * 1024;
/* Fewest planes of a thread for each step of a sweep, unless the user wants more steps. */
static const int planes_least = 4;

/* Rows [lo, hi) or planes, of a step. */
struct row_range {
    int lo, hi;
};

/* A sweep on its way. */
struct sweeper {
    cpu_kernel *step;
    const struct view *v;    /* [steps] */
    const struct box *cells; /* [steps] */
    const struct runs *runs;
    int odd, steps;
    int along, across; /* axes: of the planes, of the rows */
    int planes, rows;  /* numbers of them */
    int tile, tiles;   /* rows of a tile; number of tiles */
    int closes;        /* the rows wrap, and there are several tiles: one more tile closes */
};

/* Makes step s of some rows of some planes. Both ranges may reach beyond an end that wraps. */
static void make_piece(const struct sweeper *w, int s, struct row_range planes,
                       struct row_range rows)
{
    const int axis[2] = {w->along, w->across}, n[2] = {w->planes, w->rows};
    const struct row_range all[2] = {planes, rows};
    const struct task task = {.odd = (w->odd + s) & 1};
    for (int part = 0; part < 4; part++) { /* bit k: the part of range k that lies beyond its end */
        struct box b = {{w->cells[s].lo[0], 0, 0}, {w->cells[s].hi[0], 1, 1}};
        for (int k = 0; k < 2; k++) {
            const int shift = all[k].lo < 0 ? n[k] : 0;
            const int lo = all[k].lo + shift, hi = all[k].hi + shift;
            const int beyond = part >> k & 1;
            b.lo[axis[k]] = beyond ? 0 : lo;
            b.hi[axis[k]] = beyond ? hi - n[k] : hi < n[k] ? hi : n[k];
        }
        if (box_cells(&b) > 0)
            w->step(&w->v[s], w->runs, &b, task);
    }
}

/* Rows of a tile at step s; the last one closes. */
static struct row_range tile_rows(const struct sweeper *w, int tile, int s)
{
    const int low = w->closes ? s : w->cells[s].lo[w->across],
              high = w->closes ? w->rows - s : w->cells[s].hi[w->across];
    if (tile == w->tiles)
        return (struct row_range){high, s == 0 ? high : w->rows + s};
    struct row_range r = {tile * w->tile - s, (tile + 1) * w->tile - s};
    r.lo = tile == 0 || r.lo < low ? low : r.lo;
    r.hi = tile == w->tiles - 1 ? high : r.hi < low ? low : r.hi;
    return r;
}

/* The first pass: a slab of planes; cut: at its ends. */
static void sweep_slab(const struct sweeper *w, struct row_range slab, const bool cut[2])
{
    for (int tile = 0; tile < w->tiles + w->closes; tile++)
        for (int at = slab.lo; at < slab.hi + w->steps - 1; at++)
            for (int s = 0; s < w->steps; s++) {
                const int plane = at - s;
                const int *const lo = w->cells[s].lo, *const hi = w->cells[s].hi;
                if (plane >= slab.lo + (cut[0] ? s : 0) && plane < slab.hi - (cut[1] ? s : 0) &&
                    plane >= lo[w->along] && plane < hi[w->along])
                    make_piece(w, s, (struct row_range){plane, plane + 1}, tile_rows(w, tile, s));
            }
}

/* The second pass, at a cut before plane `at`. */
static void fill_cut(const struct sweeper *w, int at)
{
    for (int tile = 0; tile < w->tiles + w->closes; tile++)
        for (int s = 1; s < w->steps; s++) {
            assert(at - s >= (at > 0 ? w->cells[s].lo[w->along] : -s) &&
                   at + s <= w->cells[s].hi[w->along]); /* sweep_possible */
            make_piece(w, s, (struct row_range){at - s, at + s}, tile_rows(w, tile, s));
        }
}

void sweep_steps(const struct sweep *sweep, cpu_kernel *step, const struct view *v,
                 const struct box *cells, const struct runs *runs, int odd, int steps)
{
    const int across = sweep->along == 2 ? 1 : 2;
    const bool wraps = !v->ghost[sweep->along];
    struct sweeper w = {
        .step = step,
        .v = v,
        .cells = cells,
        .runs = runs,
        .odd = odd,
        .steps = steps,
        .along = sweep->along,
        .across = across,
        .planes = v->n[sweep->along],
        .rows = v->n[across],
        .tile = sweep->rows,
    };
    w.tiles = (w.rows + w.tile - 1) / w.tile;
    w.closes = w.tiles > 1 && !v->ghost[across];
#pragma omp parallel
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const struct row_range slab = {(int)((long)w.planes * thread / threads),
                                       (int)((long)w.planes * (thread + 1) / threads)};
        const bool cut[2] = {thread > 0 || wraps, thread + 1 < threads || wraps};
        sweep_slab(&w, slab, cut);
#pragma omp barrier
        if (cut[0])
            fill_cut(&w, slab.lo);
    }
}

bool sweep_possible(const struct sweep *sweep, const struct view *v, int threads)
{
    const int across = sweep->along == 2 ? 1 : 2, margin = 2 * (sweep->steps - 1);
    const bool cut = threads > 1 || !v->ghost[sweep->along];
    const bool closes = sweep->rows < v->n[across] && !v->ghost[across];
    return (!cut || v->n[sweep->along] / threads >= margin) && (!closes || v->n[across] >= margin);
}

/* Bytes of all populations in a cell. */
static double cell_bytes(const struct view *v)
{
    double bytes = 0;
    for (int k = 0; k < v->sets; k++)
        bytes += (double)set_cell_bytes(&v->set[k]);
    return bytes;
}

/* Rows of a tile so that steps + 1 planes of it fit into a thread's part of the cache; 0: they are
 * too few. */
static int tile_fits(const struct sweep *s, const struct view *v, double cache)
{
    const int rows = v->n[s->along == 2 ? 1 : 2];
    const double stream = (double)v->row * v->set[SET_flow].bits / 8; /* bytes of a row in each */
    const double most = cache_room * cache / ((double)v->row * cell_bytes(v) * (s->steps + 1));
    if (most >= rows)
        return rows;
    return most * stream >= stream_least ? (int)most : 0;
}

struct sweep sweep_choose(const struct view *v, int threads, int ranks, double cache, int wanted)
{
    struct sweep s = {.steps = 1, .along = v->n[2] > 1 ? 2 : 1};
    const int planes = v->n[s.along];
    const double bytes = (double)v->set[SET_flow].stride * cell_bytes(v);
    s.rows = v->n[s.along == 2 ? 1 : 2];
    if (v->place || wanted == 1 ||
        (!wanted && (threads * ranks == 1 || cache <= 0 || bytes < caches_least * cache)))
        return s;
    for (s.steps = wanted ? wanted : SWEEP_STEPS; s.steps > 1; s.steps--) {
        const int rows = tile_fits(&s, v, cache / threads);
        if (rows)
            s.rows = rows;
        if (sweep_possible(&s, v, threads) &&
            (wanted || (rows && planes / threads >= planes_least * s.steps)))
            return s;
    }
    return s;
}
