/* Subgrid models: what turbulence below the size of a cell adds to the viscosity. One row in
 * SUBGRID_LIST and one function subgrid_<name> each; between boundary and collision. */
#ifndef TAGFLOW_SUBGRID_H
#define TAGFLOW_SUBGRID_H

/* clang-format off */
#define SUBGRID_LIST(X)                                                                           \
    X(none,        "the fluid's own viscosity")                                                   \
    X(smagorinsky, "eddy viscosity (constant cells)^2 |S| (Smagorinsky 1963; Hou et al. 1996)")
/* clang-format on */

enum subgrid {
#define X(name, meaning) SUBGRID_##name,
    SUBGRID_LIST(X)
#undef X
        SUBGRIDS
};

#ifdef TAGFLOW_STORAGE

#include "collision/parameters.h"

/* The factor by which wall functions of the place scale the model's constant squared, of cells from
 * (x, y, z) on: damped by the walls across each axis, 1 where there is none. Values of the row's
 * part of the table: [n[0] + DAMPING_GUARD][n[1]][n[2]], vectors may be read beyond the first. */
TAGFLOW_FN scalar damping_of_row(const struct view *v, const struct tag_row *row, int y, int z)
{
    const double *const table = v->table + row->damping + (size_t)v->n[0] + (size_t)DAMPING_GUARD;
    return (scalar)table[y] * (scalar)table[v->n[1] + z];
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

/* With |S| = sqrt(2 S:S) and S = -3/(2 rho tau) N, N the second moments beyond equilibrium and tau
 * the relaxation time wanted, tau - tau_0 = 3 C^2 |S| is quadratic in tau (Hou, Sterling, Chen,
 * Doolen, Fields Inst. Commun. 6:151, 1996):
 *
 *   tau = (tau_0 + sqrt(tau_0^2 + 18 sqrt(2) C^2 |N| / rho)) / 2,   |N| = sqrt(N:N)
 *
 * written in rates, so that without strain the rate is the fluid's to the last bit. TRT's magic
 * parameter stays. */
TAGFLOW_FN struct rates subgrid_smagorinsky(const real f[Q], struct moments m,
                                            struct collision_parameters p, real damping, int forced)
{
    const struct stress n = stress_beyond_equilibrium(f, m, p, forced);
    const real square = ((n.xx * n.xx + n.yy * n.yy) + n.zz * n.zz) +
                        (scalar)2 * ((n.xy * n.xy + n.xz * n.xz) + n.yz * n.yz);
    const scalar strength = p.smagorinsky * (p.omega_even * p.omega_even);
    const real ratio = (strength * damping) * (real_sqrt(square) * m.inverse);
    struct rates r;
    r.even = ((scalar)2 * p.omega_even) / ((scalar)1 + real_sqrt((scalar)1 + ratio));
    /* 1 / (magic / (tau - 1/2) + 1/2) */
    const real rest = (scalar)1 - (scalar)0.5 * r.even;
    r.odd = ((scalar)2 * rest) / (((scalar)2 * p.magic) * r.even + rest);
    return r;
}

/* The rates of a cell by the model of its row. */
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

#endif
#endif
