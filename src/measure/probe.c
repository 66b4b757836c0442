/* Values between cells; see probe.h.
 *
 * Every rank lists the cells of its block that any position needs. Rank 0 collects these
 * lists once; later it collects only the values, one message per rank, and interpolates. A line
 * through the box needs few of its cells. A rank divides its block into bricks and fetches, for
 * each brick, the box around its needed cells: few launches, and few cells copied in vain. */
#include "measure/probe.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/agree.h"
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
struct offer {
    int64_t index; /* of the cell in the whole box */
    int number;    /* in the order of the ranks */
};

static int64_t index_of(const struct domain *d, const int cell[3])
{
    return ((int64_t)cell[2] * d->cells[1] + cell[1]) * d->cells[0] + cell[0];
}

/* The cells on both sides of a position along one axis, and their weights. Returns their number: 2,
 * or 1 on a centre, beyond the outermost centre, or if the axis has one cell. */
static int sides(const struct domain *d, int axis, double at, int cell[2], double weight[2])
{
    const int n = d->cells[axis];
    double t = at - 0.5; /* in cells from the first centre */
    assert(at >= 0 && at <= n);
    if (!d->periodic[axis])
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

/* The cells around a position, x fastest, and their weights. */
static int corners_of(const struct domain *d, const double at[3], int cell[8][3], double weight[8])
{
    int side[3][2], count[3], corners = 0;
    double part[3][2];
    for (int a = 0; a < 3; a++)
        count[a] = sides(d, a, at[a], side[a], part[a]);
    for (int z = 0; z < count[2]; z++)
        for (int y = 0; y < count[1]; y++)
            for (int x = 0; x < count[0]; x++, corners++) {
                cell[corners][0] = side[0][x];
                cell[corners][1] = side[1][y];
                cell[corners][2] = side[2][z];
                weight[corners] = part[0][x] * part[1][y] * part[2][z];
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

/* The fluid cells of this block that a position needs, each once, in the order of compare_needs. */
static enum status list_needs(const struct solver *s, int set, int points, const double *at,
                              struct need **out, int *count)
{
    const struct domain *const d = s->domain;
    const struct view *const v = &s->domain->view;
    struct need *list = NULL;
    size_t filled = 0, room = 0;
    for (int p = 0; p < points; p++) {
        int cell[8][3];
        double weight[8];
        const int corners = corners_of(d, at + 3 * (size_t)p, cell, weight);
        for (int k = 0; k < corners; k++) {
            struct need here;
            bool mine = true;
            for (int a = 0; a < 3; a++) {
                here.cell[a] = cell[k][a] - d->lo[a];
                mine = mine && here.cell[a] >= 0 && here.cell[a] < v->n[a];
            }
            if (!mine ||
                !view_holds(v, set, view_index(v, here.cell[0], here.cell[1], here.cell[2])))
                continue;
            if (filled == room) {
                room = room ? 2 * room : 64;
                struct need *const more = realloc(list, room * sizeof *more);
                if (!more) {
                    free(list);
                    return fail_machine("out of memory for the cells of a probe or line");
                }
                list = more;
            }
            list[filled++] = here;
        }
    }
    size_t different = 0;
    if (filled)
        qsort(list, filled, sizeof *list, compare_needs);
    for (size_t k = 0; k < filled; k++)
        if (k == 0 || compare_needs(&list[k], &list[different - 1]) != 0)
            list[different++] = list[k];
    *out = list;
    *count = (int)different;
    return STATUS_OK;
}

/* Adds the box around cells list[0] to list[count - 1], all of one brick, cut into pieces that the
 * solver can fetch. p->box has room for `count` more. */
static void add_boxes(struct probe *p, const struct solver *s, const struct need *list, int first,
                      int count)
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

static enum status make_boxes(struct probe *p, const struct solver *s, const struct need *list)
{
    const size_t cells = (size_t)p->cells + 1; /* no allocation of 0 bytes */
    p->box = calloc(cells, sizeof *p->box);
    p->place = calloc(cells, sizeof *p->place);
    p->mine = calloc(cells, (size_t)p->components * sizeof *p->mine);
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
    const struct offer *const p = one, *const q = other;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Rank 0: finds each position's corners in p->all. offers: sorted. */
static void make_points(struct probe *p, const struct domain *d, const double *at,
                        const struct offer *offers, size_t count)
{
    for (int k = 0; k < p->points; k++) {
        struct probe_point *const point = &p->point[k];
        int cell[8][3];
        double weight[8];
        const int corners = corners_of(d, at + 3 * (size_t)k, cell, weight);
        *point = (struct probe_point){.sum = 0};
        for (int c = 0; c < corners; c++) {
            const struct offer key = {.index = index_of(d, cell[c])};
            const struct offer *const found =
                count ? bsearch(&key, offers, count, sizeof key, compare_offers) : NULL;
            if (!found)
                continue; /* held on no rank */
            point->cell[point->corners] = found->number;
            point->weight[point->corners++] = weight[c];
            point->sum += weight[c];
        }
        if (point->corners == corners)
            point->sum = 1;
    }
}

/* Rank 0 learns which cells each rank offers. */
static enum status collect(struct probe *p, const struct solver *s, const double *at,
                           const struct need *list)
{
    const struct domain *const d = s->domain;
    const bool root = d->rank == 0;
    enum status status = STATUS_OK;
    int64_t *const indices = malloc(((size_t)p->cells + 1) * sizeof *indices);
    int64_t *everybody = NULL;
    struct offer *offers = NULL;
    size_t total = 0;

    p->counts = root ? calloc((size_t)d->ranks, sizeof *p->counts) : NULL;
    p->starts = root ? calloc((size_t)d->ranks, sizeof *p->starts) : NULL;
    p->point = root ? calloc((size_t)p->points, sizeof *p->point) : NULL;
    if (!indices || (root && (!p->counts || !p->starts || !p->point)))
        status = fail_machine("out of memory for the cells of a probe or line");
    if ((status = status_agree(s->domain->comm, status)))
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
        everybody = malloc((total + 1) * sizeof *everybody);
        offers = malloc((total + 1) * sizeof *offers);
        p->all = malloc((total + 1) * (size_t)p->components * sizeof *p->all);
        if (!everybody || !offers || !p->all)
            status = fail_machine("out of memory for the cells of a probe or line");
    }
    if ((status = status_agree(s->domain->comm, status)))
        goto done;
    MPI_Gatherv(indices, p->cells, MPI_INT64_T, everybody, p->counts, p->starts, MPI_INT64_T, 0,
                d->comm);
    if (root) {
        for (size_t k = 0; k < total; k++)
            offers[k] = (struct offer){.index = everybody[k], .number = (int)k};
        if (total)
            qsort(offers, total, sizeof *offers, compare_offers);
        make_points(p, d, at, offers, total);
        for (int rank = 0; rank < d->ranks; rank++) { /* from cells to values */
            p->counts[rank] *= p->components;
            p->starts[rank] *= p->components;
        }
    }
done:
    free(indices);
    free(everybody);
    free(offers);
    return status;
}

enum status probe_create(struct probe *p, const struct solver *s, int set, int points,
                         const double *at)
{
    struct need *list = NULL;
    *p = (struct probe){.points = points, .set = set, .components = set == SET_flow ? 4 : 1};
    enum status status = list_needs(s, set, points, at, &list, &p->cells);
    if (!status)
        status = make_boxes(p, s, list);
    status = status_agree(s->domain->comm, status);
    if (!status)
        status = collect(p, s, at, list);
    free(list);
    if (status)
        probe_destroy(p);
    return status;
}

void probe_destroy(struct probe *p)
{
    free(p->box);
    free(p->place);
    free(p->mine);
    free(p->counts);
    free(p->starts);
    free(p->all);
    free(p->point);
    *p = (struct probe){0};
}

static bool cut(const void *how, int number, struct box *piece)
{
    const struct probe *const p = how;
    if (number >= p->boxes)
        return false;
    *piece = p->box[number].box;
    return true;
}

enum status probe_measure(struct probe *p, struct solver *s, double *values)
{
    const size_t n = (size_t)p->components;
    struct box piece;
    struct fetch f;
    const double *flow;
    const struct probe_box *box = p->box;
    fetch_start_set(&f, s, p->set == SET_flow ? KERNEL_flow : KERNEL_scalar, p->set, NULL, cut, p);
    for (; (flow = fetch_next(&f, &piece)); box++)
        for (int k = box->first; k < box->first + box->count; k++)
            for (size_t c = 0; c < n; c++)
                p->mine[n * (size_t)k + c] = flow[n * p->place[k] + c];
    const enum status status = fetch_end(&f);
    MPI_Gatherv(p->mine, p->components * p->cells, MPI_DOUBLE, p->all, p->counts, p->starts,
                MPI_DOUBLE, 0, s->domain->comm);
    for (int k = 0; values && k < p->points; k++) {
        const struct probe_point *const point = &p->point[k];
        for (size_t c = 0; c < n; c++) {
            double sum = 0;
            for (int corner = 0; corner < point->corners; corner++)
                sum += point->weight[corner] * p->all[n * (size_t)point->cell[corner] + c];
            values[n * (size_t)k + c] = point->corners ? sum / point->sum : NAN;
        }
    }
    return status_agree(s->domain->comm, status);
}
