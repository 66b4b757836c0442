/* Operators that relax the even and the odd part of each pair of opposite populations. */
#ifndef TAGFLOW_COLLISION_PAIRS_H
#define TAGFLOW_COLLISION_PAIRS_H

#include "collision/parameters.h"

/* x / 6, correctly rounded except in rare cases, without a division. The remainder is exact
 * (Sterbenz). */
TAGFLOW_FN real sixth(real x)
{
    const real q = x * (number)(1.0 / 6);
    return q + ((x - (number)4 * q) - (number)2 * q) * (number)(1.0 / 6);
}

/* Relaxation of the even and the odd part of each pair (Ginzburg, Verhaeghe, d'Humieres, Commun.
 * Comput. Phys. 3:427, 2008), with Guo's force (Phys. Rev. E 65:046308, 2002) split the same way:
 *
 *   e+ = w (drho - 3/2 rho u^2 + 9/2 rho (c.u)^2)    s+ = w (9 (c.u)(c.F) - 3 u.F)
 *   e- = 3 w rho c.u                                 s- = 3 w c.F
 *   f*_{i,j} = f_{i,j} + [omega+ (e+ - (f_i + f_j)/2) + (1 - omega+/2) s+]
 *                   +- [omega- (e- - (f_i - f_j)/2) + (1 - omega-/2) s-]
 *
 * The increments are added to f, so that rounding errors scale with the distance from equilibrium.
 * E and S below are twice e and s; 3 w = 1/6 along the axes and half of that along the diagonals,
 * and 9/2 rho w (c.u)^2 = 3/2 (c.u) e-.
 *
 * 1/6 and 1/18 have no exact binary representation. With rounded factors in all directions, each
 * step in fp32 would add the same relative error of 3e-8 to mass and momentum, which is noticeable
 * at low viscosity. So the diagonals get rounded parts, and the axes and the rest population get
 * the exact remainder: j - 4 (j/6) = j/3 and x - 12 (x/18) = x/3. The force is correctly rounded
 * instead (`sixth`): keeping a remainder would need more registers than a GPU has. */
TAGFLOW_FN void collide_pairs(const real f[Q], real out[Q], struct moments m,
                              struct collision_parameters p, int forced, real omega_even,
                              real omega_odd)
{
    const number a_sixth = (number)(1.0 / 6), an_eighteenth = (number)(1.0 / 18);
    const real h_even = (number)0.5 * omega_even, h_odd = (number)0.5 * omega_odd;
    const real square = m.jx * m.ux + m.jy * m.uy + m.jz * m.uz;
    const real whole = m.drho - (number)1.5 * square;
    const real base = an_eighteenth * whole; /* E+ of a diagonal at c.u = 0 */
    const real jx = a_sixth * m.jx, jy = a_sixth * m.jy, jz = a_sixth * m.jz;
    const real axis_jx = m.jx - (number)4 * jx, axis_jy = m.jy - (number)4 * jy,
               axis_jz = m.jz - (number)4 * jz;
    const real ux = (number)1.5 * m.ux, uy = (number)1.5 * m.uy, uz = (number)1.5 * m.uz;

    const real g_even = (number)1 - h_even, g_odd = (number)1 - h_odd;
    real gx = {0}, gy = {0}, gz = {0}, force = {0};
    if (forced) {
        gx = sixth(m.rho * p.ax);
        gy = sixth(m.rho * p.ay);
        gz = sixth(m.rho * p.az);
        force = (number)2 * (m.ux * gx + m.uy * gy + m.uz * gz); /* u.F / 3 */
    }

    out[0] = f[0] + omega_even * ((whole - (number)12 * base) - f[0]);
    if (forced)
        out[0] -= g_even * ((number)3 * force);

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
        const number scale = (weight) == 18 ? 2 : 1;                                               \
        const int axis = (weight) == 18;                                                           \
        const real cj =                                                                            \
            axis ? DOT(cx, cy, cz, axis_jx, axis_jy, axis_jz) : DOT(cx, cy, cz, jx, jy, jz);       \
        const real cu = DOT(cx, cy, cz, ux, uy, uz);                                               \
        real even = h_even * ((scale * base + cj * cu) - (f[i] + f[j]));                           \
        real odd = h_odd * (cj - (f[i] - f[j]));                                                   \
        if (forced) {                                                                              \
            const real cg = scale * DOT(cx, cy, cz, gx, gy, gz);                                   \
            even += g_even * (cg * cu - (number)0.25 * scale * force);                             \
            odd += g_odd * ((number)0.5 * cg);                                                     \
        }                                                                                          \
        out[i] = f[i] + (even + odd);                                                              \
        out[j] = f[j] + (even - odd);                                                              \
    }
    PAIR_LIST(X)
#undef X
#undef DOT
}

TAGFLOW_FN void collide_bgk(const real f[Q], real out[Q], struct moments m,
                            struct collision_parameters p, struct rates r, int forced)
{
    collide_pairs(f, out, m, p, forced, r.even, r.even);
}

TAGFLOW_FN void collide_trt(const real f[Q], real out[Q], struct moments m,
                            struct collision_parameters p, struct rates r, int forced)
{
    collide_pairs(f, out, m, p, forced, r.even, r.odd);
}

#endif
