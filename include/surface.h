/* Surfaces of bodies that cross links anywhere, that may rotate, or whose force is asked for.
 *
 * The fluid cells beside them are few. They are in a list (struct near_cell), with the fraction q
 * of each link at which it meets the surface. A separate kernel steps the cells whose type says so;
 * as each cell stores where it loaded, the order of kernels does not matter.
 *
 * The rule uses populations of one cell and one step only. With i the direction into the wall, o
 * the opposite one, + and - the even and odd part of the pair, * after collision, g = f*_i^- -
 * f_i^-, s = 1 - b, j the momentum without force:
 *
 *   f_o(t+1) = (2qs - b) f*_i + b f*_o + (1 - 2qs) f_i + (b + 1 - 2qs) g
 *              - 2s ((1 - 4 q^2) (1 - omega-/2) (f_i^- - 3 w_i c_i.j) + 3 w_i c_i.u_wall)
 *
 * It belongs to the family of Marson, Thorimbert, Chopard, Ginzburg, Latt, Phys. Rev. E 103:053308
 * (2021). The first terms combine what leaves and what the cell holds, weighted so that a linear
 * flow has the wall's velocity at q. The multiple of the odd part that carries no momentum keeps
 * the wall in place for any viscosity. It follows from the steady recurrence of two relaxation
 * times (Ginzburg, d'Humieres, Phys. Rev. E 68:066614, 2003): the rule closes a link with e- + q
 * de- + q^2/2 d2e- = 3 w_i c_i.u_wall. The term with q^2 is exact in a plane flow where magic =
 * 3/16. At q = 1/2 the rule is half-way bounce-back.
 *
 * The rule also takes the part of f_i^- that inertia makes for curvature of the flow: the velocity
 * at q then has an error of the order of q^2 magic u / nu times its change over a cell
 * (docs/bodies.md, "How many cells"). That part follows from the rate of strain S of the cell, -w_i
 * (9 (c.u)(c.S.c) - 6 u.S.c) / omega-, but subtracting it did not help cylinders in two dimensions:
 * with 6 cells across the lift was 0.044 instead of 0.055, with 9 cells 0.024 instead of 0.014, and
 * at u / nu = 7 the flow diverged. Keeping the cell's mass did not help either.
 *
 * b is free: 1 - b is the share of the wall's velocity that a step imposes. With b below 3/4 near q
 * = 0 and q = 1 short waves grow (eigenvalues of a layer between two walls, tau 0.501 to 3, magic
 * 0.001 to 0.5: with 3/4 none is above 1). So b is 3 |1 - 2q|, at most 3/4. */
#ifndef TAGFLOW_SURFACE_H
#define TAGFLOW_SURFACE_H

#include "exact.h"
#include "open.h"

/* Force and torque of the fluid on a body in one step, lattice units: total force, its pressure
 * part, torque about the pivot of the cell type. */
struct forces {
    struct exact_sum force[3], pressure[3], torque[3];
    int64_t bad; /* links that were left out */
};

TAGFLOW_FN struct forces forces_none(void)
{
    const struct forces f = {{{0}, {0}, {0}}, {{0}, {0}, {0}}, {{0}, {0}, {0}}, 0};
    return f;
}

TAGFLOW_FN void forces_join(struct forces *f, const struct forces *other)
{
    for (int a = 0; a < 3; a++) {
        f->force[a].units += other->force[a].units;
        f->pressure[a].units += other->pressure[a].units;
        f->torque[a].units += other->torque[a].units;
    }
    f->bad += other->bad;
}

/* The velocity of a body at distance vector `arm` from its pivot: u + w x arm. */
TAGFLOW_FN void turning_velocity(const double velocity[3], const double w[3], const double arm[3],
                                 double u[3])
{
    u[0] = velocity[0] + (w[1] * arm[2] - w[2] * arm[1]);
    u[1] = velocity[1] + (w[2] * arm[0] - w[0] * arm[2]);
    u[2] = velocity[2] + (w[0] * arm[1] - w[1] * arm[0]);
}

/* The vector from the pivot to the point where the link of cell `at` along c meets the surface, at
 * fraction q; of periodic images the nearest. */
TAGFLOW_FN void surface_arm(const struct view *v, const struct tag_row *row, const int at[3],
                            const int c[3], double q, double arm[3])
{
    for (int a = 0; a < 3; a++) {
        const double half = 0.5 * row->period[a];
        arm[a] = ((double)(v->lo[a] + at[a]) + 0.5 + q * c[a]) - row->pivot[a];
        if (half > 0 && arm[a] > half)
            arm[a] -= row->period[a];
        else if (half > 0 && arm[a] < -half)
            arm[a] += row->period[a];
    }
}

/* The velocity of the surface at `arm`. */
TAGFLOW_FN void surface_velocity(const struct tag_row *row, const double arm[3], double u[3])
{
    turning_velocity(row->wall_velocity, row->spin, arm, u);
}

/* The velocity of a wall at this step, half-way between the cell `at` and its neighbour along c;
 * row: the wall's type. */
TAGFLOW_FN void wall_half_way(const struct view *v, const struct tag_row *row, const int at[3],
                              const int c[3], double u[3])
{
    double arm[3];
    surface_arm(v, row, at, c, 0.5, arm);
    surface_velocity(row, arm, u);
    for (int a = 0; a < 3; a++)
        u[a] *= v->signal[row->signal];
}

#ifdef TAGFLOW_STORAGE

/* The relaxation rate of odd moments that carry no momentum. */
TAGFLOW_FN real surface_rate(int collision, struct collision_parameters p, struct rates r)
{
    switch (collision_odd_rate(collision)) {
    case ODD_shear:
        return r.even;
    case ODD_magic:
        return r.odd;
    case ODD_one:
        return real_of(1);
    default:
        return real_of(p.omega_third);
    }
}

/* The population that comes back along l->in; l->given_u is the surface's velocity. */
TAGFLOW_FN real surface_leave(const struct leaving *l, real q, real omega)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int to = opposite(l->in);
    const number w = weight_of(to), half = (number)0.5, one = (number)1;
    const real from_half = real_if_less(q, real_of(half), one - (number)2 * q, (number)2 * q - one);
    const real wanted = (number)3 * from_half, most = real_of((number)0.75);
    const real b = real_if_less(wanted, most, wanted, most), s = one - b,
               reach = (number)2 * (q * s);
    const real odd = half * (l->f_out - l->f_in);
    const real g = half * (l->c_out - l->c_in) - odd;
    const real ghost = odd - (number)3 * (w * open_dot(c[to], l->j));
    const real wall = (number)3 * (w * open_dot(c[to], l->given_u));
    const real kept = ((reach - b) * l->c_out + b * l->c_in) + (one - reach) * l->f_out;
    const real rest = ((one - (number)4 * (q * q)) * (one - half * omega)) * ghost;
    return (kept + (b + one - reach) * g) - (number)2 * (s * (rest + wall));
}

#ifndef TAGFLOW_LANES

/* Terms of at least this size mean that the flow has diverged. They are left out and counted, as
 * the sums have room for less than 2^22. */
#define FORCES_SANE 1e5

TAGFLOW_FN int forces_sane(const double p[3], const double torque[3])
{
    int sane = 1;
    for (int a = 0; a < 3; a++)
        sane &= (p[a] < FORCES_SANE) & (p[a] > -FORCES_SANE) & (torque[a] < FORCES_SANE) &
                (torque[a] > -FORCES_SANE);
    return sane;
}

/* Adds the momentum that a link gives to a body: `out` left along c, `back` comes back. Momentum
 * exchange, relative to the wall's velocity (Wen, Zhang, Tu, Wang, Fang, J. Comput. Phys. 266:161,
 * 2014). The weights that shifted populations lack sum to zero over a closed surface: they are the
 * pressure of fluid with density 1. */
TAGFLOW_FN void forces_add(struct forces *f, int to, double out, double back, double drho,
                           const double u[3], const double arm[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const double pressure = (double)weight_of(to) * (2 * drho);
    double p[3], torque[3];
    for (int a = 0; a < 3; a++)
        p[a] = c[to][a] * (out + back) - u[a] * (out - back);
    torque[0] = arm[1] * p[2] - arm[2] * p[1];
    torque[1] = arm[2] * p[0] - arm[0] * p[2];
    torque[2] = arm[0] * p[1] - arm[1] * p[0];
    if (!forces_sane(p, torque) || !(pressure < FORCES_SANE && pressure > -FORCES_SANE)) {
        f->bad++;
        return;
    }
    for (int a = 0; a < 3; a++) {
        exact_add(&f->force[a], p[a]);
        exact_add(&f->pressure[a], c[to][a] * pressure);
        exact_add(&f->torque[a], torque[a]);
    }
}

#endif
#endif
#endif
