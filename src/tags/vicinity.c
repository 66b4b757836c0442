/* The neighbourhood of a body; see vicinity.h. */
#include "tags/vicinity.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "base/signals.h"
#include "body/body.h"
#include "domain/refined.h"

/* Values in one call of MPI, most. */
enum { MPI_MOST = 1 << 28 };

/* ---- the body's cells ---- */

/* The body in cells of a level; its shape is a part of one that scales it. */
struct scaled {
    struct case_body what;
    struct case_shape part;
};

static void scale_body(struct scaled *s, const struct case_body *what, int level)
{
    const double by = ldexp(1, level);
    s->what = *what;
    s->part = what->shape;
    s->what.wall = BODY_WALL_halfway; /* crossings are not asked for */
    s->what.shape =
        (struct case_shape){.kind = SHAPE_union, .count = 1, .parts = &s->part, .scale = by};
    s->what.mesh.scale *= by;
    s->what.image.level = level;
    for (int a = 0; a < 3; a++) {
        s->what.mesh.center[a] *= by;
        s->what.image.at[a] <<= level;
    }
}

/* The cells of the box that the body may have; along periodic axes also beyond it. */
static enum status body_cells(const struct case_body *what, const bool periodic[3],
                              const int cells[3], struct vicinity_part *all)
{
    double lo[3], hi[3];
    struct shape shape;
    if (what->mesh.file) {
        const double more = body_surrounds(what) ? 1 : 0; /* the cells around it */
        mesh_bounds(&what->mesh, lo, hi);
        for (int a = 0; a < 3; a++) {
            lo[a] -= more;
            hi[a] += more;
        }
    } else if (what->image.file) {
        for (int a = 0; a < 3; a++) {
            lo[a] = what->image.at[a];
            hi[a] = lo[a] + voxel_image_cells(&what->image, a);
        }
    } else {
        if (!shape_create(&shape, &what->shape))
            return fail_machine("out of memory for the body %s", what->name);
        memcpy(lo, shape.lo, sizeof lo);
        memcpy(hi, shape.hi, sizeof hi);
        shape_destroy(&shape);
    }
    for (int a = 0; a < 3; a++) {
        const bool bounded = !periodic[a] || !isfinite(lo[a]) || !isfinite(hi[a]);
        const double least = bounded ? 0 : -0x1p30, most = bounded ? cells[a] : 0x1p30;
        all->lo[a] = (int)fmin(fmax(ceil(lo[a] - 0.5), least), most);
        all->hi[a] = (int)fmin(fmax(floor(hi[a] - 0.5) + 1, all->lo[a]), most);
    }
    return STATUS_OK;
}

static struct vicinity_part no_part(void)
{
    return (struct vicinity_part){{INT_MAX, INT_MAX, INT_MAX}, {INT_MIN, INT_MIN, INT_MIN}};
}

/* Extends a part. */
static void join(struct vicinity_part *to, const struct vicinity_part *by)
{
    for (int a = 0; a < 3; a++) {
        to->lo[a] = by->lo[a] < to->lo[a] ? by->lo[a] : to->lo[a];
        to->hi[a] = by->hi[a] > to->hi[a] ? by->hi[a] : to->hi[a];
    }
}

/* Marks the cells x <= cell < x + count of a line, at most BRICK, that belong to the body. Of one
 * that surrounds the fluid: those of its cells that touch the mesh's, as more of them are beside no
 * fluid. */
static void body_line(const struct body *b, int x, int count, int y, int z, uint8_t inside[BRICK])
{
    uint8_t own[BRICK + 2] = {0}, near[BRICK] = {0};
    if (!body_surrounds(b->what)) {
        body_row(b, x, count, y, z, inside);
        return;
    }
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++) {
            uint8_t beside[BRICK + 2] = {0};
            body_row(b, x - 1, count + 2, y + dy, z + dz, beside);
            for (int k = 0; k < count; k++)
                near[k] |= beside[k] | beside[k + 1] | beside[k + 2];
            if (!dy && !dz)
                memcpy(own, beside, sizeof own);
        }
    for (int k = 0; k < count; k++)
        inside[k] = near[k] && !own[k + 1];
}

/* The body's cells among lo <= cell < hi, at most BRICK along each axis; their bits go to cells. */
static struct vicinity_part look_at(const struct body *b, const int lo[3], const int hi[3],
                                    uint64_t cells[BRICK])
{
    struct vicinity_part found = no_part();
    memset(cells, 0, BRICK * sizeof *cells);
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++) {
            uint8_t inside[BRICK] = {0};
            body_line(b, lo[0], hi[0] - lo[0], y, z, inside);
            for (int x = lo[0]; x < hi[0]; x++) {
                const struct vicinity_part cell = {{x, y, z}, {x + 1, y + 1, z + 1}};
                if (!inside[x - lo[0]])
                    continue;
                join(&found, &cell);
                cells[z - lo[2]] |= (uint64_t)1 << (BRICK * (y - lo[1]) + (x - lo[0]));
            }
        }
    return found;
}

/* Has the part cells within its bounds that are not the body's? */
static bool is_mixed(const struct vicinity_part *part, const uint64_t cells[BRICK])
{
    int64_t count = 0, all = part->lo[0] < part->hi[0];
    for (int a = 0; a < 3 && all; a++)
        all *= part->hi[a] - part->lo[a];
    for (int z = 0; z < BRICK; z++)
        count += __builtin_popcountll(cells[z]);
    return count < all;
}

/* The cells of part `at` of the first layer. */
static void part_cells(const struct vicinity_part *all, const int at[3], int lo[3], int hi[3])
{
    for (int a = 0; a < 3; a++) {
        lo[a] = all->lo[a] + at[a] * BRICK;
        hi[a] = lo[a] + BRICK < all->hi[a] ? lo[a] + BRICK : all->hi[a];
    }
}

/* Number of values of a layer's bounds. */
static size_t parts_of(const struct vicinity_layer *l)
{
    return (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
}

static size_t part_at(const struct vicinity_layer *l, const int at[3])
{
    return ((size_t)at[2] * (size_t)l->n[1] + (size_t)at[1]) * (size_t)l->n[0] + (size_t)at[0];
}

static enum status make_layer(struct vicinity_layer *l, const char *body)
{
    const double parts = (double)l->n[0] * l->n[1] * l->n[2];
    l->part = parts < 0x1p40 ? malloc(parts_of(l) * sizeof *l->part) : NULL;
    if (!l->part)
        return fail_machine("out of memory for %.3g parts of the neighbourhood of the body %s",
                            parts, body);
    for (size_t k = 0; k < parts_of(l); k++)
        l->part[k] = no_part();
    return STATUS_OK;
}

/* Fills the planes of the first layer that this rank looks at: those from `begin` to `end`; mixed
 * gets 1 for mixed parts. */
static void fill_layer(struct vicinity_layer *l, uint32_t *mixed, const struct body *b,
                       const struct vicinity_part *all, int begin, int end, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic) collapse(2)
    for (int z = begin; z < end; z++)
        for (int y = 0; y < l->n[1]; y++)
            for (int x = 0; x < l->n[0] && !signals_number(); x++) {
                const int at[3] = {x, y, z};
                const size_t k = part_at(l, at);
                uint64_t cells[BRICK];
                int lo[3], hi[3];
                part_cells(all, at, lo, hi);
                l->part[k] = look_at(b, lo, hi, cells);
                mixed[k] = is_mixed(&l->part[k], cells);
            }
}

/* Numbers the mixed parts of all ranks, and fills the cells of this rank's planes. Collective. */
static enum status fill_cells(struct vicinity *v, const struct body *b,
                              const struct vicinity_part *all, int begin, int end, int threads,
                              MPI_Comm comm)
{
    const struct vicinity_layer *const l = &v->layer[0];
    const size_t most = MPI_MOST, parts = parts_of(l);
    size_t count = 0;
    for (size_t k = 0; k < parts; k += most)
        MPI_Allreduce(MPI_IN_PLACE, v->mixed + k, (int)(parts - k < most ? parts - k : most),
                      MPI_UINT32_T, MPI_MAX, comm);
    for (size_t k = 0; k < parts; k++)
        v->mixed[k] = v->mixed[k] ? (uint32_t)++count : 0;
    v->cells = count < UINT32_MAX ? calloc(count * BRICK + 1, sizeof *v->cells) : NULL;
    const enum status status = status_agree(
        comm, v->cells ? STATUS_OK
                       : fail_machine("out of memory for the cells at the surface of the body %s",
                                      b->what->name));
    if (status)
        return status;
#pragma omp parallel for num_threads(threads) schedule(dynamic) collapse(2)
    for (int z = begin; z < end; z++)
        for (int y = 0; y < l->n[1]; y++)
            for (int x = 0; x < l->n[0] && !signals_number(); x++) {
                const int at[3] = {x, y, z};
                const size_t k = part_at(l, at);
                int lo[3], hi[3];
                part_cells(all, at, lo, hi);
                if (v->mixed[k])
                    look_at(b, lo, hi, v->cells + (size_t)(v->mixed[k] - 1) * BRICK);
            }
    for (size_t k = 0; k < count * BRICK; k += most)
        MPI_Allreduce(MPI_IN_PLACE, v->cells + k,
                      (int)(count * BRICK - k < most ? count * BRICK - k : most), MPI_UINT64_T,
                      MPI_BOR, comm);
    return STATUS_OK;
}

/* Joins the parts of all ranks. */
static void share_layer(struct vicinity_layer *l, int ranks, MPI_Comm comm)
{
    const size_t most = MPI_MOST / 6, all = parts_of(l);
    if (ranks == 1)
        return;
    for (size_t k = 0; k < all; k++) /* the least of all values is wanted */
        for (int a = 0; a < 3; a++)
            l->part[k].hi[a] = l->part[k].hi[a] == INT_MIN ? INT_MAX : -l->part[k].hi[a];
    for (size_t k = 0; k < all; k += most)
        MPI_Allreduce(MPI_IN_PLACE, l->part[k].lo, (int)(6 * (all - k < most ? all - k : most)),
                      MPI_INT, MPI_MIN, comm);
    for (size_t k = 0; k < all; k++)
        for (int a = 0; a < 3; a++)
            l->part[k].hi[a] = l->part[k].hi[a] == INT_MAX ? INT_MIN : -l->part[k].hi[a];
}

/* Makes the first layer from the body's cells. */
static enum status find_cells(struct vicinity *v, const struct scaled *s, const int cells[3],
                              const struct vicinity_part *all, int threads, MPI_Comm comm)
{
    static const bool never[3] = {false, false, false};
    struct vicinity_layer *const l = &v->layer[0];
    struct body b;
    int rank, ranks, lo[3], hi[3];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int a = 0; a < 3; a++)
        l->n[a] = (all->hi[a] - all->lo[a] + BRICK - 1) / BRICK;
    enum status status = make_layer(l, s->what.name);
    v->layers = 1;
    v->mixed = status ? NULL : calloc(parts_of(l), sizeof *v->mixed);
    if (!status && !v->mixed)
        status =
            fail_machine("out of memory for %zu parts of the body %s", parts_of(l), s->what.name);
    status = status_agree(comm, status);
    if (status)
        return status;
    memcpy(v->begin, all->lo, sizeof v->begin);
    const int begin = (int)((int64_t)l->n[2] * rank / ranks);
    const int end = (int)((int64_t)l->n[2] * (rank + 1) / ranks);
    for (int a = 0; a < 3; a++) {
        lo[a] = all->lo[a];
        hi[a] = all->hi[a];
    }
    lo[2] = all->lo[2] + begin * BRICK;
    hi[2] = end > begin ? all->lo[2] + end * BRICK : lo[2] + 1;
    status = body_open(&b, &s->what, cells, never, lo, hi, false, comm);
    if (status)
        return status;
    fill_layer(l, v->mixed, &b, all, begin, end, threads);
    status = stop_agree(comm);
    if (!status)
        status = fill_cells(v, &b, all, begin, end, threads, comm);
    if (!status)
        status = stop_agree(comm);
    body_close(&b);
    if (!status)
        share_layer(l, ranks, comm);
    return status;
}

/* Makes the layers above the first one, up to a single part. */
static enum status make_tree(struct vicinity *v, const char *body)
{
    const struct vicinity_layer *from = &v->layer[v->layers - 1];
    while (parts_of(from) > 1) {
        struct vicinity_layer *const to = &v->layer[v->layers];
        for (int a = 0; a < 3; a++)
            to->n[a] = (from->n[a] + 1) / 2;
        const enum status status = make_layer(to, body);
        if (status)
            return status;
        size_t k = 0;
        for (int z = 0; z < from->n[2]; z++)
            for (int y = 0; y < from->n[1]; y++)
                for (int x = 0; x < from->n[0]; x++, k++)
                    join(&to->part[((size_t)(z / 2) * (size_t)to->n[1] + (size_t)(y / 2)) *
                                       (size_t)to->n[0] +
                                   (size_t)(x / 2)],
                         &from->part[k]);
        v->layers++;
        from = to;
    }
    return STATUS_OK;
}

/* Sets how far the neighbourhood of a cell reaches. */
static void set_reach(struct vicinity *v, const struct case_refine *what)
{
    const double by = ldexp(1, what->level);
    v->distance = by * what->distance;
    v->first = fmin(v->distance - by * what->before, 0);
    v->last = fmax(by * what->behind - v->distance, 0);
    memcpy(v->stream, what->stream, sizeof v->stream);
}

static enum status no_cell(const struct case_refine *what, const struct case_body *body)
{
    return fail_case(what->place,
                     "refine.%s: bodies.%s holds the centre of no cell of level %d: it is outside "
                     "of the box, or thinner than a cell (a higher level)",
                     what->name, body->name, what->level);
}

enum status vicinity_look(struct vicinity *v, const struct flow_case *c,
                          const struct case_refine *what, const int cells[3], MPI_Comm comm,
                          bool *none)
{
    const struct case_body *const body = &c->bodies[what->body];
    bool periodic[3], empty = false;
    struct scaled s;
    struct vicinity_part all;
    *v = (struct vicinity){0};
    set_reach(v, what);
    for (int a = 0; a < 3; a++)
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    scale_body(&s, body, what->level);
    enum status status = status_agree(comm, body_cells(&s.what, periodic, cells, &all));
    if (status)
        return status;
    for (int a = 0; a < 3; a++)
        empty = empty || all.lo[a] >= all.hi[a];
    *none = empty;
    if (empty)
        return STATUS_OK;
    status = find_cells(v, &s, cells, &all, case_threads(c), comm);
    if (!status)
        status = status_agree(comm, make_tree(v, body->name));
    *none = !status && v->layer[v->layers - 1].part->lo[0] == INT_MAX;
    if (status || *none)
        vicinity_destroy(v);
    return status;
}

enum status vicinity_create(struct vicinity *v, const struct flow_case *c,
                            const struct case_refine *what, const int cells[3], MPI_Comm comm)
{
    bool none;
    const enum status status = vicinity_look(v, c, what, cells, comm, &none);
    return !status && none ? no_cell(what, &c->bodies[what->body]) : status;
}

enum status vicinity_most(const struct flow_case *c, const struct case_refine *what,
                          const int cells[3], int lo[3], int hi[3], double *bytes)
{
    struct vicinity_part all;
    struct vicinity v = {.layers = 1, .layer[0].part = &all};
    struct scaled s;
    bool periodic[3];
    for (int a = 0; a < 3; a++)
        periodic[a] = c->faces[2 * a].kind == FACE_periodic;
    scale_body(&s, &c->bodies[what->body], what->level);
    const enum status status = body_cells(&s.what, periodic, cells, &all);
    if (status)
        return status;
    set_reach(&v, what);
    vicinity_bounds(&v, lo, hi);
    *bytes = sizeof *v.mixed +
             sizeof *v.layer->part * 8. / 7; /* a layer has an eighth of the one below */
    for (int a = 0; a < 3; a++)
        *bytes *= (all.hi[a] - all.lo[a]) / BRICK;
    return STATUS_OK;
}

void vicinity_destroy(struct vicinity *v)
{
    for (int k = 0; k < VICINITY_LAYERS; k++)
        free(v->layer[k].part);
    free(v->mixed);
    free(v->cells);
    *v = (struct vicinity){0};
}

/* ---- distances ---- */

void vicinity_bounds(const struct vicinity *v, int lo[3], int hi[3])
{
    const struct vicinity_part *const all = v->layer[v->layers - 1].part;
    for (int a = 0; a < 3; a++) {
        const double ends[2] = {v->first * v->stream[a], v->last * v->stream[a]};
        const double down = fmin(fmin(ends[0], ends[1]) - v->distance, -VICINITY_LEAST);
        const double up = fmax(fmax(ends[0], ends[1]) + v->distance, VICINITY_LEAST);
        lo[a] = (int)fmax(floor(all->lo[a] + down), -0x1p30);
        hi[a] = (int)fmin(ceil(all->hi[a] + up), 0x1p30);
    }
}

/* Signed distance of a point x from an interval: 0 inside. */
static double beyond(double x, double lo, double hi)
{
    return x < lo ? x - lo : x > hi ? x - hi : 0;
}

/* Half the derivative, with respect to t, of the squared distance of the point stream t from a box.
 * It never falls with t. */
static double slope(const struct vicinity *v, double t, const double lo[3], const double hi[3])
{
    double sum = 0;
    for (int a = 0; a < 3; a++)
        sum += v->stream[a] * beyond(v->stream[a] * t, lo[a], hi[a]);
    return sum;
}

/* The t from first to last at which the point stream t is nearest to the box. The slope is linear
 * between the values of t at which the point passes one of the box' planes. */
static double nearest(const struct vicinity *v, const double lo[3], const double hi[3])
{
    double a = v->first, b = v->last;
    if (slope(v, a, lo, hi) >= 0)
        return a;
    if (slope(v, b, lo, hi) <= 0)
        return b;
    for (int k = 0; k < 6; k++) {
        const double plane = k % 2 ? hi[k / 2] : lo[k / 2], along = v->stream[k / 2];
        const double t = along != 0 ? plane / along : a;
        if (t > a && t < b)
            *(slope(v, t, lo, hi) <= 0 ? &a : &b) = t;
    }
    const double below = slope(v, a, lo, hi), above = slope(v, b, lo, hi);
    return above > below ? a - below * (b - a) / (above - below) : a;
}

/* Is any of the cells lo <= cell < hi in the neighbourhood of a cell of the part's box? */
static bool reaches(const struct vicinity *v, const struct vicinity_part *part, const int lo[3],
                    const int hi[3])
{
    double low[3], high[3], square = 0; /* from a cell of the body to one of those asked for */
    bool beside = true;
    if (part->lo[0] == INT_MAX)
        return false;
    for (int a = 0; a < 3; a++) {
        low[a] = (double)lo[a] - (part->hi[a] - 1);
        high[a] = (double)(hi[a] - 1) - part->lo[a];
        beside = beside && low[a] <= VICINITY_LEAST && high[a] >= -VICINITY_LEAST;
    }
    if (beside)
        return true;
    const double t = nearest(v, low, high);
    for (int a = 0; a < 3; a++) {
        const double apart = beyond(v->stream[a] * t, low[a], high[a]);
        square += apart * apart;
    }
    return square <= v->distance * v->distance;
}

/* The same for the body's cells in part `at` of layer 0. */
static bool cells_reach(const struct vicinity *v, size_t part, const int at[3], const int lo[3],
                        const int hi[3])
{
    const uint64_t *const cells = v->cells + (size_t)(v->mixed[part] - 1) * BRICK;
    for (int z = 0; z < BRICK; z++)
        for (uint64_t left = cells[z]; left; left &= left - 1) {
            const int bit = __builtin_ctzll(left);
            const int g[3] = {v->begin[0] + at[0] * BRICK + bit % BRICK,
                              v->begin[1] + at[1] * BRICK + bit / BRICK,
                              v->begin[2] + at[2] * BRICK + z};
            const struct vicinity_part cell = {{g[0], g[1], g[2]}, {g[0] + 1, g[1] + 1, g[2] + 1}};
            if (reaches(v, &cell, lo, hi))
                return true;
        }
    return false;
}

/* The same for a part of a layer and all parts of the layers below. */
static bool near_part(const struct vicinity *v, int layer, const int at[3], const int lo[3],
                      const int hi[3])
{
    const struct vicinity_layer *const l = &v->layer[layer];
    const size_t k = part_at(l, at);
    if (!reaches(v, &l->part[k], lo, hi))
        return false;
    if (layer == 0)
        return !v->mixed[k] || cells_reach(v, k, at, lo, hi);
    for (int child = 0; child < 8; child++) {
        const int to[3] = {2 * at[0] + (child & 1), 2 * at[1] + (child >> 1 & 1),
                           2 * at[2] + (child >> 2)};
        const int *const n = v->layer[layer - 1].n;
        if (to[0] < n[0] && to[1] < n[1] && to[2] < n[2] && near_part(v, layer - 1, to, lo, hi))
            return true;
    }
    return false;
}

bool vicinity_near(const struct vicinity *v, const int lo[3], const int hi[3])
{
    return near_part(v, v->layers - 1, (const int[3]){0, 0, 0}, lo, hi);
}
