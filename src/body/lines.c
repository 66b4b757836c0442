/* Crossings of a mesh with lines; see lines.h. */
#include "body/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines up to this far outside a triangle are tested, too, because the test of an edge rounds. */
#define BESIDE 1e-6

/* A triangle in the sheared frame; [2]: position along the lines. */
struct shadow {
    double p[3][3];
    double lo[3], hi[3];
};

/* The two edges of a triangle that cross a given v. */
struct span {
    double u[2], slope[2], rise[2]; /* of the lower end; (u1 - u0) (v - v0); v1 - v0 */
    int turn[2];                    /* 1: the edge goes up in the triangle's sense of rotation */
};

int64_t lines_cell(double at)
{
    return (int64_t)ceil(at - 0.5);
}

/* Centres of cells are at whole numbers of u where there is shear, else at halves. */
static double offset(const struct lines *l, int k)
{
    return l->shear[k] ? 0 : 0.5;
}

static inline double least_of(double a, double b)
{
    return a < b ? a : b;
}

static inline double most_of(double a, double b)
{
    return a > b ? a : b;
}

static void cast(const struct lines *l, const struct triangles *t, size_t i, struct shadow *s)
{
    for (int k = 0; k < 3; k++) {
        const double *const at = t->vertex[t->corner[i][k]];
        s->p[k][2] = at[l->main];
        for (int a = 0; a < 2; a++) {
            const double x = at[l->other[a]], along = at[l->main];
            s->p[k][a] = l->shear[a] > 0 ? x - along : l->shear[a] < 0 ? x + along : x;
        }
    }
    for (int a = 0; a < 3; a++) {
        s->lo[a] = least_of(s->p[0][a], least_of(s->p[1][a], s->p[2][a]));
        s->hi[a] = most_of(s->p[0][a], most_of(s->p[1][a], s->p[2][a]));
    }
}

/* Finds the edges that cross v: two, or none. */
static bool span_at(const struct shadow *s, double v, struct span *span)
{
    int n = 0;
    for (int k = 0; k < 3; k++) {
        const double *const a = s->p[k], *const b = s->p[(k + 1) % 3];
        const bool up = b[1] > v;
        if ((a[1] > v) == up)
            continue;
        const double *const low = up ? a : b, *const high = up ? b : a;
        span->u[n] = low[0];
        span->slope[n] = (high[0] - low[0]) * (v - low[1]);
        span->rise[n] = high[1] - low[1];
        span->turn[n++] = up ? 1 : -1;
    }
    return n == 2;
}

/* Winding number of the triangle around the point, counterclockwise: 1, 0 or -1. */
static int winding(const struct span *s, double u)
{
    int sum = 0;
    for (int n = 0; n < 2; n++)
        if (s->slope[n] - (u - s->u[n]) * s->rise[n] > 0)
            sum += s->turn[n];
    return sum;
}

/* Where the line meets the triangle's plane: the position along it, limited to the triangle's
 * extent. */
static struct hit hit_at(const struct shadow *s, double u, double v, int turn)
{
    const double *const a = s->p[0], *const b = s->p[1], *const c = s->p[2];
    const double bu = b[0] - a[0], bv = b[1] - a[1], bw = b[2] - a[2];
    const double cu = c[0] - a[0], cv = c[1] - a[1], cw = c[2] - a[2];
    const double nu = bv * cw - bw * cv, nv = bw * cu - bu * cw, nw = bu * cv - bv * cu;
    const double at = a[2] - (nu * (u - a[0]) + nv * (v - a[1])) / nw;
    const double length = sqrt(nu * nu + nv * nv + nw * nw), facing = fabs(nw) / length;
    return (struct hit){
        .at = !(at >= s->lo[2]) ? s->lo[2]
              : at <= s->hi[2]  ? at
                                : s->hi[2],
        .turn = turn,
        .facing = facing <= 1 ? (float)facing : 1, /* 1 where the area is 0 */
    };
}

/* The lines between lo and hi: *first <= line < *end. */
static void range(const struct lines *l, int k, double lo, double hi, int *first, int *end)
{
    const double begin = ceil(lo - offset(l, k)), last = floor(hi - offset(l, k));
    *first = begin > l->first[k] ? (int)begin : l->first[k];
    *end = last < l->first[k] + l->count[k] - 1 ? (int)last + 1 : l->first[k] + l->count[k];
}

/* Finds the hits of a triangle: counts them in begin[line + 1], or, with `fill`, stores them at
 * begin[line]++. */
static void hits_of(struct lines *l, const struct triangles *t, size_t i, bool fill)
{
    struct shadow s;
    struct span span;
    int first[2], end[2];
    cast(l, t, i, &s);
    range(l, 0, s.lo[0] - BESIDE, s.hi[0] + BESIDE, &first[0], &end[0]);
    range(l, 1, s.lo[1], s.hi[1], &first[1], &end[1]);
    for (int y = first[1]; y < end[1]; y++) {
        const double v = y + offset(l, 1);
        if (first[0] >= end[0] || !span_at(&s, v, &span))
            continue;
        size_t *const row = l->begin + (size_t)(y - l->first[1]) * (size_t)l->count[0];
        for (int x = first[0]; x < end[0]; x++) {
            const double u = x + offset(l, 0);
            const int turn = winding(&span, u);
            if (!turn)
                continue;
            size_t *const line = row + (x - l->first[0]);
            if (fill)
                l->hit[(*line)++] = hit_at(&s, u, v, -turn);
            else
                line[1]++;
        }
    }
}

/* The range of lines that pass through both the box and the mesh. */
static void extent(struct lines *l, const struct triangles *t, const int lo[3], const int hi[3])
{
    double low[3], high[3], least[2], most[2];
    for (int a = 0; a < 3; a++) {
        low[a] = lo[a];
        high[a] = hi[a];
    }
    for (int k = 0; k < 2; k++) {
        const double *const to = l->shear[k] > 0 ? high : low, *const from =
                                                                   l->shear[k] > 0 ? low : high;
        least[k] = low[l->other[k]] - l->shear[k] * to[l->main];
        most[k] = high[l->other[k]] - l->shear[k] * from[l->main];
    }
    double mesh[2][2] = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (size_t i = 0; i < t->count; i++) {
        struct shadow s;
        cast(l, t, i, &s);
        for (int k = 0; k < 2; k++) {
            mesh[0][k] = least_of(mesh[0][k], s.lo[k]);
            mesh[1][k] = most_of(mesh[1][k], s.hi[k]);
        }
    }
    for (int k = 0; k < 2; k++) {
        const double begin = floor(fmax(least[k], mesh[0][k])) - 1,
                     end = ceil(fmin(most[k], mesh[1][k])) + 1;
        l->first[k] = begin < end ? (int)begin : 0;
        l->count[k] = begin < end ? (int)(end - begin) + 1 : 0;
    }
}

static int compare_hits(const void *a, const void *b)
{
    const struct hit *const p = a, *const q = b;
    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    if (p->turn != q->turn)
        return q->turn - p->turn;
    return (p->facing > q->facing) - (p->facing < q->facing);
}

bool lines_create(struct lines *l, const struct triangles *t, const int c[3], const int lo[3],
                  const int hi[3])
{
    *l = (struct lines){.main = c[0] ? 0 : c[1] ? 1 : 2};
    for (int k = 0; k < 2; k++) {
        l->other[k] = (l->main + 1 + k) % 3;
        l->shear[k] = c[l->main] * c[l->other[k]];
    }
    extent(l, t, lo, hi);
    const size_t count = (size_t)l->count[0] * (size_t)l->count[1];
    l->begin = calloc(count + 2, sizeof *l->begin);
    if (!l->begin)
        goto failed;
    /* begin[n + 1] is first the number of hits of line n, then their start, then their end */
    l->begin++;
    for (size_t i = 0; i < t->count; i++)
        hits_of(l, t, i, false);
    for (size_t n = 0; n < count; n++)
        l->begin[n + 1] += l->begin[n];
    l->hit = malloc((l->begin[count] + 1) * sizeof *l->hit);
    if (!l->hit)
        goto failed;
    for (size_t i = 0; i < t->count; i++)
        hits_of(l, t, i, true);
    l->begin--;
    l->begin[0] = 0;
    for (size_t n = 0; n < count; n++)
        qsort(l->hit + l->begin[n], l->begin[n + 1] - l->begin[n], sizeof *l->hit, compare_hits);
    return true;

failed:
    if (l->begin)
        l->begin--;
    lines_destroy(l);
    return false;
}

void lines_destroy(struct lines *l)
{
    free(l->begin);
    free(l->hit);
    *l = (struct lines){0};
}

const struct hit *lines_at(const struct lines *l, const int cell[3], size_t *count)
{
    int64_t n[2];
    *count = 0;
    for (int k = 0; k < 2; k++) {
        n[k] = (int64_t)cell[l->other[k]] - (int64_t)l->shear[k] * cell[l->main] - l->first[k];
        /* halves of the centres: (j + 1/2) - (i + 1/2) leaves none, (j + 1/2) + (i + 1/2) leaves
         * 1 */
        n[k] += l->shear[k] < 0;
        if (n[k] < 0 || n[k] >= l->count[k])
            return NULL;
    }
    const size_t line = (size_t)n[1] * (size_t)l->count[0] + (size_t)n[0];
    *count = l->begin[line + 1] - l->begin[line];
    return l->hit + l->begin[line];
}
