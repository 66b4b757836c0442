/* What leaves through a cap of a mesh, see surface.h. */
#ifndef TAGFLOW_CAP_FLOW_H
#define TAGFLOW_CAP_FLOW_H

#include "cell.h"
#include "sums.h"

/* Sums over the links into a cap in a step, lattice units: mass and volume that leave, and the
 * density - 1 of the cells times the area of the cap that a link stands for. */
struct cap_flow {
    struct exact_sum mass, volume, drho;
    int64_t bad; /* links that were left out: their values are not sane */
};

TAGFLOW_FN struct cap_flow cap_flow_none(void)
{
    const struct cap_flow f = {{0}, {0}, {0}, 0};
    return f;
}

TAGFLOW_FN void cap_flow_join(struct cap_flow *f, const struct cap_flow *other)
{
    f->mass.units += other->mass.units;
    f->volume.units += other->volume.units;
    f->drho.units += other->drho.units;
    f->bad += other->bad;
}

/* The area of a cap with unit normal n, into the fluid, that a link stands for, whose population
 * `in` comes back. */
TAGFLOW_FN double cap_area(int in, const double n[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    return 6 * LATTICE_WEIGHT(double, in) * (c[in][0] * n[0] + c[in][1] * n[1] + c[in][2] * n[2]);
}

TAGFLOW_FN int cap_flow_sane(double x)
{
    return (x < FLOW_SANE) & (x > -FLOW_SANE);
}

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Adds the links of a cell of the list into cells of this type, the cap's, in the coming step. */
TAGFLOW_FN void near_cap_flow(const struct view *v, int odd, const struct near_cell *cell, int type,
                              struct cap_flow *sum)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct slots slots = slots_at(v, odd, sizeof(stored));
    const int *const at = cell->at;
    uint32_t links = 0;
    real f[Q], out[Q], back[Q];
    struct carried k;
    for (int in = 1; in < Q; in++) {
        const int to = opposite(in);
        if (!(cell->links >> in & 1))
            continue;
        const uint8_t tag =
            v->tags[view_index(v, at[0] + c[to][0], at[1] + c[to][1], at[2] + c[to][2])];
        links |= (uint32_t)((tag & TAG_ROW) == type) << in;
    }
    if (!links || !view_fluid(v, view_index(v, at[0], at[1], at[2])))
        return;
    const struct tag_row *const row = near_leaves(v, &slots, odd, cell, f, out, back, &k);
    const double drho = (double)moments(f, collision_parameters(v, row), 0).drho;
    for (int in = 1; in < Q; in++) {
        const int to = opposite(in);
        if (!(links >> in & 1))
            continue;
        const double mass = (double)out[to] - (double)back[to], volume = mass / (1 + drho);
        if (!cap_flow_sane(mass) || !cap_flow_sane(volume) || !cap_flow_sane(drho)) {
            sum->bad++;
            continue;
        }
        exact_add(&sum->mass, mass);
        exact_add(&sum->volume, volume);
        exact_add(&sum->drho, drho * cap_area(in, v->rows[type].wall_velocity));
    }
}

#endif
#endif
