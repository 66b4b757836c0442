/* Cuts rows of cells into runs; see runs.h. */
#include "cpu/runs.h"

#include <stdlib.h>
#include <string.h>

#include <omp.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/message.h"
#include "boundary.h"
#include "cpu/lists.h"
#include "slip.h"

/* Minimum length of ruled runs, where the row allows it: a full vector. */
enum { BLOCK = 16 };

/* Links of one cell from cells that are not fluid. */
struct cell_links {
    uint64_t mirror; /* two bits a link: 1 + axis of the plane of symmetry that it comes from */
    uint32_t links, ruled;
    uint32_t group; /* of cells that may be RUN_CELLS */
    uint8_t row, wall;
    uint8_t kind; /* enum run_kind, or NOT_FLUID */
};

enum { NOT_FLUID = 255 };

static bool reserve(void **array, size_t *space, size_t count, size_t size)
{
    if (count <= *space)
        return true;
    size_t more = count + count / 2 + 64;
    void *p = realloc(*array, more * size);
    if (!p)
        return false;
    *array = p;
    *space = more;
    return true;
}

/* Population of slip_from that link i brings; 0: the cell's own comes back. */
static int link_from(const struct cell_links *l, int i)
{
    const int axis = (int)(l->mirror >> 2 * i & 3);
    return axis ? mirrored(i, axis - 1) : 0;
}

static struct cell_links cell_links(const struct view *v, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    struct cell_links l = {.row = tag & TAG_ROW, .kind = RUN_BULK};

    if (v->rows[l.row].fluid != FLUID_swept) {
        l.kind = NOT_FLUID;
        return l;
    }
    if (v->rows[l.row].boundary != BOUNDARY_none)
        l.kind = RUN_CELLS; /* a rule for populations that arrive: row loops have none */
    if (!(tag & TAG_BESIDE))
        return l;
    const int at[3] = {x, y, z};
    bool ruled = false, inner = true; /* inner: no neighbour's index wraps */
    for (int a = 0; a < 3; a++)
        inner = inner && (v->ghost[a] || (at[a] > 0 && at[a] < v->n[a] - 1));
    for (int i = 1; i < Q; i++) {
        const size_t from = inner ? owned_index(v, x - c[i][0], y - c[i][1], z - c[i][2])
                                  : view_index(v, x - c[i][0], y - c[i][1], z - c[i][2]);
        const uint8_t wall = v->tags[from] & TAG_ROW;
        if (v->rows[wall].fluid)
            continue;
        l.links |= 1u << i;
        if (boundary_is(v->rows[wall].boundary) & RULE_mirror) {
            int beside[3];
            if (slip_from(v, &v->rows[wall], i, x, y, z, beside))
                l.mirror |= (uint64_t)(1 + v->rows[wall].face / 2) << 2 * i;
            continue;
        }
        if (boundary_is(v->rows[wall].boundary) & RULE_as_sent)
            continue;
        if ((ruled && wall != l.wall) || v->rows[wall].boundary != BOUNDARY_moving)
            l.kind = RUN_CELLS; /* loops have one rule, for one wall */
        else if (l.kind != RUN_CELLS)
            l.kind = RUN_RULED;
        ruled = true;
        l.wall = wall;
        l.ruled |= 1u << i;
    }
    if (v->place && (l.ruled || l.mirror))
        l.kind = RUN_CELLS;
    return l;
}

/* Number of the group of a cell, which is added if it is new; groups are found by a hash of them.
 * False: out of memory. */
struct group_table {
    struct runs *runs;
    uint32_t *next; /* [groups] 1 + the next group in the same bucket; 0: none */
    size_t space;
    uint32_t bucket[4096]; /* 1 + the first */
};

static bool find_group(struct group_table *t, const struct link_group *g, uint32_t *number)
{
    struct runs *const runs = t->runs;
    uint32_t *const bucket = &t->bucket[XXH3_64bits(g, sizeof *g) % 4096];
    for (uint32_t k = *bucket; k; k = t->next[k - 1])
        if (memcmp(&runs->group[k - 1], g, sizeof *g) == 0) {
            *number = k - 1;
            return true;
        }
    const size_t count = runs->group_count;
    if (!reserve((void **)&runs->group, &runs->group_space, count + 1, sizeof *runs->group) ||
        !reserve((void **)&t->next, &t->space, count + 1, sizeof *t->next))
        return false;
    runs->group[count] = *g;
    t->next[count] = *bucket;
    *bucket = (uint32_t)count + 1;
    *number = (uint32_t)count;
    runs->group_count = count + 1;
    return true;
}

/* Sets the group of a cell that may be RUN_CELLS: links with masks know no mirror. */
static bool set_group(struct group_table *t, const struct view *v, struct cell_links *l, int x,
                      int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    struct link_group g;
    if (l->kind != RUN_CELLS && !l->mirror)
        return true;
    memset(&g, 0, sizeof g);
    g.links = l->links;
    g.row = l->row;
    for (int i = 1; i < Q; i++)
        if (l->links & 1u << i) {
            const size_t from = view_index(v, x - c[i][0], y - c[i][1], z - c[i][2]);
            g.beyond[i] = v->tags[from] & TAG_ROW;
            g.from[i] = (uint8_t)link_from(l, i);
            g.changes |= (uint32_t)boundary_changes(&v->rows[g.beyond[i]], i) << i;
            g.mirrored |= (uint32_t)(g.from[i] != 0) << i;
        }
    return find_group(t, &g, &l->group);
}

/* In cells [x0, x1) of one cell type, every block with a RUN_RULED cell becomes RUN_RULED as a
 * whole, unless it has RUN_CELLS. */
static void widen_blocks(struct cell_links *l, int x0, int x1)
{
    for (int b = x0; b < x1; b += BLOCK) {
        int end = b + BLOCK < x1 ? b + BLOCK : x1;
        int begin = end - BLOCK > x0 ? end - BLOCK : x0;
        bool rules = false, cells = false;
        uint8_t wall = 0;
        for (int x = b; x < end; x++) {
            rules = rules || l[x].kind == RUN_RULED;
            cells = cells || l[x].kind == RUN_CELLS;
            wall = l[x].ruled ? l[x].wall : wall;
        }
        if (!rules || cells)
            continue;
        for (int x = begin; x < end; x++)
            if (l[x].kind == RUN_BULK) {
                l[x].kind = RUN_RULED;
                l[x].wall = wall;
            }
    }
}

/* May neighbours a and b be in one run? */
static bool together(const struct cell_links *a, const struct cell_links *b)
{
    if (a->kind != b->kind || a->row != b->row)
        return false;
    if (a->kind == RUN_CELLS)
        return a->group == b->group;
    return a->kind != RUN_RULED || !a->wall || !b->wall || a->wall == b->wall;
}

static bool unlinked(const struct cell_links *l)
{
    return l->kind == RUN_BULK && !l->links;
}

/* For rows with both solid cells and links: long stretches of cells without links stay RUN_BULK, as
 * many whole blocks as fit; other cells become RUN_MIXED. */
static void mix_row(struct cell_links *l, int nx)
{
    for (int x0 = 0, x1; x0 < nx; x0 = x1) {
        const bool plain = unlinked(&l[x0]);
        for (x1 = x0 + 1; x1 < nx && plain && unlinked(&l[x1]) && l[x1].row == l[x0].row; x1++)
            ;
        int x = x0;
        if (plain && x1 - x0 >= 2 * BLOCK)
            x += (x1 - x0) / BLOCK * BLOCK;
        for (; x < x1; x++)
            if (l[x].kind == RUN_BULK || l[x].kind == RUN_RULED)
                l[x].kind = l[x].mirror ? RUN_CELLS : RUN_MIXED; /* masks know no mirror */
    }
}

/* Does mix_row apply to this row? */
static bool broken(const struct cell_links *l, int nx)
{
    bool solid = false, links = false;
    for (int x = 0; x < nx; x++) {
        solid = solid || l[x].kind == NOT_FLUID;
        links = links || l[x].kind == RUN_RULED || (l[x].kind == RUN_BULK && l[x].links);
    }
    return nx >= RUN_LANES && solid && links;
}

/* May the cell join a run whose wall is `wall` so far (0: none)? */
static bool one_wall(uint8_t wall, const struct cell_links *l)
{
    return !wall || !l->wall || l->wall == wall;
}

/* End of the run that begins at x0, and its wall. A mixed run goes on across a few cells that are
 * not fluid. */
static int run_end(const struct cell_links *l, int x0, int nx, uint8_t *wall)
{
    int x1 = x0 + 1;
    *wall = l[x0].wall;
    for (int x = x1; x < nx && x < x1 + BLOCK; x++) {
        if (l[x0].kind == RUN_MIXED && l[x].kind == NOT_FLUID)
            continue;
        if (x > x1 ? l[x].kind != RUN_MIXED || l[x].row != l[x0].row : !together(&l[x - 1], &l[x]))
            break;
        if (!one_wall(*wall, &l[x]))
            break;
        *wall = *wall ? *wall : l[x].wall;
        x1 = x + 1;
    }
    return x1;
}

/* Adds room for `count` masks, with zeros before the first and after the last, as loops read whole
 * vectors. *at: index of the first. */
static bool add_masks(uint32_t **masks, size_t *space, size_t *used, size_t count, size_t *at)
{
    const size_t first = *used ? *used : BLOCK;
    if (!reserve((void **)masks, space, first + count + BLOCK, sizeof **masks))
        return false;
    if (!*used)
        memset(*masks, 0, BLOCK * sizeof **masks);
    memset(*masks + first, 0, (count + BLOCK) * sizeof **masks);
    *at = first;
    *used = first + count;
    return true;
}

/* Masks of a ruled or mixed run. */
static bool mask_run(struct runs *runs, struct run *run, const struct cell_links *l)
{
    const bool mixed = run->kind == RUN_MIXED;
    const size_t count = (size_t)(run->x1 - run->x0);
    uint32_t next = 0;
    if (mixed &&
        !add_masks(&runs->links, &runs->links_space, &runs->mask_count, count, &run->masks))
        return false;
    if (run->wall &&
        !add_masks(&runs->ruled, &runs->ruled_space, &runs->rule_count, count, &run->rules))
        return false;
    for (int x = run->x1 - 1; x >= run->x0; x--) {
        const size_t k = (size_t)(x - run->x0);
        const bool fluid = l[x].kind != NOT_FLUID;
        next = fluid ? 0 : next + 1;
        if (mixed)
            runs->links[run->masks + k] = fluid ? l[x].links | MASK_ACTIVE : next << 1;
        if (run->wall && fluid)
            runs->ruled[run->rules + k] = l[x].ruled;
    }
    return true;
}

/* What link i of a cell brings: -1: it comes from fluid; else as link_from. */
static int brings(const struct cell_links *l, int i)
{
    return l->links & 1u << i ? link_from(l, i) : -1;
}

/* Lists the links from walls, or from planes of symmetry (mirror), in a run of fluid cells. In a
 * row of nx cells that wraps, the first and the last cell are on their own where a link has a
 * component along it. */
static bool bounce_run(struct runs *runs, struct run *run, const struct cell_links *l, int nx,
                       bool wraps, bool mirror)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    for (int i = 1; i < Q; i++)
        for (int x0 = run->x0, x1; x0 < run->x1; x0 = x1) {
            const int from = brings(&l[x0], i);
            const bool ends = wraps && c[i][0];
            for (x1 = x0 + 1; x1 < run->x1 && brings(&l[x1], i) == from; x1++)
                if (ends && (x1 == 1 || x1 == nx - 1))
                    break;
            if (from < 0 || mirror != (from > 0))
                continue;
            if (!reserve((void **)&runs->bounce, &runs->bounce_space, runs->bounce_count + 1,
                         sizeof *runs->bounce))
                return false;
            /* even directions have their slot in the cell that the link leads to */
            runs->bounce[runs->bounce_count++] = (struct bounce){
                .x0 = x0,
                .x1 = x1,
                .link = (uint8_t)i,
                .from = (uint8_t)from,
                .wraps = wraps && i % 2 == 0 && c[i - 1][0] && x1 == nx,
            };
        }
    return true;
}

/* Is cell x a RUN_CELLS cell at an end of the row, beside a cell of a bulk run? */
static bool row_end(const struct cell_links *l, int x, int nx)
{
    if (nx < 2 || (x > 0 && x < nx - 1) || l[x].kind != RUN_CELLS)
        return false;
    return l[x ? x - 1 : 1].kind == RUN_BULK;
}

/* Appends the runs of one row of nx cells as a new list. False: out of memory. */
static bool cut_row(struct runs *runs, struct cell_links *l, int nx, bool wraps)
{
    const bool mixed = broken(l, nx);
    if (mixed)
        mix_row(l, nx);
    for (int x0 = 0, x1; x0 < nx && !mixed; x0 = x1) {
        for (x1 = x0 + 1; x1 < nx && l[x1].row == l[x0].row; x1++)
            ;
        if (l[x0].kind != NOT_FLUID)
            widen_blocks(l, x0, x1);
    }
    for (int turn = 0; turn < 3; turn++)
        for (int x0 = 0, x1; x0 < nx; x0 = x1) {
            uint8_t wall;
            x1 = run_end(l, x0, nx, &wall);
            const bool cells = l[x0].kind == RUN_CELLS, end = row_end(l, x0, nx);
            if (l[x0].kind == NOT_FLUID || turn != (end ? 0 : cells ? 2 : 1))
                continue;
            if (!reserve((void **)&runs->run, &runs->run_space, runs->run_count + 1,
                         sizeof *runs->run))
                return false;
            struct run run = {.x0 = x0,
                              .x1 = x1,
                              .group = l[x0].group,
                              .kind = l[x0].kind,
                              .row = l[x0].row,
                              .wall = wall,
                              .end = end};
            if (run.kind == RUN_BULK) {
                run.before = x0 == 1 && row_end(l, 0, nx);
                run.after = x1 == nx - 1 && row_end(l, x1, nx);
            }
            if ((run.kind == RUN_RULED || run.kind == RUN_MIXED) && !mask_run(runs, &run, l))
                return false;
            const bool bounces = run.kind == RUN_BULK || run.kind == RUN_RULED;
            run.bounce = runs->bounce_count;
            if (bounces && !bounce_run(runs, &run, l, nx, wraps, false))
                return false;
            run.mirror = runs->bounce_count;
            if (bounces && !bounce_run(runs, &run, l, nx, wraps, true))
                return false;
            run.bounce_end = runs->bounce_count;
            runs->run[runs->run_count++] = run;
        }
    return true;
}

/* May the cell be one of a stretch? */
static bool in_stretch(const struct cell_links *l, uint8_t row)
{
    return l->kind == RUN_BULK && l->row == row;
}

/* Adds a cell to the pieces of a stretch. */
static void add_piece(struct runs *runs, const struct pore_stretch *s, struct pore_link cell,
                      uint32_t place)
{
    struct piece *const next = runs->piece + runs->piece_count, *const last = next - 1;
    if (runs->piece_count > s->piece && last->pair == cell.pair && last->count < PIECE &&
        last->at + last->count == cell.at && last->place + last->count == place) {
        last->count++;
        return;
    }
    *next = (struct piece){.place = place, .at = cell.at, .count = 1, .pair = cell.pair};
    runs->piece_count++;
}

/* Makes room in all lists for what the cells of one stretch may need. */
static bool reserve_stretch(struct runs *runs)
{
    enum { MOST = Q / 2 * STRETCH_CELLS };
    return reserve((void **)&runs->stretch, &runs->stretch_space, runs->stretch_count + 2,
                   sizeof *runs->stretch) &&
           reserve((void **)&runs->piece, &runs->piece_space, runs->piece_count + MOST,
                   sizeof *runs->piece) &&
           reserve((void **)&runs->from_wall, &runs->from_space, runs->from_count + MOST,
                   sizeof *runs->from_wall) &&
           reserve((void **)&runs->to_wall, &runs->to_space, runs->to_count + MOST,
                   sizeof *runs->to_wall) &&
           reserve((void **)&runs->idle, &runs->idle_space, runs->idle_count + STRETCH_CELLS, 1);
}

/* Lists where cells x0 <= x < x1 of the stretch have their populations of a pair. */
static void fill_stretch(struct runs *runs, const struct view *v, const struct pore_stretch *s,
                         const struct cell_links *l, int pair, int x0, int x1, int y, int z)
{
    const uint32_t from = 1u << (2 * pair + 1), to = 1u << (2 * pair + 2);
    int at = 0;
    for (int x = x0; x < x1; x++) {
        const struct pore_link here = {(uint8_t)at, (uint8_t)pair};
        const struct pore_link idle = {(uint8_t)at, (uint8_t)(pair + LINK_IDLE)};
        if (!view_fluid(v, owned_index(v, x, y, z)))
            continue;
        at++;
        if (!in_stretch(&l[x], l[x0].row)) {
            if (pair == 0)
                runs->idle[runs->idle_count++] = here.at;
            if (has_place(v->link + (size_t)pair * v->link_words, s->place + idle.at))
                runs->to_wall[runs->to_count++] = idle;
            continue;
        }
        if (l[x].links & from)
            runs->from_wall[runs->from_count++] = here;
        if (l[x].links & to)
            runs->to_wall[runs->to_count++] = here;
        else
            add_piece(runs, s, here, (uint32_t)next_place(v, pair, x, y, z));
    }
}

/* End of the stretch that begins at x0, and its number of cells. Idle cells may lie between its
 * own, so that vectors stay full; a few in a row end it. */
static int stretch_end(const struct view *v, const struct cell_links *l, int x0, int y, int z,
                       uint32_t *count)
{
    enum { IDLE = 4 };
    int end = x0;
    uint32_t cells = 0;
    *count = 0;
    for (int x = x0; x < v->n[0] && cells < STRETCH_CELLS && cells - *count <= IDLE; x++) {
        if (!view_fluid(v, owned_index(v, x, y, z)))
            continue;
        if (l[x].kind == RUN_BULK && l[x].row != l[x0].row)
            break;
        cells++;
        if (in_stretch(&l[x], l[x0].row)) {
            end = x + 1;
            *count = cells;
        }
    }
    return end;
}

static int piece_class(const struct piece *p)
{
    return p->count > 8 ? 0 : p->count > 4 ? 1 : p->count > 2 ? 2 : p->count > 1 ? 3 : 4;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *const p = a, *const q = b;
    const int by = piece_class(p) - piece_class(q);
    return by ? by : p->at != q->at ? p->at - q->at : p->pair - q->pair;
}

/* Appends the runs of a row of a view with places: its stretches, then its single cells. */
static bool cut_pores(struct runs *runs, const struct view *v, const struct cell_links *l, int y,
                      int z)
{
    for (int kind = 0; kind < 2; kind++)
        for (int x0 = 0, x1; x0 < v->n[0]; x0 = x1) {
            const uint8_t row = l[x0].row;
            struct run run = {.x0 = x0, .kind = l[x0].kind, .row = row, .group = l[x0].group};
            x1 = x0 + 1;
            if (l[x0].kind == NOT_FLUID || (l[x0].kind == RUN_CELLS) != (kind == 1))
                continue;
            if (kind == 0) {
                struct pore_stretch s = {.place = (uint32_t)view_place(v, owned_index(v, x0, y, z)),
                                         .piece = runs->piece_count,
                                         .from_wall = runs->from_count,
                                         .to_wall = runs->to_count,
                                         .idle = runs->idle_count};
                x1 = stretch_end(v, l, x0, y, z, &s.count);
                run.kind = RUN_PORES;
                run.group = (uint32_t)runs->stretch_count;
                if (!reserve_stretch(runs))
                    return false;
                for (int pair = 0; pair < Q / 2; pair++)
                    fill_stretch(runs, v, &s, l, pair, x0, x1, y, z);
                qsort(runs->piece + s.piece, runs->piece_count - s.piece, sizeof *runs->piece,
                      compare_pieces);
                runs->stretch[runs->stretch_count++] = s;
                runs->stretch[runs->stretch_count] =
                    (struct pore_stretch){.piece = runs->piece_count,
                                          .from_wall = runs->from_count,
                                          .to_wall = runs->to_count,
                                          .idle = runs->idle_count};
            }
            while (kind == 1 && x1 < v->n[0] && together(&l[x0], &l[x1]))
                x1++;
            run.x1 = x1;
            if (!reserve((void **)&runs->run, &runs->run_space, runs->run_count + 1, sizeof run))
                return false;
            runs->run[runs->run_count++] = run;
        }
    return true;
}

/* Looks up the types of the cells of the view's list, and of those beyond their links. */
static void list_near(struct runs *runs, const struct view *v)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
#pragma omp parallel for
    for (size_t n = 0; n < v->near_cells; n++) {
        const struct near_cell *const cell = &v->near[n];
        const int *const at = cell->at;
        const uint8_t row = v->tags[view_index(v, at[0], at[1], at[2])] & TAG_ROW;
        uint8_t *beyond = runs->beyond + cell->first;
        bool plain = boundary_open(v->rows[row].boundary);
        for (int i = 1; i < Q; i++) {
            if (!(cell->links >> i & 1))
                continue;
            const size_t from = view_index(v, at[0] - c[i][0], at[1] - c[i][1], at[2] - c[i][2]);
            const uint8_t rule = v->rows[v->tags[from] & TAG_ROW].boundary;
            plain = plain || (boundary_open(rule) && !(boundary_is(rule) & RULE_mirror));
            *beyond++ = v->tags[from] & TAG_ROW;
        }
        runs->near_row[n] = row | (plain ? NEAR_ALONE : 0);
    }
}

/* Lengths of the lists. */
struct lengths {
    size_t run, bounce, stretch, piece, from_wall, to_wall, idle, links, ruled;
};

static struct lengths lengths_of(const struct runs *r)
{
    return (struct lengths){r->run_count,
                            r->bounce_count,
                            r->stretch_count,
                            r->piece_count,
                            r->from_count,
                            r->to_count,
                            r->idle_count,
                            r->mask_count ? r->mask_count - BLOCK : 0,
                            r->rule_count ? r->rule_count - BLOCK : 0};
}

static void add_lengths(struct lengths *to, const struct lengths *l)
{
    to->run += l->run;
    to->bounce += l->bounce;
    to->stretch += l->stretch;
    to->piece += l->piece;
    to->from_wall += l->from_wall;
    to->to_wall += l->to_wall;
    to->idle += l->idle;
    to->links += l->links;
    to->ruled += l->ruled;
}

/* Threads make the lists in two passes: the first finds their lengths, the second fills them. Each
 * row is cut on its own. Rows are shared out in chunks, whose number does not depend on the
 * threads. */
enum { CHUNKS = 1024 };

struct cutting {
    const struct view *v;
    struct runs *runs;          /* with all groups */
    struct group_table *groups; /* of runs; complete, so that threads only look up */
    size_t rows, lists;
    uint32_t *row_of; /* [lists] the row that list is made of; NULL: list and row are the same */
    struct lengths before[CHUNKS + 1]; /* lengths of the lists of earlier chunks */
    bool measured;                     /* `before` is known */
    int threads;
};

/* What a thread needs to cut a row. */
struct scratch {
    struct cell_links *links; /* [n[0]] */
    struct runs one;          /* the lists of one row */
};

static size_t chunk_begin(size_t lists, size_t chunk)
{
    return lists * chunk / CHUNKS;
}

/* Looks at the cells of a row. False: out of memory, for new groups. */
static bool look_at_row(const struct view *v, struct group_table *groups, size_t row,
                        struct cell_links *links)
{
    const int y = (int)(row % (size_t)v->n[1]), z = (int)(row / (size_t)v->n[1]);
    bool ok = true;
    memset(links, 0, (size_t)v->n[0] * sizeof *links);
    for (int x = 0; x < v->n[0] && ok; x++) {
        links[x] = cell_links(v, x, y, z);
        ok = set_group(groups, v, &links[x], x, y, z);
    }
    return ok;
}

/* May the view have cells that belong to groups? */
static bool has_groups(const struct view *v)
{
    bool may = false;
    for (int type = 0; type < TAG_ROWS; type++) {
        const int rule = v->rows[type].boundary;
        may = may || (v->rows[type].fluid ? rule != BOUNDARY_none
                                          : !(boundary_is((uint8_t)rule) & RULE_as_sent));
    }
    return may;
}

/* Finds all groups, numbered in the order of the rows: each thread those of its rows, which are
 * then joined in the order of the threads. */
static bool find_groups(struct cutting *c)
{
    struct runs *const found = calloc((size_t)c->threads, sizeof *found);
    const size_t width = (size_t)c->v->n[0];
    int ok = found != NULL;
    if (!has_groups(c->v) || !ok) {
        free(found);
        return ok;
    }
#pragma omp parallel for num_threads(c->threads) reduction(& : ok) schedule(static, 1)
    for (int t = 0; t < c->threads; t++) {
        const size_t part = (size_t)t, parts = (size_t)c->threads;
        struct cell_links *const links = calloc(width, sizeof *links);
        struct group_table *const groups = calloc(1, sizeof *groups);
        ok &= links && groups;
        if (groups)
            groups->runs = &found[t];
        for (size_t r = c->rows * part / parts; r < c->rows * (part + 1) / parts && ok; r++)
            ok &= look_at_row(c->v, groups, r, links);
        free(groups ? groups->next : NULL);
        free(groups);
        free(links);
    }
    for (int t = 0; t < c->threads; t++) {
        for (size_t k = 0; k < found[t].group_count && ok; k++) {
            uint32_t number;
            ok = find_group(c->groups, &found[t].group[k], &number);
        }
        free(found[t].group);
    }
    free(found);
    return ok;
}

/* Lets equal rows share a list. Of a view with places each row has its own. */
static bool share_lists(struct cutting *c)
{
    size_t buckets = 64; /* hash table of lists, keyed by the cell_links of their rows */
    const size_t width = (size_t)c->v->n[0];
    c->lists = c->rows;
    for (size_t r = 0; r < c->rows && c->v->place; r++)
        c->runs->row_list[r] = (uint32_t)r;
    if (c->v->place)
        return true;
    while (buckets < 2 * c->rows)
        buckets *= 2;
    uint32_t *const bucket = calloc(buckets, sizeof *bucket); /* list + 1; 0: empty */
    XXH128_hash_t *const hash = malloc((c->rows + 1) * sizeof *hash);
    c->row_of = malloc((c->rows + 1) * sizeof *c->row_of);
    int ok = bucket && hash && c->row_of;
#pragma omp parallel num_threads(c->threads) reduction(& : ok)
    {
        struct cell_links *const links = calloc(width, sizeof *links);
        ok &= links != NULL;
#pragma omp for schedule(static)
        for (size_t r = 0; r < c->rows; r++)
            if (ok && (ok &= look_at_row(c->v, c->groups, r, links)))
                hash[r] = XXH3_128bits(links, width * sizeof *links);
        free(links);
    }
    c->lists = 0;
    for (size_t r = 0; r < c->rows && ok; r++) {
        size_t b = hash[r].low64 & (buckets - 1);
        while (bucket[b] && !XXH128_isEqual(hash[c->row_of[bucket[b] - 1]], hash[r]))
            b = (b + 1) & (buckets - 1);
        if (!bucket[b]) {
            c->row_of[c->lists++] = (uint32_t)r;
            bucket[b] = (uint32_t)c->lists;
        }
        c->runs->row_list[r] = bucket[b] - 1;
    }
    free(bucket);
    free(hash);
    return ok;
}

/* Cuts the row of a list into s->one. */
static bool cut_list(const struct cutting *c, size_t list, struct scratch *s)
{
    const struct view *const v = c->v;
    struct runs *const one = &s->one;
    const size_t row = c->row_of ? c->row_of[list] : list;
    one->run_count = one->bounce_count = one->mask_count = one->rule_count = 0;
    one->stretch_count = one->piece_count = one->from_count = one->to_count = one->idle_count = 0;
    return look_at_row(v, c->groups, row, s->links) &&
           (v->place ? cut_pores(one, v, s->links, (int)(row % (size_t)v->n[1]),
                                 (int)(row / (size_t)v->n[1]))
                     : cut_row(one, s->links, v->n[0], !v->ghost[0]));
}

/* Calls `use` for each list of each chunk, with all threads. False: out of memory. */
typedef void list_use(struct cutting *c, size_t chunk, size_t list, const struct runs *one,
                      struct lengths *at);
static bool each_list(struct cutting *c, list_use *use)
{
    int ok = 1;
#pragma omp parallel num_threads(c->threads) reduction(& : ok)
    {
        struct scratch s = {.links = calloc((size_t)c->v->n[0], sizeof *s.links)};
        ok &= s.links != NULL;
#pragma omp for schedule(dynamic)
        for (size_t chunk = 0; chunk < CHUNKS; chunk++) {
            struct lengths at = c->measured ? c->before[chunk] : (struct lengths){0};
            for (size_t list = chunk_begin(c->lists, chunk);
                 list < chunk_begin(c->lists, chunk + 1) && ok; list++)
                if ((ok &= cut_list(c, list, &s)))
                    use(c, chunk, list, &s.one, &at);
        }
        free(s.links);
        runs_destroy(&s.one);
    }
    return ok;
}

static void count_list(struct cutting *c, size_t chunk, size_t list, const struct runs *one,
                       struct lengths *at)
{
    const struct lengths l = lengths_of(one);
    (void)list;
    (void)at;
    add_lengths(&c->before[chunk + 1], &l);
}

/* Finds groups, lists and their lengths. */
static bool measure(struct cutting *c)
{
    bool ok = find_groups(c) && share_lists(c) && each_list(c, count_list);
    for (size_t chunk = 0; chunk < CHUNKS; chunk++)
        add_lengths(&c->before[chunk + 1], &c->before[chunk]);
    c->measured = true;
    return ok;
}

/* An array of struct runs. */
struct list {
    void **array;
    size_t count, size;
};
enum { LISTS = 14 };

/* All arrays, of the present counts. */
static void lists_of(struct runs *r, const struct view *v, struct list all[LISTS])
{
    const struct list found[LISTS] = {
        {(void **)&r->row_list, (size_t)v->n[1] * (size_t)v->n[2], sizeof *r->row_list},
        {(void **)&r->group, r->group_count, sizeof *r->group},
        {(void **)&r->first, r->list_count + 1, sizeof *r->first},
        {(void **)&r->run, r->run_count, sizeof *r->run},
        {(void **)&r->bounce, r->bounce_count, sizeof *r->bounce},
        {(void **)&r->stretch, r->stretch_count + (r->stretch_count > 0), sizeof *r->stretch},
        {(void **)&r->piece, r->piece_count, sizeof *r->piece},
        {(void **)&r->from_wall, r->from_count, sizeof *r->from_wall},
        {(void **)&r->to_wall, r->to_count, sizeof *r->to_wall},
        {(void **)&r->idle, r->idle_count, sizeof *r->idle},
        {(void **)&r->near_row, v->near_cells, sizeof *r->near_row},
        {(void **)&r->beyond, v->crossings, sizeof *r->beyond},
        {(void **)&r->links, r->mask_count ? r->mask_count + BLOCK : 0, sizeof *r->links},
        {(void **)&r->ruled, r->rule_count ? r->rule_count + BLOCK : 0, sizeof *r->ruled},
    };
    memcpy(all, found, sizeof found);
}

double runs_held(const struct runs *runs, const struct view *v)
{
    struct runs r = *runs;
    struct list all[LISTS];
    double bytes = 0;
    lists_of(&r, v, all);
    for (int k = 0; k < LISTS; k++)
        bytes += (double)(all[k].count * all[k].size);
    return bytes;
}

/* Sets the counts of the lists. */
static void set_counts(struct cutting *c)
{
    struct runs *const r = c->runs;
    const struct lengths *const all = &c->before[CHUNKS];
    r->run_count = all->run;
    r->bounce_count = all->bounce;
    r->stretch_count = all->stretch;
    r->piece_count = all->piece;
    r->from_count = all->from_wall;
    r->to_count = all->to_wall;
    r->idle_count = all->idle;
    r->mask_count = all->links ? BLOCK + all->links : 0;
    r->rule_count = all->ruled ? BLOCK + all->ruled : 0;
    r->list_count = c->lists;
}

/* Zeros before and behind the masks. */
static void clear_ends(uint32_t *masks, size_t used)
{
    if (!used)
        return;
    memset(masks, 0, BLOCK * sizeof *masks);
    memset(masks + used, 0, BLOCK * sizeof *masks);
}

/* Allocates the lists that are not there yet, and sets what belongs to no row. */
static bool make_lists(struct cutting *c)
{
    struct runs *const r = c->runs;
    struct list all[LISTS];
    lists_of(r, c->v, all);
    for (int k = 0; k < LISTS; k++)
        if (!*all[k].array && all[k].count && !(*all[k].array = malloc(all[k].count * all[k].size)))
            return false;
    list_near(r, c->v);
    clear_ends(r->links, r->mask_count);
    clear_ends(r->ruled, r->rule_count);
    r->first[0] = 0;
    if (r->stretch_count)
        r->stretch[r->stretch_count] = (struct pore_stretch){.piece = r->piece_count,
                                                             .from_wall = r->from_count,
                                                             .to_wall = r->to_count,
                                                             .idle = r->idle_count};
    return true;
}

static void copy(void *to, size_t at, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy((char *)to + at * size, from, count * size);
}

/* Copies a row's lists to their places, which begin at `at`. */
static void put_list(struct cutting *c, size_t chunk, size_t list, const struct runs *one,
                     struct lengths *at)
{
    struct runs *const r = c->runs;
    const struct lengths l = lengths_of(one);
    (void)chunk;
    copy(r->run, at->run, one->run, l.run, sizeof *r->run);
    for (struct run *run = r->run + at->run; run < r->run + at->run + l.run; run++) {
        if (run->kind == RUN_PORES)
            run->group += (uint32_t)at->stretch;
        if (run->kind == RUN_MIXED)
            run->masks += at->links;
        if ((run->kind == RUN_MIXED || run->kind == RUN_RULED) && run->wall)
            run->rules += at->ruled;
        if (!c->v->place) {
            run->bounce += at->bounce;
            run->mirror += at->bounce;
            run->bounce_end += at->bounce;
        }
    }
    copy(r->stretch, at->stretch, one->stretch, l.stretch, sizeof *r->stretch);
    for (size_t k = at->stretch; k < at->stretch + l.stretch; k++) {
        r->stretch[k].piece += at->piece;
        r->stretch[k].from_wall += at->from_wall;
        r->stretch[k].to_wall += at->to_wall;
        r->stretch[k].idle += at->idle;
    }
    copy(r->bounce, at->bounce, one->bounce, l.bounce, sizeof *r->bounce);
    copy(r->piece, at->piece, one->piece, l.piece, sizeof *r->piece);
    copy(r->from_wall, at->from_wall, one->from_wall, l.from_wall, sizeof *r->from_wall);
    copy(r->to_wall, at->to_wall, one->to_wall, l.to_wall, sizeof *r->to_wall);
    copy(r->idle, at->idle, one->idle, l.idle, 1);
    if (l.links)
        copy(r->links, BLOCK + at->links, one->links + BLOCK, l.links, sizeof *r->links);
    if (l.ruled)
        copy(r->ruled, BLOCK + at->ruled, one->ruled + BLOCK, l.ruled, sizeof *r->ruled);
    add_lengths(at, &l);
    r->first[list + 1] = (uint32_t)at->run;
}

/* Makes the lists; or only their counts, groups and list of rows. */
static bool cut(struct runs *runs, const struct view *v, int threads, bool all)
{
    struct cutting *const c = calloc(1, sizeof *c);
    struct group_table *const groups = calloc(1, sizeof *groups);
    bool ok = c && groups;
    *runs = (struct runs){0};
    if (ok) {
        groups->runs = runs;
        c->v = v;
        c->runs = runs;
        c->groups = groups;
        c->rows = (size_t)v->n[1] * (size_t)v->n[2];
        c->threads = threads;
        runs->row_list = calloc(c->rows, sizeof *runs->row_list);
        ok = runs->row_list && measure(c);
        set_counts(c);
        if (ok && all)
            ok = make_lists(c) && each_list(c, put_list);
        free(c->row_of);
        free(groups->next);
    }
    free(groups);
    free(c);
    return ok;
}

static enum status no_room(const struct view *v)
{
    return fail_machine("out of memory for the lists of cell runs of %zu rows",
                        (size_t)v->n[1] * (size_t)v->n[2]);
}

enum status runs_create(struct runs *runs, const struct view *v)
{
    if (cut(runs, v, omp_get_max_threads(), true))
        return STATUS_OK;
    runs_destroy(runs);
    return no_room(v);
}

enum status runs_bytes(const struct view *v, int threads, double *bytes)
{
    struct runs runs;
    const bool ok = cut(&runs, v, threads, false);
    *bytes = runs_held(&runs, v);
    runs_destroy(&runs);
    return ok ? STATUS_OK : no_room(v);
}

void runs_destroy(struct runs *runs)
{
    free(runs->run);
    free(runs->bounce);
    free(runs->group);
    free(runs->stretch);
    free(runs->piece);
    free(runs->from_wall);
    free(runs->to_wall);
    free(runs->idle);
    free(runs->near_row);
    free(runs->beyond);
    free(runs->links);
    free(runs->ruled);
    free(runs->first);
    free(runs->row_list);
    *runs = (struct runs){0};
}
