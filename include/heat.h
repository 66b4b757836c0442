/* Flux of a scalar through a surface in the coming step, and single values. The definition of the
 * flux is in src/measure/heat.h. */
#ifndef TAGFLOW_HEAT_H
#define TAGFLOW_HEAT_H

#include "cell.h"
#include "scalar_sums.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* The populations of a set in cell n, which holds it. */
TAGFLOW_FN void set_arrived(const struct view *v, int set, int odd, cell_index n,
                            const struct around *a, number g[Q_AXES])
{
    const struct set_places p = set_places_of(v, n, a);
    const struct set_slots s = set_slots_at(v, set, odd);
    set_load(&s, &p, set_links(v, set, n, a), g);
}

/* The value of a scalar in cell n, as the step has it; 0 where no cell holds it, and for the flow.
 */
TAGFLOW_RARE number set_value(const struct view *v, int set, int odd, cell_index n,
                              const struct around *a)
{
    const struct set_places p = set_places_of(v, n, a);
    return set == SET_flow ? 0 : cell_value(v, set, odd, n, a, &p);
}

/* The flow that the coming step of the scalars of cell n finds. */
TAGFLOW_FN void heat_flow(const struct view *v, int odd, cell_index n, const struct around *a,
                          int x, int y, int z, struct carried *k)
{
    const struct slots slots = slots_at(v, odd, sizeof(stored));
    const struct tag_row *const row = &v->rows[v->tags[n] & TAG_ROW];
    uint32_t links = 0;
    k->subgrid = 0;
    k->eddy = k->u[0] = k->u[1] = k->u[2] = 0;
    if (!row->fluid)
        return;
    struct collision_parameters p = collision_parameters(v, row);
    const int forced = row->forced != 0;
    const number lift = v->scalars.lifts ? cell_lift(v, odd, n, a) : 0;
    real f[Q];
    if (v->tags[n] & TAG_BESIDE)
        links = links_from_walls(v, n, a);
    cell_arrived(v, &slots, x, y, z, links, lift, f);
    if (v->scalars.lifts)
        accelerate(&p, v, lift);
    struct moments m = moments(f, p, forced);
    if (row->resist)
        resist(&p, &m, resist_of(v, row));
    const real damping = cell_damping(v, row, row->subgrid, x, y, z);
    carried_flow(k, m, p, subgrid_rates(row->subgrid, f, m, p, damping, forced), row->subgrid);
}

/* Do cells of this type lie behind the surface? surface: 1 + number of a body, or minus the number
 * of a face or patch. */
TAGFLOW_FN int heat_behind(const struct view *v, int set, int surface, int type)
{
    return surface > 0 ? v->rows[type].body == surface
                       : scalar_row(v, set, type)->opening == -surface;
}

/* Adds a cell's links. A link between two cells that hold the set is counted by the cell inside the
 * body. near: as for link_back(). */
TAGFLOW_FN void heat_of_cell(const struct view *v, int odd, int set, int surface, int x, int y,
                             int z, const struct near_cell *near, struct heat *sum)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct around a = around(v, x, y, z);
    const cell_index n = owned_index(v, x, y, z);
    const int type = v->tags[n] & TAG_ROW, inside = heat_behind(v, set, surface, type);
    const struct scalar_row *const row = scalar_row(v, set, type);
    uint32_t through = 0;
    if (!row->holds)
        return;
    for (int in = 1; in < Q_AXES; in++) {
        const int *const to = c[opposite(in)];
        const int other = v->tags[n + neighbour(&a, to[0], to[1], to[2])] & TAG_ROW;
        const int behind = heat_behind(v, set, surface, other);
        if (inside ? !behind && type_holds(v, set, other) : behind)
            through |= 1u << in;
    }
    if (!through)
        return;
    const struct scalar_parameters q = scalar_parameters(row);
    const uint32_t links = set_links(v, set, n, &a);
    const number other = set_value(v, row->from, odd, n, &a);
    struct carried k;
    number g[Q_AXES], out[Q_AXES];
    heat_flow(v, odd, n, &a, x, y, z, &k);
    set_arrived(v, set, odd, n, &a, g);
    const number t = scalar_value(g, q, other);
    scalar_leave(g, out, q, scalar_rates(q, k.subgrid, k.eddy), scalar_range(v, set), t, other,
                 q.flow != 0, k.u);
    const struct scalar_cell cell =
        scalar_cell(q, n, t, scalar_conductivity(q, k.subgrid, k.eddy), k.u);
    for (int in = 1; in < Q_AXES; in++) {
        const int *const to = c[opposite(in)];
        const set_stored left = (set_stored)out[opposite(in)];
        if (!(through >> in & 1))
            continue;
        const int wall = v->tags[n + neighbour(&a, to[0], to[1], to[2])] & TAG_ROW;
        sum->links += inside || links >> in & 1;
        if (links >> in & 1)
            heat_add(sum,
                     (double)link_back(v, scalar_row(v, set, wall), in, g, out, left, cell, near) -
                         (double)left);
        else
            heat_add(sum, inside ? (double)left : -(double)left);
    }
}

#endif
#endif
