/* Surfaces of bodies that lie anywhere on their links, may turn, or are asked for the force on
 * them.
 *
 * The fluid cells beside them are few and in a list (struct near_cell), each with the part q of
 * every link at which it meets the surface. A kernel of its own steps those whose row says so: as a
 * cell stores where it loaded, the order does not matter.
 *
 * The rule takes populations of one cell and time alone. With i the direction into the wall, o the
 * opposite one, + and - for the even and odd part of the pair, * for collided, g = f*_i^- - f_i^-,
 * s = 1 - b, j the momentum without force:
 *
 *   f_o(t+1) = (2qs - b) f*_i + b f*_o + (1 - 2qs) f_i + (b + 1 - 2qs) g
 *              - 2s ((1 - 4 q^2) (1 - omega-/2) (f_i^- - 3 w_i c_i.j) + 3 w_i c_i.u_wall)
 *
 * It is one of the family of Marson, Thorimbert, Chopard, Ginzburg, Latt, Phys. Rev. E 103:053308
 * (2021): what leaves and what the cell holds, weighted so that for a linear flow the velocity of
 * the wall is met at q, and a multiple of the odd part that carries no momentum, by which the wall
 * stays where it is for any viscosity. That multiple follows from the steady recurrence of two
 * relaxation times (Ginzburg, d'Humieres, Phys. Rev. E 68:066614, 2003): the rule closes a link
 * with e- + q de- + q^2/2 d2e- = 3 w_i c_i.u_wall, the last term exact in a plane flow where magic
 * = 3/16, and is half-way bounce-back at q = 1/2.
 *
 * What inertia has in f_i^- is taken for curvature of the flow, too: the velocity met at q is then
 * off by the order of q^2 magic u / nu times its change over a cell (docs/bodies.md, "How many
 * cells"). Its share can be told from the rate of strain S of the cell, -w_i (9 (c.u)(c.S.c) -
 * 6 u.S.c) / omega-, but taking it out did not help cylinders in two dimensions: lift 0.044 for
 * 0.055 with 6 cells across, 0.024 for 0.014 with 9, and at u / nu = 7 the flow diverged. Nor did
 * leaving the cell's mass as it was.
 *
 * b is free: 1 - b is how much of the wall's velocity a step imposes. Below 3/4 near q = 0 and q =
 * 1 short waves grow (eigenvalues of a layer between two walls, tau 0.501 to 3, magic 0.001 to 0.5:
 * with 3/4 none is above 1). So b is 3 |1 - 2q|, at most 3/4. */
#ifndef TAGFLOW_SURFACE_H
#define TAGFLOW_SURFACE_H

#include "exact.h"
#include "open.h"

/* What a body gets from the fluid in one step, in units of the lattice: force, the part of it that
 * pressure makes, torque about the row's pivot. */
struct forces {
    struct exact_sum force[3], pressure[3], torque[3];
};

TAGFLOW_FN struct forces forces_none(void)
{
    const struct forces f = {{{0}, {0}, {0}}, {{0}, {0}, {0}}, {{0}, {0}, {0}}};
    return f;
}

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* From the pivot to where the link of cell `at` along c meets the surface; of periodic images the
 * nearest. */
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

/* Its velocity there. */
TAGFLOW_FN void surface_velocity(const struct tag_row *row, const double arm[3], double u[3])
{
    const double *const w = row->spin;
    u[0] = row->wall_velocity[0] + (w[1] * arm[2] - w[2] * arm[1]);
    u[1] = row->wall_velocity[1] + (w[2] * arm[0] - w[0] * arm[2]);
    u[2] = row->wall_velocity[2] + (w[0] * arm[1] - w[1] * arm[0]);
}

/* The rate at which odd moments without momentum relax. */
TAGFLOW_FN real surface_rate(int collision, struct collision_parameters p, struct rates r)
{
    switch (collision) {
    case COLLISION_bgk:
        return r.even;
    case COLLISION_trt:
        return r.odd;
    case COLLISION_gauss_hermite:
    case COLLISION_rr:
        return (real)1;
    default:
        return (real)p.omega_third;
    }
}

/* What comes back along l->in; l->given_u is the surface's velocity. */
TAGFLOW_FN real surface_leave(const struct leaving *l, real q, real omega)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int to = opposite(l->in);
    const real w = weight_of(to), half = (real)0.5, one = (real)1;
    const real from_half = q < half ? one - (real)2 * q : (real)2 * q - one;
    const real wanted = (real)3 * from_half, most = (real)0.75;
    const real b = wanted < most ? wanted : most, s = one - b, reach = (real)2 * (q * s);
    const real odd = half * (l->f_out - l->f_in);
    const real g = half * (l->c_out - l->c_in) - odd;
    const real ghost = odd - (real)3 * (w * open_dot(c[to], l->j));
    const real wall = (real)3 * (w * open_dot(c[to], l->given_u));
    const real kept = ((reach - b) * l->c_out + b * l->c_in) + (one - reach) * l->f_out;
    const real rest = ((one - (real)4 * (q * q)) * (one - half * omega)) * ghost;
    return (kept + (b + one - reach) * g) - (real)2 * (s * (rest + wall));
}

/* Terms at least so large are of a flow that has diverged: they are left out, as sums have room for
 * less than 2^22. */
#define FORCES_SANE 1e5

TAGFLOW_FN int forces_sane(const double p[3], const double torque[3])
{
    int sane = 1;
    for (int a = 0; a < 3; a++)
        sane &= (p[a] < FORCES_SANE) & (p[a] > -FORCES_SANE) & (torque[a] < FORCES_SANE) &
                (torque[a] > -FORCES_SANE);
    return sane;
}

/* Adds what a link gives to a body: `out` left along c, `back` comes back; momentum exchange with
 * the wall's velocity taken off (Wen, Zhang, Tu, Wang, Fang, J. Comput. Phys. 266:161, 2014). The
 * weights that populations have in store add up to nothing over a closed surface: they stand for
 * the pressure of fluid with density 1. */
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
    if (!forces_sane(p, torque) || !(pressure < FORCES_SANE && pressure > -FORCES_SANE))
        return;
    for (int a = 0; a < 3; a++) {
        exact_add(&f->force[a], p[a]);
        exact_add(&f->pressure[a], c[to][a] * pressure);
        exact_add(&f->torque[a], torque[a]);
    }
}

#endif
#endif
