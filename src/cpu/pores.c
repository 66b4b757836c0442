/* The CPU's step where only fluid cells have places. Compiled once per variant, as rows.c.
 *
 * Stretches of cells with consecutive places make a tile. What the tile's cells keep at their
 * neighbours is copied to buffers, piece by piece. Then the tile is a row of fluid: the loops of
 * rows.c step it. Then the buffers are copied back. */
#include "cpu/scalars.h" /* first: it defines `real` */

#include <string.h>

#include <omp.h>

/* Cells of a tile: at least a stretch. Tiles and their buffers stay in the first cache. */
enum { TILE = STRETCH_CELLS, TILE_PARTS = 64 };

/* Cells `from` to `to` - 1 of a stretch. */
struct tile_part {
    const struct pore_stretch *stretch;
    const struct row_run *run;
    uint32_t from, to;
    int y, z;
};

/* Place of the next link into a wall of each pair; `cell`: place of the cell that comes next. Parts
 * mostly follow one another. */
struct next_links {
    uint32_t cell;
    cell_index place[Q / 2];
};

struct tile {
    struct next_links in, out; /* of what is copied to the buffers, and back */
    struct tile_part part[TILE_PARTS];
    int parts, type; /* type of the cells */
    uint32_t place, count;
    struct scalars scalars; /* [TILE + PIECE], if there are any */
    int odd;                /* parity of the step */
};

/* Populations of a tile's cells at their neighbours, with room for whole vectors. */
struct buffers {
    stored next[Q / 2][TILE + PIECE] __attribute__((aligned(64)));
};

/* Populations of idle cells, which the loops step like others: they get them back. */
struct idle {
    uint32_t count, place[TILE];
    stored rest[TILE], own[Q / 2][TILE];
};

/* Copies the first and the last n of `count` populations: all of them, n <= count <= 2 n. */
#define COPY_BOTH(n)                                                                               \
    do {                                                                                           \
        struct {                                                                                   \
            stored word[n];                                                                        \
        } begin, end;                                                                              \
        memcpy(&begin, from, sizeof begin);                                                        \
        memcpy(&end, from + count - (n), sizeof end);                                              \
        memcpy(to, &begin, sizeof begin);                                                          \
        memcpy(to + count - (n), &end, sizeof end);                                                \
    } while (0)

/* Copies 1 to PIECE populations, and none behind them. */
TAGFLOW_FN void copy_piece(stored *to, const stored *from, unsigned count)
{
#if LANES_AVX512
    const unsigned all = (1u << count) - 1;
    for (int k = 0; k < PIECE; k += LANES)
        store_masked(to + k, *(const unaligned_lanes *)(from + k), all >> k & ((1u << LANES) - 1));
#else
    if (count > 8)
        COPY_BOTH(8);
    else if (count > 4)
        COPY_BOTH(4);
    else if (count > 2)
        COPY_BOTH(2);
    else
        COPY_BOTH(1);
#endif
}

/* The part of a piece in cells `from` to `to` - 1 of its stretch; false: none. */
TAGFLOW_FN bool cut_piece(struct pore_piece *p, uint32_t from, uint32_t to)
{
    const uint32_t begin = p->at > from ? p->at : from;
    const uint32_t end = p->at + (uint32_t)p->count < to ? p->at + (uint32_t)p->count : to;
    if (end <= begin)
        return false;
    p->place += begin - p->at;
    p->at = (uint8_t)begin;
    p->count = (uint8_t)(end - begin);
    return true;
}

/* Goes to the first cell of a part; when its links are done, the cell behind it comes next. */
TAGFLOW_FN void find_links(struct next_links *next, const struct view *v,
                           const struct tile_part *part)
{
    if (next->cell != part->stretch->place + part->from)
        for (size_t pair = 0; pair < Q / 2; pair++)
            next->place[pair] =
                place_in(v->link + pair * v->link_words, part->stretch->place + part->from);
    next->cell = part->stretch->place + part->to;
}

/* Copies a part's populations at neighbours to the buffers, or back; `at`: of its stretch in the
 * tile; `whole`: the part is all of its stretch. Copies first populations of links from walls to
 * where the loop reads own ones. */
TAGFLOW_FN void copy_in(const struct view *v, const struct runs *runs, const struct row *first,
                        struct buffers *b, struct next_links *next, const struct tile_part *part,
                        ptrdiff_t at, const int whole)
{
    const struct pore_stretch *const s = part->stretch;
    const struct pore_piece *const pieces = runs->piece + s[1].piece;
    const struct pore_link *const from = runs->from_wall + s[1].from_wall;
    const struct pore_link *const to = runs->to_wall + s[1].to_wall;
    for (const struct pore_link *k = runs->from_wall + s->from_wall; k < from; k++)
        if (whole || (k->at >= part->from && k->at < part->to)) {
            stored *const own = first->own[k->pair] + s->place + k->at;
            __builtin_prefetch(own + first->flip + AHEAD);
            *own = own[first->flip];
        }
    for (const struct pore_piece *k = runs->piece + s->piece; k < pieces; k++) {
        struct pore_piece p = *k;
        __builtin_prefetch(first->next[p.pair] + p.place + AHEAD, 1);
        if (whole || cut_piece(&p, part->from, part->to))
            copy_piece(b->next[p.pair] + at + p.at, first->next[p.pair] + p.place, p.count);
    }
    find_links(next, v, part);
    for (const struct pore_link *k = runs->to_wall + s->to_wall; k < to; k++)
        if (whole || (k->at >= part->from && k->at < part->to)) {
            const unsigned pair = k->pair % LINK_IDLE;
            const stored *const link = first->own[pair] + next->place[pair]++;
            __builtin_prefetch(link + AHEAD / 2, 1);
            if (k->pair < LINK_IDLE)
                b->next[pair][at + k->at] = *link;
        }
}

TAGFLOW_FN void copy_out(const struct view *v, const struct runs *runs, const struct row *first,
                         const struct buffers *b, struct next_links *next,
                         const struct tile_part *part, ptrdiff_t at, const int whole)
{
    const struct pore_stretch *const s = part->stretch;
    const struct pore_piece *const pieces = runs->piece + s[1].piece;
    const struct pore_link *const to = runs->to_wall + s[1].to_wall;
    for (const struct pore_piece *k = runs->piece + s->piece; k < pieces; k++) {
        struct pore_piece p = *k;
        if (whole || cut_piece(&p, part->from, part->to))
            copy_piece(first->next[p.pair] + p.place, b->next[p.pair] + at + p.at, p.count);
    }
    find_links(next, v, part);
    for (const struct pore_link *k = runs->to_wall + s->to_wall; k < to; k++)
        if (whole || (k->at >= part->from && k->at < part->to)) {
            const unsigned pair = k->pair % LINK_IDLE;
            stored *const link = first->next[pair] + next->place[pair]++;
            __builtin_prefetch(link + AHEAD / 2, 1);
            if (k->pair < LINK_IDLE)
                *link = b->next[pair][at + k->at];
        }
}

/* Strengths of sponges and damping of the subgrid model in the cells of a tile. */
struct along {
    double damping[TILE + PIECE], sponge[TILE + PIECE];
};

static void set_along(struct along *a, struct run_parameters *p, const struct view *v,
                      const struct tag_row *type, const struct tile *tile)
{
    memset(a, 0, sizeof *a);
    for (const struct tile_part *part = tile->part; part < tile->part + tile->parts; part++) {
        const uint32_t from = part->stretch->place + part->from,
                       to = part->stretch->place + part->to;
        for (int x = part->run->x0; x < part->run->x1; x++) {
            const size_t cell = owned_index(v, x, part->y, part->z);
            const uint32_t place = (uint32_t)place_in(v->place, cell);
            if (!has_place(v->place, cell) || place < from || place >= to)
                continue;
            if (p->damping_along)
                a->damping[place - tile->place] =
                    damping_of_row(v, type, part->y, part->z) * (number)damping_along(v, type)[x];
            if (p->target)
                a->sponge[place - tile->place] = sponge_of_cell(v, type, x, part->y, part->z);
        }
    }
    if (p->damping_along) {
        p->damping_along = a->damping;
        p->damping = real_of(1);
    }
    p->sponge = a->sponge;
    p->sponge_along = 1;
}

/* Finds the idle cells of a tile and saves their populations. */
static void save_idle(struct idle *idle, const struct runs *runs, const struct tile *tile,
                      const struct row *row)
{
    uint32_t known = 0; /* cells of the tile up to here were looked at */
    idle->count = 0;
    for (const struct tile_part *part = tile->part; part < tile->part + tile->parts; part++) {
        const uint32_t first = part->stretch->place - tile->place;
        for (; known < first + part->from; known++)
            idle->place[idle->count++] = known;
        for (size_t k = part->stretch->idle; k < part->stretch[1].idle; k++)
            if (runs->idle[k] >= part->from && runs->idle[k] < part->to)
                idle->place[idle->count++] = first + runs->idle[k];
        known = first + part->to;
    }
    for (uint32_t k = 0; k < idle->count; k++) {
        idle->rest[k] = row->rest[idle->place[k]];
        for (int pair = 0; pair < Q / 2; pair++)
            idle->own[pair][k] = row->own[pair][idle->place[k]];
    }
}

static void restore_idle(const struct idle *idle, const struct row *row)
{
    for (uint32_t k = 0; k < idle->count; k++) {
        row->rest[idle->place[k]] = idle->rest[k];
        for (int pair = 0; pair < Q / 2; pair++)
            row->own[pair][idle->place[k]] = idle->own[pair][k];
    }
}

/* Finds the buoyancy of a part's cells before the tile is stepped, or steps their scalars after it.
 */
static void part_scalars(const struct view *v, const struct runs *runs, const struct tile *tile,
                         const struct tile_part *part, int after)
{
    uint8_t idle[STRETCH_CELLS] = {0}; /* other runs or ranks step these */
    struct gathered g;
    g.count = 0;
    for (size_t k = part->stretch->idle; k < part->stretch[1].idle; k++)
        idle[runs->idle[k]] = 1;
    const uint32_t from = part->stretch->place + part->from, to = part->stretch->place + part->to;
    for (int x = part->run->x0; x < part->run->x1; x++) {
        const size_t cell = owned_index(v, x, part->y, part->z);
        if (!has_place(v->place, cell) || (v->tags[cell] & TAG_ROW) != part->run->row)
            continue;
        const uint32_t place = (uint32_t)place_in(v->place, cell), k = place - tile->place;
        if (place < from || place >= to || idle[place - part->stretch->place])
            continue;
        if (after) {
            gather_told(v, &tile->scalars, tile->odd, &g, k, x, part->y, part->z);
            continue;
        }
        gather_for(&g, k, x, part->y, part->z);
        if (g.count == LANES)
            tell_lift(v, &tile->scalars, tile->odd, &g);
    }
    if (g.count && after)
        gathered_step(v, tile->odd, &g);
    else if (g.count)
        tell_lift(v, &tile->scalars, tile->odd, &g);
}

/* Steps a tile; `first`: addresses of place 0. Makes the tile empty. */
static void step_tile(const struct view *v, const struct runs *runs, const struct row *first,
                      struct tile *tile, struct buffers *b)
{
    const struct tag_row *const type = &v->rows[tile->type];
    const struct operator_loops *const loops = loops_of(v, type);
    struct run_parameters p;
    struct row row = *first;
    struct along along;
    struct idle idle;

    if (!tile->parts)
        return;
    set_parameters(&p, v, type, tile->part[0].y, tile->part[0].z);
    if (p.damping_along || p.target)
        set_along(&along, &p, v, type, tile);
    row.pitch = 0;
    row.rest += tile->place;
    for (int k = 0; k < Q / 2; k++) {
        row.own[k] += tile->place;
        row.next[k] = b->next[k];
    }
    for (const struct tile_part *part = tile->part; part < tile->part + tile->parts; part++) {
        const ptrdiff_t at = (ptrdiff_t)part->stretch->place - (ptrdiff_t)tile->place;
        if (part->to - part->from == part->stretch->count)
            copy_in(v, runs, first, b, &tile->in, part, at, 1);
        else
            copy_in(v, runs, first, b, &tile->in, part, at, 0);
    }
    save_idle(&idle, runs, tile, &row);
    if (v->scalars.row)
        tell_scalars(&p, v, &tile->scalars, tile->odd, 0, 0);
    const int count = (int)tile->count, x = p.target ? 0 : loops->bulk(&row, &p, 0, count, 0);
    if (x < count)
        step_rest(&row, &p, x, count, loops->operate);
    restore_idle(&idle, &row);
    for (const struct tile_part *part = tile->part; part < tile->part + tile->parts; part++) {
        const ptrdiff_t at = (ptrdiff_t)part->stretch->place - (ptrdiff_t)tile->place;
        if (part->to - part->from == part->stretch->count)
            copy_out(v, runs, first, b, &tile->out, part, at, 1);
        else
            copy_out(v, runs, first, b, &tile->out, part, at, 0);
    }
    for (const struct tile_part *part = tile->part;
         v->scalars.row && part < tile->part + tile->parts; part++)
        part_scalars(v, runs, tile, part, 1);
    tile->parts = 0;
}

/* Adds a part to a tile. Steps the tile first if the part does not fit or does not follow. */
static void add_part(const struct view *v, const struct runs *runs, const struct row *first,
                     struct tile *tile, struct buffers *b, struct tile_part part)
{
    enum { GAP = 4 }; /* idle cells before a part: ghost cells, for example */
    const uint32_t place = part.stretch->place + part.from, count = part.to - part.from;
    const uint32_t end = tile->place + tile->count;
    if (tile->parts == TILE_PARTS || tile->type != part.run->row || place < end ||
        place > end + GAP || place + count > tile->place + TILE)
        step_tile(v, runs, first, tile, b);
    if (!tile->parts) {
        tile->type = part.run->row;
        tile->place = place;
    }
    tile->part[tile->parts++] = part;
    if (v->scalars.lifts)
        part_scalars(v, runs, tile, &part, 0);
    tile->count = place + count - tile->place;
}

/* Place of the first fluid cell of a row at or behind x. */
TAGFLOW_FN uint32_t place_from(const struct view *v, int x, int y, int z)
{
    return (uint32_t)place_in(v->place, owned_index(v, x, y, z));
}

/* Cells of a stretch with places from `lo` to `hi` - 1. */
static struct tile_part part_between(const struct pore_stretch *s, uint32_t lo, uint32_t hi)
{
    struct tile_part part = {.stretch = s, .to = s->count};
    if (lo > s->place)
        part.from = lo - s->place < s->count ? lo - s->place : s->count;
    if (hi < s->place + s->count)
        part.to = hi > s->place ? hi - s->place : 0;
    return part;
}

void step_pores(const struct view *v, const struct runs *runs, const struct box *b, int odd)
{
    const struct row first = rows_at(v, odd);
    const struct slots slots = slots_at(v, odd, sizeof(stored));
#pragma omp parallel
    {
        struct queue queue;
        queue_start(&queue, odd);
        struct tile tile;
        struct buffers buffers;
        tile.parts = 0;
        tile.odd = odd;
        tile.type = 0;
        tile.place = tile.count = 0;
        tile.in.cell = tile.out.cell = UINT32_MAX;
        if (v->scalars.row)
            tile.scalars = scalars_of_thread(v, runs, omp_get_thread_num());
        memset(&buffers, 0, sizeof buffers);
#pragma omp for collapse(2) schedule(static) nowait
        for (int z = b->lo[2]; z < b->hi[2]; z++)
            for (int y = b->lo[1]; y < b->hi[1]; y++) {
                const uint32_t list = runs->row_list[(size_t)y + (size_t)z * (size_t)v->n[1]];
                const uint32_t lo = place_from(v, b->lo[0], y, z);
                const uint32_t hi = place_from(v, b->hi[0], y, z);
                for (uint32_t r = runs->first[list]; r < runs->first[list + 1]; r++) {
                    const struct row_run *const run = &runs->run[r];
                    if (run->kind == RUN_PORES) {
                        struct tile_part part = part_between(&runs->stretch[run->group], lo, hi);
                        part.run = run;
                        part.y = y;
                        part.z = z;
                        if (part.from < part.to)
                            add_part(v, runs, &first, &tile, &buffers, part);
                        continue;
                    }
                    const int x0 = run->x0 > b->lo[0] ? run->x0 : b->lo[0];
                    const int x1 = run->x1 < b->hi[0] ? run->x1 : b->hi[0];
                    if (x0 < x1)
                        queue_cells(v, &slots, runs, &queue, run, x0, x1, y, z);
                }
            }
        step_tile(v, runs, &first, &tile, &buffers);
        queue_finish(v, runs, &queue);
    }
}
