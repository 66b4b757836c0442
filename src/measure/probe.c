/* Values between cells; see probe.h.
 *
 * Every rank lists the cells of its block, on each level, that any position needs. Rank 0 collects
 * these lists once; later it collects only the values, one message per rank, and interpolates. A
 * line through the box needs few of its cells. A rank divides its block into bricks and fetches,
 * for each brick, the box around its needed cells: few launches, and few cells copied in vain. */
#include "measure/probe.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/message.h"

/* Cells of a brick: long along x, where cells are contiguous in memory. */
static const int brick[3] = {32, 8, 8};

/* A position this close to a cell's centre, in cells, counts as on it, because of rounding: 0.0035
 * / 0.001 is not quite 3.5. */
static const double close_by = 1e-9;

/* A cell of the block that a position needs. */
struct need {
    int cell[3];
};

/* A cell that a rank offers, or rank 0 looks for. */
struct cell_offer {
    int level;
    int64_t index; /* of the cell in the whole box of the level */
    int number;    /* in the order of the levels, then of the ranks */
};

/* Up to 8 cells, or their 8 parts each. */
enum { CORNERS = 64 };
struct corner {
    int level, cell[3];
    double weight;
};

static int64_t index_of(const struct domain *d, const int cell[3])
{
    return ((int64_t)cell[2] * d->cells[1] + cell[1]) * d->cells[0] + cell[0];
}

/* The cells on both sides of a position along one axis, and their weights. Returns their number: 2,
 * or 1 on a centre, beyond the outermost centre, or if the axis has one cell. */
static int sides(const struct levels *all, int level, int axis, double at, int cell[2],
                 double weight[2])
{
    const struct domain *const d = all->solver[level]->domain;
    const bool periodic = all->refined ? all->refined->periodic[axis] : d->periodic[axis];
    const int n = d->cells[axis];
    double t = at - 0.5; /* in cells from the first centre */
    assert(at >= 0 && at <= n);
    if (!periodic)
        t = t < 0 ? 0 : t > n - 1 ? n - 1 : t;
    double below = floor(t), share = t - below;
    if (share > 1 - close_by) {
        below++;
        share = 0;
    }
    const int first = (int)below;
    cell[0] = (first + n) % n;
    cell[1] = (first + 1 + n) % n;
    weight[0] = 1 - share;
    weight[1] = share;
    if (share >= close_by && cell[0] != cell[1])
        return 2;
    weight[0] = 1;
    return 1;
}

/* The cells of a level around a position in its cells, x fastest, and their weights. */
static int cells_around(const struct levels *all, int level, const double at[3],
                        struct corner corner[8])
{
    int side[3][2], count[3], corners = 0;
    double part[3][2];
    for (int a = 0; a < 3; a++)
        count[a] = sides(all, level, a, at[a], side[a], part[a]);
    for (int z = 0; z < count[2]; z++)
        for (int y = 0; y < count[1]; y++)
            for (int x = 0; x < count[0]; x++)
                corner[corners++] = (struct corner){.level = level,
                                                    .cell = {side[0][x], side[1][y], side[2][z]},
                                                    .weight = part[0][x] * part[1][y] * part[2][z]};
    return corners;
}

static bool holds(const struct levels *all, const struct corner *c)
{
    return c->level == 0 ||
           refined_holds(all->refined, c->level, c->cell[0], c->cell[1], c->cell[2]);
}

/* The finest level whose cells around the position are all of the level, covered or not. */
static int corners_of_level(const struct levels *all, const double at[3], struct corner corner[8])
{
    for (int level = all->count - 1;; level--) {
        double there[3];
        for (int a = 0; a < 3; a++)
            there[a] = ldexp(at[a], refined_halved(all->refined, level, a));
        const int corners = cells_around(all, level, there, corner);
        int held = 0;
        while (held < corners && holds(all, &corner[held]))
            held++;
        if (held == corners)
            return corners;
    }
}

int probe_level(const struct levels *all, const double at[3])
{
    struct corner corner[8];
    corners_of_level(all, at, corner);
    return corner[0].level;
}

/* The cells around a position, and their weights. */
static int corners_of(const struct levels *all, const double at[3], struct corner corner[CORNERS])
{
    struct corner whole[8];
    const int count = corners_of_level(all, at, whole);
    int corners = 0;
    for (int k = 0; k < count; k++) {
        const int *const c = whole[k].cell;
        if (!all->refined || refined_has(all->refined, whole[k].level, c[0], c[1], c[2])) {
            corner[corners++] = whole[k];
            continue;
        }
        for (int part = 0; part < 8; part++) { /* twice the same ones along a flat axis */
            struct corner *const to = &corner[corners++];
            *to = (struct corner){.level = whole[k].level + 1, .weight = 0.125 * whole[k].weight};
            for (int a = 0; a < 3; a++) {
                const int halved = refined_halved(all->refined, 1, a);
                to->cell[a] = (c[a] << halved) + (part >> a & halved);
            }
        }
    }
    return corners;
}

/* Sorts by brick (z, y, x), then by cell within the brick (z, y, x). */
static int compare_needs(const void *one, const void *other)
{
    const struct need *const p = one, *const q = other;
    for (int a = 2; a >= 0; a--)
        if (p->cell[a] / brick[a] != q->cell[a] / brick[a])
            return p->cell[a] / brick[a] < q->cell[a] / brick[a] ? -1 : 1;
    for (int a = 2; a >= 0; a--)
        if (p->cell[a] != q->cell[a])
            return p->cell[a] < q->cell[a] ? -1 : 1;
    return 0;
}

static bool same_brick(const struct need *p, const struct need *q)
{
    return p->cell[0] / brick[0] == q->cell[0] / brick[0] &&
           p->cell[1] / brick[1] == q->cell[1] / brick[1] &&
           p->cell[2] / brick[2] == q->cell[2] / brick[2];
}

/* The fluid cells of this rank's block of a level that a position needs, each once, in the order of
 * compare_needs. */
static enum status list_needs(const struct levels *all, int level, int set, int points,
                              const double *at, struct need **out, int *count)
{
    const struct domain *const d = all->solver[level]->domain;
    const struct view *const v = &d->view;
    struct need *list = NULL;
    size_t filled = 0;
    for (int p = 0; p < points; p++) {
        struct corner corner[CORNERS];
        const int corners = corners_of(all, at + 3 * (size_t)p, corner);
        for (int k = 0; k < corners; k++) {
            struct need here;
            bool mine = corner[k].level == level;
            for (int a = 0; a < 3; a++) {
                here.cell[a] = corner[k].cell[a] - d->lo[a];
                mine = mine && here.cell[a] >= 0 && here.cell[a] < v->n[a];
            }
            if (!mine ||
                !view_holds(v, set, view_index(v, here.cell[0], here.cell[1], here.cell[2])))
                continue;
            if (!ARRAY_ADD(list, filled, here)) {
                free(list);
                return fail_machine("out of memory for the cells of a probe or line");
            }
        }
    }
    *out = list;
    *count = (int)array_unique(list, filled, sizeof *list, compare_needs);
    return STATUS_OK;
}

/* Adds the box around cells list[0] to list[count - 1], all of one brick, cut into pieces that the
 * solver can fetch. p->box has room for `count` more. */
static void add_boxes(struct probe_level *p, const struct solver *s, const struct need *list,
                      int first, int count)
{
    struct box around = {{list[0].cell[0], list[0].cell[1], list[0].cell[2]}, {0, 0, 0}}, piece;
    int done = 0;
    for (int k = 0; k < count; k++)
        for (int a = 0; a < 3; a++) {
            const int c = list[k].cell[a];
            around.lo[a] = c < around.lo[a] ? c : around.lo[a];
            around.hi[a] = c + 1 > around.hi[a] ? c + 1 : around.hi[a];
        }
    for (int number = 0; solver_piece(s, &around, number, &piece); number++) {
        struct probe_box b = {.box = piece, .first = first + done};
        const size_t nx = (size_t)(piece.hi[0] - piece.lo[0]),
                     ny = (size_t)(piece.hi[1] - piece.lo[1]);
        for (; done < count; done++, b.count++) { /* cells and pieces are in order of z, y */
            const int *const c = list[done].cell;
            if (c[2] >= piece.hi[2] || (c[2] == piece.hi[2] - 1 && c[1] >= piece.hi[1]))
                break;
            p->place[b.first + b.count] =
                ((size_t)(c[2] - piece.lo[2]) * ny + (size_t)(c[1] - piece.lo[1])) * nx +
                (size_t)(c[0] - piece.lo[0]);
        }
        if (b.count > 0)
            p->box[p->boxes++] = b;
    }
    assert(done == count);
}

static enum status make_boxes(struct probe_level *p, int components, const struct solver *s,
                              const struct need *list)
{
    const size_t cells = (size_t)p->cells + 1; /* no allocation of 0 bytes */
    p->box = calloc(cells, sizeof *p->box);
    p->place = calloc(cells, sizeof *p->place);
    p->mine = calloc(cells, (size_t)components * sizeof *p->mine);
    if (!p->box || !p->place || !p->mine)
        return fail_machine("out of memory for the cells of a probe or line");
    for (int k = 0; k < p->cells;) {
        const int first = k;
        while (k < p->cells && same_brick(&list[first], &list[k]))
            k++;
        add_boxes(p, s, list + first, first, k - first);
    }
    return STATUS_OK;
}

static int compare_offers(const void *one, const void *other)
{
    const struct cell_offer *const p = one, *const q = other;
    if (p->level != q->level)
        return p->level < q->level ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Rank 0: finds each position's corners in p->all. offers: sorted. */
static enum status make_points(struct probe *p, const struct levels *all, const double *at,
                               const struct cell_offer *offers, size_t count)
{
    size_t filled = 0;
    for (int k = 0; k < p->points; k++) {
        struct probe_point *const point = &p->point[k];
        struct corner corner[CORNERS];
        const int corners = corners_of(all, at + 3 * (size_t)k, corner);
        *point = (struct probe_point){.first = (int)filled};
        for (int c = 0; c < corners; c++) {
            const struct domain *const d = all->solver[corner[c].level]->domain;
            const struct cell_offer key = {.level = corner[c].level,
                                           .index = index_of(d, corner[c].cell)};
            const struct cell_offer *const found =
                count ? bsearch(&key, offers, count, sizeof key, compare_offers) : NULL;
            if (!found)
                continue; /* held on no rank */
            if (!ARRAY_ADD(p->corner, filled,
                           (struct probe_corner){found->number, corner[c].weight}))
                return fail_machine("out of memory for the cells of a probe or line");
            point->corners++;
            point->sum += corner[c].weight;
        }
        if (point->corners == corners)
            point->sum = 1;
    }
    return STATUS_OK;
}

/* Cells that all ranks offer, of all levels; on rank 0. */
struct offers {
    struct cell_offer *list;
    size_t count;
};

/* Rank 0 learns which cells of a level each rank offers. */
static enum status collect(struct probe_level *p, const struct solver *s, int level,
                           const struct need *list, struct offers *offers)
{
    const struct domain *const d = s->domain;
    const bool root = d->rank == 0;
    enum status status = STATUS_OK;
    int64_t *const indices = malloc(((size_t)p->cells + 1) * sizeof *indices);
    int64_t *everybody = NULL;
    size_t total = 0;

    p->counts = root ? calloc((size_t)d->ranks, sizeof *p->counts) : NULL;
    p->starts = root ? calloc((size_t)d->ranks, sizeof *p->starts) : NULL;
    if (!indices || (root && (!p->counts || !p->starts)))
        status = fail_machine("out of memory for the cells of a probe or line");
    if ((status = status_agree(d->comm, status)))
        goto done;
    for (int k = 0; k < p->cells; k++) {
        int cell[3];
        for (int a = 0; a < 3; a++)
            cell[a] = d->lo[a] + list[k].cell[a];
        indices[k] = index_of(d, cell);
    }
    MPI_Gather(&p->cells, 1, MPI_INT, p->counts, 1, MPI_INT, 0, d->comm);
    for (int rank = 0; root && rank < d->ranks; rank++) {
        p->starts[rank] = (int)total;
        total += (size_t)p->counts[rank];
    }
    if (root) {
        struct cell_offer *const more =
            realloc(offers->list, (offers->count + total + 1) * sizeof *more);
        offers->list = more ? more : offers->list;
        everybody = malloc((total + 1) * sizeof *everybody);
        if (!everybody || !more)
            status = fail_machine("out of memory for the cells of a probe or line");
    }
    if ((status = status_agree(d->comm, status)))
        goto done;
    MPI_Gatherv(indices, p->cells, MPI_INT64_T, everybody, p->counts, p->starts, MPI_INT64_T, 0,
                d->comm);
    for (size_t k = 0; root && k < total; k++)
        offers->list[offers->count + k] = (struct cell_offer){
            .level = level, .index = everybody[k], .number = (int)(offers->count + k)};
    for (int rank = 0; root && rank < d->ranks; rank++)
        p->starts[rank] += (int)offers->count;
    offers->count += total;
done:
    free(indices);
    free(everybody);
    return status;
}

/* Rank 0: room for all values, and the interpolation. */
static enum status prepare(struct probe *p, const struct levels *all, const double *at,
                           const struct offers *offers)
{
    const size_t n = (size_t)p->components;
    p->point = calloc((size_t)p->points + 1, sizeof *p->point);
    p->all = malloc((offers->count + 1) * n * sizeof *p->all);
    if (!p->point || !p->all)
        return fail_machine("out of memory for the cells of a probe or line");
    if (offers->count)
        qsort(offers->list, offers->count, sizeof *offers->list, compare_offers);
    for (int l = 0; l < p->levels; l++)
        for (int rank = 0; rank < all->solver[l]->domain->ranks; rank++) {
            p->level[l].counts[rank] *= p->components; /* from cells to values */
            p->level[l].starts[rank] *= p->components;
        }
    return make_points(p, all, at, offers->list, offers->count);
}

enum status probe_create(struct probe *p, const struct levels *all, int set, int points,
                         const double *at)
{
    const struct domain *const d = all->solver[0]->domain;
    struct offers offers = {NULL, 0};
    enum status status = STATUS_OK;
    *p = (struct probe){
        .points = points, .set = set, .components = set == SET_flow ? 4 : 1, .levels = all->count};
    for (int l = 0; l < p->levels && !status; l++) {
        struct need *list = NULL;
        status = list_needs(all, l, set, points, at, &list, &p->level[l].cells);
        if (!status)
            status = make_boxes(&p->level[l], p->components, all->solver[l], list);
        status = status_agree(d->comm, status);
        if (!status)
            status = collect(&p->level[l], all->solver[l], l, list, &offers);
        free(list);
    }
    if (!status)
        status = status_agree(d->comm, d->rank == 0 ? prepare(p, all, at, &offers) : STATUS_OK);
    free(offers.list);
    if (status)
        probe_destroy(p);
    return status;
}

void probe_destroy(struct probe *p)
{
    for (int l = 0; l < p->levels; l++) {
        free(p->level[l].box);
        free(p->level[l].place);
        free(p->level[l].mine);
        free(p->level[l].counts);
        free(p->level[l].starts);
    }
    free(p->all);
    free(p->point);
    free(p->corner);
    *p = (struct probe){0};
}

static bool cut(const void *how, int number, struct box *piece)
{
    const struct probe_level *const p = how;
    if (number >= p->boxes)
        return false;
    *piece = p->box[number].box;
    return true;
}

/* Brings the values of a level's cells to rank 0. */
static enum status gather(struct probe *p, struct probe_level *level, struct solver *s)
{
    const size_t n = (size_t)p->components;
    struct box piece;
    struct fetch f;
    const double *flow;
    const struct probe_box *box = level->box;
    fetch_start_set(&f, s, p->set == SET_flow ? KERNEL_flow : KERNEL_scalar, p->set, NULL, cut,
                    level);
    for (; (flow = fetch_next(&f, &piece)); box++)
        for (int k = box->first; k < box->first + box->count; k++)
            for (size_t c = 0; c < n; c++)
                level->mine[n * (size_t)k + c] = flow[n * level->place[k] + c];
    const enum status status = fetch_end(&f);
    MPI_Gatherv(level->mine, p->components * level->cells, MPI_DOUBLE, p->all, level->counts,
                level->starts, MPI_DOUBLE, 0, s->domain->comm);
    return status;
}

enum status probe_measure(struct probe *p, const struct levels *all, double *values)
{
    const size_t n = (size_t)p->components;
    enum status status = STATUS_OK;
    for (int l = 0; l < p->levels; l++)
        status = status_worse(status, gather(p, &p->level[l], all->solver[l]));
    for (int k = 0; values && k < p->points; k++) {
        const struct probe_point *const point = &p->point[k];
        for (size_t c = 0; c < n; c++) {
            double sum = 0;
            for (int corner = 0; corner < point->corners; corner++) {
                const struct probe_corner *const from = &p->corner[point->first + corner];
                sum += from->weight * p->all[n * (size_t)from->cell + c];
            }
            values[n * (size_t)k + c] = point->corners ? sum / point->sum : NAN;
        }
    }
    return status_agree(all->solver[0]->domain->comm, status);
}
