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

TAGFLOW_FN real relax_fourth(struct fourth k, real a, real b, real inverse, number omega,
                             const int space)
{
    const real caa = omega * k.naa + k.daa, cbb = omega * k.nbb + k.dbb;
    const real cab = omega * k.nab + k.dab;
    real d = -(omega * k.naabb);
    if (space & SPACE_hermite)
        d += (number)(1.0 / 3) * (caa + cbb) - (number)(1.0 / 6) * (omega * k.ncc + k.dcc);
    if (space & SPACE_cumulant) {
        const real aa = k.naa + k.daa, bb = k.nbb + k.dbb, ab = k.nab + k.dab;
        const real before = k.naa * k.nbb + (number)2 * (k.nab * k.nab);
        const real after = aa * bb + (number)2 * (ab * ab);
        d += (after - ((number)1 - omega) * before) * inverse;
    }
    if (space & SPACE_central) {
        d += (number)2 * (a * (omega * k.nabb + k.dabb) + b * (omega * k.naab + k.daab));
        d -= a * (a * cbb + (number)2 * (b * cab)) + b * (b * caa + (number)2 * (a * cab));
    }
    return d;
}

/* Changes of the second moments: the deviator relaxes with the rate of shear, the trace with
 * omega_bulk. */
TAGFLOW_FN struct stress second_changes(struct stress n, struct collision_parameters p,
                                        struct rates r)
{
    const number third = (number)(1.0 / 3);
    const real trace = (third * (p.omega_bulk - r.even)) * ((n.xx + n.yy) + n.zz);
    struct stress d;
    d.xx = -(r.even * n.xx) - trace;
    d.yy = -(r.even * n.yy) - trace;
    d.zz = -(r.even * n.zz) - trace;
    d.xy = -(r.even * n.xy);
    d.xz = -(r.even * n.xz);
    d.yz = -(r.even * n.yz);
    return d;
}

/* The force per volume g = rho a, and h = g_a u_a of each axis. */
struct force_moments {
    real gx, gy, gz, hx, hy, hz;
};

TAGFLOW_FN struct force_moments force_moments(struct moments m, struct collision_parameters p,
                                              int forced)
{
    const real zero = {0};
    struct force_moments s = {zero, zero, zero, zero, zero, zero};
    if (!forced)
        return s;
    s.gx = m.rho * p.ax;
    s.gy = m.rho * p.ay;
    s.gz = m.rho * p.az;
    s.hx = s.gx * m.ux;
    s.hy = s.gy * m.uy;
    s.hz = s.gz * m.uz;
    return s;
}

/* A number for each third moment aab, and for each fourth moment aabb. */
struct thirds {
    real xxy, yyx, xxz, zzx, yyz, zzy;
};
struct fourths {
    real xxyy, xxzz, yyzz;
};

/* out = f + the populations of changes of the moments: d2 of the second, d3 of the third, d4 of the
 * fourth, and g of the momentum. Only the four diagonals of a plane have c_a c_b other than 0. All
 * factors are powers of two, and the form of the sums conserves density and momentum. */
TAGFLOW_FN void add_changes(const real f[Q], real out[Q], struct force_moments s, struct stress d2,
                            struct thirds d3, struct fourths d4, int forced)
{
#define PLANE(i, j, k, l, aab, bba, aabb, ab)                                                      \
    {                                                                                              \
        const real plus = (number)0.25 * (d4.aabb + d2.ab);                                        \
        const real minus = (number)0.25 * (d4.aabb - d2.ab);                                       \
        const real along = (number)0.25 * (d3.bba + d3.aab);                                       \
        const real across = (number)0.25 * (d3.bba - d3.aab);                                      \
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
        const real e = (number)0.5 * (even), o = (number)0.5 * (odd);                              \
        out[i] = f[i] + (e + o);                                                                   \
        out[j] = f[j] + (e - o);                                                                   \
    }
    AXIS(1, 2, d2.xx - (d4.xxyy + d4.xxzz), forced ? s.gx - (d3.yyx + d3.zzx) : -(d3.yyx + d3.zzx))
    AXIS(3, 4, d2.yy - (d4.xxyy + d4.yyzz), forced ? s.gy - (d3.xxy + d3.zzy) : -(d3.xxy + d3.zzy))
    AXIS(5, 6, d2.zz - (d4.xxzz + d4.yyzz), forced ? s.gz - (d3.xxz + d3.yyz) : -(d3.xxz + d3.yyz))
#undef AXIS
    out[0] = f[0] + (((d4.xxyy + d4.xxzz) + d4.yyzz) - ((d2.xx + d2.yy) + d2.zz));
}

/* Distances from equilibrium are n2, n3, n4 of the second, third and fourth moments, changes d2,
 * d3, d4, the force's moments s3, s4. */
TAGFLOW_FN void collide_moments(const real f[Q], real out[Q], struct moments m,
                                struct collision_parameters p, struct rates r, int forced,
                                const int space)
{
    const int regularised = space & SPACE_regularised, central = space & SPACE_central;
    const number third = (number)(1.0 / 3);
    const number omega_third = regularised ? (number)1 : p.omega_third;
    const number omega_fourth = regularised ? (number)1 : p.omega_fourth;
    const struct stress n2 = stress_beyond_equilibrium(f, m, p, forced);
    struct stress d2 = second_changes(n2, p, r);
    const struct force_moments s = force_moments(m, p, forced);
    const real ex = m.jx * m.ux, ey = m.jy * m.uy, ez = m.jz * m.uz;
    const real qx = third + m.ux * m.ux, qy = third + m.uy * m.uy, qz = third + m.uz * m.uz;
    struct thirds n3, d3, s3;
    struct thirds t3; /* the part of d3 that follows from the second moments */
    struct fourths n4, d4, s4;

#define THIRD(aab, sum, a, b, aa, ab)                                                              \
    n3.aab = (sum)-m.j##b * q##a;                                                                  \
    if (forced) {                                                                                  \
        s3.aab = s.g##b * q##a + (number)2 * (m.u##b * s.h##a);                                    \
        n3.aab += (number)0.5 * s3.aab;                                                            \
    }                                                                                              \
    if (central)                                                                                   \
        t3.aab = (number)2 * (m.u##a * (omega_third * n2.ab + d2.ab)) +                            \
                 m.u##b * (omega_third * n2.aa + d2.aa);                                           \
    d3.aab = central ? t3.aab - omega_third * n3.aab : -(omega_third * n3.aab);
    THIRD(xxy, (f[7] - f[8]) - (f[13] - f[14]), x, y, xx, xy)
    THIRD(yyx, (f[7] - f[8]) + (f[13] - f[14]), y, x, yy, xy)
    THIRD(xxz, (f[9] - f[10]) - (f[15] - f[16]), x, z, xx, xz)
    THIRD(zzx, (f[9] - f[10]) + (f[15] - f[16]), z, x, zz, xz)
    THIRD(yyz, (f[11] - f[12]) - (f[17] - f[18]), y, z, yy, yz)
    THIRD(zzy, (f[11] - f[12]) + (f[17] - f[18]), z, y, zz, yz)
#undef THIRD

    /* For regularised operators the fourth moment after collision is known: the third moments of
     * (c - u) vanish, so it follows from u and the third moments of c (Malaspinas,
     * arXiv:1505.06900, 2015). */
#define FOURTH(aabb, aab, bba, a, b, aa, bb, ab, cc)                                               \
    n4.aabb =                                                                                      \
        PLANE_##aabb(f) - (third * ((third * m.drho + e##a) + e##b) + e##a * (m.u##b * m.u##b));   \
    if (forced) {                                                                                  \
        s4.aabb = (number)2 * (s.h##a * q##b + s.h##b * q##a);                                     \
        n4.aabb += (number)0.5 * s4.aabb;                                                          \
    }                                                                                              \
    if (regularised) {                                                                             \
        d4.aabb = third * ((n2.aa + d2.aa) + (n2.bb + d2.bb)) -                                    \
                  (number)(1.0 / 6) * (n2.cc + d2.cc) - n4.aabb;                                   \
        if (central)                                                                               \
            d4.aabb += m.u##a * t3.bba + m.u##b * t3.aab;                                          \
    } else {                                                                                       \
        const struct fourth k = {n2.aa, n2.bb,  n2.ab,  d2.aa,  d2.bb,  d2.ab,  n2.cc,             \
                                 d2.cc, n3.aab, n3.bba, d3.aab, d3.bba, n4.aabb};                  \
        d4.aabb = relax_fourth(k, m.u##a, m.u##b, m.inverse, omega_fourth, space);                 \
    }
    FOURTH(xxyy, xxy, yyx, x, y, xx, yy, xy, zz)
    FOURTH(xxzz, xxz, zzx, x, z, xx, zz, xz, yy)
    FOURTH(yyzz, yyz, zzy, y, z, yy, zz, yz, xx)
#undef FOURTH

    if (forced) {
        d2.xx += (number)2 * s.hx;
        d2.yy += (number)2 * s.hy;
        d2.zz += (number)2 * s.hz;
        d2.xy += s.gx * m.uy + s.gy * m.ux;
        d2.xz += s.gx * m.uz + s.gz * m.ux;
        d2.yz += s.gy * m.uz + s.gz * m.uy;
        d3.xxy += s3.xxy;
        d3.yyx += s3.yyx;
        d3.xxz += s3.xxz;
        d3.zzx += s3.zzx;
        d3.yyz += s3.yyz;
        d3.zzy += s3.zzy;
        d4.xxyy += s4.xxyy;
        d4.xxzz += s4.xxzz;
        d4.yyzz += s4.yyzz;
    }
    add_changes(f, out, s, d2, d3, d4, forced);
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
