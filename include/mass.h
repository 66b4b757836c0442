/* The mass of the fluid in a closed box, and a change of its density everywhere at once; see
 * solver/hold.h. */
#ifndef TAGFLOW_MASS_H
#define TAGFLOW_MASS_H

#include "cell.h"
#include "sums.h"

/* Sum of rho - 1; cells that are not sane are left out and counted. */
struct mass {
    struct exact_sum drho;
    int64_t bad; /* cells */
};

TAGFLOW_FN struct mass mass_none(void)
{
    const struct mass m = {{0}, 0};
    return m;
}

TAGFLOW_FN int mass_sane(double drho)
{
    return (drho < FLOW_SANE) & (drho > -FLOW_SANE);
}

TAGFLOW_FN void mass_add(struct mass *m, double drho)
{
    if (mass_sane(drho))
        exact_add(&m->drho, drho);
    else
        m->bad++;
}

TAGFLOW_FN void mass_join(struct mass *m, const struct mass *other)
{
    m->drho.units += other->drho.units;
    m->bad += other->bad;
}

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Sets at[i] to where population i lies that the coming step loads, as cell_arrived() finds it. */
TAGFLOW_FN void cell_lies(const struct view *v, int odd, int x, int y, int z, stored *at[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct slots s = slots_at(v, odd, sizeof(stored));
    const struct around a = around(v, x, y, z);
    const cell_index n = owned_index(v, x, y, z), place = view_place(v, n);
    const uint32_t links = v->tags[n] & TAG_BESIDE ? links_from_walls(v, n, &a) : 0;
    at[0] = (stored *)s.rest + place;
    for (int i = 1; i < Q; i++) {
        const int pair = (i - 1) / 2, wall = links >> i & 1, in_own = (i & 1) != wall;
        stored *const slot = (stored *)(in_own ? s.own[pair] : s.next[pair]);
        at[i] = slot + (i & 1 ? place : next_to(v, pair, n, &a));
    }
    for (int i = 1; i < Q; i++) {
        int beside[3], from = 0;
        if (!(links >> i & 1))
            continue;
        const struct tag_row *const rule =
            &v->rows[v->tags[n + neighbour(&a, -c[i][0], -c[i][1], -c[i][2])] & TAG_ROW];
        if (rule->boundary == BOUNDARY_slip)
            from = slip_from(v, rule, i, x, y, z, beside);
        if (from)
            at[i] = (stored *)load_slot(&s, from) +
                    load_place(v, from, beside[0], beside[1], beside[2]);
    }
}

/* Change of the stored population i for a change of the density by drho. */
TAGFLOW_FN number raise_by(double drho, int i)
{
    return weight_of(i) * ((number)drho * STORED_ONE);
}

TAGFLOW_FN stored raised(stored f, number by)
{
    return stored_raw(raw_of(f) + by);
}

#endif
#endif
