/* Bodies whose surface moves along its normal. The cells of a body stay where they are, so that
 * such a surface takes fluid in on one side and gives it out on the other. */
#include <math.h>
#include <stdlib.h>

#include "advice/advice.h"
#include "base/message.h"
#include "body/mesh.h"
#include "body/shape.h"
#include "case/sections.h"

static void velocity_at(const struct case_body *body, const double pivot[3], const double at[3],
                        double u[3])
{
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        u[a] = body->velocity[a] + body->spin[b] * (at[d] - pivot[d]) -
               body->spin[d] * (at[b] - pivot[b]);
    }
}

static bool in_box(const struct flow_case *c, const struct case_body *body, const double at[3])
{
    bool inside = true;
    for (int a = 0; a < 3; a++)
        inside = inside && (case_crosses(c, body, a) || (at[a] >= 0 && at[a] <= c->cells[a]));
    return inside;
}

/* Follows the surface's motion from a point: a turn by some degrees in small steps, or a cell. */
static void follow(const struct case_body *body, const double pivot[3], double at[3])
{
    enum { STEPS = 64 };
    static const double angle = 0.5;
    const double spin = magnitude(body->spin), speed = magnitude(body->velocity);
    const double time = (spin > 0 ? angle / spin : 1 / speed) / STEPS;
    for (int k = 0; k < STEPS; k++) { /* the midpoint rule */
        double u[3], middle[3];
        velocity_at(body, pivot, at, u);
        for (int a = 0; a < 3; a++)
            middle[a] = at[a] + 0.5 * time * u[a];
        velocity_at(body, pivot, middle, u);
        for (int a = 0; a < 3; a++)
            at[a] += time * u[a];
    }
}

/* Does the motion lead points out of the shape, or into it? */
static bool shape_pumps(const struct flow_case *c, const struct case_body *body)
{
    enum { POINTS = 24 }; /* along an axis */
    static const double share = 0.01;
    struct shape shape;
    double pivot[3], from[3], step[3];
    int inside = 0, moved = 0;
    if (!shape_create(&shape, &body->shape))
        return false;
    case_pivot(c, body, pivot);
    for (int a = 0; a < 3; a++) {
        const bool clipped = !case_crosses(c, body, a);
        from[a] = clipped ? fmax(body->lo[a] - 1, 0) : body->lo[a] - 1;
        step[a] =
            ((clipped ? fmin(body->hi[a] + 1, c->cells[a]) : body->hi[a] + 1) - from[a]) / POINTS;
    }
    for (int k = 0; k < POINTS * POINTS * POINTS; k++) {
        const int at[3] = {k % POINTS, k / POINTS % POINTS, k / POINTS / POINTS};
        double place[3];
        for (int a = 0; a < 3; a++)
            place[a] = from[a] + (at[a] + 0.5) * step[a];
        const bool held = shape_holds(&shape, place);
        follow(body, pivot, place);
        if (!in_box(c, body, place))
            continue;
        inside += held;
        moved += held != shape_holds(&shape, place);
    }
    shape_destroy(&shape);
    return moved > share * inside;
}

/* The same by the triangles' normals. */
static bool mesh_pumps(const struct flow_case *c, const struct case_body *body)
{
    static const double share = 0.05;
    const struct stl *const stl = body->mesh.stl;
    double lo[3], hi[3], pivot[3], along = 0, all = 0;
    double(*const vertex)[3] = mesh_place(&body->mesh, lo, hi);
    if (!vertex)
        return false;
    case_pivot(c, body, pivot);
    for (size_t t = 0; t < stl->triangles; t++) {
        const double *const p = vertex[stl->triangle[t][0]], *const q = vertex[stl->triangle[t][1]],
                            *const r = vertex[stl->triangle[t][2]];
        double middle[3], normal[3], u[3], across = 0;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            middle[a] = (p[a] + q[a] + r[a]) / 3;
            normal[a] = (q[b] - p[b]) * (r[d] - p[d]) - (q[d] - p[d]) * (r[b] - p[b]);
        }
        velocity_at(body, pivot, middle, u);
        for (int a = 0; a < 3; a++)
            across += u[a] * normal[a];
        if (!in_box(c, body, middle))
            continue;
        along += fabs(across);
        all += magnitude(u) * magnitude(normal);
    }
    free(vertex);
    return along > share * all;
}

void advise_pumps(const struct flow_case *c)
{
    for (int k = 0; k < c->body_count; k++) {
        const struct case_body *const body = &c->bodies[k];
        if (!(body->speed > 0))
            continue;
        if (body->image.file          ? true
            : body->mesh.file != NULL ? mesh_pumps(c, body)
                                      : shape_pumps(c, body))
            warn("body_pumps",
                 "bodies.%s: its surface moves along its normal, but the body stays where it is: "
                 "it takes "
                 "in fluid on one side and gives it out on the other, with up to %.3g cells a step "
                 "(only "
                 "surfaces that move along themselves, such as a turning cylinder, are right)",
                 body->name, body->speed);
    }
}
