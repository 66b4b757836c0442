/* Input of every collision operator: parameters, moments and rates of a cell. */
#ifndef TAGFLOW_COLLISION_PARAMETERS_H
#define TAGFLOW_COLLISION_PARAMETERS_H

#include "lattice.h"
#include "law.h"
#include "platform.h"
#include "resist.h"
#include "slot.h"

/* Parameters of an operator in the variant's arithmetic: the same for all cells of one type, but
 * for the acceleration, to which buoyancy adds. */
struct collision_parameters {
    number omega_even, omega_odd;
    number omega_bulk, omega_third, omega_fourth; /* operators in moment space */
    real ax, ay, az;                              /* acceleration */
    number smagorinsky, magic;                    /* see tag.h */
    const double *law;                            /* table of a viscosity law, see law.h */
};

/* Relaxation rates of a cell: those of its type, possibly changed by a subgrid model. */
struct rates {
    real even, odd;
};

/* Moments of the populations before collision.
 *
 * Populations may be in any unit: a density of 1 is then the number `one`. Collision operators use
 * density, momentum and populations only in such a way that the result has the unit of its input.
 */
struct moments {
    real drho, rho, inverse; /* density - one, density, 1 / density */
    real jx, jy, jz;         /* momentum, with half a step's force (Guo, Zheng, Shi 2002, eq. 19) */
    real ux, uy, uz;         /* j / rho */
};

/* A symmetric tensor. */
struct stress {
    real xx, yy, zz, xy, xz, yz;
};

TAGFLOW_FN struct collision_parameters collision_parameters(const struct view *v,
                                                            const struct tag_row *row)
{
    const number signal = (number)v->signal[row->force_signal];
    struct collision_parameters p;
    p.omega_even = (number)row->omega_even;
    p.omega_odd = (number)row->omega_odd;
    p.omega_bulk = (number)row->omega_bulk;
    p.omega_third = (number)row->omega_third;
    p.omega_fourth = (number)row->omega_fourth;
    p.ax = real_of((number)row->acceleration[0] * signal);
    p.ay = real_of((number)row->acceleration[1] * signal);
    p.az = real_of((number)row->acceleration[2] * signal);
    p.smagorinsky = (number)row->smagorinsky;
    p.magic = (number)row->magic;
    p.law = law_of(v, row);
    return p;
}

/* Adds buoyancy; lift: the factor on gravity, see cell_lift. */
TAGFLOW_FN void accelerate(struct collision_parameters *p, const struct view *v, real lift)
{
    p->ax = p->ax + lift * (number)v->scalars.gravity[0];
    p->ay = p->ay + lift * (number)v->scalars.gravity[1];
    p->az = p->az + lift * (number)v->scalars.gravity[2];
}

TAGFLOW_FN struct moments moments_in(const real f[Q], number one, struct collision_parameters p,
                                     int forced)
{
    struct moments m;
    const real d1 = f[1] - f[2], d3 = f[3] - f[4], d5 = f[5] - f[6];
    const real d7 = f[7] - f[8], d9 = f[9] - f[10], d11 = f[11] - f[12];
    const real d13 = f[13] - f[14], d15 = f[15] - f[16], d17 = f[17] - f[18];
    m.drho = (((f[1] + f[2]) + (f[3] + f[4])) + ((f[5] + f[6]) + f[0])) +
             (((f[7] + f[8]) + (f[9] + f[10])) + ((f[11] + f[12]) + (f[13] + f[14]))) +
             ((f[15] + f[16]) + (f[17] + f[18]));
    m.rho = one + m.drho;
    m.jx = d1 + ((d7 + d13) + (d9 + d15));
    m.jy = d3 + ((d7 - d13) + (d11 + d17));
    m.jz = d5 + ((d9 - d15) + (d11 - d17));
    if (forced) {
        const real half = (number)0.5 * m.rho;
        m.jx += half * p.ax;
        m.jy += half * p.ay;
        m.jz += half * p.az;
    }
    m.inverse = (number)1 / m.rho;
    m.ux = m.jx * m.inverse;
    m.uy = m.jy * m.inverse;
    m.uz = m.jz * m.inverse;
    return m;
}

TAGFLOW_FN struct moments moments(const real f[Q], struct collision_parameters p, int forced)
{
    return moments_in(f, 1, p, forced);
}

/* Adds the acceleration that depends on the cell's velocity to the parameters, and half of it to the
 * moments. r: from resist_of. */
TAGFLOW_FN void resist(struct collision_parameters *p, struct moments *m, const double *r)
{
    const real v[3] = {m->ux, m->uy, m->uz}, half = (number)0.5 * m->rho;
    real a[3];
    resist_found(r, v, a);
    p->ax = p->ax + a[0];
    p->ay = p->ay + a[1];
    p->az = p->az + a[2];
    m->jx += half * a[0];
    m->jy += half * a[1];
    m->jz += half * a[2];
    m->ux = m->jx * m->inverse;
    m->uy = m->jy * m->inverse;
    m->uz = m->jz * m->inverse;
}

/* Moments c_a^2 c_b^2 and c_a c_b of the four diagonals of a plane. */
#define PLANE_xxyy(f) (((f)[7] + (f)[8]) + ((f)[13] + (f)[14]))
#define PLANE_xxzz(f) (((f)[9] + (f)[10]) + ((f)[15] + (f)[16]))
#define PLANE_yyzz(f) (((f)[11] + (f)[12]) + ((f)[17] + (f)[18]))
#define PLANE_xy(f) (((f)[7] + (f)[8]) - ((f)[13] + (f)[14]))
#define PLANE_xz(f) (((f)[9] + (f)[10]) - ((f)[15] + (f)[16]))
#define PLANE_yz(f) (((f)[11] + (f)[12]) - ((f)[17] + (f)[18]))

/* Second moments of the non-equilibrium part of the populations:
 *
 *   sum_i c_i c_i f_i - (drho/3 delta + rho u u) + (u F + F u)/2
 *
 * The last term removes the force's own stress (Guo, Zheng, Shi 2002, eqs. 18 and 20), so that the
 * result is -2/3 rho tau times the rate of strain, with or without a force. The diagonal is formed
 * as (rho u - F) u, with F = rho a. */
TAGFLOW_FN struct stress stress_beyond_equilibrium(const real f[Q], struct moments m,
                                                   struct collision_parameters p, int forced)
{
    struct stress n;
    const real xxyy = PLANE_xxyy(f), xxzz = PLANE_xxzz(f), yyzz = PLANE_yyzz(f);
    const real pressure = (number)(1.0 / 3) * m.drho;
    real jx = m.jx, jy = m.jy, jz = m.jz;
    n.xy = PLANE_xy(f) - jx * m.uy;
    n.xz = PLANE_xz(f) - jx * m.uz;
    n.yz = PLANE_yz(f) - jy * m.uz;
    if (forced) {
        const real gx = m.rho * p.ax, gy = m.rho * p.ay, gz = m.rho * p.az;
        n.xy += (number)0.5 * (gx * m.uy + gy * m.ux);
        n.xz += (number)0.5 * (gx * m.uz + gz * m.ux);
        n.yz += (number)0.5 * (gy * m.uz + gz * m.uy);
        jx -= gx;
        jy -= gy;
        jz -= gz;
    }
    n.xx = ((f[1] + f[2]) + (xxyy + xxzz)) - (pressure + jx * m.ux);
    n.yy = ((f[3] + f[4]) + (xxyy + yyzz)) - (pressure + jy * m.uy);
    n.zz = ((f[5] + f[6]) + (xxzz + yyzz)) - (pressure + jz * m.uz);
    return n;
}

#endif
