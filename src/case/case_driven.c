/* An estimate of the velocity that a force or a difference of pressures drives, for cases that name
 * none. It is made from the case alone, so that `check` and every number of ranks get the same.
 *
 * The box is looked at in points, the middles of equal parts. Each point has the widths of the
 * fluid through it, along the three axes. Poiseuille flow in an ellipse of these widths has the
 * velocity g / (8 nu) / (1/w_x^2 + 1/w_y^2 + 1/w_z^2) in its middle, exact for plane channels and
 * round pipes. Planes of points across the driven axis are resistances in a row: all let the same
 * flow rate through, and the narrow ones take most of the pressure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/body.h"
#include "case/case_law.h"
#include "case/case_resist.h"
#include "case/sections.h"

/* Points in all, about. */
static const double most_points = 1 << 16;

/* Square of a width without a wall. */
#define NO_BOUND 1e12

struct points {
    const struct flow_case *c;
    int n[3];
    double step;    /* cells from one to the next */
    uint8_t *solid; /* [n[2]][n[1]][n[0]] */
    float *narrow;  /* the same shape: sum of 1 / w^2 */
    /* of the plane looked at */
    bool varies[3]; /* do bodies begin or end along the axis? */
    double share;   /* part of it that is solid */
};

static size_t point_at(const struct points *p, const int at[3])
{
    return ((size_t)at[2] * (size_t)p->n[1] + (size_t)at[1]) * (size_t)p->n[0] + (size_t)at[0];
}

/* Position of a point along an axis. Points lie about the middle of the box. */
static double position(const struct points *p, int axis, int i)
{
    return 0.5 * p->c->cells[axis] + (i + 0.5 - 0.5 * p->n[axis]) * p->step;
}

static bool points_create(struct points *p, const struct flow_case *c)
{
    double cells = 1;
    int axes = 0;
    size_t count = 1;
    *p = (struct points){.c = c};
    for (int a = 0; a < 3; a++) {
        cells *= c->cells[a];
        axes += c->cells[a] > 1;
    }
    p->step = axes ? fmax(1, pow(cells / most_points, 1.0 / axes)) : 1;
    for (int a = 0; a < 3; a++) {
        p->n[a] = (int)fmax(1, round(c->cells[a] / p->step));
        count *= (size_t)p->n[a];
    }
    p->solid = calloc(count, sizeof *p->solid);
    p->narrow = calloc(count, sizeof *p->narrow);
    return p->solid && p->narrow;
}

static void points_destroy(struct points *p)
{
    free(p->solid);
    free(p->narrow);
}

/* The mesh in a grid whose cells have the points as centres. */
static struct case_mesh mesh_of_points(const struct points *p, const struct case_mesh *from)
{
    struct case_mesh to = *from;
    to.scale /= p->step;
    for (int a = 0; a < 3; a++)
        to.center[a] = (from->center[a] - 0.5 * p->c->cells[a]) / p->step + 0.5 * p->n[a];
    return to;
}

/* A mesh is looked at in its own place alone. */
static bool mark_mesh(struct points *p, const struct case_body *body)
{
    static const int none[3] = {0, 0, 0};
    const struct case_mesh scaled = mesh_of_points(p, &body->mesh);
    struct mesh mesh;
    if (!mesh_create(&mesh, &scaled, none, p->n, MESH_LINKS_none))
        return false;
    uint8_t *const row = malloc((size_t)p->n[0]);
    for (int z = 0; row && z < p->n[2]; z++)
        for (int y = 0; y < p->n[1]; y++) {
            uint8_t *const solid = p->solid + point_at(p, (int[3]){0, y, z});
            memset(row, 0, (size_t)p->n[0]);
            mesh_row(&mesh, 0, p->n[0], y, z, row);
            for (int x = 0; x < p->n[0]; x++)
                solid[x] |= row[x] != (body->mesh.fluid == MESH_FLUID_inside);
        }
    free(row);
    mesh_destroy(&mesh);
    return row != NULL;
}

/* Marks the points in a shape at its own place, or moved by whole boxes. */
static void mark_moved(struct points *p, const struct shape *shape, const double shift[3])
{
    int lo[3], hi[3], at[3];
    double place[3];
    for (int a = 0; a < 3; a++) { /* position(lo) is the first in its bounds */
        const double first = (shape->lo[a] + shift[a] - position(p, a, 0)) / p->step;
        const double last = (shape->hi[a] + shift[a] - position(p, a, 0)) / p->step;
        lo[a] = (int)ceil(fmin(fmax(first, 0), p->n[a]));
        hi[a] = (int)floor(fmin(fmax(last, -1), p->n[a] - 1));
    }
    for (at[2] = lo[2]; at[2] <= hi[2]; at[2]++)
        for (at[1] = lo[1]; at[1] <= hi[1]; at[1]++)
            for (at[0] = lo[0]; at[0] <= hi[0]; at[0]++) {
                for (int a = 0; a < 3; a++)
                    place[a] = position(p, a, at[a]) - shift[a];
                if (shape_holds(shape, place))
                    p->solid[point_at(p, at)] = 1;
            }
}

static bool mark_shape(struct points *p, const struct case_body *body)
{
    struct shape shape;
    int first[3] = {0, 0, 0}, last[3] = {0, 0, 0};
    if (!shape_create(&shape, &body->shape))
        return false;
    for (int a = 0; a < 3; a++)
        if (p->c->faces[2 * a].kind == FACE_periodic && isfinite(shape.lo[a]) &&
            isfinite(shape.hi[a]))
            body_images(shape.lo[a], shape.hi[a], p->c->cells[a], &first[a], &last[a]);
    for (int k = first[2]; k <= last[2]; k++)
        for (int j = first[1]; j <= last[1]; j++)
            for (int i = first[0]; i <= last[0]; i++)
                mark_moved(p, &shape,
                           (const double[3]){(double)i * p->c->cells[0], (double)j * p->c->cells[1],
                                             (double)k * p->c->cells[2]});
    shape_destroy(&shape);
    return true;
}

/* Looks at the plane of points i across an axis; along the axis itself nothing varies. */
static void find_varies(struct points *p, int axis, int i)
{
    const int b = (axis + 1) % 3, d = (axis + 2) % 3;
    int at[3], solid = 0;
    p->varies[0] = p->varies[1] = p->varies[2] = false;
    at[axis] = i;
    for (at[d] = 0; at[d] < p->n[d]; at[d]++)
        for (at[b] = 0; at[b] < p->n[b]; at[b]++)
            for (int a = 0; a < 3; a++) {
                int first[3] = {at[0], at[1], at[2]};
                first[a] = a == axis ? i : 0;
                p->varies[a] =
                    p->varies[a] || p->solid[point_at(p, at)] != p->solid[point_at(p, first)];
                solid += a == axis && p->solid[point_at(p, at)];
            }
    p->share = (double)solid / ((double)p->n[b] * p->n[d]);
}

/* Width of a line of `length` that meets no body in a plane that has some, at its sides and in its
 * periodic images. Rods along the flow, of a share c of the plane, let it be as fast as in a plane
 * of widths with this square (Sparrow, Loeffler, AIChE J. 5:325, 1959: u ~ ln(1 / c) - 1.476). */
static double width_beside(const struct points *p, double length)
{
    return length * sqrt(fmax(1, 1.6 * log(1 / p->share) - 1.8));
}

/* Does a fluid line end at this face, as at a wall? A velocity face of a case that names no
 * velocity is one. */
static bool ends_at(const struct flow_case *c, int face)
{
    return c->faces[face].kind == FACE_wall || c->faces[face].kind == FACE_velocity;
}

/* Open points of the line from `at` on, before the first point of a body and after the last one. */
static int open_ends(const struct points *p, int axis, const int at[3])
{
    int place[3] = {at[0], at[1], at[2]}, count = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < p->n[axis]; i++, count++) {
            place[axis] = side ? p->n[axis] - 1 - i : i;
            if (p->solid[point_at(p, place)])
                break;
        }
    return count;
}

/* Width in cells of a gap of `count` points along an axis, from point `from` on. INFINITY: no wall
 * on one side. A plane of symmetry mirrors it; periodic images of a body bound it. ends: the points
 * of open_ends(), which are one gap across a periodic face. */
static double width_of_gap(const struct points *p, int axis, int from, int count, int ends)
{
    const struct flow_case *const c = p->c;
    const bool low = from == 0, high = from + count == p->n[axis];
    if (low != high && c->faces[2 * axis].kind == FACE_periodic)
        return ends * p->step;
    const struct case_face *const face = &c->faces[2 * axis];
    const double all = c->cells[axis], here = low && high ? all : count * p->step;
    double times = 1;
    for (int side = 0; side < 2; side++) {
        if (!(side ? high : low) || ends_at(c, 2 * axis + side))
            continue;
        if (face[side].kind == FACE_slip)
            times *= 2;
        else
            return face[side].kind == FACE_periodic && p->varies[axis] ? width_beside(p, all)
                                                                       : INFINITY;
    }
    return times < 4 ? times * here : p->varies[axis] ? width_beside(p, 2 * all) : INFINITY;
}

/* Adds 1 / w^2 along the line of points from `at` on. */
static void measure_line(struct points *p, int axis, const int at[3])
{
    const int n = p->n[axis], ends = open_ends(p, axis, at);
    int place[3] = {at[0], at[1], at[2]};
    for (int i = 0, count; i < n; i += count + 1) {
        for (count = 0; i + count < n; count++) {
            place[axis] = i + count;
            if (p->solid[point_at(p, place)])
                break;
        }
        const double width = count ? width_of_gap(p, axis, i, count, ends) : INFINITY;
        for (int k = 0; k < count; k++) {
            place[axis] = i + k;
            p->narrow[point_at(p, place)] += (float)(1 / (width * width));
        }
    }
}

/* The widths for a flow along an axis. */
static void measure_widths(struct points *p, int axis)
{
    const int b = (axis + 1) % 3, d = (axis + 2) % 3;
    int at[3];
    memset(p->narrow, 0, (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2] * sizeof *p->narrow);
    for (int i = 0; i < p->n[axis]; i++) {
        find_varies(p, axis, i);
        at[axis] = i;
        at[b] = 0;
        for (at[d] = 0; at[d] < p->n[d]; at[d]++)
            measure_line(p, b, at);
        at[d] = 0;
        for (at[b] = 0; at[b] < p->n[b]; at[b]++)
            measure_line(p, d, at);
    }
    at[axis] = 0;
    for (at[d] = 0; at[d] < p->n[d]; at[d]++)
        for (at[b] = 0; at[b] < p->n[b]; at[b]++)
            measure_line(p, axis, at);
}

/* Passage along an axis, found from the points. Velocities are for g / (8 nu) = 1. */
struct passage {
    double velocity; /* largest, where the planes are resistances in a row; of a passage that bodies
                      * close in straight direction, in the widest gap */
    double share;    /* of the least open plane in the most open one */
    bool straight;   /* a line of points along the axis meets no body */
};

/* Does a line of points along the axis meet no body? */
static bool is_straight(const struct points *p, int axis)
{
    const int b = (axis + 1) % 3, d = (axis + 2) % 3;
    int at[3];
    for (at[d] = 0; at[d] < p->n[d]; at[d]++)
        for (at[b] = 0; at[b] < p->n[b]; at[b]++) {
            at[axis] = 0;
            while (at[axis] < p->n[axis] && !p->solid[point_at(p, at)])
                at[axis]++;
            if (at[axis] == p->n[axis])
                return true;
        }
    return false;
}

static struct passage passage_along(const struct points *p, int axis)
{
    const int b = (axis + 1) % 3, d = (axis + 2) % 3;
    const double across = fmax(p->c->cells[b], p->c->cells[d]);
    double resistance = 0, most = 0, widest = 0, least_open = INFINITY, most_open = 0;
    for (int i = 0; i < p->n[axis]; i++) {
        int at[3];
        double sum = 0, fastest = 0, parts = 0, largest = 0, open = 0;
        at[axis] = i;
        for (at[d] = 0; at[d] < p->n[d]; at[d]++)
            for (at[b] = 0; at[b] < p->n[b]; at[b]++) {
                if (p->solid[point_at(p, at)])
                    continue;
                const double here = 1 / fmax(p->narrow[point_at(p, at)], 1 / NO_BOUND);
                /* a few points that nothing bounds do not take all of the flow */
                const double part = fmin(here, across * across);
                sum += here;
                fastest = fmax(fastest, here);
                parts += part;
                largest = fmax(largest, part);
                open++;
            }
        resistance += 1 / sum; /* INFINITY where it is closed */
        most = fmax(most, parts > 0 ? largest / parts : 0);
        widest = fmax(widest, fastest);
        least_open = fmin(least_open, open);
        most_open = fmax(most_open, open);
    }
    return (struct passage){.velocity =
                                isfinite(resistance) ? most * p->n[axis] / resistance : widest,
                            .share = most_open > 0 ? least_open / most_open : 0,
                            .straight = is_straight(p, axis)};
}

/* Can fluid pass the face, or a patch of it? */
static bool lets_through(const struct flow_case *c, int face)
{
    bool open = c->faces[face].kind == FACE_periodic;
    for (int k = 0; k < case_openings(c); k++)
        open = open || (case_opening_side(c, k) == face && face_holds_density(case_opening(c, k)));
    return open;
}

/* Lowest and highest pressure that openings hold: on a face, or with face -1 on all. */
struct pressures {
    bool any;
    double low, high;
};

static void add_pressure(struct pressures *to, double p)
{
    to->low = to->any ? fmin(to->low, p) : p;
    to->high = to->any ? fmax(to->high, p) : p;
    to->any = true;
}

/* Of a face; -1: of all openings. */
static struct pressures pressures_of(const struct flow_case *c, int face)
{
    struct pressures found = {.any = false};
    for (int k = 0; k < case_gates(c); k++) {
        const struct case_gate gate = case_gate(c, k);
        if (gate.holds && (face < 0 || gate.side == face))
            add_pressure(&found, gate.drho / 3);
    }
    return found;
}

/* Difference of the pressures on the two faces of an axis. */
static double difference_along(const struct flow_case *c, int axis)
{
    const struct pressures a = pressures_of(c, 2 * axis), b = pressures_of(c, 2 * axis + 1);
    return a.any && b.any ? fmax(fabs(a.high - b.low), fabs(b.high - a.low)) : 0;
}

/* A force acts only where the fluid can leave; elsewhere the pressure balances it. */
static double force_along(const struct flow_case *c, int axis)
{
    const bool passes = lets_through(c, 2 * axis) && lets_through(c, 2 * axis + 1);
    return passes ? fabs(c->acceleration[axis]) : 0;
}

/* Acceleration along an axis by the force, without its oscillation, and by pressures. */
static double steady_along(const struct flow_case *c, int axis)
{
    const struct case_signal *const s = &c->force_signal;
    const double part = s->kind == SIGNAL_sine ? fabs(s->mean) : signal_peak(s);
    return part * force_along(c, axis) + difference_along(c, axis) / c->cells[axis];
}

struct estimate {
    double velocity;
    enum driven_by by;
};

static struct estimate smaller(struct estimate a, double velocity, enum driven_by by)
{
    return velocity < a.velocity ? (struct estimate){velocity, by} : a;
}

/* The viscosity at the walls of a plane channel, `square` its width squared, through which an
 * acceleration drives the fluid. */
static double viscosity_at_walls(const struct flow_case *c, double acceleration, double square)
{
    return case_viscosity_under(c, 0.5 * acceleration * sqrt(square));
}

/* The velocity by a constant acceleration along an axis, and by an oscillating one, which reaches
 * no more than in a fluid without walls. Where a passage narrows, the widening behind the narrow
 * place loses (1 - share)^2 u^2 / 2 of the pressure (Borda, Carnot). */
static struct estimate velocity_along(const struct flow_case *c, int axis,
                                      const struct passage *way)
{
    static const double pi = 3.141592653589793;
    const struct case_signal *const s = &c->force_signal;
    const bool sine = s->kind == SIGNAL_sine;
    const double steady = steady_along(c, axis), length = c->cells[axis];
    const double swing = sine ? force_along(c, axis) * fabs(s->amplitude) : 0;
    const double per = way->velocity / (8 * viscosity_at_walls(c, steady + swing, way->velocity));
    struct estimate e = {0, !way->straight   ? DRIVEN_detour
                            : way->share < 1 ? DRIVEN_bodies
                                             : DRIVEN_friction};
    if (steady > 0)
        e.velocity += steady * per;
    if (swing > 0) {
        e.velocity += swing * fmin(per, s->period / (2 * pi));
        e.by = s->period / (2 * pi) < per ? DRIVEN_swing : e.by;
    }
    e = smaller(e, resisted_velocity(c, axis, steady + swing), DRIVEN_medium);
    e = smaller(e, turned_velocity(c, axis, steady + swing), DRIVEN_frame);
    return smaller(e, sqrt(2 * (steady + swing) * length) / (1 - way->share), DRIVEN_narrow);
}

/* The same of pressures on faces that are not opposite: no straight way leads from one to the
 * other, so that at least u^2 / 2 is lost. */
static struct estimate velocity_around(const struct flow_case *c, const struct passage way[3])
{
    const struct pressures all = pressures_of(c, -1);
    double straight = 0, length = INFINITY, widest = 0;
    for (int a = 0; a < 3; a++) {
        straight = fmax(straight, difference_along(c, a));
        widest = fmax(widest, way[a].velocity);
        if (c->cells[a] > 1)
            length = fmin(length, c->cells[a]);
    }
    const double difference = all.high - all.low;
    if (!(difference > straight * (1 + 1e-9)))
        return (struct estimate){0, DRIVEN_detour};
    const double acceleration = difference / length;
    const double viscosity = viscosity_at_walls(c, acceleration, widest);
    return smaller((struct estimate){acceleration * widest / (8 * viscosity), DRIVEN_detour},
                   sqrt(2 * difference), DRIVEN_pressure);
}

/* Does the case say how fast the flow is? Walls that move and buoyancy do not. */
static bool is_named(const struct flow_case *c)
{
    bool named = c->fluid.velocity > 0 || c->flow_rate.given || c->initial.amplitude > 0 ||
                 magnitude(c->initial.velocity) > 0;
    for (int k = 0; k < case_gates(c); k++) {
        const struct case_gate gate = case_gate(c, k);
        named = named || (gate.gives && gate.speed > 0);
    }
    return named;
}

static bool is_driven(const struct flow_case *c)
{
    const struct pressures all = pressures_of(c, -1);
    return magnitude(c->acceleration) > 0 || (all.any && all.high > all.low);
}

/* Marks what is solid. An image is not looked at here: its mean widths count everywhere. */
static bool mark_bodies(struct points *p)
{
    bool done = true;
    for (int k = 0; k < p->c->body_count && done; k++) {
        const struct case_body *const body = &p->c->bodies[k];
        if (!body->image.file)
            done = body->mesh.file ? mark_mesh(p, body) : mark_shape(p, body);
    }
    return done;
}

/* The mean width of pores; 0: there is no image. */
static double pore_width(const struct flow_case *c)
{
    double widest = 0;
    for (int k = 0; k < c->body_count; k++)
        widest = fmax(widest, c->bodies[k].image.width);
    return widest;
}

/* Looks at the box. False: out of memory. */
static bool find_ways(const struct flow_case *c, struct passage way[3])
{
    struct points p;
    const double pores = pore_width(c);
    const bool done = points_create(&p, c) && mark_bodies(&p);
    for (int a = 0; a < 3 && done; a++) {
        measure_widths(&p, a);
        way[a] = passage_along(&p, a);
        if (pores > 0)
            way[a].velocity = fmin(way[a].velocity, 0.8 * pores * pores);
    }
    points_destroy(&p);
    return done;
}

enum status driven_find(struct flow_case *c)
{
    static const double free = 1e3;
    struct passage way[3];
    c->driven = (struct case_driven){.velocity = 0};
    if (is_named(c) || !is_driven(c))
        return STATUS_OK;
    if (!find_ways(c, way))
        return fail_machine("no memory for an estimate of the velocity");
    struct estimate most = velocity_around(c, way);
    for (int a = 0; a < 3; a++) {
        const struct estimate along = velocity_along(c, a, &way[a]);
        most = along.velocity > most.velocity ? along : most;
        c->driven.acceleration = fmax(c->driven.acceleration, steady_along(c, a));
    }
    c->driven.free = most.velocity > free;
    c->driven.velocity = c->driven.free ? 0 : most.velocity;
    c->driven.by = most.by;
    return STATUS_OK;
}

/* The smallest passage along the axes on which the openings lie, if one gives a velocity. */
static bool narrowest(const struct flow_case *c, struct passage *found, double *length)
{
    struct passage way[3];
    bool flows[3] = {false, false, false}, given = false;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        given = given || (what->kind == FACE_velocity && face_speed(what) > 0);
        flows[case_opening_side(c, k) / 2] |= face_open(what->kind);
    }
    if (!given || !find_ways(c, way))
        return false;
    *length = 0;
    for (int a = 0; a < 3; a++)
        if (flows[a] && !(*length / found->velocity >= c->cells[a] / way[a].velocity)) {
            *found = way[a];
            *length = c->cells[a];
        }
    return true;
}

double driven_density(const struct flow_case *c)
{
    struct passage way = {.velocity = 1};
    double length;
    if (!narrowest(c, &way, &length))
        return 0;
    const double velocity = case_fastest_velocity(c);
    const double viscosity = case_viscosity_at(c, 4 * velocity / sqrt(way.velocity));
    return 24 * viscosity * velocity * length / way.velocity;
}

double driven_width(const struct flow_case *c)
{
    struct passage way = {.velocity = 1};
    double length;
    return narrowest(c, &way, &length) ? sqrt(way.velocity) : 0;
}
