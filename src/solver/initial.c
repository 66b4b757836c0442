/* Initial flows: populations at equilibrium plus the non-equilibrium part of first order in the
 * velocity gradient (Chapman-Enskog), if the gradient is known:
 *
 *   f_i = f_i^eq(drho, u) - 3 w_i tau rho (c_i c_i - 1/3) : grad u
 *
 * For flows from an inlet or from an earlier result the gradient is a difference between cells.
 *
 * Cell centres are at i + 1/2; L is the length of the box along an axis, k = 2 pi / L. The tables
 * of an axis use base/elementary.h: bit-identical on every machine and for every decomposition.
 *
 * If the pressure is not known, initial.relax finds it before the first step (idea: Mei, Luo,
 * Lallemand, d'Humieres, Computers & Fluids 35:855, 2006). An iteration sets the populations to
 * equilibrium with the given velocity and the present density, and does one step; this gives the
 * next density. A collision does not change an equilibrium, so neither the collision operator nor
 * the viscosity matters. To the order of the scheme
 *
 *   rho' - rho = 1/6 (div grad rho + 3 div div (u u)) - div u.
 *
 * The momentum is u here, since rho u would advect the density. Where div u = 0 this converges to
 * Poisson's equation for the pressure rho / 3. An error of wavelength l decreases by a factor e in
 * 3/2 (l / pi)^2 steps. A body force gives a hydrostatic pressure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/elementary.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "boundary.h"
#include "solver/signal.h"
#include "solver/solver.h"
#include "stored.h"
#include "tags/profile.h"

static const double pi = 3.141592653589793;

/* sin(k x), cos(k x), cos(2 k x) and the shear layer's profile at the cells of one axis. */
struct axis_table {
    double k;
    double *sine, *cosine, *cosine2; /* [cells] */
    double *profile, *slope;         /* [cells] shear_layer: tanh and its derivative, per cell */
};

/* The initial flow in one cell. */
struct cell_flow {
    double drho, u[3];
    double gradient[3][3]; /* [a][b] = d u_b / d x_a */
};

struct initial {
    const struct flow_case *c;
    double force[3]; /* acceleration of step 0 */
    struct axis_table axis[3];
    const struct given_flow *given;
    double *inlet; /* INITIAL_inlet: velocities on its face, [second axis][first axis][3] */
};

static void shear_profile(const struct case_initial *f, int64_t i, int64_t cells, double *profile,
                          double *slope)
{
    const double y = (double)(2 * i + 1) / (double)(2 * cells);
    const bool lower = 2 * (2 * i + 1) <= 2 * cells;
    const double t = exact_tanh(f->thickness * (lower ? y - 0.25 : 0.75 - y));
    *profile = t;
    *slope = (lower ? 1 : -1) * f->thickness / (double)cells * (1 - t * t);
}

static bool make_tables(struct initial *in, const struct flow_case *c)
{
    in->c = c;
    for (int a = 0; a < 3; a++)
        in->force[a] = c->acceleration[a] * signal_at(&c->force_signal, 0);
    for (int a = 0; a < 3; a++) {
        struct axis_table *const t = &in->axis[a];
        const int64_t n = c->cells[a];
        double *const memory = calloc((size_t)(5 * n), sizeof *memory);
        if (!memory)
            return false;
        t->k = 2 * pi / (double)n;
        t->sine = memory;
        t->cosine = memory + n;
        t->cosine2 = memory + 2 * n;
        t->profile = memory + 3 * n;
        t->slope = memory + 4 * n;
        for (int64_t i = 0; i < n; i++) {
            t->sine[i] = sin_turns(2 * i + 1, 2 * n);
            t->cosine[i] = cos_turns(2 * i + 1, 2 * n);
            t->cosine2[i] = cos_turns(2 * i + 1, n);
            if (c->initial.flow == INITIAL_shear_layer)
                shear_profile(&c->initial, i, n, &t->profile[i], &t->slope[i]);
        }
    }
    return true;
}

static void destroy_tables(struct initial *in)
{
    for (int a = 0; a < 3; a++)
        free(in->axis[a].sine);
    free(in->inlet);
}

/* Velocities of the inlet at step 0. If its profile is fitted to the open part of the face, it
 * spans only that part. */
static enum status make_inlet(struct initial *in, const struct flow_case *c,
                              const struct domain_opening *left)
{
    const struct case_face *const face = &c->faces[c->initial.inlet];
    const struct profile_open open = {{left->lo[0], left->lo[1]}, {left->hi[0], left->hi[1]}};
    int axes[2];
    face_axes(c->initial.inlet, axes);
    const size_t cells = (size_t)c->cells[axes[0]] * (size_t)c->cells[axes[1]];
    const double factor = signal_at(&face->signal, 0);
    in->inlet = malloc(3 * cells * sizeof *in->inlet);
    if (!in->inlet)
        return fail_machine("out of memory for the initial flow");
    const enum status status =
        profile_values(c, c->initial.inlet, face, left->fitted ? &open : NULL, in->inlet);
    for (size_t n = 0; n < 3 * cells && !status; n++)
        in->inlet[n] *= factor;
    return status;
}

/* u_a = -U cos(ka a) sin(kb b), u_b = U ka/kb sin(ka a) cos(kb b), in the plane across the axis. */
static void taylor_green_2d(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const int a = (in->c->initial.axis + 1) % 3, b = (a + 1) % 3;
    const struct axis_table *const ta = &in->axis[a], *const tb = &in->axis[b];
    const double U = in->c->initial.amplitude, ratio = ta->k / tb->k;
    const double sa = ta->sine[g[a]], ca = ta->cosine[g[a]], sb = tb->sine[g[b]],
                 cb = tb->cosine[g[b]];
    f->u[a] = -U * ca * sb;
    f->u[b] = U * ratio * sa * cb;
    f->gradient[a][a] = U * ta->k * sa * sb;
    f->gradient[b][a] = -U * tb->k * ca * cb;
    f->gradient[a][b] = U * ratio * ta->k * ca * cb;
    f->gradient[b][b] = -f->gradient[a][a];
    f->drho = -0.75 * U * U * (ta->cosine2[g[a]] + ratio * ratio * tb->cosine2[g[b]]);
}

/* u = U (sin x cos y cos z, -cos x sin y cos z, 0), p = U^2/16 (cos 2x + cos 2y)(cos 2z + 2). */
static void taylor_green_3d(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const double U = in->c->initial.amplitude;
    double s[3], c[3], k[3];
    for (int a = 0; a < 3; a++) {
        s[a] = in->axis[a].sine[g[a]];
        c[a] = in->axis[a].cosine[g[a]];
        k[a] = in->axis[a].k;
    }
    f->u[0] = U * s[0] * c[1] * c[2];
    f->u[1] = -U * c[0] * s[1] * c[2];
    f->gradient[0][0] = U * k[0] * c[0] * c[1] * c[2];
    f->gradient[1][0] = -U * k[1] * s[0] * s[1] * c[2];
    f->gradient[2][0] = -U * k[2] * s[0] * c[1] * s[2];
    f->gradient[0][1] = U * k[0] * s[0] * s[1] * c[2];
    f->gradient[1][1] = -U * k[1] * c[0] * c[1] * c[2];
    f->gradient[2][1] = U * k[2] * c[0] * s[1] * s[2];
    f->drho = 3.0 / 16 * U * U * (in->axis[0].cosine2[g[0]] + in->axis[1].cosine2[g[1]]) *
              (in->axis[2].cosine2[g[2]] + 2);
}

/* u_a = U (sin(k c) + cos(k b)) for (a, b, c) cyclic: an exact solution that only decays. */
static void abc(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const double U = in->c->initial.amplitude;
    double pressure = 0;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const struct axis_table *const tb = &in->axis[b], *const tc = &in->axis[c];
        f->u[a] = U * (tc->sine[g[c]] + tb->cosine[g[b]]);
        f->gradient[c][a] = U * tc->k * tc->cosine[g[c]];
        f->gradient[b][a] = -U * tb->k * tb->sine[g[b]];
        pressure -= U * U * tc->sine[g[c]] * tb->cosine[g[b]];
    }
    f->drho = 3 * pressure;
}

/* u_a = U tanh(kappa (b/L - 1/4)) below the middle, mirrored above; u_b = delta U sin(2 pi (a/L +
 * 1/4)) (Minion, Brown, J. Comput. Phys. 138:734, 1997). */
static void shear_layer(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const int a = (in->c->initial.axis + 1) % 3, b = (a + 1) % 3;
    const double U = in->c->initial.amplitude, delta = in->c->initial.perturbation;
    f->u[a] = U * in->axis[b].profile[g[b]];
    f->u[b] = delta * U * in->axis[a].cosine[g[a]];
    f->gradient[b][a] = U * in->axis[b].slope[g[b]];
    f->gradient[a][b] = -delta * U * in->axis[a].k * in->axis[a].sine[g[a]];
}

/* (1 - eta^2)^2 and its slope: both are 0 at the walls. */
static double bump(double eta)
{
    return (1 - eta * eta) * (1 - eta * eta);
}

static double bump_slope(double eta)
{
    return -4 * eta * (1 - eta * eta);
}

/* Number of waves of about this wavelength along so many cells, at least one. */
static int64_t waves(int64_t cells, double wavelength)
{
    const int64_t count = (int64_t)((double)cells / wavelength + 0.5);
    return count > 0 ? count : 1;
}

/* Walls at eta = -1 and 1. The mean flow U (1 - eta^8) is along the first of the other axes; it is
 * blunt like a turbulent profile. The perturbation is the curl of a vector potential, so it is free
 * of divergence; it is 0 at the walls. Its waves are about 0.6 half widths long across the flow and
 * 2.4 along it, as near-wall streaks and their undulations at Re_tau = 180. */
static void channel(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const struct flow_case *const c = in->c;
    int n = 0;
    while (c->faces[2 * n].kind == FACE_periodic)
        n++;
    const int s = n == 0 ? 1 : 0, t = n == 2 ? 1 : 2;
    const int64_t cells_s = c->cells[s], cells_t = c->cells[t];
    const double U = c->initial.amplitude, half = 0.5 * c->cells[n];
    const double eta = (g[n] + 0.5) / half - 1, eta2 = eta * eta, eta4 = eta2 * eta2;
    const int64_t across = waves(cells_t, 0.6 * half), along = waves(cells_s, 2.4 * half);
    /* {waves along, waves across}: two waves for each of two components of the potential */
    const int64_t wave[4][2] = {{0, across}, {along, across + 1}, {along, -across}, {2 * along, 1}};
    double sine[4], d_s[4], d_t[4]; /* d_s, d_t: derivatives along both axes */
    for (int k = 0; k < 4; k++) {
        const int64_t turns =
            wave[k][0] * (2 * g[s] + 1) * cells_t + wave[k][1] * (2 * g[t] + 1) * cells_s;
        const double cosine = cos_turns(turns, 2 * cells_s * cells_t);
        sine[k] = sin_turns(turns, 2 * cells_s * cells_t);
        d_s[k] = 2 * pi * (double)wave[k][0] / (double)cells_s * cosine;
        d_t[k] = 2 * pi * (double)wave[k][1] / (double)cells_t * cosine;
    }
    /* makes |u'| about `perturbation` times U */
    const double size = 0.1 * c->initial.perturbation * U * half;
    f->u[s] = U * (1 - eta4 * eta4) + size * bump_slope(eta) / half * (sine[2] + sine[3]);
    f->u[n] = size * bump(eta) * ((d_t[0] + d_t[1]) - (d_s[2] + d_s[3]));
    f->u[t] = -size * bump_slope(eta) / half * (sine[0] + sine[1]);
    f->gradient[n][s] = -8 * U * eta4 * eta2 * eta / half; /* of the mean flow alone */
}

/* d: vector from the flow's centre to the cell's centre, in units of its width b; its component
 * along axis `not` is 0 (-1: none). Returns |d|^2 = r^2 / b^2. */
static double from_center(const struct initial *in, const int g[3], int not, double d[3])
{
    const struct case_initial *const i = &in->c->initial;
    double square = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = a == not ? 0 : (g[a] + 0.5 - i->center[a]) / i->width;
        square += d[a] * d[a];
    }
    return square;
}

static double gaussian(double square)
{
    return square < 700 ? exact_exp(-square) : 0;
}

/* u_theta = A r/b exp((1 - r^2/b^2)/2), largest at r = b, where it is A; the pressure p = -A^2/2
 * exp(1 - r^2/b^2) balances it. */
static void vortex(const struct initial *in, const int g[3], struct cell_flow *f)
{
    const struct case_initial *const i = &in->c->initial;
    const int a = (i->axis + 1) % 3, b = (a + 1) % 3;
    double d[3];
    const double square = from_center(in, g, i->axis, d), A = i->amplitude;
    const double e = square < 1400 ? exact_exp(0.5 * (1 - square)) : 0;
    f->u[a] = -A * d[b] * e;
    f->u[b] = A * d[a] * e;
    f->gradient[a][a] = A * d[a] * d[b] * e / i->width;
    f->gradient[b][a] = -A * (1 - d[b] * d[b]) * e / i->width;
    f->gradient[a][b] = A * (1 - d[a] * d[a]) * e / i->width;
    f->gradient[b][b] = -A * d[a] * d[b] * e / i->width;
    f->drho = -1.5 * A * A * e * e;
}

/* A plane wave along the axis, towards its upper end: drho = epsilon exp(-s^2/b^2), u = c_s drho.
 */
static void wave(const struct initial *in, const int g[3], struct cell_flow *f)
{
    static const double sound = 0.5773502691896258; /* 1 / sqrt(3) */
    const struct case_initial *const i = &in->c->initial;
    const double s = (g[i->axis] + 0.5 - i->center[i->axis]) / i->width;
    f->drho = i->density * gaussian(s * s);
    f->u[i->axis] = sound * f->drho;
    f->gradient[i->axis][i->axis] = -2 * s / i->width * sound * f->drho;
}

/* ---- flows without a formula: their gradients are differences between cells ---- */

/* Density - 1 and velocity of a cell of the block or of the layer around it. */
static void flow_without_formula(const struct initial *in, const struct view *v, const int at[3],
                                 double flow[4])
{
    const struct flow_case *const c = in->c;
    if (in->given) {
        const int *const n = in->given->n;
        const size_t place =
            ((size_t)(at[2] + 1) * (size_t)n[1] + (size_t)(at[1] + 1)) * (size_t)n[0] +
            (size_t)(at[0] + 1);
        memcpy(flow, in->given->value + 4 * place, 4 * sizeof *flow);
        return;
    }
    int axes[2], g[2];
    face_axes(c->initial.inlet, axes);
    for (int k = 0; k < 2; k++) {
        const int cells = c->cells[axes[k]];
        g[k] = (v->lo[axes[k]] + at[axes[k]] + cells) % cells;
    }
    flow[0] = 0;
    memcpy(flow + 1, in->inlet + 3 * ((size_t)g[1] * (size_t)c->cells[axes[0]] + (size_t)g[0]),
           3 * sizeof *flow);
}

/* The neighbour of a cell along an axis: fluid; a half-way wall of known velocity; a plane of
 * symmetry; or a neighbour whose velocity is unknown. */
enum beside { BESIDE_FLUID, BESIDE_WALL, BESIDE_MIRROR, BESIDE_UNKNOWN };

static enum beside look_beside(const struct view *v, const int at[3], double wall[3])
{
    const struct tag_row *const row =
        &v->rows[v->tags[view_index(v, at[0], at[1], at[2])] & TAG_ROW];
    const bool turns = row->spin[0] != 0 || row->spin[1] != 0 || row->spin[2] != 0;
    if (row->fluid)
        return BESIDE_FLUID;
    if (boundary_is(row->boundary) & RULE_mirror)
        return BESIDE_MIRROR;
    if (boundary_open(row->boundary) || turns)
        return BESIDE_UNKNOWN;
    for (int a = 0; a < 3; a++)
        wall[a] = row->wall_velocity[a];
    return BESIDE_WALL;
}

/* d u / d x along an axis, by central differences. The value beyond a wall is extrapolated by the
 * parabola through the wall, the cell and the cell's other neighbour: exact for parabolic profiles.
 */
static void find_slope(const struct initial *in, const struct view *v, const int at[3], int axis,
                       double slope[3])
{
    double here[4], end[2][4], wall[2][3];
    enum beside beside[2];
    flow_without_formula(in, v, at, here);
    for (int side = 0; side < 2; side++) {
        int next[3] = {at[0], at[1], at[2]};
        next[axis] += side ? 1 : -1;
        beside[side] = look_beside(v, next, wall[side]);
        flow_without_formula(in, v, beside[side] == BESIDE_FLUID ? next : at, end[side]);
    }
    int apart = 2;
    for (int side = 0; side < 2; side++) {
        const bool other = beside[!side] == BESIDE_FLUID;
        for (int b = 0; b < 3; b++)
            if (beside[side] == BESIDE_WALL)
                end[side][1 + b] =
                    other ? (8 * wall[side][b] - 6 * here[1 + b] + end[!side][1 + b]) / 3
                          : 2 * wall[side][b] - here[1 + b];
            else if (beside[side] == BESIDE_MIRROR && b == axis)
                end[side][1 + b] = -here[1 + b];
        apart -= beside[side] == BESIDE_UNKNOWN;
    }
    for (int b = 0; b < 3 && apart; b++)
        slope[b] = (end[1][1 + b] - end[0][1 + b]) / apart;
}

static struct cell_flow cell_flow_from(const struct initial *in, const struct view *v,
                                       const int at[3])
{
    struct cell_flow f = {0};
    double flow[4];
    flow_without_formula(in, v, at, flow);
    f.drho = in->c->initial.level ? 0 : flow[0];
    for (int a = 0; a < 3; a++)
        f.u[a] = flow[1 + a];
    for (int a = 0; a < 3; a++)
        find_slope(in, v, at, a, f.gradient[a]);
    return f;
}

/* ---- flows by formulas ---- */

static struct cell_flow cell_flow_at(const struct initial *in, const int g[3])
{
    const struct case_initial *const i = &in->c->initial;
    struct cell_flow f = {0};
    double d[3];
    switch (i->flow) {
    case INITIAL_rest:
    case INITIAL_uniform:
    case INITIAL_inlet: /* no formula */
        break;
    case INITIAL_taylor_green_2d:
        taylor_green_2d(in, g, &f);
        break;
    case INITIAL_taylor_green_3d:
        taylor_green_3d(in, g, &f);
        break;
    case INITIAL_abc:
        abc(in, g, &f);
        break;
    case INITIAL_shear_layer:
        shear_layer(in, g, &f);
        break;
    case INITIAL_channel:
        channel(in, g, &f);
        break;
    case INITIAL_vortex:
        vortex(in, g, &f);
        break;
    case INITIAL_pulse:
        f.drho = i->density * gaussian(from_center(in, g, -1, d));
        break;
    case INITIAL_wave:
        wave(in, g, &f);
        break;
    }
    for (int a = 0; a < 3; a++)
        f.u[a] += i->velocity[a];
    if (in->c->initial.level)
        f.drho = 0;
    return f;
}

/* Shifted populations of a cell. Their first moment is rho u minus half of a step's force: the
 * velocity of a forced fluid includes that half. */
static void populations_of(const struct initial *in, const struct cell_flow *f, double rho,
                           double omega, double out[Q])
{
    static const int v[Q][3] = LATTICE_VELOCITIES;
    const double tau = 1 / omega;
    double square = 0, divergence = 0;
    for (int a = 0; a < 3; a++) {
        square += f->u[a] * f->u[a];
        divergence += f->gradient[a][a];
    }
    for (int i = 0; i < Q; i++) {
        const double w = LATTICE_WEIGHT(double, i);
        double cu = 0, cf = 0, strain = -divergence / 3;
        for (int a = 0; a < 3; a++) {
            cu += v[i][a] * f->u[a];
            cf += v[i][a] * in->force[a];
            for (int b = 0; b < 3; b++)
                strain += v[i][a] * v[i][b] * f->gradient[a][b];
        }
        out[i] = w * (f->drho + rho * (3 * cu + 4.5 * cu * cu - 1.5 * square)) -
                 3 * w * rho * (tau * strain + 0.5 * cf);
    }
}

/* The slots of links into open boundaries hold state of the boundary rule instead of an arriving
 * population. Sets them to what the rule would have stored if the flow had been the same before. */
static void populations_left(const struct view *v, int x, int y, int z, double f[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    double sent[Q], drho = 0;
    for (int i = 0; i < Q; i++) {
        sent[i] = f[i];
        drho += f[i];
    }
    for (int i = 1; i < Q; i++) {
        const struct tag_row *const row =
            &v->rows[v->tags[view_index(v, x - c[i][0], y - c[i][1], z - c[i][2])] & TAG_ROW];
        double jn = 0; /* outward */
        if (row->fluid || i != row->face + 1)
            continue;
        for (int k = 0; k < Q; k++)
            jn -= sent[k] * (c[k][0] * c[i][0] + c[k][1] * c[i][1] + c[k][2] * c[i][2]);
        if (boundary_is(row->boundary) & RULE_keeps_sound)
            f[i] = 0.57735026918962576 * drho - jn / (1 + drho);
        else if (boundary_is(row->boundary) & RULE_keeps_velocity)
            f[i] = jn / (1 + drho);
    }
}

static size_t block_cell(const struct view *v, int x, int y, int z)
{
    return ((size_t)z * (size_t)v->n[1] + (size_t)y) * (size_t)v->n[0] + (size_t)x;
}

/* Stores a population in the kernels' format. */
static void store_value(enum precision storage, void *to, size_t place, double value)
{
    if (storage == PRECISION_fp64)
        ((double *)to)[place] = value;
    else if (storage == PRECISION_fp32)
        ((float *)to)[place] = (float)value;
    else
        ((struct half *)to)[place] = half_of((float)value);
}

/* How to set the populations. */
struct filling {
    const double *drho; /* [cells of the block], NULL: density of the initial flow */
    bool settling;      /* for relax(): equilibrium only, with momentum u instead of rho u */
};

/* Sets the populations of a piece with all threads: beside a GPU this takes most of the time of a
 * short run. */
static void fill_piece(struct solver *s, const struct initial *in, struct filling how,
                       const struct box *piece)
{
    const struct view *const v = &s->domain->view;
    const int *const lo = s->domain->lo;
    const size_t cells = box_cells(piece);
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1];
    void *const host = solver_host(s);
#pragma omp parallel for collapse(2) num_threads(in->c->run.threads)
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++)
            for (int x = piece->lo[0]; x < piece->hi[0]; x++) {
                const int g[3] = {lo[0] + x, lo[1] + y, lo[2] + z};
                const size_t row =
                    (size_t)(z - piece->lo[2]) * (size_t)ny + (size_t)(y - piece->lo[1]);
                const size_t cell = row * (size_t)nx + (size_t)(x - piece->lo[0]);
                const struct tag_row *const tag =
                    &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
                struct cell_flow f = in->given || in->inlet
                                         ? cell_flow_from(in, v, (const int[3]){x, y, z})
                                         : cell_flow_at(in, g);
                double values[Q];
                if (how.drho)
                    f.drho = how.drho[block_cell(v, x, y, z)];
                if (how.settling)
                    memset(f.gradient, 0, sizeof f.gradient);
                populations_of(in, &f, how.settling ? 1 : 1 + f.drho,
                               tag->fluid ? tag->omega_even : 1, values);
                if (v->tags[view_index(v, x, y, z)] & TAG_BESIDE)
                    populations_left(v, x, y, z, values);
                for (size_t i = 0; i < Q; i++)
                    store_value(s->backend->storage, host, i * cells + cell, values[i]);
            }
}

static enum status fill(struct solver *s, const struct initial *in, struct filling how)
{
    const struct box all = domain_all(s->domain);
    struct box piece;
    enum status status = STATUS_OK;
    s->step = 0;
    for (int number = 0; !status && solver_piece(s, &all, number, &piece); number++) {
        fill_piece(s, in, how, &piece);
        status = solver_put(s, SET_flow, &piece);
    }
    return status_agree(s->domain->comm, status);
}

/* drho: density - 1 of the block's cells; *change: largest difference from the previous drho. */
static enum status take_density(struct solver *s, double *drho, double *change)
{
    const struct view *const v = &s->domain->view;
    const struct box all = domain_all(s->domain);
    struct box piece;
    struct fetch f;
    const double *flow;
    *change = 0;
    for (fetch_start(&f, s, KERNEL_flow, &all); (flow = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4) {
                    double *const at = &drho[block_cell(v, x, y, z)];
                    *change = fmax(*change, fabs(flow[0] - *at));
                    *at = flow[0];
                }
    return status_agree(s->domain->comm, fetch_end(&f));
}

static enum status relax(struct solver *s, const struct initial *in)
{
    const struct view *const v = &s->domain->view;
    const size_t cells = (size_t)v->n[0] * (size_t)v->n[1] * (size_t)v->n[2];
    double *const drho = calloc(cells, sizeof *drho), change = 0;
    enum status status = STATUS_OK;
    if (!drho)
        status = fail_machine("out of memory for the initial density of %zu cells", cells);
    status = status_agree(s->domain->comm, status);
    if (!status)
        status = take_density(s, drho, &change);
    for (int64_t k = 0; k < in->c->initial.relax && !status; k++) {
        watchdog_progress();
        status = fill(s, in, (struct filling){drho, true});
        if (!status)
            status = status_agree(s->domain->comm, solver_advance(s));
        if (!status)
            status = take_density(s, drho, &change);
    }
    if (!status)
        status = fill(s, in, (struct filling){drho, false});
    free(drho);
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, s->domain->comm);
    if (!status)
        say("initial pressure: the last of %lld steps changed the density by at most %.3g",
            (long long)in->c->initial.relax, change);
    return status;
}

enum status solver_initialise(struct solver *s, const struct flow_case *c,
                              const struct given_flow *given)
{
    struct initial in = {.given = given};
    enum status status = STATUS_OK;
    s->drive = (struct drive){0};
    s->signal_step = -1;
    if (!make_tables(&in, c))
        status = fail_machine("out of memory for the initial flow");
    if (!status && !given && c->initial.flow == INITIAL_inlet)
        status = make_inlet(&in, c, &s->domain->opening[c->initial.inlet]);
    status = status_agree(s->domain->comm, status);
    if (!status)
        status = fill(s, &in, (struct filling){NULL, false});
    if (!status && c->initial.relax > 0)
        status = relax(s, &in);
    destroy_tables(&in);
    if (status)
        return status;
    return status_agree(s->domain->comm, drive_adjust(s)); /* the acceleration of step 0 */
}
