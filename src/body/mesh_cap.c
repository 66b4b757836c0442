/* Flat parts of a mesh; see mesh_cap.h. */
#include "body/mesh_cap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/mesh.h"
#include "body/stl.h"

/* Cosine of the largest angle between triangles of a cap, and their largest distance from its plane
 * in cells. */
static const double least_cosine = 0.96592582628906829, most_away = 0.25;
/* Rounding of places in the plane, in cells. */
static const double rounding = 1e-6;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void minus(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[k] - b[k];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Twice the area of a triangle, with its normal. */
static void span(const double (*p)[3], double normal[3])
{
    double one[3], other[3];
    minus(p[1], p[0], one);
    minus(p[2], p[0], other);
    cross(one, other, normal);
}

/* The point between a and b that is nearest to p. */
static void nearest_on_edge(const double a[3], const double b[3], const double p[3], double at[3])
{
    double ab[3], ap[3];
    minus(b, a, ab);
    minus(p, a, ap);
    const double length = dot(ab, ab), s = length > 0 ? dot(ap, ab) / length : 0;
    for (int k = 0; k < 3; k++)
        at[k] = a[k] + fmin(fmax(s, 0), 1) * ab[k];
}

static double distance_of(const double a[3], const double b[3])
{
    double d[3];
    minus(a, b, d);
    return sqrt(dot(d, d));
}

/* Is the projection of p in the triangle, to rounding? normal: of the triangle, of length 1. */
static bool above(const double (*t)[3], const double normal[3], const double p[3])
{
    bool in = true;
    for (int k = 0; k < 3 && in; k++) {
        double edge[3], out[3], to[3];
        minus(t[(k + 1) % 3], t[k], edge);
        cross(edge, normal, out); /* out of the triangle */
        minus(p, t[k], to);
        in = dot(to, out) <= rounding * sqrt(dot(edge, edge));
    }
    return in;
}

static double distance_to(const double (*t)[3], const double p[3])
{
    double normal[3], to[3], least = INFINITY;
    span(t, normal);
    const double length = sqrt(dot(normal, normal));
    for (int k = 0; k < 3; k++) {
        double at[3];
        nearest_on_edge(t[k], t[(k + 1) % 3], p, at);
        least = fmin(least, distance_of(at, p));
    }
    if (!(length > 0))
        return least;
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
    minus(p, t[0], to);
    return above(t, normal, p) ? fmin(least, fabs(dot(to, normal))) : least;
}

/* A cap in the making. */
struct making {
    const struct stl *stl;
    const double (*vertex)[3];
    double sign, cell; /* sign: -1 for a mesh that is inside out */
    uint8_t *taken;    /* [triangles] */
};

static void corners(const struct making *m, size_t k, double t[3][3])
{
    for (int i = 0; i < 3; i++)
        memcpy(t[i], m->vertex[m->stl->triangle[k][i]], 3 * sizeof(double));
}

/* The triangle's normal into the mesh; false: it has no area. */
static bool inward(const struct making *m, size_t k, double normal[3])
{
    double t[3][3];
    corners(m, k, t);
    span((const double(*)[3])t, normal);
    const double length = sqrt(dot(normal, normal));
    for (int a = 0; a < 3; a++)
        normal[a] *= -m->sign / length;
    return length > 0;
}

static size_t nearest_triangle(const struct making *m, struct mesh_cap *cap)
{
    size_t found = 0;
    cap->away = INFINITY;
    for (size_t k = 0; k < m->stl->triangles; k++) {
        double t[3][3];
        corners(m, k, t);
        const double away = distance_to((const double(*)[3])t, cap->center);
        if (away < cap->away) {
            cap->away = away;
            found = k;
        }
    }
    return found;
}

/* May the triangle belong to the cap? */
static bool fits(const struct making *m, const struct mesh_cap *cap, size_t k)
{
    double normal[3], t[3][3], to[3];
    if (!inward(m, k, normal) || dot(normal, cap->normal) < least_cosine)
        return false;
    corners(m, k, t);
    for (int i = 0; i < 3; i++) {
        minus(t[i], cap->point, to);
        if (fabs(dot(to, cap->normal)) > most_away * m->cell)
            return false;
    }
    return true;
}

/* An edge of a triangle, by its vertices in ascending order. */
struct side {
    uint32_t low, high, triangle;
};

static int compare_sides(const void *a, const void *b)
{
    const struct side *const s = a, *const t = b;
    if (s->low != t->low)
        return s->low < t->low ? -1 : 1;
    if (s->high != t->high)
        return s->high < t->high ? -1 : 1;
    return (s->triangle > t->triangle) - (s->triangle < t->triangle);
}

/* The sides of all triangles that may belong to the cap, sorted. NULL: out of memory. */
static struct side *sides_of(const struct making *m, const struct mesh_cap *cap, size_t *count)
{
    struct side *const side = malloc((3 * m->stl->triangles + 1) * sizeof *side);
    *count = 0;
    for (size_t k = 0; side && k < m->stl->triangles; k++) {
        if (!fits(m, cap, k))
            continue;
        for (int i = 0; i < 3; i++) {
            const uint32_t a = m->stl->triangle[k][i], b = m->stl->triangle[k][(i + 1) % 3];
            side[(*count)++] = (struct side){a < b ? a : b, a < b ? b : a, (uint32_t)k};
        }
    }
    if (side)
        qsort(side, *count, sizeof *side, compare_sides);
    return side;
}

static bool same_side(const struct side *a, const struct side *b)
{
    return a->low == b->low && a->high == b->high;
}

/* Takes the triangles that are joined to those taken, until there are no more. */
static void spread(const struct making *m, const struct side *side, size_t count)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k + 1 < count; k++) {
            const uint32_t a = side[k].triangle, b = side[k + 1].triangle;
            if (!same_side(&side[k], &side[k + 1]) || m->taken[a] == m->taken[b])
                continue;
            m->taken[a] = m->taken[b] = 1;
            more = true;
        }
    }
}

/* The area of the triangle from the center c of a disc to the edge a, b that lies in the disc; with
 * the sign of its turn about the normal. */
static double slice(const double c[3], double radius, const double normal[3], const double a[3],
                    const double b[3])
{
    double at[4], turn[3], p[3], q[3], d[3], area = 0;
    minus(a, c, p);
    minus(b, c, q);
    minus(b, a, d);
    /* the parts of the edge before, in and behind the disc */
    const double dd = dot(d, d), half = dot(p, d) / dd,
                 rest = half * half - (dot(p, p) - radius * radius) / dd;
    const double root = rest > 0 ? sqrt(rest) : 0;
    at[0] = 0;
    at[1] = fmin(fmax(-half - root, 0), 1);
    at[2] = fmin(fmax(-half + root, 0), 1);
    at[3] = 1;
    for (int k = 0; k < 3; k++) {
        double from[3], to[3];
        for (int i = 0; i < 3; i++) {
            from[i] = p[i] + at[k] * d[i];
            to[i] = p[i] + at[k + 1] * d[i];
        }
        cross(from, to, turn);
        const double sine = dot(turn, normal);
        area +=
            k == 1 && rest > 0 ? 0.5 * sine : 0.5 * radius * radius * atan2(sine, dot(from, to));
    }
    return area;
}

/* Keeps the triangles that were taken, and the outline. False: out of memory. */
static bool keep(const struct making *m, const struct side *side, size_t sides,
                 struct mesh_cap *cap)
{
    size_t count = 0;
    for (size_t k = 0; k < m->stl->triangles; k++)
        count += m->taken[k];
    cap->number = malloc(count * sizeof *cap->number);
    cap->triangle = malloc(count * sizeof *cap->triangle);
    cap->edge = malloc(3 * count * sizeof *cap->edge);
    if (!cap->number || !cap->triangle || !cap->edge)
        return false;
    for (size_t k = 0; k < m->stl->triangles; k++)
        if (m->taken[k]) {
            cap->number[cap->count] = (uint32_t)k;
            corners(m, k, cap->triangle[cap->count++]);
        }
    for (size_t k = 0; k < sides; k++) {
        const bool pair = (k > 0 && same_side(&side[k], &side[k - 1])) ||
                          (k + 1 < sides && same_side(&side[k], &side[k + 1]));
        if (pair || !m->taken[side[k].triangle])
            continue;
        memcpy(cap->edge[cap->edges][0], m->vertex[side[k].low], 3 * sizeof(double));
        memcpy(cap->edge[cap->edges++][1], m->vertex[side[k].high], 3 * sizeof(double));
    }
    return true;
}

/* The plane of the triangles, their extent and their area. */
static void measure(const struct making *m, struct mesh_cap *cap)
{
    double normal[3] = {0, 0, 0}, sum = 0;
    for (int a = 0; a < 3; a++) {
        cap->point[a] = 0;
        cap->lo[a] = INFINITY;
        cap->hi[a] = -INFINITY;
    }
    for (size_t k = 0; k < cap->count; k++) {
        const double(*const t)[3] = (const double(*)[3])cap->triangle[k];
        double twice[3];
        span(t, twice);
        const double area = 0.5 * sqrt(dot(twice, twice));
        sum += area;
        for (int a = 0; a < 3; a++) {
            normal[a] -= m->sign * twice[a];
            cap->point[a] += area * (t[0][a] + t[1][a] + t[2][a]) / 3;
            for (int i = 0; i < 3; i++) {
                cap->lo[a] = fmin(cap->lo[a], t[i][a]);
                cap->hi[a] = fmax(cap->hi[a], t[i][a]);
            }
        }
    }
    const double length = sqrt(dot(normal, normal));
    for (int a = 0; a < 3; a++) {
        cap->normal[a] = normal[a] / length;
        cap->point[a] /= sum;
    }
    cap->slack = 0;
    for (size_t k = 0; k < 3 * cap->count; k++) {
        double to[3];
        minus(cap->triangle[k / 3][k % 3], cap->point, to);
        cap->slack = fmax(cap->slack, fabs(dot(to, cap->normal)));
    }
    cap->area = sum;
}

/* The area of the cap in its disc. */
static void clip(struct mesh_cap *cap)
{
    double middle[3], to[3], area = 0;
    minus(cap->center, cap->point, to);
    for (int a = 0; a < 3; a++)
        middle[a] = cap->center[a] - dot(to, cap->normal) * cap->normal[a];
    for (size_t k = 0; k < cap->count; k++) {
        const double(*const t)[3] = (const double(*)[3])cap->triangle[k];
        double part = 0;
        for (int i = 0; i < 3; i++)
            part += slice(middle, cap->radius, cap->normal, t[i], t[(i + 1) % 3]);
        area += fabs(part);
    }
    cap->area = area;
    for (int a = 0; a < 3; a++) {
        const double reach = cap->radius * sqrt(fmax(0, 1 - cap->normal[a] * cap->normal[a]));
        cap->lo[a] = fmax(cap->lo[a], middle[a] - reach - cap->slack);
        cap->hi[a] = fmin(cap->hi[a], middle[a] + reach + cap->slack);
    }
}

bool mesh_cap_find(struct mesh_cap *cap, const struct case_mesh *mesh, double cell)
{
    double lo[3], hi[3], t[3][3];
    size_t sides = 0;
    double(*const vertex)[3] = mesh_place(mesh, lo, hi);
    struct making m = {.stl = mesh->stl,
                       .vertex = (const double(*)[3])vertex,
                       .sign = mesh->facts.volume < 0 ? -1 : 1,
                       .cell = cell,
                       .taken = calloc(mesh->stl->triangles + 1, 1)};
    struct side *side = NULL;
    bool good = vertex && m.taken;
    if (good) {
        const size_t first = nearest_triangle(&m, cap);
        corners(&m, first, t);
        memcpy(cap->point, t[0], sizeof cap->point);
        inward(&m, first, cap->normal);
        m.taken[first] = 1;
        side = sides_of(&m, cap, &sides);
        good = side != NULL;
    }
    if (good) {
        spread(&m, side, sides);
        good = keep(&m, side, sides, cap);
    }
    if (good)
        measure(&m, cap);
    if (good && cap->radius > 0)
        clip(cap);
    free(side);
    free(m.taken);
    free(vertex);
    return good;
}

void mesh_cap_free(struct mesh_cap *cap)
{
    free(cap->number);
    free(cap->triangle);
    free(cap->edge);
    cap->number = NULL;
    cap->triangle = NULL;
    cap->edge = NULL;
    cap->count = cap->edges = 0;
}

/* The distance of a point from the axis of the disc. */
static double off_axis(const struct mesh_cap *cap, const double p[3])
{
    double to[3];
    minus(p, cap->center, to);
    const double along = dot(to, cap->normal);
    return sqrt(fmax(0, dot(to, to) - along * along));
}

bool mesh_cap_holds(const struct mesh_cap *cap, const double p[3])
{
    double to[3];
    bool held = false;
    minus(p, cap->point, to);
    if (fabs(dot(to, cap->normal)) > cap->slack + rounding ||
        (cap->radius > 0 && off_axis(cap, p) > cap->radius))
        return false;
    for (size_t k = 0; k < cap->count && !held; k++) {
        const double(*const t)[3] = (const double(*)[3])cap->triangle[k];
        double normal[3];
        span(t, normal);
        const double length = sqrt(dot(normal, normal));
        for (int a = 0; a < 3; a++)
            normal[a] /= length;
        held = above(t, normal, p);
    }
    return held;
}

double mesh_cap_depth(const struct mesh_cap *cap, const double p[3])
{
    double least = cap->radius > 0 ? fmax(0, cap->radius - off_axis(cap, p)) : INFINITY;
    for (size_t k = 0; k < cap->edges; k++) {
        double at[3];
        nearest_on_edge(cap->edge[k][0], cap->edge[k][1], p, at);
        least = fmin(least, distance_of(at, p));
    }
    return least;
}

bool mesh_cap_meets(const struct mesh_cap *one, const struct mesh_cap *other)
{
    size_t i = 0, j = 0;
    while (i < one->count && j < other->count && one->number[i] != other->number[j])
        one->number[i] < other->number[j] ? i++ : j++;
    const bool shared = i < one->count && j < other->count;
    const bool discs = one->radius > 0 && other->radius > 0;
    return shared &&
           (!discs || distance_of(one->center, other->center) < one->radius + other->radius);
}
