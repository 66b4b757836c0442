/* Parts of the fluid, found on any number of ranks, against a flood of the whole box that every
 * rank does for itself: random solids in boxes with all kinds of ends, whole and in part, channels
 * whose answer is known, and pores that are filled. And the gaps between these solids, against
 * lengths counted cell by cell.
 *
 *     pores_ranks
 *
 * Exit status: 0 as it should be, 9 a wrong answer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "boundary.h"
#include "tags/create.h"
#include "tags/gaps.h"
#include "tags/pores.h"

enum { WRONG = 9, CELLS = 4096, FILLED = 3 };

static const int velocities[Q][3] = LATTICE_VELOCITIES;

static struct {
    int n[3];
    bool periodic[3];
    uint8_t solid[CELLS];
    int part[CELLS], from[CELLS][3]; /* number of the part from 1 on; where it is, unwrapped */
    struct {
        int64_t cells;
        bool open, round[3], low[3], high[3];
    } is[CELLS + 1];
    int parts, kept;
} box;

static int at(const int g[3])
{
    return (g[2] * box.n[1] + g[1]) * box.n[0] + g[0];
}

static bool inside(const struct case_region *r, const int g[3])
{
    return g[0] >= r->lo[0] && g[0] < r->hi[0] && g[1] >= r->lo[1] && g[1] < r->hi[1] &&
           g[2] >= r->lo[2] && g[2] < r->hi[2];
}

static bool opens(const struct flow_case *c, const int g[3])
{
    bool open = false;
    for (int face = 0; face < 6; face++) {
        const enum face_kind kind = c->faces[face].kind;
        open |= g[face / 2] == (face % 2 ? box.n[face / 2] - 1 : 0) &&
                (kind == FACE_velocity || kind == FACE_pressure);
    }
    return open;
}

/* All that is joined to the cell `first`. */
static void flood(const struct flow_case *c, const struct case_region *region, int first)
{
    static int queue[CELLS];
    const int part = ++box.parts;
    int begin = 0, end = 0;
    memset(&box.is[part], 0, sizeof box.is[part]);
    memset(box.from[first], 0, sizeof box.from[first]);
    box.part[first] = part;
    queue[end++] = first;
    while (begin < end) {
        const int here = queue[begin++];
        const int g[3] = {here % box.n[0], here / box.n[0] % box.n[1], here / box.n[0] / box.n[1]};
        box.is[part].cells++;
        box.is[part].open |= opens(c, g);
        for (int a = 0; a < 3; a++) {
            box.is[part].low[a] |= g[a] == region->lo[a];
            box.is[part].high[a] |= g[a] == region->hi[a] - 1;
        }
        for (int i = 1; i < Q; i++) {
            int to[3], box_of[3];
            bool beyond = false;
            for (int a = 0; a < 3; a++) {
                to[a] = g[a] + velocities[i][a];
                box_of[a] = box.from[here][a] + (to[a] < 0 ? -1 : to[a] >= box.n[a]);
                beyond |= (to[a] < 0 || to[a] >= box.n[a]) && !box.periodic[a];
                to[a] = (to[a] + box.n[a]) % box.n[a];
            }
            if (beyond || !inside(region, to) || box.solid[at(to)])
                continue;
            const int there = at(to);
            if (!box.part[there]) {
                box.part[there] = part;
                memcpy(box.from[there], box_of, sizeof box_of);
                queue[end++] = there;
            }
            for (int a = 0; a < 3; a++)
                box.is[part].round[a] |= box.from[there][a] != box_of[a];
        }
    }
}

static bool isolated(int part)
{
    const bool round = box.is[part].round[0] || box.is[part].round[1] || box.is[part].round[2];
    return !round && !box.is[part].open && part != box.kept;
}

static void flood_all(const struct flow_case *c, const struct case_region *region)
{
    int largest = 0;
    memset(box.part, 0, sizeof box.part);
    box.parts = box.kept = 0;
    for (int z = region->lo[2]; z < region->hi[2]; z++)
        for (int y = region->lo[1]; y < region->hi[1]; y++)
            for (int x = region->lo[0]; x < region->hi[0]; x++) {
                const int g[3] = {x, y, z};
                if (!box.solid[at(g)] && !box.part[at(g)])
                    flood(c, region, at(g));
            }
    bool all = true;
    for (int k = 1; k <= box.parts; k++) {
        all &= isolated(k);
        if (!largest || box.is[k].cells > box.is[largest].cells)
            largest = k;
    }
    box.kept = all ? largest : 0;
}

/* Solids into the tags of the block and its ghost cells within the box: every other cell, or all,
 * with that row. */
static void put_solids(struct domain *d, uint8_t other)
{
    const struct view *const v = &d->view;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                bool in = true;
                for (int a = 0; a < 3; a++) {
                    in &= box.periodic[a] || (g[a] >= 0 && g[a] < box.n[a]);
                    g[a] = (g[a] + box.n[a]) % box.n[a];
                }
                if (in)
                    d->tags[view_index(v, x, y, z)] = !box.solid[at(g)] ? TAG_FLUID
                                                      : at(g) % 2       ? other
                                                                        : TAG_WALL;
            }
}

static int complain(const char *what, long long is, long long expected)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d: %d x %d x %d: %s is %lld, not %lld\n", rank, box.n[0], box.n[1],
            box.n[2], what, is, expected);
    return WRONG;
}

static int compare(const struct domain *d, const struct flow_case *c,
                   const struct case_region *region)
{
    struct pores p;
    int64_t parts = 0, cells = 0, largest = 0, fluid = 0;
    int64_t connected[3] = {0}, dead_end[3] = {0}, closed[3] = {0};
    bool through[3] = {false, false, false};
    int wrong = 0;
    flood_all(c, region);
    for (int k = 1; k <= box.parts; k++) {
        parts += isolated(k);
        cells += isolated(k) ? box.is[k].cells : 0;
        fluid += box.is[k].cells;
        largest = box.is[k].cells > largest ? box.is[k].cells : largest;
        for (int a = 0; a < 3; a++) {
            const bool joins = box.periodic[a] && region->lo[a] == 0 && region->hi[a] == box.n[a]
                                   ? box.is[k].round[a]
                                   : box.is[k].low[a] && box.is[k].high[a];
            through[a] |= joins;
            *(joins                                   ? &connected[a]
              : box.is[k].low[a] || box.is[k].high[a] ? &dead_end[a]
                                                      : &closed[a]) += box.is[k].cells;
        }
    }
    if (pores_find(d, c, region, &p))
        return WRONG;
    if (p.parts != box.parts)
        wrong = complain("parts", p.parts, box.parts);
    if (p.isolated_parts != parts)
        wrong = complain("isolated parts", p.isolated_parts, parts);
    if (p.isolated_cells != cells)
        wrong = complain("isolated cells", p.isolated_cells, cells);
    if (p.largest != largest)
        wrong = complain("largest", p.largest, largest);
    if (p.fluid != fluid)
        wrong = complain("fluid", p.fluid, fluid);
    for (int a = 0; a < 3; a++) {
        int64_t sum = 0;
        for (int k = 0; k < region->hi[a] - region->lo[a]; k++)
            sum += p.plane[a][k];
        if (p.through[a] != through[a])
            wrong = complain("through", p.through[a], through[a]);
        if (p.connected[a] != connected[a])
            wrong = complain("connected", p.connected[a], connected[a]);
        if (p.dead_end[a] != dead_end[a])
            wrong = complain("dead end", p.dead_end[a], dead_end[a]);
        if (p.closed[a] != closed[a])
            wrong = complain("closed", p.closed[a], closed[a]);
        if (sum != fluid)
            wrong = complain("sum of planes", sum, fluid);
    }
    for (int k = 0; k < region->hi[0] - region->lo[0]; k++) {
        int64_t count = 0;
        for (int cell = 0; cell < box.n[0] * box.n[1] * box.n[2]; cell++)
            count += box.part[cell] && cell % box.n[0] == region->lo[0] + k;
        if (p.plane[0][k] != count)
            wrong = complain("plane", p.plane[0][k], count);
    }
    pores_destroy(&p);
    return wrong;
}

/* Every cell of the block and its ghost cells within the box, after filling. */
static int compare_filled(struct domain *d, const struct flow_case *c,
                          const struct case_region *region)
{
    const struct case_region all = {{0, 0, 0}, {box.n[0], box.n[1], box.n[2]}};
    const struct view *const v = &d->view;
    int64_t filled, expected = 0;
    int wrong = 0;
    flood_all(c, &all);
    for (int cell = 0; cell < box.n[0] * box.n[1] * box.n[2]; cell++) {
        const int g[3] = {cell % box.n[0], cell / box.n[0] % box.n[1], cell / box.n[0] / box.n[1]};
        expected += box.part[cell] && isolated(box.part[cell]) && inside(region, g);
    }
    if (pores_fill(d, c, region, FILLED, &filled))
        return WRONG;
    if (filled != expected)
        wrong = complain("filled", filled, expected);
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                bool in = true;
                for (int a = 0; a < 3; a++) {
                    in &= box.periodic[a] || (g[a] >= 0 && g[a] < box.n[a]);
                    g[a] = (g[a] + box.n[a]) % box.n[a];
                }
                const int part = in ? box.part[at(g)] : 0;
                const int tag = part && isolated(part) && inside(region, g) ? FILLED
                                : part                                      ? TAG_FLUID
                                                                            : TAG_WALL;
                const int is = d->tags[view_index(v, x, y, z)];
                if (in && is != tag)
                    wrong = complain("a tag", is, tag);
            }
    return wrong;
}

/* What is at a place of the box, or one beyond: `odd` solids are a body. */
enum what { FLUID, WALL, BODY, NOTHING };
static enum what what_at(const struct flow_case *c, const int g[3])
{
    int to[3];
    for (int a = 0; a < 3; a++) {
        const int face = 2 * a + (g[a] >= box.n[a]);
        to[a] = (g[a] + box.n[a]) % box.n[a];
        if (to[a] != g[a] && !box.periodic[a])
            return c->faces[face].kind == FACE_wall ? WALL : NOTHING;
    }
    return !box.solid[at(to)] ? FLUID : at(to) % 2 ? BODY : WALL;
}

/* Cells from this one to the end of the fluid along an axis, itself not counted, at most 2; and
 * what ends it there. */
static int reach_of(const struct flow_case *c, const int g[3], int axis, int side, enum what *end)
{
    int to[3] = {g[0], g[1], g[2]};
    for (int k = 0; k < 3; k++) {
        to[axis] = (to[axis] + side + (box.periodic[axis] ? box.n[axis] : 0));
        to[axis] = box.periodic[axis] ? to[axis] % box.n[axis] : to[axis];
        *end = what_at(c, to);
        if (*end != FLUID)
            return k;
    }
    return 2;
}

/* Is a fluid cell in a gap of one or two cells? */
static bool in_gap(const struct flow_case *c, const int g[3])
{
    bool narrow[3], body[3], open[3], found = false;
    for (int a = 0; a < 3; a++) {
        enum what low, high;
        const int below = reach_of(c, g, a, -1, &low), above = reach_of(c, g, a, 1, &high);
        const bool low_wall = low == WALL || low == BODY, high_wall = high == WALL || high == BODY;
        narrow[a] = low_wall && high_wall && below + above < 2;
        body[a] = low == BODY || high == BODY;
        open[a] = !(low_wall && below == 0) && !(high_wall && above == 0);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, e = (a + 2) % 3;
        found |= box.n[a] > GAPS_AXIS && narrow[a] && body[a] && (open[b] || open[e]) &&
                 (open[b] || narrow[b]) && (open[e] || narrow[e]);
    }
    return found;
}

static int compare_gaps(struct domain *d, struct flow_case *c)
{
    struct case_body body = {.name = "b"};
    struct gaps shapes, images;
    int64_t cells = 0, first = INT64_MAX;
    int wrong = 0;
    d->rows[d->row_count] = (struct tag_row){.boundary = BOUNDARY_halfway, .body = 1};
    put_solids(d, (uint8_t)d->row_count);
    for (int cell = box.n[0] * box.n[1] * box.n[2] - 1; cell >= 0; cell--) {
        const int g[3] = {cell % box.n[0], cell / box.n[0] % box.n[1], cell / box.n[0] / box.n[1]};
        if (!box.solid[cell] && in_gap(c, g)) {
            cells++;
            first = cell;
        }
    }
    c->bodies = &body;
    for (int image = 0; image < 2 && !wrong; image++) {
        body.image.file = image ? body.name : NULL;
        if (gaps_find(d, c, &shapes, &images))
            wrong = WRONG;
        if ((image ? images : shapes).cells != cells || (image ? shapes : images).cells)
            wrong = complain("cells in gaps", (image ? images : shapes).cells, cells);
        if ((image ? images : shapes).first != first)
            wrong = complain("the first in a gap", (image ? images : shapes).first, first);
    }
    c->bodies = NULL;
    put_solids(d, TAG_WALL);
    return wrong;
}

static const char *const faces[] = {
    "{x: periodic, y: periodic, z: periodic}",
    "{x: periodic, y: wall, z: periodic}",
    "{x: wall, y: wall, z: wall}",
    ("{xmin: {velocity: {value: [0.01, 0, 0], rule: links}}, xmax: {pressure: {rule: links}}, "
     "y: periodic, z: wall}"),
    "{x: periodic, y: periodic, zmin: {pressure: {rule: links}}, zmax: wall}",
};

/* The box of box.n cells with such ends, cut among the ranks. */
static int set_up(struct domain *d, struct flow_case *c, const char *ends)
{
    char text[512];
    snprintf(text, sizeof text,
             "domain: {cells: [%d, %d, %d]}\nfluid: {viscosity: 0.1}\nfaces: %s\nrun: {steps: 1}\n",
             box.n[0], box.n[1], box.n[2], ends);
    if (case_read("case.yaml", text, (long)strlen(text), 0, NULL, c) ||
        domain_create(d, c, MPI_COMM_WORLD))
        return WRONG;
    memcpy(box.periodic, d->periodic, sizeof box.periodic);
    return 0;
}

static int try_random(unsigned seed)
{
    struct flow_case c;
    struct domain d;
    uint64_t state = 0x9e3779b97f4a7c15u * (seed + 1);
    for (int a = 0; a < 3; a++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        box.n[a] = 1 + (int)(state >> 40) % 13 + (a == 2 ? 6 : 0);
    }
    if (set_up(&d, &c, faces[seed % 5]))
        return WRONG;
    const unsigned share = 20 + seed * 7 % 75; /* solid, in a hundred */
    for (int cell = 0; cell < box.n[0] * box.n[1] * box.n[2]; cell++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        box.solid[cell] = (state >> 33) % 100 < share;
    }
    put_solids(&d, TAG_WALL);
    const struct case_region all = {{0, 0, 0}, {box.n[0], box.n[1], box.n[2]}};
    struct case_region part = all;
    for (int a = 0; a < 3; a++) {
        part.lo[a] = (int)((state >> (8 * a + 8)) % 1000) % (box.n[a] + 1) / 2;
        part.hi[a] -= (box.n[a] - part.lo[a]) / 3;
    }
    int wrong = compare(&d, &c, &all);
    wrong |= compare(&d, &c, &part);
    wrong |= compare_gaps(&d, &c);
    wrong |= compare_filled(&d, &c, &part);
    domain_destroy(&d);
    case_destroy(&c);
    return wrong ? WRONG : 0;
}

/* A channel that goes up and down between walls, one cell wide; cut off in its middle when `shut`;
 * beside it a closed pore. The answers are known without a flood. */
static int try_serpentine(bool shut)
{
    struct flow_case c;
    struct domain d;
    struct pores p;
    memcpy(box.n, (int[3]){17, 12, 16}, sizeof box.n);
    if (set_up(&d, &c, faces[2]))
        return WRONG;
    memset(box.solid, 1, sizeof box.solid);
    int64_t channel = 0;
    for (int x = 0; x < 17; x++)
        for (int z = 1; z < 15; z++)
            if (x % 2 == 0 || z == (x % 4 == 1 ? 14 : 1)) {
                box.solid[at((int[3]){x, 5, z})] = shut && x == 8 && z == 8;
                channel += !(shut && x == 8 && z == 8);
            }
    box.solid[at((int[3]){3, 9, 7})] = box.solid[at((int[3]){4, 9, 8})] =
        0; /* by a diagonal link */
    put_solids(&d, TAG_WALL);
    const struct case_region all = {{0, 0, 0}, {17, 12, 16}};
    if (pores_find(&d, &c, &all, &p))
        return WRONG;
    int wrong = 0;
    if (p.parts != (shut ? 3 : 2))
        wrong = complain("parts of a serpentine", p.parts, shut ? 3 : 2);
    if (p.through[0] == shut || p.through[1] || p.through[2])
        wrong = complain("a serpentine joins x", p.through[0], !shut);
    if (p.fluid != channel + 2)
        wrong = complain("cells of a serpentine", p.fluid, channel + 2);
    if (!shut && (p.isolated_parts != 1 || p.isolated_cells != 2))
        wrong = complain("isolated beside a serpentine", p.isolated_cells, 2);
    if (!shut && p.largest != channel)
        wrong = complain("largest, a serpentine", p.largest, channel);
    /* Along x the two halves of a shut channel reach an end each, along z all is closed. */
    if (p.connected[0] != (shut ? 0 : channel) || p.dead_end[0] != (shut ? channel : 0) ||
        p.closed[0] != 2)
        wrong = complain("a serpentine's dead ends", p.dead_end[0], shut ? channel : 0);
    if (p.connected[2] || p.dead_end[2] || p.closed[2] != channel + 2)
        wrong = complain("a serpentine, closed along z", p.closed[2], channel + 2);
    pores_destroy(&p);
    domain_destroy(&d);
    case_destroy(&c);
    return wrong;
}

/* A line that comes back one row higher each time round x, and so goes round x and y at once. */
static int try_helix(void)
{
    struct flow_case c;
    struct domain d;
    struct pores p;
    memcpy(box.n, (int[3]){12, 12, 16}, sizeof box.n);
    if (set_up(&d, &c, faces[0]))
        return WRONG;
    memset(box.solid, 1, sizeof box.solid);
    for (int k = 0; k < 12; k++)
        box.solid[at((int[3]){k, k, 4})] = 0;
    put_solids(&d, TAG_WALL);
    const struct case_region all = {{0, 0, 0}, {12, 12, 16}};
    if (pores_find(&d, &c, &all, &p))
        return WRONG;
    int wrong = 0;
    if (p.parts != 1 || !p.through[0] || !p.through[1] || p.through[2] || p.isolated_parts)
        wrong = complain("parts of a helix", p.parts, 1);
    pores_destroy(&p);
    domain_destroy(&d);
    case_destroy(&c);
    return wrong;
}

int main(int count, char **arguments)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    for (unsigned seed = 0; seed < 200 && !wrong; seed++) {
        wrong = try_random(seed);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (wrong && rank == 0)
            fprintf(stderr, "seed %u\n", seed);
    }
    wrong |= try_serpentine(false);
    wrong |= try_serpentine(true);
    wrong |= try_helix();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong ? WRONG : 0;
}
