/* Points of surfaces; see skin.h. Everything is + - x / and sqrt: the same on every machine. */
#include "body/skin.h"

#include <math.h>
#include <stdlib.h>

#include "body/mesh.h"
#include "body/shape.h"
#include "elementary.h"

/* Shapes: step along a ray in cells, and number of bisections that follow. */
static const double stride = 1.0 / 16;
enum { HALVINGS = 44 };
/* Shapes: the normal points to the centroid of the part of a ball of this radius that is outside,
 * sampled on a cubic grid with GRID points along the radius. */
static const double ball = 0.5;
enum { GRID = 8 };

static bool make_room(struct skin *s, int count)
{
    const size_t points = count > 0 ? (size_t)count : 1;
    *s = (struct skin){.count = count,
                       .at = calloc(points, sizeof *s->at),
                       .normal = calloc(points, sizeof *s->normal)};
    if (s->at && s->normal)
        return true;
    skin_destroy(s);
    return false;
}

void skin_destroy(struct skin *s)
{
    free(s->at);
    free(s->normal);
    *s = (struct skin){0};
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Scales v to length `sign`; NaN if v is 0. */
static void normalise(double v[3], double sign)
{
    const double length = sqrt(dot(v, v));
    for (int a = 0; a < 3; a++)
        v[a] = length > 0 ? sign * v[a] / length : NAN;
}

/* ---- meshes ---- */

struct skin_corners {
    const double *p[3];
};

static struct skin_corners corners_of(const struct case_mesh *mesh, const double (*vertex)[3],
                                      size_t k)
{
    const uint32_t *const triangle = mesh->stl->triangle[k];
    return (struct skin_corners){{vertex[triangle[0]], vertex[triangle[1]], vertex[triangle[2]]}};
}

/* The normal into the fluid, by the order of the corners, counterclockwise from outside; reversed
 * if the mesh is inside out, and if the fluid is inside. */
static void normal_of(const struct case_mesh *mesh, const struct skin_corners *c, double normal[3])
{
    double one[3], other[3];
    for (int a = 0; a < 3; a++) {
        one[a] = c->p[1][a] - c->p[0][a];
        other[a] = c->p[2][a] - c->p[0][a];
    }
    cross(one, other, normal);
    const bool inwards = mesh->fluid == MESH_FLUID_inside;
    normalise(normal, (mesh->facts.volume < 0) != inwards ? -1 : 1);
}

bool skin_of_mesh(struct skin *s, const struct case_mesh *mesh, const double (*vertex)[3])
{
    if (!make_room(s, (int)mesh->stl->triangles))
        return false;
    for (size_t k = 0; k < mesh->stl->triangles; k++) {
        const struct skin_corners c = corners_of(mesh, vertex, k);
        for (int a = 0; a < 3; a++)
            s->at[k][a] = (c.p[0][a] + c.p[1][a] + c.p[2][a]) / 3;
        normal_of(mesh, &c, s->normal[k]);
    }
    return true;
}

/* Distance of the triangle from `from` along `way`; negative: the ray misses it (Moller, Trumbore,
 * J. Graphics Tools 2:21, 1997). */
static double distance_to(const struct skin_corners *c, const double from[3], const double way[3])
{
    double one[3], other[3], side[3], p[3], q[3];
    for (int a = 0; a < 3; a++) {
        one[a] = c->p[1][a] - c->p[0][a];
        other[a] = c->p[2][a] - c->p[0][a];
        side[a] = from[a] - c->p[0][a];
    }
    cross(way, other, p);
    cross(side, one, q);
    const double volume = dot(one, p);
    if (volume == 0)
        return -1;
    const double u = dot(side, p) / volume, v = dot(way, q) / volume;
    return u >= 0 && v >= 0 && u + v <= 1 ? dot(other, q) / volume : -1;
}

static void leave_mesh(const struct case_mesh *mesh, const double (*vertex)[3],
                       const double center[3], const double way[3], double at[3], double normal[3])
{
    double last = 0;
    for (size_t k = 0; k < mesh->stl->triangles; k++) {
        const struct skin_corners c = corners_of(mesh, vertex, k);
        const double distance = distance_to(&c, center, way);
        if (!(distance > last))
            continue;
        last = distance;
        normal_of(mesh, &c, normal);
    }
    for (int a = 0; a < 3; a++)
        at[a] = last > 0 ? center[a] + last * way[a] : NAN;
}

/* ---- shapes ---- */

static bool holds_along(const struct shape *s, const double center[3], const double way[3],
                        double distance)
{
    double at[3];
    for (int a = 0; a < 3; a++)
        at[a] = center[a] + distance * way[a];
    return shape_holds(s, at);
}

static void find_normal(const struct shape *s, const double at[3], double normal[3])
{
    double sum[3] = {0, 0, 0};
    for (int z = -GRID; z <= GRID; z++)
        for (int y = -GRID; y <= GRID; y++)
            for (int x = -GRID; x <= GRID; x++) {
                const double offset[3] = {ball * x / GRID, ball * y / GRID, ball * z / GRID};
                const double point[3] = {at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]};
                if (x * x + y * y + z * z > GRID * GRID)
                    continue;
                const double side = shape_holds(s, point) ? -1 : 1;
                for (int a = 0; a < 3; a++)
                    sum[a] += side * offset[a];
            }
    normalise(sum, 1);
    for (int a = 0; a < 3; a++)
        normal[a] = sum[a];
}

static void leave_shape(const struct shape *s, const double center[3], const double way[3],
                        double reach, double at[3], double normal[3])
{
    double out = reach, in = reach;
    while (in > 0 && !holds_along(s, center, way, in)) {
        out = in;
        in -= stride;
    }
    for (int a = 0; a < 3; a++)
        at[a] = normal[a] = NAN;
    if (in <= 0 || in == reach)
        return;
    for (int h = 0; h < HALVINGS; h++) {
        const double middle = 0.5 * (out + in);
        if (holds_along(s, center, way, middle))
            in = middle;
        else
            out = middle;
    }
    for (int a = 0; a < 3; a++)
        at[a] = center[a] + in * way[a];
    find_normal(s, at, normal);
}

bool skin_middle(const struct case_body *body, const int cells[3], double middle[3])
{
    double lo[3], hi[3];
    struct shape shape = {0};
    if (body->mesh.file)
        mesh_bounds(&body->mesh, lo, hi);
    else if (!shape_create(&shape, &body->shape))
        return false;
    for (int a = 0; a < 3; a++) {
        const double low = body->mesh.file ? lo[a] : shape.lo[a],
                     high = body->mesh.file ? hi[a] : shape.hi[a];
        middle[a] = isinf(low) || isinf(high) ? 0.5 * cells[a] : 0.5 * (low + high);
    }
    shape_destroy(&shape);
    return true;
}

bool skin_ring(struct skin *s, const struct case_body *body, const double center[3], int axis,
               int count, double reach)
{
    const bool is_mesh = body->mesh.file;
    double lo[3], hi[3];
    double(*const vertex)[3] = is_mesh ? mesh_place(&body->mesh, lo, hi) : NULL;
    struct shape shape = {0};
    bool good = is_mesh ? vertex != NULL : shape_create(&shape, &body->shape);
    if (good && !make_room(s, count))
        good = false;
    for (int k = 0; k < count && good; k++) {
        double way[3] = {0, 0, 0};
        way[(axis + 1) % 3] = cos_turns(k, count);
        way[(axis + 2) % 3] = sin_turns(k, count);
        if (is_mesh)
            leave_mesh(&body->mesh, (const double(*)[3])vertex, center, way, s->at[k],
                       s->normal[k]);
        else
            leave_shape(&shape, center, way, reach, s->at[k], s->normal[k]);
    }
    free(vertex);
    shape_destroy(&shape);
    if (!good)
        *s = (struct skin){0};
    return good;
}
