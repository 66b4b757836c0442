/* Models of a cell's viscosity: eddies smaller than a cell, or a law of the fluid. One line in
 * SUBGRID_LIST and one function subgrid_<name> each; called between boundary rules and collision.
 */
#ifndef TAGFLOW_SUBGRID_H
#define TAGFLOW_SUBGRID_H

#include "platform.h"

/* clang-format off */
#define SUBGRID_LIST(X)                                                                           \
    X(none,        "the fluid's own viscosity")                                                   \
    X(smagorinsky, "eddy viscosity (constant cells)^2 |S| (Smagorinsky 1963; Hou et al. 1996)") \
    X(law,         "a function of the shear rate, see law.h")
/* clang-format on */

enum subgrid {
#define X(name, meaning) SUBGRID_##name,
    SUBGRID_LIST(X)
#undef X
        SUBGRIDS
};

/* Does the model's viscosity mix scalars, too? */
TAGFLOW_FN int subgrid_mixes(int subgrid)
{
    return subgrid == SUBGRID_smagorinsky;
}

#ifdef TAGFLOW_STORAGE

#include "collision/parameters.h"

/* The factor on the model's constant squared, from wall functions. It is a product of one factor
 * per axis, which is 1 on axes without walls. In view.table from row.damping on: [n[0] +
 * DAMPING_GUARD], [n[1]] and [n[2]] factors along x, y and z, padded for whole-vector reads along
 * x. This function returns the factors of y and z, damping_along those of x. */
TAGFLOW_FN number damping_of_row(const struct view *v, const struct tag_row *row, int y, int z)
{
    const double *const table = v->table + row->damping + (size_t)v->n[0] + (size_t)DAMPING_GUARD;
    return (number)table[y] * (number)table[v->n[1] + z];
}

TAGFLOW_FN const double *damping_along(const struct view *v, const struct tag_row *row)
{
    return v->table + row->damping;
}

TAGFLOW_FN struct rates subgrid_none(const real f[Q], struct moments m,
                                     struct collision_parameters p, real damping, int forced)
{
    struct rates r;
    (void)f, (void)m, (void)damping, (void)forced;
    r.even = (real){0} + p.omega_even;
    r.odd = (real){0} + p.omega_odd;
    return r;
}

/* sqrt(N:N) / rho, N the non-equilibrium second moments. */
TAGFLOW_FN real relative_stress(const real f[Q], struct moments m, struct collision_parameters p,
                                int forced)
{
    const struct stress n = stress_beyond_equilibrium(f, m, p, forced);
    const real square = ((n.xx * n.xx + n.yy * n.yy) + n.zz * n.zz) +
                        (number)2 * ((n.xy * n.xy + n.xz * n.xz) + n.yz * n.yz);
    return real_sqrt(square) * m.inverse;
}

/* Rates that keep the magic parameter, magic = (1/even - 1/2)(1/odd - 1/2). */
TAGFLOW_FN struct rates rates_by_magic(real even, number magic)
{
    struct rates r;
    const real rest = (number)1 - (number)0.5 * even;
    r.even = even;
    r.odd = ((number)2 * rest) / (((number)2 * magic) * even + rest);
    return r;
}

/* With |S| = sqrt(2 S:S) and S = -3/(2 rho tau) N, N the non-equilibrium second moments and tau the
 * unknown relaxation time, tau - tau_0 = 3 C^2 |S| is quadratic in tau (Hou, Sterling, Chen,
 * Doolen, Fields Inst. Commun. 6:151, 1996):
 *
 *   tau = (tau_0 + sqrt(tau_0^2 + 18 sqrt(2) C^2 |N| / rho)) / 2,   |N| = sqrt(N:N)
 *
 * The code uses rates, so that without strain the rate is exactly the fluid's. TRT's magic
 * parameter is kept. */
TAGFLOW_FN struct rates subgrid_smagorinsky(const real f[Q], struct moments m,
                                            struct collision_parameters p, real damping, int forced)
{
    const number strength = p.smagorinsky * (p.omega_even * p.omega_even);
    const real ratio = (strength * damping) * relative_stress(f, m, p, forced);
    return rates_by_magic(((number)2 * p.omega_even) / ((number)1 + real_sqrt((number)1 + ratio)),
                          p.magic);
}

TAGFLOW_FN struct rates subgrid_law(const real f[Q], struct moments m,
                                    struct collision_parameters p, real damping, int forced)
{
    (void)damping;
    return rates_by_magic(law_rate(p.law, relative_stress(f, m, p, forced)), p.magic);
}

/* The rates of a cell with one subgrid model. */
TAGFLOW_FN struct rates subgrid_rates(int subgrid, const real f[Q], struct moments m,
                                      struct collision_parameters p, real damping, int forced)
{
    switch (subgrid) {
#define X(name, meaning)                                                                           \
    case SUBGRID_##name:                                                                           \
        return subgrid_##name(f, m, p, damping, forced);
        SUBGRID_LIST(X)
#undef X
    default:
        return subgrid_none(f, m, p, damping, forced);
    }
}

/* The eddy viscosity of a cell whose rate of shear the model has changed to `even`. */
TAGFLOW_FN real eddy_viscosity(struct collision_parameters p, real even)
{
    return ((number)1 / even - (number)1 / p.omega_even) * (number)(1.0 / 3);
}

#endif
#endif
