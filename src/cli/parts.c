/* How ranks share the box; see parts.h. */
#include "cli/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "domain/sparse.h"
#include "solver/backend.h"
#include "solver/solver.h"
#include "tags/create.h"
#include "tags/part.h"

/* Tiles of a sampled box whose tags are made: how many, and their cells along the axes. Long rows,
 * because lists of the CPU's loops take less in these. */
enum { TILES = 64 };
static const int tile[3] = {256, 24, 24};

/* Finds what a rank with this block needs: first without lists, then the lists. */
typedef enum status look(const struct parts *p, struct domain *part, struct needs *needs);

static enum status look_at_places(const struct parts *p, struct domain *part, struct needs *needs)
{
    const struct view *const v = &part->view;
    struct sparse s;
    int64_t own = 0;
    sparse_survey(&s, part, case_threads(p->c));
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++)
                own += view_fluid(v, view_index(v, x, y, z)) != 0;
    needs->own = (double)own;
    needs->fluid = (double)s.fluid;
    needs->places = (double)s.places;
    needs->cells = (double)s.cells;
    needs->dense = solver_bytes(part);
    sparse_layout(part, &s);
    needs->sparse = solver_bytes(part);
    return STATUS_OK;
}

static enum status look_at_lists(const struct parts *p, struct domain *part, struct needs *needs)
{
    const struct sparse s = {.fluid = (size_t)needs->fluid, .places = (size_t)needs->places};
    const int threads = case_threads(p->c);
    enum status status = p->sparse ? sparse_keep(part, &s, threads) : STATUS_OK;
    if (!status)
        status = backend_cpu.list_bytes(&part->view, threads, &needs->lists);
    free(part->place);
    free(part->link);
    part->place = part->link = NULL;
    return status;
}

/* ---- with tags ---- */

static void lay_out(const struct parts *p, int rank, struct domain *block)
{
    domain_layout_level(block, p->c, p->refined, p->level, p->cuts, p->balance.at, rank);
}

/* Lays out a rank's block and gives it tags: its own copy, or this process'. */
static enum status open_part(const struct parts *p, int rank, struct domain *part)
{
    lay_out(p, rank, part);
    part->view.rows = p->box->rows;
    part->view.table = p->box->table;
    part->tags = part_same(part, p->box) ? p->box->tags : malloc(part->view.cells);
    part->view.tags = part->tags;
    return part->tags ? STATUS_OK
                      : fail_machine("out of memory for the tags of %zu cells", part->view.cells);
}

/* Looks at the blocks of all ranks. The processes share them. Collective. */
static enum status each_part(const struct parts *p, look *at)
{
    const struct domain *const box = p->box;
    enum status status = STATUS_OK;
    for (int first = 0; first < p->ranks && !status; first += box->ranks) {
        const int rank = first + box->rank;
        const bool mine = rank < p->ranks;
        struct domain part = {.tags = NULL};
        status = status_agree(box->comm, mine ? open_part(p, rank, &part) : STATUS_OK);
        const bool other = mine && part.tags != box->tags;
        if (!status)
            status = part_tags(other ? &part : NULL, box);
        if (!status)
            status = status_agree(box->comm, mine ? at(p, &part, &p->needs[rank]) : STATUS_OK);
        if (other)
            free(part.tags);
    }
    return status;
}

/* Tells all processes what each found. */
static void share_needs(const struct parts *p)
{
    enum { EACH = sizeof(struct needs) / sizeof(double) };
    for (int rank = 0; rank < p->ranks; rank++)
        if (rank % p->box->ranks != p->box->rank)
            p->needs[rank] = (struct needs){0};
    for (int first = 0; first < p->ranks; first += 1 << 20) {
        const int count = p->ranks - first < 1 << 20 ? p->ranks - first : 1 << 20;
        MPI_Allreduce(MPI_IN_PLACE, p->needs + first, count * EACH, MPI_DOUBLE, MPI_SUM,
                      p->box->comm);
    }
}

static enum status look_at_all(struct parts *p)
{
    const struct domain *const box = p->box;
    double places = 0, cells = 0;
    enum status status = balance_create(&p->balance, box, p->cuts);
    p->needs = calloc((size_t)p->ranks, sizeof *p->needs);
    if (!p->needs && !status)
        status = fail_machine("out of memory for %d ranks", p->ranks);
    status = status_agree(box->comm, status);
    if (!status)
        status = each_part(p, look_at_places);
    if (status)
        return status;
    share_needs(p);
    for (int rank = 0; rank < p->ranks; rank++) {
        places += p->needs[rank].places;
        cells += p->needs[rank].cells;
    }
    p->kept_share = places / cells;
    p->sparse = sparse_wanted(p->c, domain_fluid_share(box), p->kept_share);
    status = each_part(p, look_at_lists);
    if (!status)
        share_needs(p);
    return status;
}

/* ---- with a sample ---- */

/* The first cell of a tile along an axis of n cells; `length`: its cells. */
static int place_of_tile(int n, int length, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    const int places = n - length - 1;
    return length < n ? 1 + (int)((double)(*state >> 11) * 0x1p-53 * (places > 0 ? places : 1)) : 0;
}

static enum status look_at_tile(const struct parts *p, uint64_t *state, struct needs *all)
{
    int lo[3], hi[3];
    struct domain d;
    struct needs needs = {0};
    for (int a = 0; a < 3; a++) {
        const int length = tile[a] + 1 < p->c->cells[a] ? tile[a] : p->c->cells[a];
        lo[a] = place_of_tile(p->c->cells[a], length, state);
        hi[a] = lo[a] + length;
    }
    enum status status = domain_tile(&d, p->c, lo, hi);
    if (status)
        return status;
    status = look_at_places(p, &d, &needs);
    if (!status && p->sparse)
        status = look_at_lists(p, &d, &needs);
    all->own += needs.own;
    all->fluid += needs.fluid;
    all->places += needs.places;
    all->lists += needs.lists;
    domain_destroy(&d);
    return status;
}

/* Finds what fluid cells need with sparse storage, or cells of its lists, from tiles. */
static enum status look_at_tiles(struct parts *p)
{
    uint64_t state = 1;
    struct needs all = {0};
    enum status status = STATUS_OK;
    for (int k = 0; k < TILES && !status; k++)
        status = look_at_tile(p, &state, &all);
    if (status)
        return status;
    p->tile_places = all.fluid > 0 ? all.places / all.fluid : 1;
    p->tile_list_bytes = all.own > 0 ? all.lists / all.own : 0;
    return STATUS_OK;
}

/* The cuts, the storage, and what a fluid cell takes. */
static enum status look_at_sample(struct parts *p)
{
    enum status status = sampling_balance(p->sample, &p->balance, p->cuts);
    if (status || !sparse_wanted(p->c, p->sample->share, 0))
        return status;
    status = look_at_tiles(p);
    p->kept_share = p->sample->share * p->tile_places;
    p->sparse = sparse_wanted(p->c, p->sample->share, p->kept_share);
    return status || !p->sparse ? status : look_at_tiles(p);
}

static void estimate(const struct parts *p, struct domain *block, struct needs *needs)
{
    const int *const lo = block->lo, *const n = block->view.n;
    const int hi[3] = {lo[0] + n[0], lo[1] + n[1], lo[2] + n[2]};
    const double share = sampling_share(p->sample, lo, hi);
    *needs = (struct needs){.own = share * n[0] * n[1] * n[2],
                            .fluid = share * (double)block->view.cells,
                            .cells = (double)block->view.cells,
                            .dense = solver_bytes(block)};
    if (!p->tile_places)
        return;
    struct domain sparse = *block;
    needs->places = needs->fluid * p->tile_places;
    needs->lists = needs->own * p->tile_list_bytes;
    sparse_layout(&sparse,
                  &(struct sparse){.fluid = (size_t)needs->fluid, .places = (size_t)needs->places});
    needs->sparse = solver_bytes(&sparse);
}

/* ---- with the cells of a level ---- */

/* Needs of a block if no body is in it. The same share of its own and its ghost cells is fluid. */
static void count_cells(const struct parts *p, struct domain *block, struct needs *needs)
{
    const int *const lo = block->lo, *const n = block->view.n;
    const int hi[3] = {lo[0] + n[0], lo[1] + n[1], lo[2] + n[2]};
    const double own = (double)refined_own(p->refined, p->level, lo, hi);
    const double fluid = own / ((double)n[0] * n[1] * n[2]) * (double)block->view.cells;
    struct domain sparse = *block;
    *needs = (struct needs){.own = own,
                            .fluid = fluid,
                            .places = fluid,
                            .cells = (double)block->view.cells,
                            .dense = solver_bytes(block)};
    sparse_layout(&sparse, &(struct sparse){.fluid = (size_t)fluid, .places = (size_t)fluid});
    needs->sparse = solver_bytes(&sparse);
}

/* Is storage sparse? */
static void look_at_cells(struct parts *p)
{
    double places = 0, cells = 0, own = 0, all = 1;
    for (int rank = 0; rank < p->ranks; rank++) {
        struct domain block;
        struct needs needs;
        parts_of(p, rank, &block, &needs);
        places += needs.places;
        cells += needs.cells;
        own += needs.own;
    }
    for (int a = 0; a < 3; a++)
        all *= p->refined->level[p->level].hi[a] - p->refined->level[p->level].lo[a];
    p->kept_share = places / cells;
    p->sparse = sparse_wanted(p->c, own / all, p->kept_share);
}

/* ---- */

enum status parts_create(struct parts *p, const struct flow_case *c, const struct refined *r,
                         int level, int ranks, const struct domain *box,
                         const struct sampling *sample)
{
    *p = (struct parts){.ranks = ranks,
                        .c = c,
                        .refined = r,
                        .level = level,
                        .box = box,
                        .sample = sample,
                        .kept_share = 1};
    const enum status status = domain_cuts(c, r, level, ranks, p->cuts);
    if (status)
        return status;
    if (box)
        return look_at_all(p);
    if (sample)
        return look_at_sample(p);
    look_at_cells(p);
    return STATUS_OK;
}

void parts_destroy(struct parts *p)
{
    balance_destroy(&p->balance);
    free(p->needs);
}

void parts_of(const struct parts *p, int rank, struct domain *block, struct needs *needs)
{
    lay_out(p, rank, block);
    if (p->box)
        *needs = p->needs[rank];
    else if (p->sample)
        estimate(p, block, needs);
    else
        count_cells(p, block, needs);
}

/* Bytes that a rank keeps of the images that it read. */
static double image_bytes(const struct flow_case *c, int ranks)
{
    double bytes = 0;
    for (int k = 0; k < c->body_count; k++) {
        const struct voxel_image *const v = &c->bodies[k].image;
        if (v->file)
            bytes += (double)voxel_line(v, v->to[0] - v->from[0]) * (v->to[1] - v->from[1]) *
                     ceil((double)(v->to[2] - v->from[2]) / ranks);
    }
    return bytes;
}

double parts_bytes(const struct parts *p, const struct needs *needs)
{
    return (p->sparse ? needs->sparse : needs->dense) + needs->lists + image_bytes(p->c, p->ranks);
}

double parts_bytes_more(const struct parts *p, const struct domain *block,
                        const struct needs *needs)
{
    struct domain wide = *block;
    domain_align_rows(&wide, GPU_ROW_BYTES);
    /* Bodies have hundreds of kinds of cells beside them: their numbers take two bytes. */
    const double number = p->c->body_count > 0 ? 2 : 1;
    if (!p->sparse)
        return solver_bytes(&wide) - needs->dense + number * (double)wide.view.cells - needs->lists;
    /* Cells that have places are listed, and they alone have kinds. */
    const double padding = (double)(wide.view.cells - block->view.cells);
    return padding * (1 + sizeof(struct place_word) / 32.0) +
           needs->fluid * (number + sizeof(uint32_t)) - needs->lists;
}
