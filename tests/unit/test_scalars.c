/* Scalars beside the flow against two arrays of the whole box, to rounding, for random parameters,
 * walls, openings, solids that conduct and species that turn into each other; and bit for bit: any
 * instruction set, threads, memory for all cells or fluid alone, and single cells.
 *
 * Collision and streaming of the two arrays are written from the formulas in include/scalar.h's
 * first lines, in long double. The flow that carries is that of reference.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/sparse.h"
#include "reference.h"
#include "tags/create.h"

#include "cell.h"

#ifdef __SANITIZE_ADDRESS__
enum { BOXES = 40 };
#else
enum { BOXES = 160 };
#endif
enum { STEPS = 5, MOST = 3, AXES7 = 7, POINTS = 4 };

/* Mean velocity of the flow, as a scalar with a gradient takes it. */
static const double mean_flow[3] = {0.03, -0.02, 0.01};

typedef long double wide;

/* What one scalar does in cells of a type, in the units of the case: those of its formulas. */
struct material {
    bool holds;
    wide capacity, carried, conductivity, magic, source, decay, gain;
    int from; /* scalar, or -1 */
    wide gradient[3];
    /* a wall: what comes back is a out + b, or T/4 - out */
    bool free;
    wide a, b;
    /* with the limiter: the fluid is kept within the range; a wall is a layer of some resistance,
     * or an opening, before a value */
    bool limited, layer, open, given;
    wide resistance, value;
    int varies; /* 1 + face whose value is another one in each cell: then value and b are of one */
};

struct box_scalar {
    struct material type[TAG_ROWS]; /* by row; those of faces: */
    struct material face[6];
    wide *now, *next; /* [cells][7] */
};

struct setting {
    struct flow_case c;
    struct case_scalar scalar[MOST];
    struct reference r;
    struct box_scalar box[MOST];
    uint64_t seed;
    char faces[8];
    bool conduct;
    double at[MOST][6][POINTS], value[MOST][6][POINTS]; /* of values that vary over a face */
};

static double between(uint64_t *random, double low, double high)
{
    return low + (high - low) * (0.5 + 0.5 * reference_uniform(random));
}

static const double range[2] = {0.4, 1.3}; /* of scalars with the limiter */

static struct material limited_wall(const struct case_scalar_wall *w, bool open)
{
    struct material m = {.a = 1, .from = -1, .limited = true, .open = open, .b = (wide)w->flux};
    m.given = w->kind == SCALAR_WALL_value;
    m.layer = !open && (m.given || w->kind == SCALAR_WALL_transfer);
    m.value = (wide)(m.given ? w->value : w->outside);
    m.resistance = m.given ? 0 : 1 / (wide)w->coefficient;
    return m;
}

static struct material wall_of(const struct case_scalar_wall *w, bool limited, bool open)
{
    const wide h = (wide)w->coefficient;
    struct material m = {.a = 1, .from = -1};
    if (limited)
        return limited_wall(w, open);
    if (w->kind == SCALAR_WALL_value) {
        m.a = -1;
        m.b = (wide)w->value / 4;
    } else if (w->kind == SCALAR_WALL_flux) {
        m.b = (wide)w->flux;
    } else if (w->kind == SCALAR_WALL_transfer) {
        m.a = (1 - 4 * h) / (1 + 4 * h);
        m.b = h * (wide)w->outside / (1 + 4 * h);
    } else if (w->kind == SCALAR_WALL_outflow) {
        m.free = true;
    }
    return m;
}

static struct case_scalar_wall draw_wall(uint64_t *random, char face)
{
    struct case_scalar_wall w = {.kind = SCALAR_WALL_adiabatic};
    const double kind = between(random, 0, 4);
    if (face == 'p' || face == 's')
        return w;
    if (face == 'o' || face == 'n') {
        w.kind = SCALAR_WALL_outflow;
    } else if (strchr("vVdD", face)) {
        w.kind = kind < 3 || strchr("vV", face) ? SCALAR_WALL_value : SCALAR_WALL_outflow;
    } else {
        w.kind = kind < 1   ? SCALAR_WALL_adiabatic
                 : kind < 2 ? SCALAR_WALL_value
                 : kind < 3 ? SCALAR_WALL_flux
                            : SCALAR_WALL_transfer;
    }
    if (w.kind == SCALAR_WALL_value)
        w.value = between(random, -1, 2);
    if (w.kind == SCALAR_WALL_flux)
        w.flux = between(random, -0.1, 0.1);
    if (w.kind == SCALAR_WALL_transfer) {
        w.coefficient = between(random, 0.01, 3);
        w.outside = between(random, -1, 1);
    }
    return w;
}

/* Lets a given value vary over its face, by the position along an axis or the distance from a
 * point.
 */
static void draw_heights(struct setting *t, uint64_t *random, int k, int f)
{
    struct case_scalar_wall *const w = &t->c.faces[f].scalar[k];
    struct case_heights *const h = &w->heights;
    double *const at = t->at[k][f], *const value = t->value[k][f];
    int axes[2];
    face_axes(f, axes);
    if (w->kind != SCALAR_WALL_value || between(random, 0, 2) < 1)
        return;
    w->profile = between(random, 0, 2) < 1 ? PROFILE_height : PROFILE_radius;
    *h = (struct case_heights){.axis = axes[between(random, 0, 2) < 1],
                               .from = between(random, -3, 3),
                               .points = POINTS,
                               .at = at,
                               .value = value};
    if (w->profile == PROFILE_radius)
        *h = (struct case_heights){.center = {between(random, 0, 9), between(random, 0, 9)},
                                   .points = POINTS,
                                   .at = at,
                                   .value = value};
    for (int i = 0; i < POINTS; i++) {
        at[i] = (i ? at[i - 1] : 0) + between(random, 0.1, 4);
        value[i] = between(random, -1, 2);
    }
}

/* A mean gradient, where no face is open: then all walls are adiabatic. */
static void draw_gradient(struct setting *t, uint64_t *random, int k)
{
    struct case_scalar *const s = &t->scalar[k];
    if (strpbrk(t->faces, "vdonVD") || between(random, 0, 2) < 1)
        return;
    for (int a = 0; a < 3; a++)
        s->gradient[a] = between(random, 0, 3) < 1 ? 0 : between(random, -0.5, 0.5);
    for (int f = 0; f < 6; f++)
        t->c.faces[f].scalar[k] = (struct case_scalar_wall){.kind = SCALAR_WALL_adiabatic};
}

/* A box, scalars and what they meet. conduct: obstacles may; then memory is for all cells. */
static void draw(struct setting *t, uint64_t *random, const char *letters)
{
    static const uint64_t most[3] = {40, 9, 7};
    memset(t, 0, sizeof *t);
    t->seed = reference_random(random);
    t->c = reference_case(1, 1, 1);
    memcpy(t->faces, "pppppp", 7);
    for (int a = 0; a < 3; a++) {
        t->c.cells[a] = 1 + (int)((reference_random(random) >> 8) % most[a]);
        for (int side = 0; side < 2 && t->seed >> (8 + a) & 1; side++)
            t->faces[2 * a + side] = letters[(reference_random(random) >> 8) %
                                             (t->c.cells[a] > 1 ? strlen(letters) : 2)];
    }
    reference_faces(&t->c, t->faces);
    t->c.solver.collision = (enum collision)(t->seed % COLLISIONS);
    for (int a = 0; a < 3; a++)
        t->c.acceleration[a] = t->seed & 16 ? 1e-3 * reference_uniform(random) : 0;
    t->c.run.isa = reference_isa(reference_random(random));
    t->c.run.threads = 1 + (int)((reference_random(random) >> 8) % 3);
    t->c.scalars = t->scalar;
    t->c.scalar_count = 1 + (int)(t->seed >> 24 & 255) % MOST;
    for (int k = 0; k < t->c.scalar_count; k++) {
        struct case_scalar *const s = &t->scalar[k];
        snprintf(s->name, sizeof s->name, "s%d", k);
        s->diffusivity = exp(between(random, log(5e-4), log(2)));
        s->magic = between(random, 0, 3) < 1 ? 0 : between(random, 0.02, 0.4);
        s->source = between(random, 0, 2) < 1 ? 0 : between(random, -0.02, 0.02);
        s->decay = between(random, 0, 2) < 1 ? 0 : between(random, 0, 0.3);
        s->turbulent_prandtl = 0.85;
        s->made_from = k > 0 && between(random, 0, 2) < 1 ? k - 1 : -1;
        s->rate = s->made_from < 0 ? 0 : between(random, 0.01, 0.5);
        for (int f = 0; f < 6; f++)
            t->c.faces[f].scalar[k] = draw_wall(random, t->faces[f]);
        for (int f = 0; f < 6; f++)
            draw_heights(t, random, k, f);
        draw_gradient(t, random, k);
        s->limiter = LIMITER_none;
        if (s->diffusivity < 0.125 && !scalar_has_gradient(s) && between(random, 0, 2) < 1)
            s->limiter = LIMITER_on;
    }
    t->conduct = t->seed >> 33 & 1;
    t->c.run.sparse = !t->conduct && t->seed >> 34 & 1 ? SPARSE_always : SPARSE_never;
}

/* The value that a face gives at the link of a cell. */
static wide value_at(const struct setting *t, int k, int f, const int cell[3])
{
    const struct case_scalar_wall *const w = &t->c.faces[f].scalar[k];
    const struct case_heights *const h = &w->heights;
    int axes[2], i = 0;
    face_axes(f, axes);
    if (!w->profile)
        return (wide)w->value;
    wide x = cell[h->axis] + 0.5L - (wide)h->from;
    if (w->profile == PROFILE_radius)
        x = hypotl(cell[axes[0]] + 0.5L - (wide)h->center[0],
                   cell[axes[1]] + 0.5L - (wide)h->center[1]);
    while (i < POINTS && (wide)h->at[i] <= x)
        i++;
    if (i == 0 || i == POINTS)
        return (wide)h->value[i ? POINTS - 1 : 0];
    const wide part = (x - (wide)h->at[i - 1]) / ((wide)h->at[i] - (wide)h->at[i - 1]);
    return (1 - part) * (wide)h->value[i - 1] + part * (wide)h->value[i];
}

/* The value given to the links of an inlet: T half-way is this one where s changes it along the
 * stream, as exp(m x): T + 3 (tau+ - 1/2) s is what half-way walls hold, T - T''/8 what they
 * should. */
static wide inlet(const struct setting *t, int k, int f, const struct material *fluid,
                  const int cell[3])
{
    const struct case_face *const face = &t->c.faces[f];
    const wide u = f % 2 ? -(wide)face->velocity[f / 2] : (wide)face->velocity[f / 2];
    const wide value = value_at(t, k, f, cell), d = fluid->conductivity;
    wide s = fluid->source - fluid->decay * value, second;
    if (face->kind != FACE_velocity || face->scalar[k].kind != SCALAR_WALL_value || u <= 0)
        return value;
    if (fluid->from >= 0 && face->scalar[fluid->from].kind == SCALAR_WALL_value)
        s += fluid->gain * value_at(t, fluid->from, f, cell);
    if (fluid->decay > 0) {
        const wide m = (u - sqrtl(u * u + 4 * d * fluid->decay)) / (2 * d);
        second = -s * m * m / fluid->decay;
    } else {
        second = 0;
    }
    return value - second / 8 - 3 * (fluid->magic / (4 * d)) * s;
}

/* Materials of the rows, and random populations. */
static void fill(struct setting *t)
{
    uint64_t random = t->seed + 7;
    reference_create(&t->r, &t->c);
    if (t->seed >> 35 & 3)
        reference_obstacles(&t->r, t->seed, 3 + (int)(t->seed >> 40 & 7), false);
    reference_fill(&t->r, t->seed + 1);
    for (int k = 0; k < t->c.scalar_count; k++) {
        struct box_scalar *const b = &t->box[k];
        const struct case_scalar *const s = &t->scalar[k];
        struct material fluid = {.holds = true, .capacity = 1, .carried = 1, .from = s->made_from};
        fluid.conductivity = (wide)s->diffusivity;
        fluid.limited = s->limiter == LIMITER_on;
        fluid.magic = s->magic > 0 ? (wide)s->magic : s->diffusivity < 0.005 ? 0.25L : 1 / 6.0L;
        fluid.source = (wide)s->source;
        fluid.decay = (wide)s->decay;
        fluid.gain = (wide)s->rate;
        for (int a = 0; a < 3; a++)
            fluid.gradient[a] = (wide)s->gradient[a];
        for (int other = 0; other < t->c.scalar_count; other++)
            if (t->scalar[other].made_from == k)
                fluid.decay += (wide)t->scalar[other].rate;
        for (int row = 0; row < TAG_ROWS; row++)
            b->type[row] = (struct material){.a = 1, .from = -1};
        b->type[TAG_FLUID] = fluid;
        for (int f = 0; f < 6; f++)
            b->face[f] =
                wall_of(&t->c.faces[f].scalar[k], fluid.limited, face_open(t->c.faces[f].kind));
        for (int f = 0; f < 6; f++)
            b->face[f].varies = t->c.faces[f].scalar[k].kind == SCALAR_WALL_value ? 1 + f : 0;
        for (int row = REFERENCE_ROWS; row < t->r.rows && row < REFERENCE_ROWS + 3; row++) {
            const char face = scalar_has_gradient(s) ? 's' : 'w';
            const struct case_scalar_wall w = draw_wall(&random, face);
            b->type[row] = wall_of(&w, fluid.limited, false);
            if (!t->conduct || scalar_has_gradient(s) || between(&random, 0, 2) < 1)
                continue;
            b->type[row] = (struct material){.holds = true, .from = -1, .magic = fluid.magic};
            b->type[row].capacity = (wide)between(&random, 0.76, 5);
            b->type[row].conductivity = (wide)exp(between(&random, log(1e-3), log(4)));
            b->type[row].source = (wide)between(&random, -0.01, 0.01);
        }
        b->now = calloc(t->r.count * AXES7, sizeof *b->now);
        b->next = calloc(t->r.count * AXES7, sizeof *b->next);
        assert_true(b->now && b->next);
        for (size_t n = 0; n < t->r.count; n++)
            for (int i = 0; i < AXES7; i++) /* as fp32 holds them */
                b->now[n * AXES7 + (size_t)i] =
                    b->type[t->r.tag[n]].holds
                        ? (wide)(float)((i ? 0.125 : 0.25) * (1 + 0.7 * reference_uniform(&random)))
                        : 0;
    }
}

static void empty(struct setting *t)
{
    for (int k = 0; k < t->c.scalar_count; k++) {
        free(t->box[k].now);
        free(t->box[k].next);
    }
    reference_destroy(&t->r);
}

/* What is beyond a cell's link: a cell (*cell, NULL) or a wall. */
static const struct material *beyond(const struct setting *t, int k, const int at[3], int i,
                                     size_t *cell)
{
    int to[3];
    for (int a = 0; a < 3; a++) {
        to[a] = at[a] + reference_velocity(i, a);
        if (to[a] < 0 || to[a] >= t->c.cells[a]) {
            if (!t->r.periodic[a])
                return &t->box[k].face[2 * a + (to[a] > 0)];
            to[a] = (to[a] + t->c.cells[a]) % t->c.cells[a];
        }
    }
    *cell = reference_cell(&t->r, to[0], to[1], to[2]);
    const struct material *const m = &t->box[k].type[t->r.tag[*cell]];
    return m->holds ? NULL : m;
}

/* The wall beside a cell, with the value there. */
static struct material wall_beside(const struct setting *t, int k, const struct material *wall,
                                   const int at[3])
{
    struct material here = *wall;
    if (!wall->varies)
        return here;
    here.value = value_at(t, k, wall->varies - 1, at);
    here.b = inlet(t, k, wall->varies - 1, &t->box[k].type[TAG_FLUID], at) / 4;
    return here;
}

/* The flow's velocity with half a step's force. */
static void velocity(const struct reference *r, const int at[3], wide u[3])
{
    const struct tag_row *const row = &r->row[r->tag[reference_cell(r, at[0], at[1], at[2])]];
    wide rho = 1, j[3] = {0, 0, 0};
    real f[19];
    reference_arrived(r, at, f);
    for (int i = 0; i < 19; i++) {
        rho += (wide)f[i];
        for (int a = 0; a < 3; a++)
            j[a] += reference_velocity(i, a) * (wide)f[i];
    }
    for (int a = 0; a < 3; a++)
        u[a] = j[a] / rho + (row->forced ? (wide)row->acceleration[a] / 2 : 0);
}

/* What a scalar that is 1 everywhere sends along link i. */
static wide sends(const struct material *m, int i, const wide u[3])
{
    const int axis = i ? (i - 1) / 2 : 0;
    return i ? 0.125L + reference_velocity(i, axis) * m->carried * u[axis] / 2 : m->carried - 0.75L;
}

/* Brings what leaves so close to equilibrium that nothing is beyond what values of the range send.
 */
static void limit_plainly(wide out[AXES7], const struct material *m, const wide u[3])
{
    wide e = 0, least = (wide)range[0], most = (wide)range[1], share = 1;
    for (int i = 0; i < AXES7; i++)
        e += out[i];
    const wide t = e / m->carried;
    least = t < least ? t : least;
    most = t > most ? t : most;
    for (int i = 0; i < AXES7; i++) {
        const wide h = sends(m, i, u), away = out[i] - h * t;
        const wide bound = h * ((away > 0 ? most : least) - t);
        if (away > 0 ? away > bound : away < bound)
            share = fminl(share, fmaxl(bound / away, 0));
    }
    for (int i = 0; i < AXES7; i++)
        out[i] = sends(m, i, u) * t + share * (out[i] - sends(m, i, u) * t);
}

/* What comes back along link i from a wall, into a cell of material m and value t; out: what left
 * into the wall. */
static wide back_plainly(const struct material *m, const struct material *wall, int i, wide out,
                         wide t, const wide u[3])
{
    const wide k = m->conductivity, r = wall->resistance;
    const wide inwards = m->carried * reference_velocity(i, (i - 1) / 2) * u[(i - 1) / 2];
    if (wall->layer && m->carried > 0)
        return out + fminl(1 / (1 / (2 * k) + r), 0.25L) * (wall->value - t);
    if (wall->layer)
        return ((r - 4) * out + wall->value) / (r + 4);
    if (wall->open && m->carried > 0)
        return wall->given && inwards > OPEN_LEAST ? out + inwards * wall->value
                                                   : (0.125L + inwards / 2) * t;
    if (wall->open)
        return (wall->given ? wall->value : t) / 4 - out;
    return wall->free ? t / 4 - out : wall->a * out + wall->b;
}

static void collide_plainly(const wide g[AXES7], wide out[AXES7], const struct material *m, wide t,
                            wide s, const wide u[3])
{
    const wide odd = 1 / (4 * m->conductivity + 0.5L);
    const wide even = m->limited ? odd : 1 / (m->magic / (4 * m->conductivity) + 0.5L);
    wide ud = 0;
    for (int a = 0; a < 3; a++)
        ud += u[a] * (m->carried * t * u[a] - (g[2 * a + 1] - g[2 * a + 2]));
    out[0] = g[0] + even * ((m->capacity - 0.75L) * t - g[0]) + (1 - even / 2) * s / 4;
    for (int a = 0; a < 3; a++) {
        const wide i = g[2 * a + 1], j = g[2 * a + 2];
        const wide flux = m->carried * (m->carried > 0 ? t * u[a] : 0) -
                          (m->carried > 0 ? 16 * m->conductivity * odd * u[a] * ud : 0);
        const wide plus = (i + j) / 2, minus = (i - j) / 2;
        const wide p = plus + even * (t / 8 - plus) + (1 - even / 2) * s / 8;
        const wide q = minus + odd * (flux / 2 - minus);
        out[2 * a + 1] = p + q;
        out[2 * a + 2] = p - q;
    }
}

/* What a mean gradient takes from a population that leaves into a cell: h of a scalar that is 1
 * everywhere, times the gradient along the link. */
static wide climb(const struct material *m, int i, const wide u[3])
{
    wide along = 0, carried = 0;
    for (int a = 0; a < 3; a++) {
        along += reference_velocity(i, a) * m->gradient[a];
        carried += reference_velocity(i, a) * u[a];
    }
    return along * (0.125L + carried / 2);
}

/* Adds what the mean flow takes from all values. */
static void rise(const struct material *m, wide out[AXES7], const wide u[3])
{
    wide all = 0;
    for (int a = 0; a < 3; a++)
        all += m->gradient[a] * (wide)mean_flow[a];
    out[0] += all / 4;
    for (int i = 1; i < AXES7; i++)
        out[i] += all * (0.125L + reference_velocity(i, (i - 1) / 2) * u[(i - 1) / 2] / 2);
}

/* A step of all scalars; the flow's comes after it. */
static void step_plainly(struct setting *t)
{
    int at[3];
    for (at[2] = 0; at[2] < t->c.cells[2]; at[2]++)
        for (at[1] = 0; at[1] < t->c.cells[1]; at[1]++)
            for (at[0] = 0; at[0] < t->c.cells[0]; at[0]++) {
                const size_t n = reference_cell(&t->r, at[0], at[1], at[2]);
                const int row = t->r.tag[n];
                wide u[3] = {0, 0, 0}, value[MOST] = {0};
                if (t->r.row[row].fluid)
                    velocity(&t->r, at, u);
                for (int k = 0; k < t->c.scalar_count; k++) {
                    struct box_scalar *const b = &t->box[k];
                    const struct material *const m = &b->type[row];
                    const wide *const g = b->now + n * AXES7;
                    wide out[AXES7], e = 0;
                    if (!m->holds)
                        continue;
                    for (int i = 0; i < AXES7; i++)
                        e += g[i];
                    const wide more = m->source + (m->from < 0 ? 0 : m->gain * value[m->from]);
                    value[k] = (e + more / 2) / (m->capacity + m->decay / 2);
                    collide_plainly(g, out, m, value[k], more - m->decay * value[k], u);
                    if (m->limited)
                        limit_plainly(out, m, u);
                    rise(m, out, u);
                    b->next[n * AXES7] = out[0];
                    for (int i = 1; i < AXES7; i++) {
                        size_t there;
                        const int back = reference_opposite(i);
                        const struct material *const wall = beyond(t, k, at, i, &there);
                        if (!wall) {
                            b->next[there * AXES7 + (size_t)i] = out[i] - climb(m, i, u);
                            continue;
                        }
                        const struct material here = wall_beside(t, k, wall, at);
                        b->next[n * AXES7 + (size_t)back] =
                            back_plainly(m, &here, back, out[i], value[k], u);
                    }
                }
            }
    for (int k = 0; k < t->c.scalar_count; k++) {
        wide *const now = t->box[k].now;
        t->box[k].now = t->box[k].next;
        t->box[k].next = now;
    }
}

struct flow {
    struct domain d;
    struct backend *b;
    struct solver s;
};

/* The rows of obstacles, as the domain has those of bodies. */
static void put_rows(const struct setting *t, struct domain *d)
{
    for (int k = 0; k < t->c.scalar_count; k++)
        for (int row = REFERENCE_ROWS; row < t->r.rows; row++) {
            const struct material *const m = &t->box[k].type[row];
            struct scalar_row *const to = &d->scalar[(size_t)k * TAG_ROWS + (size_t)row];
            *to = (struct scalar_row){0};
            to->holds = m->holds;
            to->a = (double)(m->layer ? m->resistance : m->a);
            to->b = (double)(m->layer ? m->value : m->b);
            to->wall = m->layer ? SCALAR_layer : SCALAR_given;
            if (!m->holds)
                continue;
            to->wall = SCALAR_adiabatic;
            to->source = (double)m->source;
            to->conductivity = (double)m->conductivity;
            to->magic = (double)m->magic;
            to->inverse = (double)(1 / m->capacity);
            to->omega_odd = (double)(1 / (4 * m->conductivity + 0.5L));
            to->omega_even = (double)(1 / (m->magic / (4 * m->conductivity) + 0.5L));
            to->tensor = (double)(16 * m->conductivity / (4 * m->conductivity + 0.5L));
        }
}

/* One element of a set, which is memory of the host. */
static wide element(const struct population_set *p, size_t at)
{
    return p->bits == 64 ? (wide)((const double *)p->populations)[at]
                         : (wide)((const float *)p->populations)[at];
}

/* Addresses of what arrives in a cell of the box. */
static void addresses(const struct setting *t, const struct solver *s, int k, const int at[3],
                      size_t to[AXES7])
{
    for (int i = 0; i < AXES7; i++) {
        size_t cell;
        const bool link = i && beyond(t, k, at, reference_opposite(i), &cell);
        to[i] =
            load_address(&s->domain->view, 1 + k, (int)(s->step & 1), i, at[0], at[1], at[2], link);
    }
}

static void open_flow(struct setting *t, struct flow *f)
{
    struct flow_case dense = t->c;
    int at[3];
    *f = (struct flow){0};
    dense.run.sparse = SPARSE_never;
    assert_int_equal(domain_create(&f->d, &dense, MPI_COMM_SELF), STATUS_OK);
    reference_tags(&t->r, &f->d);
    put_rows(t, &f->d);
    assert_int_equal(sparse_choose(&f->d, &t->c), STATUS_OK);
    assert_int_equal(reference_open(&f->b, &t->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&f->s, &f->d, f->b, &t->c), STATUS_OK);
    reference_poison(&f->s);
    f->s.step = (int)(t->seed >> 5 & 1);
    memcpy(f->s.view.scalars.mean_flow, mean_flow, sizeof mean_flow);
    for (int set = 0; set < SETS; set++) {
        f->s.view.scalars.range[set].least = range[0];
        f->s.view.scalars.range[set].most = range[1];
    }
    reference_put(&t->r, &f->s);
    for (int k = 0; k < t->c.scalar_count; k++) {
        struct population_set *const p = &f->s.view.set[1 + k];
        memset(p->populations, 0xff, p->stride * AXES7 * (size_t)p->bits / 8); /* NaN */
        for (at[2] = 0; at[2] < t->c.cells[2]; at[2]++)
            for (at[1] = 0; at[1] < t->c.cells[1]; at[1]++)
                for (at[0] = 0; at[0] < t->c.cells[0]; at[0]++) {
                    const size_t n = reference_cell(&t->r, at[0], at[1], at[2]);
                    size_t to[AXES7];
                    if (!t->box[k].type[t->r.tag[n]].holds)
                        continue;
                    addresses(t, &f->s, k, at, to);
                    for (size_t i = 0; i < AXES7; i++)
                        if (p->bits == 64)
                            ((double *)p->populations)[to[i]] =
                                (double)t->box[k].now[n * AXES7 + i];
                        else
                            ((float *)p->populations)[to[i]] = (float)t->box[k].now[n * AXES7 + i];
                }
    }
}

static void close_flow(struct flow *f)
{
    solver_destroy(&f->s);
    TAGFLOW_BACKEND.close(f->b);
    domain_destroy(&f->d);
}

static const char *describe(const struct setting *t)
{
    static char text[256];
    snprintf(text, sizeof text, "%d x %d x %d cells, faces %s, seed %llu, %s, %d threads%s%s",
             t->c.cells[0], t->c.cells[1], t->c.cells[2], t->faces, (unsigned long long)t->seed,
             isa_name(t->c.run.isa), t->c.run.threads, t->conduct ? ", solids conduct" : "",
             t->c.run.sparse == SPARSE_always ? ", fluid alone" : "");
    return text;
}

/* Largest |populations of the two arrays|, and difference of the solver's from them. */
static void compare(const struct setting *t, const struct solver *s, int step)
{
    const double bits = TAGFLOW_ARITHMETIC == 64 && TAGFLOW_STORAGE == 64 ? 0x1p-52 : 0x1p-23;
    int at[3];
    for (int k = 0; k < t->c.scalar_count; k++)
        for (at[2] = 0; at[2] < t->c.cells[2]; at[2]++)
            for (at[1] = 0; at[1] < t->c.cells[1]; at[1]++)
                for (at[0] = 0; at[0] < t->c.cells[0]; at[0]++) {
                    const size_t n = reference_cell(&t->r, at[0], at[1], at[2]);
                    size_t to[AXES7];
                    if (!t->box[k].type[t->r.tag[n]].holds)
                        continue;
                    addresses(t, s, k, at, to);
                    for (size_t i = 0; i < AXES7; i++) {
                        const wide is = element(&s->view.set[1 + k], to[i]),
                                   wanted = t->box[k].now[n * AXES7 + i];
                        if (!(fabsl(is - wanted) <=
                              40 * (wide)bits * step * fmaxl(1, fabsl(wanted))))
                            fail_msg("%s: scalar %d, D %g, population %zu of cell %d %d %d is "
                                     "%.17Lg, not %.17Lg, after step %d",
                                     describe(t), k, t->scalar[k].diffusivity, i, at[0], at[1],
                                     at[2], is, wanted, step);
                    }
                }
}

static void as_two_arrays(const char *letters, uint64_t seed)
{
    for (int index = 0; index < BOXES; index++) {
        struct setting t;
        struct flow f;
        draw(&t, &seed, letters);
        fill(&t);
        open_flow(&t, &f);
        for (int step = 1; step <= STEPS; step++) {
            step_plainly(&t);
            reference_step(&t.r);
            assert_int_equal(solver_step(&f.s), STATUS_OK);
            assert_int_equal(solver_wait(&f.s), STATUS_OK);
            compare(&t, &f.s, step);
        }
        close_flow(&f);
        empty(&t);
    }
}

static void closed_and_periodic_boxes(void **state)
{
    (void)state;
    as_two_arrays("wabc", 11);
}

static void boxes_with_open_faces_and_planes_of_symmetry(void **state)
{
    (void)state;
    as_two_arrays("wasvdonVD", 12);
}

static void hashes(struct setting *t, uint64_t hash[MOST + 1])
{
    struct flow f;
    open_flow(t, &f);
    for (int step = 1; step <= STEPS; step++)
        assert_int_equal(solver_step(&f.s), STATUS_OK);
    assert_int_equal(solver_wait(&f.s), STATUS_OK);
    for (int set = 0; set <= t->c.scalar_count; set++)
        assert_int_equal(solver_hash(&f.s, set, &hash[set]), STATUS_OK);
    close_flow(&f);
}

/* With buoyancy and a subgrid model, too, which two arrays do not know. */
static void draw_more(struct setting *t)
{
    if (t->seed >> 50 & 1)
        for (int k = 0; k < t->c.scalar_count; k++) {
            t->scalar[k].expansion = 0.1 * (k + 1);
            t->c.gravity[k] = 1e-3;
        }
    if (t->seed >> 51 & 1) {
        t->c.solver.subgrid = SUBGRID_smagorinsky;
        t->c.solver.smagorinsky = 0.2;
        t->c.solver.van_driest = t->seed >> 52 & 1 ? 0.01 : 0;
    }
}

static void every_instruction_set_and_memory(void **state)
{
    uint64_t seed = 13;
    (void)state;
    for (int index = 0; index < BOXES; index++) {
        struct setting t;
        uint64_t wanted[MOST + 1], hash[MOST + 1];
        draw(&t, &seed, "wasvdonVD");
        draw_more(&t);
        fill(&t);
        t.c.run.isa = ISA_FIRST;
        t.c.run.threads = 1;
        t.c.run.sparse = SPARSE_never;
        hashes(&t, wanted);
        for (int isa = ISA_FIRST; isa < ISAS; isa++)
            for (int sparse = 0; sparse < (t.conduct ? 1 : 2); sparse++) {
                t.c.run.isa = (enum isa)isa;
                t.c.run.threads = 1 + (isa + index) % 3;
                t.c.run.sparse = sparse ? SPARSE_always : SPARSE_never;
                if (!isa_runs(t.c.run.isa))
                    continue;
                hashes(&t, hash);
                for (int set = 0; set <= t.c.scalar_count; set++)
                    if (hash[set] != wanted[set])
                        fail_msg("%s: set %d has another hash", describe(&t), set);
            }
        empty(&t);
    }
}

static void single_cells(void **state)
{
    uint64_t seed = 14;
    (void)state;
    for (int index = 0; index < BOXES; index++) {
        struct setting t;
        struct flow f;
        draw(&t, &seed, "wasvdonVD");
        draw_more(&t);
        fill(&t);
        open_flow(&t, &f);
        struct view plain = f.d.view;
        size_t bytes[MOST + 1];
        memcpy(plain.scalars.mean_flow, mean_flow, sizeof mean_flow);
        memcpy(plain.scalars.range, f.s.view.scalars.range, sizeof plain.scalars.range);
        view_derive(&plain);
        for (int set = 0; set <= t.c.scalar_count; set++) {
            const struct population_set *const p = &f.s.view.set[set];
            bytes[set] = p->stride * (size_t)p->q * (size_t)p->bits / 8;
            plain.set[set].populations = malloc(bytes[set]);
            assert_non_null(plain.set[set].populations);
            memcpy(plain.set[set].populations, p->populations, bytes[set]);
        }
        for (int step = 0; step < 3; step++) {
            const int odd = (int)(f.s.step & 1);
            assert_int_equal(solver_step(&f.s), STATUS_OK);
            assert_int_equal(solver_wait(&f.s), STATUS_OK);
            memcpy(plain.signal, f.s.view.signal, sizeof plain.signal);
            const struct slots slots = slots_at(&plain, odd, sizeof(stored));
            for (int z = 0; z < plain.n[2]; z++)
                for (int y = 0; y < plain.n[1]; y++)
                    for (int x = 0; x < plain.n[0]; x++)
                        cell_step(&plain, &slots, NULL, odd, x, y, z,
                                  step_any(1, plain.place != NULL, 1));
            for (int set = 0; set <= t.c.scalar_count; set++)
                if (memcmp(plain.set[set].populations, f.s.view.set[set].populations, bytes[set]) !=
                    0)
                    fail_msg("%s: set %d differs after step %d", describe(&t), set, step + 1);
        }
        for (int set = 0; set <= t.c.scalar_count; set++)
            free(plain.set[set].populations);
        close_flow(&f);
        empty(&t);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_and_periodic_boxes),
        cmocka_unit_test(boxes_with_open_faces_and_planes_of_symmetry),
        cmocka_unit_test(every_instruction_set_and_memory),
        cmocka_unit_test(single_cells),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
