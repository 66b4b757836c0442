/* Initial flows: populations at equilibrium plus the non-equilibrium part of first order in the
 * velocity gradient (Chapman-Enskog), if the gradient is known:
 *
 *   f_i = f_i^eq(drho, u) - 3 w_i tau rho (c_i c_i - 1/3) : grad u
 *
 * For flows from an inlet or from an earlier result the gradient is a difference between cells.
 *
 * Cell centres are at i + 1/2; L is the length of the box along an axis, k = 2 pi / L. All is in
 * double precision and made of + - * /: the same bits on every machine and for every
 * decomposition. */
#ifndef TAGFLOW_INITIAL_H
#define TAGFLOW_INITIAL_H

#include "boundary.h"
#include "elementary.h"
#include "law.h"
#include "resist.h"
#include "slot.h"

/* Initial flows, and the keys of `initial` that each has. */
#define INITIAL_LIST(X)                                                                            \
    X(rest, 0)                                                                                     \
    X(inlet, 0) /* the velocity of the inlet face, everywhere */                                   \
    X(uniform, INITIAL_HAS_velocity)                                                               \
    X(taylor_green_2d, INITIAL_HAS_amplitude | INITIAL_HAS_axis)                                   \
    X(taylor_green_3d, INITIAL_HAS_amplitude)                                                      \
    X(abc, INITIAL_HAS_amplitude)                                                                  \
    X(shear_layer,                                                                                 \
      INITIAL_HAS_amplitude | INITIAL_HAS_axis | INITIAL_HAS_thickness | INITIAL_HAS_perturbation) \
    X(channel, INITIAL_HAS_amplitude | INITIAL_HAS_perturbation)                                   \
    X(vortex, INITIAL_HAS_amplitude | INITIAL_HAS_axis | INITIAL_HAS_velocity |                    \
                  INITIAL_HAS_center | INITIAL_HAS_width)                                          \
    X(pulse, INITIAL_HAS_density | INITIAL_HAS_velocity | INITIAL_HAS_center | INITIAL_HAS_width)  \
    X(wave, INITIAL_HAS_density | INITIAL_HAS_axis | INITIAL_HAS_velocity | INITIAL_HAS_center |   \
                INITIAL_HAS_width)
enum initial_flow {
#define X(name, keys) INITIAL_##name,
    INITIAL_LIST(X)
#undef X
        INITIAL_FLOWS
};
enum initial_keys {
    INITIAL_HAS_velocity = 1,
    INITIAL_HAS_amplitude = 2,
    INITIAL_HAS_axis = 4,
    INITIAL_HAS_thickness = 8,
    INITIAL_HAS_perturbation = 16,
    INITIAL_HAS_density = 32,
    INITIAL_HAS_center = 64,
    INITIAL_HAS_width = 128,
    INITIAL_HAS_flow = 256, /* a flow by a formula */
    INITIAL_HAS_from = 512, /* an earlier result */
};

/* Starts, in the table of struct initial, of values at the cells of one axis. */
struct initial_axis {
    double k;
    size_t sine, cosine, cosine2; /* sin(k x), cos(k x), cos(2 k x) */
    size_t profile, slope;        /* shear_layer: tanh and its derivative, per cell */
};

/* The initial flow of a case, lattice units. A table of doubles follows the struct in memory, so
 * that both are copied at once. Members are explained in struct case_initial. */
struct initial {
    int flow; /* enum initial_flow */
    int axis, level, cells[3];
    int walls; /* channel: the axis across it */
    int inlet_axes[2];
    int settling; /* equilibrium only, with momentum u instead of rho u */
    double amplitude, perturbation, density, width, center[3], velocity[3];
    double force[3]; /* acceleration of step 0 */
    struct initial_axis axes[3];
    size_t inlet; /* INITIAL_inlet: start of the velocities on its face, [second axis][first
                     axis][3] */
    /* In place of a flow by a formula, on the host alone, or NULL: density - 1 and velocity of the
     * block's cells and of a layer around them, [z][y][x][4]. */
    const double *given;
};

/* The initial flow in one cell. */
struct initial_cell {
    double drho, u[3];
    double gradient[3][3]; /* [a][b] = d u_b / d x_a */
};

TAGFLOW_FN struct initial_cell initial_rest(void)
{
    struct initial_cell f;
    f.drho = 0;
    for (int a = 0; a < 3; a++)
        f.u[a] = f.gradient[a][0] = f.gradient[a][1] = f.gradient[a][2] = 0;
    return f;
}

TAGFLOW_FN const double *initial_table(const struct initial *in)
{
    return (const double *)(in + 1);
}

/* Value of a cell in one of the tables of an axis. */
TAGFLOW_FN double initial_at(const struct initial *in, size_t start, int cell)
{
    return initial_table(in)[start + (size_t)cell];
}

/* u_a = -U cos(ka a) sin(kb b), u_b = U ka/kb sin(ka a) cos(kb b), in the plane across the axis. */
TAGFLOW_FN void initial_taylor_green_2d(const struct initial *in, const int g[3],
                                        struct initial_cell *f)
{
    const int a = (in->axis + 1) % 3, b = (a + 1) % 3;
    const struct initial_axis *const ta = &in->axes[a], *const tb = &in->axes[b];
    const double U = in->amplitude, ratio = ta->k / tb->k;
    const double sa = initial_at(in, ta->sine, g[a]), ca = initial_at(in, ta->cosine, g[a]),
                 sb = initial_at(in, tb->sine, g[b]), cb = initial_at(in, tb->cosine, g[b]);
    f->u[a] = -U * ca * sb;
    f->u[b] = U * ratio * sa * cb;
    f->gradient[a][a] = U * ta->k * sa * sb;
    f->gradient[b][a] = -U * tb->k * ca * cb;
    f->gradient[a][b] = U * ratio * ta->k * ca * cb;
    f->gradient[b][b] = -f->gradient[a][a];
    f->drho =
        -0.75 * U * U *
        (initial_at(in, ta->cosine2, g[a]) + ratio * ratio * initial_at(in, tb->cosine2, g[b]));
}

/* u = U (sin x cos y cos z, -cos x sin y cos z, 0), p = U^2/16 (cos 2x + cos 2y)(cos 2z + 2). */
TAGFLOW_FN void initial_taylor_green_3d(const struct initial *in, const int g[3],
                                        struct initial_cell *f)
{
    const double U = in->amplitude;
    double s[3], c[3], k[3];
    for (int a = 0; a < 3; a++) {
        s[a] = initial_at(in, in->axes[a].sine, g[a]);
        c[a] = initial_at(in, in->axes[a].cosine, g[a]);
        k[a] = in->axes[a].k;
    }
    f->u[0] = U * s[0] * c[1] * c[2];
    f->u[1] = -U * c[0] * s[1] * c[2];
    f->gradient[0][0] = U * k[0] * c[0] * c[1] * c[2];
    f->gradient[1][0] = -U * k[1] * s[0] * s[1] * c[2];
    f->gradient[2][0] = -U * k[2] * s[0] * c[1] * s[2];
    f->gradient[0][1] = U * k[0] * s[0] * s[1] * c[2];
    f->gradient[1][1] = -U * k[1] * c[0] * c[1] * c[2];
    f->gradient[2][1] = U * k[2] * c[0] * s[1] * s[2];
    f->drho =
        3.0 / 16 * U * U *
        (initial_at(in, in->axes[0].cosine2, g[0]) + initial_at(in, in->axes[1].cosine2, g[1])) *
        (initial_at(in, in->axes[2].cosine2, g[2]) + 2);
}

/* u_a = U (sin(k c) + cos(k b)) for (a, b, c) cyclic: an exact solution that only decays. */
TAGFLOW_FN void initial_abc(const struct initial *in, const int g[3], struct initial_cell *f)
{
    const double U = in->amplitude;
    double pressure = 0;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const struct initial_axis *const tb = &in->axes[b], *const tc = &in->axes[c];
        f->u[a] = U * (initial_at(in, tc->sine, g[c]) + initial_at(in, tb->cosine, g[b]));
        f->gradient[c][a] = U * tc->k * initial_at(in, tc->cosine, g[c]);
        f->gradient[b][a] = -U * tb->k * initial_at(in, tb->sine, g[b]);
        pressure -= U * U * initial_at(in, tc->sine, g[c]) * initial_at(in, tb->cosine, g[b]);
    }
    f->drho = 3 * pressure;
}

/* u_a = U tanh(kappa (b/L - 1/4)) below the middle, mirrored above; u_b = delta U sin(2 pi (a/L +
 * 1/4)) (Minion, Brown, J. Comput. Phys. 138:734, 1997). */
TAGFLOW_FN void initial_shear_layer(const struct initial *in, const int g[3],
                                    struct initial_cell *f)
{
    const int a = (in->axis + 1) % 3, b = (a + 1) % 3;
    const double U = in->amplitude, delta = in->perturbation;
    f->u[a] = U * initial_at(in, in->axes[b].profile, g[b]);
    f->u[b] = delta * U * initial_at(in, in->axes[a].cosine, g[a]);
    f->gradient[b][a] = U * initial_at(in, in->axes[b].slope, g[b]);
    f->gradient[a][b] = -delta * U * in->axes[a].k * initial_at(in, in->axes[a].sine, g[a]);
}

/* (1 - eta^2)^2 and its slope: both are 0 at the walls. */
TAGFLOW_FN double initial_bump(double eta)
{
    return (1 - eta * eta) * (1 - eta * eta);
}

TAGFLOW_FN double initial_bump_slope(double eta)
{
    return -4 * eta * (1 - eta * eta);
}

/* Number of waves of about this wavelength along so many cells, at least one. */
TAGFLOW_FN int64_t initial_waves(int64_t cells, double wavelength)
{
    const int64_t count = (int64_t)((double)cells / wavelength + 0.5);
    return count > 0 ? count : 1;
}

/* Walls at eta = -1 and 1. The mean flow U (1 - eta^8) is along the first of the other axes; it is
 * blunt like a turbulent profile. The perturbation is the curl of a vector potential, so it is free
 * of divergence; it is 0 at the walls. Its waves are about 0.6 half widths long across the flow and
 * 2.4 along it, as near-wall streaks and their undulations at Re_tau = 180. */
TAGFLOW_FN void initial_channel(const struct initial *in, const int g[3], struct initial_cell *f)
{
    const int n = in->walls;
    const int s = n == 0 ? 1 : 0, t = n == 2 ? 1 : 2;
    const int64_t cells_s = in->cells[s], cells_t = in->cells[t];
    const int64_t varies = cells_t > 1; /* along t: in one cell no wave fits */
    const double U = in->amplitude, half = 0.5 * in->cells[n], pi = 3.141592653589793;
    const double eta = (g[n] + 0.5) / half - 1, eta2 = eta * eta, eta4 = eta2 * eta2;
    const int64_t across = initial_waves(cells_t, 0.6 * half),
                  along = initial_waves(cells_s, 2.4 * half);
    /* {waves along, waves across}: two waves for each of two components of the potential */
    const int64_t wave[4][2] = {{0, varies * across},
                                {along, varies * (across + 1)},
                                {along, -varies * across},
                                {2 * along, varies}};
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
    const double size = 0.1 * in->perturbation * U * half;
    f->u[s] = U * (1 - eta4 * eta4) + size * initial_bump_slope(eta) / half * (sine[2] + sine[3]);
    f->u[n] = size * initial_bump(eta) * ((d_t[0] + d_t[1]) - (d_s[2] + d_s[3]));
    f->u[t] = -size * initial_bump_slope(eta) / half * (sine[0] + sine[1]);
    f->gradient[n][s] = -8 * U * eta4 * eta2 * eta / half; /* of the mean flow alone */
}

/* d: vector from the flow's centre to the cell's centre, in units of its width b; its component
 * along axis `flat` is 0 (-1: none). Returns |d|^2 = r^2 / b^2. */
TAGFLOW_FN double initial_from_center(const struct initial *in, const int g[3], int flat,
                                      double d[3])
{
    double square = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = a == flat ? 0 : (g[a] + 0.5 - in->center[a]) / in->width;
        square += d[a] * d[a];
    }
    return square;
}

TAGFLOW_FN double initial_gaussian(double square)
{
    return square < 700 ? exact_exp(-square) : 0;
}

/* u_theta = A r/b exp((1 - r^2/b^2)/2), largest at r = b, where it is A; the pressure p = -A^2/2
 * exp(1 - r^2/b^2) balances it. */
TAGFLOW_FN void initial_vortex(const struct initial *in, const int g[3], struct initial_cell *f)
{
    const int a = (in->axis + 1) % 3, b = (a + 1) % 3;
    double d[3];
    const double square = initial_from_center(in, g, in->axis, d), A = in->amplitude;
    const double e = square < 1400 ? exact_exp(0.5 * (1 - square)) : 0;
    f->u[a] = -A * d[b] * e;
    f->u[b] = A * d[a] * e;
    f->gradient[a][a] = A * d[a] * d[b] * e / in->width;
    f->gradient[b][a] = -A * (1 - d[b] * d[b]) * e / in->width;
    f->gradient[a][b] = A * (1 - d[a] * d[a]) * e / in->width;
    f->gradient[b][b] = -A * d[a] * d[b] * e / in->width;
    f->drho = -1.5 * A * A * e * e;
}

/* A plane wave along the axis, towards its upper end: drho = epsilon exp(-s^2/b^2), u = c_s drho.
 */
TAGFLOW_FN void initial_wave(const struct initial *in, const int g[3], struct initial_cell *f)
{
    const double sound = 0.5773502691896258; /* 1 / sqrt(3) */
    const double s = (g[in->axis] + 0.5 - in->center[in->axis]) / in->width;
    f->drho = in->density * initial_gaussian(s * s);
    f->u[in->axis] = sound * f->drho;
    f->gradient[in->axis][in->axis] = -2 * s / in->width * sound * f->drho;
}

/* ---- flows by formulas ---- */

TAGFLOW_FN struct initial_cell initial_by_formula(const struct initial *in, const int g[3])
{
    struct initial_cell f = initial_rest();
    double d[3];
    switch (in->flow) {
    case INITIAL_rest:
    case INITIAL_uniform:
    case INITIAL_inlet: /* no formula */
        break;
    case INITIAL_taylor_green_2d:
        initial_taylor_green_2d(in, g, &f);
        break;
    case INITIAL_taylor_green_3d:
        initial_taylor_green_3d(in, g, &f);
        break;
    case INITIAL_abc:
        initial_abc(in, g, &f);
        break;
    case INITIAL_shear_layer:
        initial_shear_layer(in, g, &f);
        break;
    case INITIAL_channel:
        initial_channel(in, g, &f);
        break;
    case INITIAL_vortex:
        initial_vortex(in, g, &f);
        break;
    case INITIAL_pulse:
        f.drho = in->density * initial_gaussian(initial_from_center(in, g, -1, d));
        break;
    case INITIAL_wave:
        initial_wave(in, g, &f);
        break;
    }
    for (int a = 0; a < 3; a++)
        f.u[a] += in->velocity[a];
    if (in->level)
        f.drho = 0;
    return f;
}

/* ---- flows without a formula: their gradients are differences between cells ---- */

/* Density - 1 and velocity of a cell of the block or of the layer around it. */
TAGFLOW_FN void initial_without_formula(const struct initial *in, const struct view *v,
                                        const int at[3], double flow[4])
{
    if (in->given) {
        const size_t nx = (size_t)v->n[0] + 2, ny = (size_t)v->n[1] + 2;
        const size_t place =
            ((size_t)(at[2] + 1) * ny + (size_t)(at[1] + 1)) * nx + (size_t)(at[0] + 1);
        for (int k = 0; k < 4; k++)
            flow[k] = in->given[4 * place + (size_t)k];
        return;
    }
    size_t g[2];
    for (int k = 0; k < 2; k++) {
        const int axis = in->inlet_axes[k], cells = in->cells[axis];
        g[k] = (size_t)((v->lo[axis] + at[axis] + cells) % cells);
    }
    const size_t place = 3 * (g[1] * (size_t)in->cells[in->inlet_axes[0]] + g[0]);
    flow[0] = 0;
    for (int k = 0; k < 3; k++)
        flow[1 + k] = initial_table(in)[in->inlet + place + (size_t)k];
}

/* The neighbour of a cell along an axis: fluid; a half-way wall of known velocity; a plane of
 * symmetry; or a neighbour whose velocity is unknown. */
enum initial_beside {
    INITIAL_BESIDE_FLUID,
    INITIAL_BESIDE_WALL,
    INITIAL_BESIDE_MIRROR,
    INITIAL_BESIDE_UNKNOWN
};

TAGFLOW_FN enum initial_beside initial_beside(const struct view *v, const int at[3], double wall[3])
{
    const struct tag_row *const row =
        &v->rows[v->tags[view_index(v, at[0], at[1], at[2])] & TAG_ROW];
    const int turns = row->spin[0] != 0 || row->spin[1] != 0 || row->spin[2] != 0;
    if (row->fluid)
        return INITIAL_BESIDE_FLUID;
    if (boundary_is(row->boundary) & RULE_mirror)
        return INITIAL_BESIDE_MIRROR;
    if (boundary_open(row->boundary) || turns)
        return INITIAL_BESIDE_UNKNOWN;
    for (int a = 0; a < 3; a++)
        wall[a] = row->wall_velocity[a];
    return INITIAL_BESIDE_WALL;
}

/* d u / d x along an axis, by central differences. The value beyond a wall is extrapolated by the
 * parabola through the wall, the cell and the cell's other neighbour: exact for parabolic profiles.
 */
TAGFLOW_FN void initial_slope(const struct initial *in, const struct view *v, const int at[3],
                              int axis, double slope[3])
{
    double here[4], end[2][4], wall[2][3];
    enum initial_beside beside[2];
    initial_without_formula(in, v, at, here);
    for (int side = 0; side < 2; side++) {
        int next[3] = {at[0], at[1], at[2]};
        next[axis] += side ? 1 : -1;
        beside[side] = initial_beside(v, next, wall[side]);
        initial_without_formula(in, v, beside[side] == INITIAL_BESIDE_FLUID ? next : at, end[side]);
    }
    int apart = 2;
    for (int side = 0; side < 2; side++) {
        const int other = beside[!side] == INITIAL_BESIDE_FLUID;
        for (int b = 0; b < 3; b++)
            if (beside[side] == INITIAL_BESIDE_WALL)
                end[side][1 + b] =
                    other ? (8 * wall[side][b] - 6 * here[1 + b] + end[!side][1 + b]) / 3
                          : 2 * wall[side][b] - here[1 + b];
            else if (beside[side] == INITIAL_BESIDE_MIRROR && b == axis)
                end[side][1 + b] = -here[1 + b];
        apart -= beside[side] == INITIAL_BESIDE_UNKNOWN;
    }
    for (int b = 0; b < 3 && apart; b++)
        slope[b] = (end[1][1 + b] - end[0][1 + b]) / apart;
}

TAGFLOW_FN struct initial_cell initial_from_cells(const struct initial *in, const struct view *v,
                                                  const int at[3])
{
    struct initial_cell f = initial_rest();
    double flow[4];
    initial_without_formula(in, v, at, flow);
    f.drho = in->level ? 0 : flow[0];
    for (int a = 0; a < 3; a++)
        f.u[a] = flow[1 + a];
    for (int a = 0; a < 3; a++)
        initial_slope(in, v, at, a, f.gradient[a]);
    return f;
}

/* Shifted populations of a cell. Their first moment is rho u minus half of a step's force: the
 * velocity of a forced fluid includes that half. force: the acceleration. */
TAGFLOW_FN void initial_equilibrium(const struct initial_cell *f, const double force[3], double rho,
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
            cf += v[i][a] * force[a];
            for (int b = 0; b < 3; b++)
                strain += v[i][a] * v[i][b] * f->gradient[a][b];
        }
        out[i] = w * (f->drho + rho * (3 * cu + 4.5 * cu * cu - 1.5 * square)) -
                 3 * w * rho * (tau * strain + 0.5 * cf);
    }
}

/* The slots of links into open boundaries hold state of the boundary rule instead of an arriving
 * population. Sets them to what the rule would have stored if the flow had been the same before,
 * without the rest that fp16 splits off (open.h). */
TAGFLOW_FN void initial_left(const struct view *v, int x, int y, int z, double f[Q])
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

/* 1 / tau of a cell with this flow. */
TAGFLOW_FN double initial_rate(const struct view *v, const struct tag_row *row,
                               const struct initial_cell *f)
{
    const double *const law = law_of(v, row);
    double square = 0, divergence = 0;
    if (!row->fluid || !law)
        return row->fluid ? row->omega_even : 1;
    for (int a = 0; a < 3; a++)
        divergence += f->gradient[a][a];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double twice =
                (f->gradient[a][b] + f->gradient[b][a]) - (a == b ? 2.0 / 3 * divergence : 0);
            square += 0.5 * twice * twice; /* 2 S:S */
        }
    return law_rate_double(law + LAW_TABLE, TAGFLOW_SQRT_DOUBLE(square));
}

/* Shifted populations of the block's cell (x, y, z). drho: density - 1 in place of the flow's;
 * NULL: the flow's. */
TAGFLOW_FN void initial_populations(const struct initial *in, const struct view *v,
                                    const double *drho, int x, int y, int z, double out[Q])
{
    const int at[3] = {x, y, z}, g[3] = {v->lo[0] + x, v->lo[1] + y, v->lo[2] + z};
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    const struct tag_row *const row = &v->rows[tag & TAG_ROW];
    struct initial_cell f = in->given || in->flow == INITIAL_inlet ? initial_from_cells(in, v, at)
                                                                   : initial_by_formula(in, g);
    if (drho)
        f.drho = *drho;
    for (int a = 0; a < 3 && in->settling; a++)
        f.gradient[a][0] = f.gradient[a][1] = f.gradient[a][2] = 0;
    double force[3] = {0, 0, 0};
    if (row->fluid && row->resist)
        resist_starts(resist_of(v, row), f.u, force);
    for (int a = 0; a < 3; a++)
        force[a] += in->force[a];
    initial_equilibrium(&f, force, in->settling ? 1 : 1 + f.drho, initial_rate(v, row, &f), out);
    if (tag & TAG_BESIDE)
        initial_left(v, x, y, z, out);
}

#endif
