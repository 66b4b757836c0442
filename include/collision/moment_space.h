/* Operators that relax moments: raw, Hermite, central, central Hermite moments and cumulants, and
 * two regularised operators, which are Hermite and central Hermite with nothing left beyond second
 * order (Coreixas, Chopard, Latt, Phys. Rev. E 100:033305, 2019, compare all of them).
 *
 * The 19 populations are equivalent to 19 monomial moments, m_abc = sum_i c_ix^a c_iy^b c_iz^c f_i:
 *
 *   1   x y z   xx yy zz xy xz yz   xxy xyy xxz xzz yyz yzz   xxyy xxzz yyzz
 *
 * (the moments of De Rosis and Coreixas, Phys. Fluids 32:117101, 2020). Their equilibrium is the
 * Maxwellian's, with all powers of u: drho/3 + rho u_x^2, rho u_y (1/3 + u_x^2), rho (1/3 +
 * u_x^2)(1/3 + u_y^2), and so on. The operators relax the distance N from equilibrium, which is
 * zero for density and momentum. They differ only in the variables:
 *
 * - raw: N_xxy and N_xxyy
 * - Hermite: N_xxy and N_xxyy - (N_xx + N_yy)/3
 * - central: K_xxy = N_xxy - 2 u_x N_xy - u_y N_xx and
 *   K_xxyy = N_xxyy - 2 u_x N_xyy - 2 u_y N_xxy + u_x^2 N_yy + u_y^2 N_xx + 4 u_x u_y N_xy
 * - central Hermite: K_xxy and K_xxyy - (N_xx + N_yy)/3
 * - cumulants: K_xxy and K_xxyy - (N_xx + N_yy)/3 - (N_xx N_yy + 2 N_xy^2)/rho
 *
 * The force F = rho a acts on the Maxwellian as -a . grad_v: its moments S are the derivative of
 * the equilibrium's moments along a. As in Guo's scheme (2002, eq. 17) N contains S/2, and S is
 * added. */
#ifndef TAGFLOW_COLLISION_MOMENT_SPACE_H
#define TAGFLOW_COLLISION_MOMENT_SPACE_H

#include "collision/parameters.h"

/* The change N* - N of the fourth moment aabb. `a`, `b`: u_a and u_b; n..: distances from
 * equilibrium; d..: changes; c: the third axis. */
struct fourth {
    real naa, nbb, nab, daa, dbb, dab; /* second moments */
    real ncc, dcc;
    real naab, nabb, daab, dabb; /* third moments */
    real naabb;
};

TAGFLOW_FN real relax_fourth(struct fourth k, real a, real b, real inverse, scalar omega,
                             const int space)
{
    const real caa = omega * k.naa + k.daa, cbb = omega * k.nbb + k.dbb;
    const real cab = omega * k.nab + k.dab;
    real d = -(omega * k.naabb);
    if (space & SPACE_hermite)
        d += (scalar)(1.0 / 3) * (caa + cbb) - (scalar)(1.0 / 6) * (omega * k.ncc + k.dcc);
    if (space & SPACE_cumulant) {
        const real aa = k.naa + k.daa, bb = k.nbb + k.dbb, ab = k.nab + k.dab;
        const real before = k.naa * k.nbb + (scalar)2 * (k.nab * k.nab);
        const real after = aa * bb + (scalar)2 * (ab * ab);
        d += (after - ((scalar)1 - omega) * before) * inverse;
    }
    if (space & SPACE_central) {
        d += (scalar)2 * (a * (omega * k.nabb + k.dabb) + b * (omega * k.naab + k.daab));
        d -= a * (a * cbb + (scalar)2 * (b * cab)) + b * (b * caa + (scalar)2 * (a * cab));
    }
    return d;
}

TAGFLOW_FN void collide_moments(const real f[Q], real out[Q], struct moments m,
                                struct collision_parameters p, struct rates r, int forced,
                                const int space)
{
    const int regularised = space & SPACE_regularised, central = space & SPACE_central;
    const scalar third = (scalar)(1.0 / 3);
    const scalar omega_third = regularised ? (scalar)1 : p.omega_third;
    const scalar omega_fourth = regularised ? (scalar)1 : p.omega_fourth;
    const struct stress n = stress_beyond_equilibrium(f, m, p, forced);
    struct stress d;

    /* Second moments: deviator and trace. */
    d.xx = -(r.even * n.xx);
    d.yy = -(r.even * n.yy);
    d.zz = -(r.even * n.zz);
    d.xy = -(r.even * n.xy);
    d.xz = -(r.even * n.xz);
    d.yz = -(r.even * n.yz);
    const real trace = (third * (p.omega_bulk - r.even)) * ((n.xx + n.yy) + n.zz);
    d.xx -= trace;
    d.yy -= trace;
    d.zz -= trace;

    /* Sources: g = F and h = F_a u_a of each axis. */
    real gx = {0}, gy = {0}, gz = {0}, hx = {0}, hy = {0}, hz = {0};
    if (forced) {
        gx = m.rho * p.ax;
        gy = m.rho * p.ay;
        gz = m.rho * p.az;
        hx = gx * m.ux;
        hy = gy * m.uy;
        hz = gz * m.uz;
    }

    /* Third moments aab: n its distance from equilibrium, d its change. */
    const real ex = m.jx * m.ux, ey = m.jy * m.uy, ez = m.jz * m.uz;
    const real qx = third + m.ux * m.ux, qy = third + m.uy * m.uy, qz = third + m.uz * m.uz;
#define THIRD(aab, sum, a, b, aa, ab)                                                              \
    real n_##aab = (sum)-m.j##b * q##a, s_##aab = {0};                                             \
    if (forced) {                                                                                  \
        s_##aab = g##b * q##a + (scalar)2 * (m.u##b * h##a);                                       \
        n_##aab += (scalar)0.5 * s_##aab;                                                          \
    }                                                                                              \
    real t_##aab = {0}, d_##aab;                                                                   \
    if (central)                                                                                   \
        t_##aab = (scalar)2 * (m.u##a * (omega_third * n.ab + d.ab)) +                             \
                  m.u##b * (omega_third * n.aa + d.aa);                                            \
    d_##aab = central ? t_##aab - omega_third * n_##aab : -(omega_third * n_##aab);
    THIRD(xxy, (f[7] - f[8]) - (f[13] - f[14]), x, y, xx, xy)
    THIRD(yyx, (f[7] - f[8]) + (f[13] - f[14]), y, x, yy, xy)
    THIRD(xxz, (f[9] - f[10]) - (f[15] - f[16]), x, z, xx, xz)
    THIRD(zzx, (f[9] - f[10]) + (f[15] - f[16]), z, x, zz, xz)
    THIRD(yyz, (f[11] - f[12]) - (f[17] - f[18]), y, z, yy, yz)
    THIRD(zzy, (f[11] - f[12]) + (f[17] - f[18]), z, y, zz, yz)
#undef THIRD

    /* Fourth moments. For regularised operators the value after collision is known: the third
     * moments of (c - u) vanish, so it follows from u and the third moments of c (Malaspinas,
     * arXiv:1505.06900, 2015). */
#define FOURTH(aabb, aab, bba, a, b, aa, bb, ab, cc)                                               \
    real n_##aabb =                                                                                \
        PLANE_##aabb(f) - (third * ((third * m.drho + e##a) + e##b) + e##a * (m.u##b * m.u##b));   \
    real s_##aabb = {0}, d_##aabb;                                                                 \
    if (forced) {                                                                                  \
        s_##aabb = (scalar)2 * (h##a * q##b + h##b * q##a);                                        \
        n_##aabb += (scalar)0.5 * s_##aabb;                                                        \
    }                                                                                              \
    if (regularised) {                                                                             \
        d_##aabb = third * ((n.aa + d.aa) + (n.bb + d.bb)) - (scalar)(1.0 / 6) * (n.cc + d.cc) -   \
                   n_##aabb;                                                                       \
        if (central)                                                                               \
            d_##aabb += m.u##a * t_##bba + m.u##b * t_##aab;                                       \
    } else {                                                                                       \
        const struct fourth k = {n.aa, n.bb,    n.ab,    d.aa,    d.bb,    d.ab,    n.cc,          \
                                 d.cc, n_##aab, n_##bba, d_##aab, d_##bba, n_##aabb};              \
        d_##aabb = relax_fourth(k, m.u##a, m.u##b, m.inverse, omega_fourth, space);                \
    }
    FOURTH(xxyy, xxy, yyx, x, y, xx, yy, xy, zz)
    FOURTH(xxzz, xxz, zzx, x, z, xx, zz, xz, yy)
    FOURTH(yyzz, yyz, zzy, y, z, yy, zz, yz, xx)
#undef FOURTH

    if (forced) {
        d.xx += (scalar)2 * hx;
        d.yy += (scalar)2 * hy;
        d.zz += (scalar)2 * hz;
        d.xy += gx * m.uy + gy * m.ux;
        d.xz += gx * m.uz + gz * m.ux;
        d.yz += gy * m.uz + gz * m.uy;
        d_xxy += s_xxy;
        d_yyx += s_yyx;
        d_xxz += s_xxz;
        d_zzx += s_zzx;
        d_yyz += s_yyz;
        d_zzy += s_zzy;
        d_xxyy += s_xxyy;
        d_xxzz += s_xxzz;
        d_yyzz += s_yyzz;
    }

    /* Back to populations: only the four diagonals of a plane have c_a c_b other than 0. All
     * factors are powers of two, and the form of the sums conserves density and momentum. */
#define PLANE(i, j, k, l, aab, bba, aabb, ab)                                                      \
    {                                                                                              \
        const real plus = (scalar)0.25 * (d_##aabb + d.ab);                                        \
        const real minus = (scalar)0.25 * (d_##aabb - d.ab);                                       \
        const real along = (scalar)0.25 * (d_##bba + d_##aab);                                     \
        const real across = (scalar)0.25 * (d_##bba - d_##aab);                                    \
        out[i] = f[i] + (plus + along);                                                            \
        out[j] = f[j] + (plus - along);                                                            \
        out[k] = f[k] + (minus + across);                                                          \
        out[l] = f[l] + (minus - across);                                                          \
    }
    PLANE(7, 8, 13, 14, xxy, yyx, xxyy, xy)
    PLANE(9, 10, 15, 16, xxz, zzx, xxzz, xz)
    PLANE(11, 12, 17, 18, yyz, zzy, yyzz, yz)
#undef PLANE
#define AXIS(i, j, even, odd)                                                                      \
    {                                                                                              \
        const real e = (scalar)0.5 * (even), o = (scalar)0.5 * (odd);                              \
        out[i] = f[i] + (e + o);                                                                   \
        out[j] = f[j] + (e - o);                                                                   \
    }
    AXIS(1, 2, d.xx - (d_xxyy + d_xxzz), forced ? gx - (d_yyx + d_zzx) : -(d_yyx + d_zzx))
    AXIS(3, 4, d.yy - (d_xxyy + d_yyzz), forced ? gy - (d_xxy + d_zzy) : -(d_xxy + d_zzy))
    AXIS(5, 6, d.zz - (d_xxzz + d_yyzz), forced ? gz - (d_xxz + d_yyz) : -(d_xxz + d_yyz))
#undef AXIS
    out[0] = f[0] + (((d_xxyy + d_xxzz) + d_yyzz) - ((d.xx + d.yy) + d.zz));
}

#define MOMENT_OPERATOR(name)                                                                      \
    TAGFLOW_FN void collide_##name(const real f[Q], real out[Q], struct moments m,                 \
                                   struct collision_parameters p, struct rates r, int forced)      \
    {                                                                                              \
        collide_moments(f, out, m, p, r, forced, collision_space(COLLISION_##name));               \
    }
MOMENT_OPERATOR(mrt)
MOMENT_OPERATOR(hermite)
MOMENT_OPERATOR(central)
MOMENT_OPERATOR(central_hermite)
MOMENT_OPERATOR(cumulant)
MOMENT_OPERATOR(gauss_hermite)
MOMENT_OPERATOR(rr)
#undef MOMENT_OPERATOR

#endif
