/* Shapes by formulas; see shape.h. */
#include "body/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body/turn.h"

enum {
    PIECE = 256, /* cells of a line at a time */
    DEPTH = 12,  /* of the stack: nested parts, bounded by the depth of a case file, plus one */
    SAMPLES = 16,
    HALVINGS = 36,
};

/* The combined placing of a part and of all parts around it: p becomes shift + scale turn p. */
struct placing {
    double turn[3][3], shift[3], scale;
};

/* Squared distance to the nearest sphere centre of a pack whose cubic cell has edge 1; from: the
 * vector from there. */
static inline double pack_nearest(enum shape_pack pack, double x, double y, double z,
                                  double from[3])
{
    static const int sites[] = {
        [PACK_simple] = 1, [PACK_body_centred] = 2, [PACK_face_centred] = 4};
    static const double site[3][4][3] = {
        [PACK_body_centred] = {{0, 0, 0}, {0.5, 0.5, 0.5}},
        [PACK_face_centred] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}},
    };
    double least = INFINITY;
    for (int k = 0; k < sites[pack]; k++) {
        const double *const s = site[pack][k];
        const double u = x - s[0], v = y - s[1], w = z - s[2];
        const double a = u - floor(u + 0.5), b = v - floor(v + 0.5), c = w - floor(w + 0.5);
        const double square = a * a + b * b + c * c;
        if (square < least) {
            least = square;
            from[0] = a;
            from[1] = b;
            from[2] = c;
        }
    }
    return least;
}

/* Is the point in the leaf? Each formula is the shape's equation in its frame. */
static inline bool leaf_holds(const struct shape_leaf *l, double gx, double gy, double gz)
{
    const double(*const t)[3] = l->turn, *const s = l->size;
    const double dx = gx - l->center[0], dy = gy - l->center[1], dz = gz - l->center[2];
    const double x = t[0][0] * dx + t[0][1] * dy + t[0][2] * dz;
    const double y = t[1][0] * dx + t[1][1] * dy + t[1][2] * dz;
    const double z = t[2][0] * dx + t[2][1] * dy + t[2][2] * dz;
    switch (l->kind) {
    case SHAPE_box:
        return fabs(x) <= s[0] && fabs(y) <= s[1] && fabs(z) <= s[2];
    case SHAPE_sphere:
        return dx * dx + dy * dy + dz * dz <= s[0] * s[0];
    case SHAPE_ellipsoid: {
        const double u = x / s[0], v = y / s[1], w = z / s[2];
        return u * u + v * v + w * w <= 1;
    }
    case SHAPE_cylinder:
        return x * x + y * y <= s[0] * s[0] && fabs(z) <= s[1];
    case SHAPE_capsule: {
        const double over = fabs(z) > s[1] ? fabs(z) - s[1] : 0;
        return x * x + y * y + over * over <= s[0] * s[0];
    }
    case SHAPE_torus: {
        const double off = sqrt(x * x + y * y) - s[0];
        return off * off + z * z <= s[2] * s[2];
    }
    case SHAPE_half_space:
        return z <= 0;
    case SHAPE_pack: {
        const double radius = s[0] / s[1];
        double from[3];
        return pack_nearest(l->pack, x / s[1], y / s[1], z / s[1], from) <= radius * radius;
    }
    default:
        return false;
    }
}

/* How far the leaf reaches from its centre along an axis of the grid. */
static double leaf_reach(const struct shape_leaf *l, int axis)
{
    const double u = fabs(l->turn[0][axis]), v = fabs(l->turn[1][axis]), w = fabs(l->turn[2][axis]);
    const double *const s = l->size;
    const double across = sqrt(u * u + v * v), along = w > 0 ? w * s[1] : 0;
    switch (l->kind) {
    case SHAPE_box:
        return u * s[0] + v * s[1] + w * s[2];
    case SHAPE_sphere:
        return s[0];
    case SHAPE_ellipsoid: {
        const double a = u * s[0], b = v * s[1], c = w * s[2];
        return sqrt(a * a + b * b + c * c);
    }
    case SHAPE_cylinder:
        return along + across * s[0];
    case SHAPE_capsule:
        return along + s[0];
    case SHAPE_torus:
        return s[2] + across * s[0];
    default:
        return INFINITY;
    }
}

static void leaf_bounds(const struct shape_leaf *l, double lo[3], double hi[3])
{
    for (int a = 0; a < 3; a++) {
        const double reach = leaf_reach(l, a);
        lo[a] = l->center[a] - reach;
        hi[a] = l->center[a] + reach;
        if (l->kind == SHAPE_half_space && l->turn[2][a] == 1)
            hi[a] = l->center[a];
        if (l->kind == SHAPE_half_space && l->turn[2][a] == -1)
            lo[a] = l->center[a];
        const double slack = 1e-9 * (1 + (isfinite(reach) ? fabs(l->center[a]) + reach : 0));
        lo[a] -= slack;
        hi[a] += slack;
    }
}

/* Makes the leaf of a shape without parts at its placing. */
static void leaf_make(struct shape_leaf *l, const struct case_shape *s, const struct placing *p)
{
    double middle[3], axis[3], frame[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, back[3][3];
    double length = s->length;
    memcpy(middle, s->center, sizeof middle);
    memcpy(axis, s->axis, sizeof axis);
    *l = (struct shape_leaf){.kind = s->kind, .pack = s->pack};
    if (s->kind == SHAPE_box || s->kind == SHAPE_capsule) {
        length = 0;
        for (int a = 0; a < 3; a++) {
            middle[a] = 0.5 * (s->from[a] + s->to[a]);
            axis[a] = s->to[a] - s->from[a];
            length += axis[a] * axis[a];
        }
        length = sqrt(length);
    }
    if (s->kind == SHAPE_cylinder || s->kind == SHAPE_torus || s->kind == SHAPE_half_space ||
        (s->kind == SHAPE_capsule && length > 0))
        turn_towards(axis, frame);
    for (int a = 0; a < 3; a++)
        l->size[a] = p->scale * (s->kind == SHAPE_box         ? 0.5 * (s->to[a] - s->from[a])
                                 : s->kind == SHAPE_ellipsoid ? s->radii[a]
                                 : a == 0                     ? s->radius
                                 : a == 2                     ? s->tube
                                 : s->kind == SHAPE_pack      ? length
                                                              : 0.5 * length);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            back[i][j] = p->turn[j][i];
    turn_multiply((const double(*)[3])frame, (const double(*)[3])back, l->turn);
    turn_apply((const double(*)[3])p->turn, middle, l->center);
    for (int a = 0; a < 3; a++)
        l->center[a] = p->shift[a] + p->scale * l->center[a];
}

/* Combines the placing of a part with the placing of the part around it. */
static void place(const struct placing *outer, const struct case_shape *s, struct placing *to)
{
    double own[3][3], shift[3];
    turn_make(s->rotate, own);
    /* about + scale own (p - about) + move */
    turn_apply((const double(*)[3])own, s->about, shift);
    for (int a = 0; a < 3; a++)
        shift[a] = s->about[a] - s->scale * shift[a] + s->move[a];
    turn_multiply((const double(*)[3])outer->turn, (const double(*)[3])own, to->turn);
    turn_apply((const double(*)[3])outer->turn, shift, to->shift);
    for (int a = 0; a < 3; a++)
        to->shift[a] = outer->shift[a] + outer->scale * to->shift[a];
    to->scale = outer->scale * s->scale;
}

static int steps_of(const struct case_shape *s)
{
    int count = 1;
    for (int k = 0; k < s->count; k++)
        count += steps_of(&s->parts[k]) + 1;
    return count;
}

/* Appends the steps of a shape, and finds its bounding box. */
static void append(struct shape *s, const struct case_shape *from, const struct placing *outer,
                   double lo[3], double hi[3])
{
    struct placing p;
    double l[3], h[3];
    place(outer, from, &p);
    if (!from->count) {
        struct shape_step *const step = &s->step[s->count++];
        step->what = SHAPE_PUSH;
        leaf_make(&step->leaf, from, &p);
        leaf_bounds(&step->leaf, step->lo, step->hi);
        memcpy(lo, step->lo, sizeof l);
        memcpy(hi, step->hi, sizeof h);
        return;
    }
    append(s, &from->parts[0], &p, lo, hi);
    for (int k = 1; k < from->count; k++) {
        append(s, &from->parts[k], &p, l, h);
        s->step[s->count++].what = from->kind == SHAPE_union || from->kind == SHAPE_complement
                                       ? SHAPE_OR
                                   : from->kind == SHAPE_intersection ? SHAPE_AND
                                                                      : SHAPE_AND_NOT;
        for (int a = 0; a < 3; a++) {
            if (from->kind == SHAPE_union) {
                lo[a] = fmin(lo[a], l[a]);
                hi[a] = fmax(hi[a], h[a]);
            } else if (from->kind == SHAPE_intersection) {
                lo[a] = fmax(lo[a], l[a]);
                hi[a] = fmin(hi[a], h[a]);
            }
        }
    }
    if (from->kind == SHAPE_complement) {
        s->step[s->count++].what = SHAPE_NOT;
        for (int a = 0; a < 3; a++) {
            lo[a] = -INFINITY;
            hi[a] = INFINITY;
        }
    }
}

bool shape_create(struct shape *s, const struct case_shape *from)
{
    static const struct placing here = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}, 1};
    *s = (struct shape){.step = calloc((size_t)steps_of(from), sizeof *s->step)};
    if (!s->step)
        return false;
    append(s, from, &here, s->lo, s->hi);
    return true;
}

void shape_destroy(struct shape *s)
{
    free(s->step);
    *s = (struct shape){0};
}

bool shape_holds(const struct shape *s, const double at[3])
{
    bool stack[DEPTH];
    int top = 0;
    for (const struct shape_step *step = s->step; step < s->step + s->count; step++) {
        if (step->what == SHAPE_PUSH) {
            stack[top++] = leaf_holds(&step->leaf, at[0], at[1], at[2]);
            continue;
        }
        if (step->what == SHAPE_NOT) {
            stack[top - 1] = !stack[top - 1];
            continue;
        }
        const bool b = stack[--top], a = stack[top - 1];
        stack[top - 1] = step->what == SHAPE_OR    ? a || b
                         : step->what == SHAPE_AND ? a && b
                                                   : a && !b;
    }
    return stack[0];
}

/* Marks the cells of a line that are in the leaf; its bounding box excludes most of them. */
static void leaf_row(const struct shape_step *step, int x, int count, double y, double z,
                     uint8_t *to)
{
    memset(to, 0, (size_t)count);
    if (y < step->lo[1] || y > step->hi[1] || z < step->lo[2] || z > step->hi[2])
        return;
    const double last = x + count - 0.5;
    if (step->hi[0] < x || step->lo[0] > last)
        return;
    const int begin = step->lo[0] > x ? (int)(step->lo[0] - x) : 0;
    const int end = step->hi[0] < last ? (int)(step->hi[0] - x) + 1 : count;
    for (int k = begin; k < end; k++)
        to[k] = leaf_holds(&step->leaf, x + k + 0.5, y, z);
}

static void piece_of_row(const struct shape *s, int x, int count, double y, double z,
                         uint8_t *inside)
{
    uint8_t stack[DEPTH][PIECE];
    int top = 0;
    for (const struct shape_step *step = s->step; step < s->step + s->count; step++) {
        if (step->what == SHAPE_PUSH) {
            leaf_row(step, x, count, y, z, stack[top++]);
            continue;
        }
        uint8_t *const b = stack[top - 1], *const a =
                                               step->what == SHAPE_NOT ? b : stack[--top - 1];
        for (int k = 0; k < count; k++)
            a[k] = step->what == SHAPE_NOT   ? !b[k]
                   : step->what == SHAPE_OR  ? a[k] | b[k]
                   : step->what == SHAPE_AND ? a[k] & b[k]
                                             : a[k] & !b[k];
    }
    for (int k = 0; k < count; k++)
        inside[k] |= stack[0][k];
}

void shape_row(const struct shape *s, int x, int count, int y, int z, uint8_t *inside)
{
    if (y + 0.5 < s->lo[1] || y + 0.5 > s->hi[1] || z + 0.5 < s->lo[2] || z + 0.5 > s->hi[2])
        return;
    for (int k = 0; k < count; k += PIECE)
        piece_of_row(s, x + k, count - k < PIECE ? count - k : PIECE, y + 0.5, z + 0.5, inside + k);
}

static bool holds_along(const struct shape *s, const int cell[3], const int c[3], double q)
{
    double at[3];
    for (int a = 0; a < 3; a++)
        at[a] = cell[a] + 0.5 + q * c[a];
    return shape_holds(s, at);
}

double shape_crossing(const struct shape *s, const int cell[3], const int c[3])
{
    for (int k = 1; k <= SAMPLES; k++) {
        double out = (k - 1) / (double)SAMPLES, in = k / (double)SAMPLES;
        if (!holds_along(s, cell, c, in))
            continue;
        for (int h = 0; h < HALVINGS; h++) {
            const double q = 0.5 * (out + in);
            if (holds_along(s, cell, c, q))
                in = q;
            else
                out = q;
        }
        return in;
    }
    return 0.5;
}

/* How far the point at p of the leaf's frame is from its surface, and a vector along the normal
 * there. */
static double leaf_distance(const struct shape_leaf *l, const double p[3], double normal[3])
{
    const double *const s = l->size;
    const double round = sqrt(p[0] * p[0] + p[1] * p[1]);
    int side = 0;
    for (int a = 0; a < 3; a++)
        normal[a] = p[a];
    switch (l->kind) {
    case SHAPE_box:
        for (int a = 1; a < 3; a++)
            side = fabs(p[a]) - s[a] > fabs(p[side]) - s[side] ? a : side;
        for (int a = 0; a < 3; a++)
            normal[a] = a == side;
        return fabs(fabs(p[side]) - s[side]);
    case SHAPE_sphere:
        return fabs(sqrt(round * round + p[2] * p[2]) - s[0]);
    case SHAPE_ellipsoid: {
        double level = 0, slope = 0;
        for (int a = 0; a < 3; a++) {
            const double u = p[a] / s[a];
            normal[a] = u / s[a];
            level += u * u;
            slope += normal[a] * normal[a];
        }
        level = sqrt(level);
        return slope > 0 ? fabs(level - 1) * level / sqrt(slope) : INFINITY;
    }
    case SHAPE_cylinder:
        if (fabs(p[2]) - s[1] > round - s[0]) {
            normal[0] = normal[1] = 0;
            return fabs(fabs(p[2]) - s[1]);
        }
        normal[2] = 0;
        return fabs(round - s[0]);
    case SHAPE_capsule:
        normal[2] = p[2] > s[1] ? p[2] - s[1] : p[2] < -s[1] ? p[2] + s[1] : 0;
        return fabs(sqrt(round * round + normal[2] * normal[2]) - s[0]);
    case SHAPE_torus: {
        const double off = round - s[0];
        for (int a = 0; a < 2; a++)
            normal[a] = round > 0 ? p[a] * off / round : 0;
        return fabs(sqrt(off * off + p[2] * p[2]) - s[2]);
    }
    case SHAPE_half_space:
        normal[0] = normal[1] = 0;
        normal[2] = 1;
        return fabs(p[2]);
    case SHAPE_pack: {
        const double edge = s[1];
        const double square = pack_nearest(l->pack, p[0] / edge, p[1] / edge, p[2] / edge, normal);
        return fabs(edge * sqrt(square) - s[0]);
    }
    default:
        return INFINITY;
    }
}

double shape_facing(const struct shape *s, const double at[3], int axis)
{
    double least = INFINITY, facing = 1;
    for (const struct shape_step *step = s->step; step < s->step + s->count; step++) {
        const struct shape_leaf *const l = &step->leaf;
        double p[3], normal[3], away[3], along = 0, square = 0;
        if (step->what != SHAPE_PUSH)
            continue;
        for (int a = 0; a < 3; a++)
            away[a] = at[a] - l->center[a];
        turn_apply((const double(*)[3])l->turn, away, p);
        const double distance = leaf_distance(l, p, normal);
        for (int i = 0; i < 3; i++) {
            along += l->turn[i][axis] * normal[i];
            square += normal[i] * normal[i];
        }
        if (!(distance < least))
            continue;
        least = distance;
        facing = square > 0 ? fmin(fabs(along) / sqrt(square), 1) : 1;
    }
    return facing;
}

/* Spheres in a cubic cell of edge 1, neighbours of each, their distance, and the radius at which
 * three of them begin to meet, the radius of the circle through the nearest three centres. */
static const struct pack_info {
    int spheres, neighbours;
    double square, most_square; /* of distance and radius */
} packs[] = {
    [PACK_simple] = {1, 6, 1, 0.5},
    [PACK_body_centred] = {2, 8, 0.75, 0.25}, /* second neighbours touch at this radius */
    [PACK_face_centred] = {4, 12, 0.5, 1 / 6.0},
};

/* Volume fraction of spheres of this radius: a sphere without its caps beyond the planes half-way
 * to its neighbours. Volume of a cap of height h: pi h^2 (r - h / 3). */
static double pack_share(const struct pack_info *p, double r)
{
    const double pi = 3.14159265358979323846, h = r - 0.5 * sqrt(p->square);
    const double cap = h > 0 ? pi * h * h * (r - h / 3) : 0;
    return p->spheres * (4 * pi / 3 * r * r * r - p->neighbours * cap);
}

double pack_share_max(enum shape_pack pack)
{
    return pack_share(&packs[pack], sqrt(packs[pack].most_square));
}

double pack_radius(enum shape_pack pack, double share)
{
    double low = 0, high = sqrt(packs[pack].most_square);
    if (share > pack_share(&packs[pack], high))
        return 0;
    for (int k = 0; k < 60; k++) {
        const double r = 0.5 * (low + high);
        if (pack_share(&packs[pack], r) < share)
            low = r;
        else
            high = r;
    }
    return high;
}
