/* The cells that files show; see cover.h. */
#include "run/cover.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/array.h"
#include "base/box.h"
#include "base/message.h"
#include "measure/curl.h"

enum { COVER_TAG = 120, MOST_COMPONENTS = 16 };

/* Last number of a covered cell: no finer cells; finer cells without the quantity; with it. */
enum { COVERED_no = 0, COVERED_empty = 1, COVERED_has = 2 };

/* ---- regions ---- */

struct box cover_box(const struct cover *c, int level)
{
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = c->lo[a] << refined_halved(&c->grid->refined, level, a);
        hi[a] = c->hi[a] << refined_halved(&c->grid->refined, level, a);
    }
    return domain_part(&c->grid->level[level].domain, lo, hi);
}

/* Cuts a part of a level into pieces. False: no memory. */
static bool add_part(struct cover *c, int level, const struct box *part)
{
    const struct solver *const s = &c->grid->level[level].solver;
    const int before = s->domain->lo[2] + part->lo[2] - c->lo[2], skip = before % c->stride;
    const int step = c->stride > 1 ? c->stride : part->hi[2] - part->lo[2];
    struct box slab = *part, piece;
    for (int64_t z = part->lo[2] + (skip ? c->stride - skip : 0); z < part->hi[2]; z += step) {
        slab.lo[2] = (int)z;
        slab.hi[2] = c->stride > 1 ? slab.lo[2] + 1 : part->hi[2];
        for (int n = 0; solver_piece(s, &slab, n, &piece); n++)
            if (!ARRAY_ADD(c->level[level].part, c->level[level].parts, piece))
                return false;
    }
    return true;
}

/* Cuts this rank's part of the boxes of a level into pieces. False: no memory. */
static bool make_parts(struct cover *c, int level)
{
    const struct solver *const s = &c->grid->level[level].solver;
    const struct box own = cover_box(c, level);
    for (int b = 0; b < c->level[level].boxes.count; b++) {
        const struct box local = box_moved(&c->level[level].boxes.box[b], s->domain->lo, -1),
                         part = box_common(&local, &own);
        if (!box_is_empty(&part) && !add_part(c, level, &part))
            return false;
    }
    return true;
}

enum status cover_create(struct cover *c, struct grid *g, const struct case_region *region,
                         int stride)
{
    const int *const lo = region->lo, *const hi = region->hi;
    enum status status = STATUS_OK;
    *c = (struct cover){.grid = g, .stride = g->levels > 1 ? 1 : stride};
    memcpy(c->lo, lo, sizeof c->lo);
    memcpy(c->hi, hi, sizeof c->hi);
    for (int l = 0; l < g->levels && !status; l++) {
        int low[3], high[3];
        for (int a = 0; a < 3; a++) {
            low[a] = lo[a] << refined_halved(&g->refined, l, a);
            high[a] = hi[a] << refined_halved(&g->refined, l, a);
        }
        status = boxes_make(&c->level[l].boxes, &g->refined, l, low, high);
        if (!status && !c->level[l].boxes.count)
            break;
        c->levels = l + 1;
        c->level[l].values =
            malloc(g->level[l].solver.piece_cells * MOST_COMPONENTS * sizeof *c->level[l].values);
        if (!status && (!c->level[l].values || !make_parts(c, l)))
            status = fail_machine("out of memory for the levels of a file");
    }
    status = status_agree(g->level[0].domain.comm, status);
    if (status)
        cover_destroy(c);
    return status;
}

static void forget(struct cover *c)
{
    for (int l = 0; l < LEVELS; l++) {
        free(c->level[l].covered.value);
        c->level[l].covered = (struct covered){0};
    }
    c->of = NULL;
}

void cover_destroy(struct cover *c)
{
    forget(c);
    for (int l = 0; l < LEVELS; l++) {
        boxes_destroy(&c->level[l].boxes);
        free(c->level[l].part);
        free(c->level[l].values);
    }
    *c = (struct cover){0};
}

/* ---- values of covered cells ---- */

static const double *covered_at(const struct covered *c, int components, const int g[3])
{
    size_t at = 0;
    for (int a = 2; a >= 0; a--) {
        if (g[a] < c->box.lo[a] || g[a] >= c->box.hi[a])
            return NULL;
        at = at * (size_t)(c->box.hi[a] - c->box.lo[a]) + (size_t)(g[a] - c->box.lo[a]);
    }
    const double *const value = c->value + at * (size_t)(components + 1);
    return value[components] != COVERED_no ? value : NULL;
}

/* A loop over a level: puts the values of covered cells into pieces. */
struct overlay {
    const struct cover *c;
    const struct cover_quantity *q;
    cover_use *use;
    void *to;
    double unit;
};

static enum status overlay_piece(void *how, int level, const struct box *piece,
                                 const double *values)
{
    const struct overlay *const o = how;
    const struct domain *const d = &o->c->grid->level[level].domain;
    const size_t components = (size_t)o->q->components;
    double *const out = o->c->level[level].values, *to = out;
    assert(box_cells(piece) <= o->c->grid->level[level].solver.piece_cells);
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++) {
                const bool own = (d->tags[view_index(&d->view, x, y, z)] & TAG_ROW) != TAG_ABSENT;
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                const double *const covered =
                    own ? NULL : covered_at(&o->c->level[level].covered, o->q->components, g);
                for (size_t k = 0; k < components; k++)
                    *to++ = own ? values[k] * o->unit : covered ? covered[k] : 0;
                values += components;
            }
    return o->use(o->to, level, piece, out);
}

static enum status each(const struct cover *c, const struct cover_quantity *q, int level,
                        cover_use *use, void *to)
{
    struct overlay o = {c, q, use, to, q->is_rate ? ldexp(1, level) : 1};
    if (c->grid->levels == 1) /* no cell belongs to another level */
        return q->read(q, c, level, use, to);
    return q->read(q, c, level, overlay_piece, &o);
}

enum status cover_each(struct cover *c, int level, cover_use *use, void *to)
{
    return each(c, c->of, level, use, to);
}

/* Sums over finer cells, of this rank and then of all. One rank has all finer cells of a cell
 * (domain.h), and takes them in the same order whatever the cut.
 *
 * The number behind the sums of a cell is finer cells + 16 * those that have the quantity. Of tags
 * there is the least of 2^16 (not fluid) + 2^8 (number of the finer cell) + tag. */
struct sums_of {
    const struct cover *c;
    const struct cover_quantity *q;
    struct box box; /* cells of the coarser level */
    double *sum;    /* [z][y][x][width] */
};

static int width_of(const struct cover_quantity *q)
{
    return q->is_tag ? 1 : q->components + 1;
}

static double nothing_of(const struct cover_quantity *q)
{
    return q->is_tag ? INFINITY : 0;
}

static double *sum_at(const struct sums_of *s, const int g[3])
{
    size_t at = 0;
    for (int a = 2; a >= 0; a--)
        at = at * (size_t)(s->box.hi[a] - s->box.lo[a]) + (size_t)(g[a] - s->box.lo[a]);
    return s->sum + at * (size_t)width_of(s->q);
}

static enum status add_piece(void *to, int level, const struct box *piece, const double *values)
{
    const struct sums_of *const s = to;
    const struct domain *const d = &s->c->grid->level[level].domain;
    const int components = s->q->components;
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++, values += components) {
                const size_t cell = view_index(&d->view, x, y, z);
                const uint8_t tag = d->tags[cell] & TAG_ROW;
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                const double *const covered =
                    tag == TAG_ABSENT ? covered_at(&s->c->level[level].covered, components, g)
                                      : NULL;
                if (tag == TAG_ABSENT && !covered)
                    continue;
                const bool has = covered ? covered[components] == COVERED_has
                                         : view_holds(&d->view, s->q->set, cell);
                double *const sum =
                    sum_at(s, (const int[]){g[0] / 2, g[1] / 2, g[2] / 2}); /* flat: 0 */
                if (s->q->is_tag) {
                    const int child = (g[0] & 1) + 2 * (g[1] & 1) + 4 * (g[2] & 1);
                    *sum = fmin(*sum, 65536 * !has + 256 * child + values[0]);
                    continue;
                }
                for (int k = 0; k < components && has; k++)
                    sum[k] += values[k];
                sum[components] += has ? 17 : 1;
            }
    return STATUS_OK;
}

/* Copies the part of the sums that is in the box to a message, or adds a message to them. */
static void pack_sums(const struct sums_of *s, const struct box *box, double *message)
{
    const size_t width = (size_t)width_of(s->q);
    const size_t row = (size_t)(box->hi[0] - box->lo[0]) * width;
    for (int z = box->lo[2]; z < box->hi[2]; z++)
        for (int y = box->lo[1]; y < box->hi[1]; y++, message += row)
            memcpy(message, sum_at(s, (const int[]){box->lo[0], y, z}), row * sizeof *message);
}

static void add_sums(const struct sums_of *s, const struct box *box, const double *message)
{
    const size_t width = (size_t)width_of(s->q);
    const size_t row = (size_t)(box->hi[0] - box->lo[0]) * width;
    for (int z = box->lo[2]; z < box->hi[2]; z++)
        for (int y = box->lo[1]; y < box->hi[1]; y++, message += row) {
            double *const sum = sum_at(s, (const int[]){box->lo[0], y, z});
            for (size_t k = 0; k < row; k++)
                sum[k] = s->q->is_tag ? fmin(sum[k], message[k]) : sum[k] + message[k];
        }
}

/* Turns sums into values. */
static void divide_sums(const struct sums_of *s)
{
    const size_t components = (size_t)s->q->components, cells = box_cells(&s->box);
    double *sum = s->sum;
    for (size_t cell = 0; cell < cells; cell++, sum += components + 1) {
        const double count = floor(sum[components] / 16);
        for (size_t k = 0; k < components && count > 0; k++)
            sum[k] /= count;
        sum[components] = count > 0             ? COVERED_has
                          : sum[components] > 0 ? COVERED_empty
                                                : COVERED_no;
    }
}

static void choose_tags(const struct sums_of *s, double *out)
{
    const size_t cells = box_cells(&s->box);
    for (size_t cell = 0; cell < cells; cell++, out += 2) {
        const double least = s->sum[cell];
        const int all = isfinite(least) ? (int)least : 0;
        out[0] = all & 0xff;
        out[1] = !isfinite(least) ? COVERED_no : all & 65536 ? COVERED_empty : COVERED_has;
    }
}

/* The parts of two levels that a rank has: the cells of the coarser one below its finer cells, and
 * its cells of the coarser one that may be covered. Global coordinates of the coarser level. */
struct pair {
    struct box finer, coarser;
};

static struct pair own_pair(const struct cover *c, int level)
{
    const struct domain *const fine = &c->grid->level[level].domain, *const coarse =
                                                                         &c->grid->level[level - 1]
                                                                              .domain;
    const struct box fine_local = cover_box(c, level), coarse_local = cover_box(c, level - 1);
    const struct box below = box_moved(&fine_local, fine->lo, 1);
    struct box all;
    struct pair p;
    for (int a = 0; a < 3; a++) {
        all.lo[a] = c->grid->refined.level[level].lo[a] / 2;
        all.hi[a] = (c->grid->refined.level[level].hi[a] + 1) / 2;
        p.finer.lo[a] = below.lo[a] / 2;
        p.finer.hi[a] = (below.hi[a] + 1) / 2;
    }
    if (box_is_empty(&below))
        p.finer = (struct box){{0}, {0}};
    p.coarser = box_moved(&coarse_local, coarse->lo, 1);
    p.coarser = box_common(&p.coarser, &all);
    if (box_is_empty(&p.coarser))
        p.coarser = (struct box){{0}, {0}};
    return p;
}

/* Sends each rank its part of this rank's sums, and adds what comes. pairs: of all ranks. */
static void exchange_sums(const struct sums_of *from, struct sums_of *to, const struct pair *pairs,
                          MPI_Comm comm, double *const message[2])
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int width = width_of(from->q);
    for (int k = 0; k < ranks; k++) {
        const int there = (rank + k) % ranks, here = (rank - k + ranks) % ranks;
        const struct box out = box_common(&from->box, &pairs[there].coarser),
                         in = box_common(&pairs[here].finer, &to->box);
        const int sent = (int)box_cells(&out) * width, received = (int)box_cells(&in) * width;
        if (sent)
            pack_sums(from, &out, message[0]);
        if (k == 0)
            memcpy(message[1], message[0], (size_t)sent * sizeof **message);
        else
            MPI_Sendrecv(message[0], sent, MPI_DOUBLE, sent ? there : MPI_PROC_NULL, COVER_TAG,
                         message[1], received, MPI_DOUBLE, received ? here : MPI_PROC_NULL,
                         COVER_TAG, comm, MPI_STATUS_IGNORE);
        if (received)
            add_sums(to, &in, message[1]);
    }
}

/* Makes the values of cells of level - 1 from those of `level`. */
static enum status restrict_level(struct cover *c, const struct cover_quantity *q, int level)
{
    MPI_Comm const comm = c->grid->level[0].domain.comm;
    const struct pair own = own_pair(c, level);
    const size_t width = (size_t)width_of(q), fine = box_cells(&own.finer) * width,
                 coarse = box_cells(&own.coarser) * width;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    struct sums_of mine = {c, q, own.finer, malloc((fine + 1) * sizeof(double))},
                   sums = {c, q, own.coarser, malloc((coarse + 1) * sizeof(double))};
    struct pair *const pairs = malloc((size_t)ranks * sizeof *pairs);
    /* A message is never more than the smaller of both sums; tags become twice as many numbers. */
    double *message[2] = {malloc((fine + 1) * sizeof(double)),
                          malloc((2 * coarse + 1) * sizeof(double))};
    const bool room = mine.sum && sums.sum && pairs && message[0] && message[1] && fine < INT_MAX &&
                      coarse < INT_MAX;
    enum status status =
        room ? STATUS_OK : fail_machine("out of memory for means of the cells of level %d", level);
    status = status_agree(comm, status);
    if (!status) {
        MPI_Allgather(&own, sizeof own / sizeof(int), MPI_INT, pairs, sizeof own / sizeof(int),
                      MPI_INT, comm);
        for (size_t k = 0; k < fine; k++)
            mine.sum[k] = nothing_of(q);
        for (size_t k = 0; k < coarse; k++)
            sums.sum[k] = nothing_of(q);
        status = each(c, q, level, add_piece, &mine);
        exchange_sums(&mine, &sums, pairs, comm, message); /* the others wait for it */
        status = status_agree(comm, status);
    }
    if (!status && q->is_tag) {
        choose_tags(&sums, message[1]);
        free(sums.sum);
        sums.sum = message[1];
        message[1] = NULL;
    } else if (!status) {
        divide_sums(&sums);
    }
    free(mine.sum);
    free(message[0]);
    free(message[1]);
    free(pairs);
    if (status)
        free(sums.sum);
    else
        c->level[level - 1].covered = (struct covered){own.coarser, sums.sum};
    return status;
}

enum status cover_prepare(struct cover *c, const struct cover_quantity *q, int lowest)
{
    enum status status = STATUS_OK;
    assert(q->components <= MOST_COMPONENTS);
    forget(c);
    c->of = q;
    for (int l = 0; l < c->levels && !status && q->kernel == KERNEL_curl; l++)
        status = curl_prepare(&c->grid->level[l].solver);
    for (int l = c->levels - 1; l > lowest && !status; l--)
        status = restrict_level(c, q, l);
    return status;
}

/* ---- quantities ---- */

struct level_parts {
    const struct cover *c;
    int level;
};

static bool next_part(const void *how, int number, struct box *piece)
{
    const struct level_parts *const p = how;
    if (number >= p->c->level[p->level].parts)
        return false;
    *piece = p->c->level[p->level].part[number];
    return true;
}

static enum status read_kernel(const struct cover_quantity *q, const struct cover *c, int level,
                               cover_use *use, void *to)
{
    const struct level_parts parts = {c, level};
    const double *values;
    struct box piece;
    struct fetch f;
    enum status status = STATUS_OK;
    fetch_start_set(&f, &c->grid->level[level].solver, q->kernel, q->set, NULL, next_part, &parts);
    while (!status && (values = fetch_next(&f, &piece)))
        status = use(to, level, &piece, values);
    const enum status fetched = fetch_end(&f);
    return status ? status : fetched;
}

static enum status read_tags(const struct cover_quantity *q, const struct cover *c, int level,
                             cover_use *use, void *to)
{
    const struct domain *const d = &c->grid->level[level].domain;
    enum status status = STATUS_OK;
    size_t most = 1;
    (void)q;
    for (int n = 0; n < c->level[level].parts; n++) {
        const size_t cells = box_cells(&c->level[level].part[n]);
        most = cells > most ? cells : most;
    }
    double *const values = malloc(most * sizeof *values);
    if (!values)
        return fail_machine("out of memory for the tags of a level");
    for (int n = 0; n < c->level[level].parts && !status; n++) {
        const struct box *const piece = &c->level[level].part[n];
        double *value = values;
        for (int z = piece->lo[2]; z < piece->hi[2]; z++)
            for (int y = piece->lo[1]; y < piece->hi[1]; y++)
                for (int x = piece->lo[0]; x < piece->hi[0]; x++)
                    *value++ = d->tags[view_index(&d->view, x, y, z)] & TAG_ROW;
        status = use(to, level, piece, values);
    }
    free(values);
    return status;
}

const struct cover_quantity quantity_flow = {.components = 4,
                                             .read = read_kernel,
                                             .kernel = KERNEL_flow},
                            quantity_curl = {.components = 3,
                                             .is_rate = true,
                                             .read = read_kernel,
                                             .kernel = KERNEL_curl},
                            quantity_tags = {.components = 1, .is_tag = true, .read = read_tags};

struct cover_quantity quantity_scalar(int set)
{
    return (struct cover_quantity){
        .components = 1, .set = set, .read = read_kernel, .kernel = KERNEL_scalar};
}
