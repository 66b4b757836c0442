/* Sponge layers: after collision, populations are pulled towards the equilibrium of a given state,
 *
 *   f*_i  ->  f*_i + s (f_i^eq(rho_0, u_0) - f*_i),
 *
 * with a strength s that grows smoothly along an axis, from 0 to its maximum at the end of the
 * layer. Waves are damped before they reach the boundary, and again after reflection. This is the
 * damping term of Israeli and Orszag (J. Comput. Phys. 41:115, 1981), applied to populations: it
 * damps sound, vortices and stress, with any collision operator, and vanishes where the flow has
 * the given state. Xu and Sagaut (J. Comput. Phys. 245:14, 2013) analyse such layers for the
 * lattice Boltzmann equation.
 *
 * In view.table: the 19 target populations, then the strengths of the block's cells along the axis,
 * then SPONGE_PAD zeros for vectors that reach beyond the end of a line of cells. */
#ifndef TAGFLOW_SPONGE_H
#define TAGFLOW_SPONGE_H

#include "slot.h"

enum { SPONGE_PAD = 16 };

TAGFLOW_FN const double *sponge_target(const struct view *v, const struct tag_row *row)
{
    return v->table + row->sponge_table;
}

/* Strengths of the line of cells at (y, z): cell x has [x] if the sponge's axis is x, else [0]. */
TAGFLOW_FN const double *sponge_of_row(const struct view *v, const struct tag_row *row, int y,
                                       int z)
{
    return sponge_target(v, row) + Q + (row->sponge == 2 ? y : row->sponge == 3 ? z : 0);
}

TAGFLOW_FN double sponge_of_cell(const struct view *v, const struct tag_row *row, int x, int y,
                                 int z)
{
    return sponge_of_row(v, row, y, z)[row->sponge == 1 ? x : 0];
}

#ifdef TAGFLOW_STORAGE

/* `one`: a density of 1 in the unit of `out`. */
TAGFLOW_FN void sponge_pull(const double target[Q], real strength, number one, real out[Q])
{
    out[0] = out[0] + strength * ((number)target[0] * one - out[0]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    out[i] = out[i] + strength * ((number)target[i] * one - out[i]);                               \
    out[j] = out[j] + strength * ((number)target[j] * one - out[j]);
    PAIR_LIST(X)
#undef X
}

#endif
#endif
