/* Collision operators: one row in COLLISION_LIST and one function collide_<name> each.
 *
 * Populations are shifted (f_i - w_i), density and momentum are made of the shifted ones: the
 * deviation of the density is never formed as rho - 1, which would lose it to rounding. */
#ifndef TAGFLOW_COLLISION_H
#define TAGFLOW_COLLISION_H

#include "lattice.h"
#include "platform.h"
#include "slot.h"

/* clang-format off */
#define COLLISION_LIST(X)                                                                         \
    X(bgk, "one relaxation time (Bhatnagar, Gross, Krook 1954)")                                  \
    X(trt, "two relaxation times, the odd one from solver.magic (Ginzburg et al. 2008)")
/* clang-format on */

enum collision {
#define X(name, meaning) COLLISION_##name,
    COLLISION_LIST(X)
#undef X
        COLLISIONS
};

/* For a step that serves cells of several rows: whatever the cell's own says. */
enum { COLLISION_mixed = -1, FORCED_mixed = -1 };

#ifdef TAGFLOW_STORAGE /* the rest is for kernels */

/* What an operator is told, in the variant's arithmetic. */
struct collision_parameters {
    scalar omega_even, omega_odd;
    scalar ax, ay, az; /* acceleration */
};

/* Moments of the populations before collision. */
struct moments {
    real drho, rho; /* density - 1, density */
    real jx, jy,
        jz; /* momentum, half of the step's force included (Guo, Zheng, Shi 2002, eq. 19) */
    real ux, uy, uz; /* j / rho */
};

TAGFLOW_FN struct collision_parameters collision_parameters(const struct view *v,
                                                            const struct tag_row *row)
{
    const scalar signal = (scalar)v->signal[row->force_signal];
    struct collision_parameters p;
    p.omega_even = (scalar)row->omega_even;
    p.omega_odd = (scalar)row->omega_odd;
    p.ax = (scalar)row->acceleration[0] * signal;
    p.ay = (scalar)row->acceleration[1] * signal;
    p.az = (scalar)row->acceleration[2] * signal;
    return p;
}

/* x / 6 and x / 18, correctly rounded but for rare cases, without a division. Times the rounded
 * reciprocal alone, mass and momentum would gain the same 3e-8 of themselves at each step in fp32,
 * and at low viscosity that is felt. The remainders are exact (Sterbenz). */
TAGFLOW_FN real sixth(real x)
{
    const real q = x * (scalar)(1.0 / 6);
    return q + ((x - (scalar)4 * q) - (scalar)2 * q) * (scalar)(1.0 / 6);
}

TAGFLOW_FN real eighteenth(real x)
{
    const real q = x * (scalar)(1.0 / 18);
    return q + ((x - (scalar)16 * q) - (scalar)2 * q) * (scalar)(1.0 / 18);
}

TAGFLOW_FN struct moments moments(const real f[Q], struct collision_parameters p, int forced)
{
    struct moments m;
    const real d1 = f[1] - f[2], d3 = f[3] - f[4], d5 = f[5] - f[6];
    const real d7 = f[7] - f[8], d9 = f[9] - f[10], d11 = f[11] - f[12];
    const real d13 = f[13] - f[14], d15 = f[15] - f[16], d17 = f[17] - f[18];
    m.drho = (((f[1] + f[2]) + (f[3] + f[4])) + ((f[5] + f[6]) + f[0])) +
             (((f[7] + f[8]) + (f[9] + f[10])) + ((f[11] + f[12]) + (f[13] + f[14]))) +
             ((f[15] + f[16]) + (f[17] + f[18]));
    m.rho = (scalar)1 + m.drho;
    m.jx = d1 + ((d7 + d13) + (d9 + d15));
    m.jy = d3 + ((d7 - d13) + (d11 + d17));
    m.jz = d5 + ((d9 - d15) + (d11 - d17));
    if (forced) {
        const real half = (scalar)0.5 * m.rho;
        m.jx += half * p.ax;
        m.jy += half * p.ay;
        m.jz += half * p.az;
    }
    const real inverse = (scalar)1 / m.rho;
    m.ux = m.jx * inverse;
    m.uy = m.jy * inverse;
    m.uz = m.jz * inverse;
    return m;
}

/* Relaxation of the even and the odd part of each pair (Ginzburg, Verhaeghe, d'Humieres, Commun.
 * Comput. Phys. 3:427, 2008), with Guo's force (Phys. Rev. E 65:046308, 2002) split the same way:
 *
 *   e+ = w (drho - 3/2 rho u^2 + 9/2 rho (c.u)^2)    s+ = w (9 (c.u)(c.F) - 3 u.F)
 *   e- = 3 w rho c.u                                 s- = 3 w c.F
 *   f*_{i,j} = f_{i,j} + [omega+ (e+ - (f_i + f_j)/2) + (1 - omega+/2) s+]
 *                   +- [omega- (e- - (f_i - f_j)/2) + (1 - omega-/2) s-]
 *
 * The increments are added to f, so that rounding in them scales with the distance from
 * equilibrium. E and S below are twice e and s; 3 w = 1/6 along the axes and half of that along
 * the diagonals, and 9/2 rho w (c.u)^2 = 3/2 (c.u) e-. */
TAGFLOW_FN void collide_pairs(const real f[Q], real out[Q], struct moments m,
                              struct collision_parameters p, int forced, scalar omega_even,
                              scalar omega_odd)
{
    const scalar h_even = (scalar)0.5 * omega_even, h_odd = (scalar)0.5 * omega_odd;
    const real square = m.jx * m.ux + m.jy * m.uy + m.jz * m.uz;
    const real base = eighteenth(m.drho - (scalar)1.5 * square); /* E+ of a diagonal at c.u = 0 */
    const real jx = sixth(m.jx), jy = sixth(m.jy), jz = sixth(m.jz);
    const real ux = (scalar)1.5 * m.ux, uy = (scalar)1.5 * m.uy, uz = (scalar)1.5 * m.uz;

    const scalar g_even = (scalar)1 - h_even, g_odd = (scalar)1 - h_odd;
    real gx = {0}, gy = {0}, gz = {0}, force = {0};
    if (forced) {
        gx = sixth(m.rho * p.ax);
        gy = sixth(m.rho * p.ay);
        gz = sixth(m.rho * p.az);
        force = (scalar)2 * (m.ux * gx + m.uy * gy + m.uz * gz); /* u.F / 3 */
    }

    out[0] = f[0] + omega_even * ((scalar)6 * base - f[0]);
    if (forced)
        out[0] -= g_even * ((scalar)3 * force);

/* scale: 1 for a diagonal, 2 along an axis. */
#define DOT(cx, cy, cz, x, y, z)                                                                   \
    ((cx)   ? ((cy) > 0   ? (x) + (y)                                                              \
               : (cy) < 0 ? (x) - (y)                                                              \
               : (cz) > 0 ? (x) + (z)                                                              \
               : (cz) < 0 ? (x) - (z)                                                              \
                          : (x))                                                                   \
     : (cy) ? ((cz) > 0   ? (y) + (z)                                                              \
               : (cz) < 0 ? (y) - (z)                                                              \
                          : (y))                                                                   \
            : (z))
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const scalar scale = (weight) == 18 ? 2 : 1;                                               \
        const real cj = scale * DOT(cx, cy, cz, jx, jy, jz);                                       \
        const real cu = DOT(cx, cy, cz, ux, uy, uz);                                               \
        real even = h_even * ((scale * base + cj * cu) - (f[i] + f[j]));                           \
        real odd = h_odd * (cj - (f[i] - f[j]));                                                   \
        if (forced) {                                                                              \
            const real cg = scale * DOT(cx, cy, cz, gx, gy, gz);                                   \
            even += g_even * (cg * cu - (scalar)0.25 * scale * force);                             \
            odd += g_odd * ((scalar)0.5 * cg);                                                     \
        }                                                                                          \
        out[i] = f[i] + (even + odd);                                                              \
        out[j] = f[j] + (even - odd);                                                              \
    }
    PAIR_LIST(X)
#undef X
#undef DOT
}

TAGFLOW_FN void collide_bgk(const real f[Q], real out[Q], struct moments m,
                            struct collision_parameters p, int forced)
{
    collide_pairs(f, out, m, p, forced, p.omega_even, p.omega_even);
}

TAGFLOW_FN void collide_trt(const real f[Q], real out[Q], struct moments m,
                            struct collision_parameters p, int forced)
{
    collide_pairs(f, out, m, p, forced, p.omega_even, p.omega_odd);
}

/* f -> out by the operator of a cell's row. */
TAGFLOW_FN void collide(int collision, const real f[Q], real out[Q], struct moments m,
                        struct collision_parameters p, int forced)
{
    switch (collision) {
#define X(name, meaning)                                                                           \
    case COLLISION_##name:                                                                         \
        collide_##name(f, out, m, p, forced);                                                      \
        break;
        COLLISION_LIST(X)
#undef X
    default: /* no such row */
        for (int i = 0; i < Q; i++)
            out[i] = f[i];
        break;
    }
}

#endif
#endif
