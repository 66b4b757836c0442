/* Cuts a row of cells into runs; see runs.h. */
#include "cpu/cut.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "boundary.h"
#include "slip.h"

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

bool find_group(struct group_table *t, const struct link_group *g, uint32_t *number)
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
            g.changes |= (uint32_t)boundary_changes(&v->rows[g.beyond[i]], i, v->set[SET_flow].bits)
                         << i;
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
 * many whole blocks as fit; other cells become RUN_MIXED, if `change`. Returns their number. */
static int mix_row(struct cell_links *l, int nx, bool change)
{
    int mixed = 0;
    for (int x0 = 0, x1; x0 < nx; x0 = x1) {
        const bool plain = unlinked(&l[x0]);
        for (x1 = x0 + 1; x1 < nx && plain && unlinked(&l[x1]) && l[x1].row == l[x0].row; x1++)
            ;
        int x = x0;
        if (plain && x1 - x0 >= 2 * BLOCK)
            x += (x1 - x0) / BLOCK * BLOCK;
        for (; x < x1; x++) {
            if (l[x].kind != RUN_BULK && l[x].kind != RUN_RULED)
                continue;
            mixed++;
            if (change)
                l[x].kind = l[x].mirror ? RUN_CELLS : RUN_MIXED; /* masks know no mirror */
        }
    }
    return mixed;
}

/* Copies that bounce_run would list for the row. */
static int bounces(const struct cell_links *l, int nx)
{
    int count = 0;
    for (int x = 0; x < nx; x++)
        count += __builtin_popcount(l[x].links & ~(x > 0 ? l[x - 1].links : 0));
    return count;
}

/* Does mix_row pay in this row? A vector of mixed cells takes twice the time of other ones, a copy
 * about the time of a cell. */
static bool broken(struct cell_links *l, int nx)
{
    bool solid = false, links = false;
    for (int x = 0; x < nx; x++) {
        solid = solid || l[x].kind == NOT_FLUID;
        links = links || l[x].kind == RUN_RULED || (l[x].kind == RUN_BULK && l[x].links);
    }
    return nx >= RUN_LANES && solid && links && bounces(l, nx) > mix_row(l, nx, false);
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
static bool mask_run(struct runs *runs, struct row_run *run, const struct cell_links *l)
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

/* Source of link i of a cell: -1: fluid; else as link_from. */
static int brings(const struct cell_links *l, int i)
{
    return l->links & 1u << i ? link_from(l, i) : -1;
}

/* Lists the links from walls, or from planes of symmetry (mirror), in a run of fluid cells. In a
 * row of nx cells that wraps, the first and the last cell are on their own where a link has a
 * component along it. */
static bool bounce_run(struct runs *runs, struct row_run *run, const struct cell_links *l, int nx,
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

bool cut_row(struct runs *runs, struct cell_links *l, int nx, bool wraps)
{
    const bool mixed = broken(l, nx);
    if (mixed)
        mix_row(l, nx, true);
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
            struct row_run run = {.x0 = x0,
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
    struct pore_piece *const next = runs->piece + runs->piece_count, *const last = next - 1;
    if (runs->piece_count > s->piece && last->pair == cell.pair && last->count < PIECE &&
        last->at + last->count == cell.at && last->place + last->count == place) {
        last->count++;
        return;
    }
    *next = (struct pore_piece){.place = place, .at = cell.at, .count = 1, .pair = cell.pair};
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

static int piece_class(const struct pore_piece *p)
{
    return p->count > 8 ? 0 : p->count > 4 ? 1 : p->count > 2 ? 2 : p->count > 1 ? 3 : 4;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct pore_piece *const p = a, *const q = b;
    const int by = piece_class(p) - piece_class(q);
    return by ? by : p->at != q->at ? p->at - q->at : p->pair - q->pair;
}

bool cut_pores(struct runs *runs, const struct view *v, const struct cell_links *l, int y, int z)
{
    for (int kind = 0; kind < 2; kind++)
        for (int x0 = 0, x1; x0 < v->n[0]; x0 = x1) {
            const uint8_t row = l[x0].row;
            struct row_run run = {.x0 = x0, .kind = l[x0].kind, .row = row, .group = l[x0].group};
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

void list_near(struct runs *runs, const struct view *v)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
#pragma omp parallel for
    for (size_t n = 0; n < v->near.count; n++) {
        const struct near_cell *const cell = &v->near.cell[n];
        const int *const at = cell->at;
        const uint8_t row = v->tags[view_index(v, at[0], at[1], at[2])] & TAG_ROW;
        uint8_t *beyond = runs->beyond + cell->first;
        bool plain = !v->rows[row].fluid || boundary_open(v->rows[row].boundary);
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

bool look_at_row(const struct view *v, struct group_table *groups, size_t row,
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

bool has_groups(const struct view *v)
{
    bool may = false;
    for (int type = 0; type < TAG_ROWS; type++) {
        const int rule = v->rows[type].boundary;
        may = may || (v->rows[type].fluid ? rule != BOUNDARY_none
                                          : !(boundary_is((uint8_t)rule) & RULE_as_sent));
    }
    return may;
}
