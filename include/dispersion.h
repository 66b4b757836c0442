/* The flux of a scalar with a mean gradient through all links of a box, in the coming step. The
 * definition is in src/measure/dispersion.h. */
#ifndef TAGFLOW_DISPERSION_H
#define TAGFLOW_DISPERSION_H

#include "heat.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Adds a fluid cell: what leaves it through links into cells that hold the set, with half of the
 * gradient's part, since it lies half-way along a link; the velocity on these links, half of which
 * belongs to the cell; and the scalar's value. */
TAGFLOW_FN void dispersion_of_cell(const struct view *v, int odd, int set, double scale, int x,
                                   int y, int z, struct dispersion *sum)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct around a = around(v, x, y, z);
    const cell_index n = owned_index(v, x, y, z);
    const int type = v->tags[n] & TAG_ROW;
    const struct scalar_row *const row = scalar_row(v, set, type);
    double flux[3] = {0, 0, 0}, velocity[3] = {0, 0, 0};
    if (!row->holds || v->rows[type].fluid == FLUID_none)
        return;
    const struct scalar_parameters q = scalar_parameters(row);
    const number other = set_value(v, row->from, odd, n, &a);
    struct carried k;
    number g[Q_AXES], out[Q_AXES];
    heat_flow(v, odd, n, &a, x, y, z, &k);
    set_arrived(v, set, odd, n, &a, g);
    const number t = scalar_value(g, q, other);
    scalar_collide(g, out, q, scalar_rates(q, k.subgrid, k.eddy), t, other, q.flow != 0, k.u);
    for (int to = 1; to < Q_AXES; to++) {
        const int axis = (to - 1) / 2;
        const double way = to & 1 ? 1 : -1, u = (double)k.u[axis];
        if (!type_holds(v, set, v->tags[n + neighbour(&a, c[to][0], c[to][1], c[to][2])]))
            continue;
        flux[axis] += way * (double)out[to] - row->gradient[axis] * (0.0625 + 0.25 * (way * u));
        velocity[axis] += 0.5 * u;
    }
    dispersion_add(sum, flux, velocity, (double)t, scale);
}

#endif
#endif
