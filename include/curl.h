/* Density, velocity and its curl, of single cells. */
#ifndef TAGFLOW_CELL_CURL_H
#define TAGFLOW_CELL_CURL_H

#include "cell.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Density - 1 and velocity; zeros for a cell that is not fluid. In double for every variant, so
 * that output adds no rounding of its own. open: there may be open boundaries, scalars, and
 * accelerations that depend on the velocity. */
TAGFLOW_SHARED void flow_of(const struct view *v, int odd, int open, int x, int y, int z,
                            double flow[4])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const stored *const populations = (const stored *)v->set[SET_flow].populations;
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    const struct tag_row *const row = &v->rows[tag & TAG_ROW];
    const struct slots slots = slots_at(v, odd, sizeof(stored));
    double drho = 0, j[3] = {0, 0, 0};
    const int beside = open && (tag & TAG_BESIDE);
    real arrived[Q];
    number lift = 0;
    if (row->fluid && open && v->scalars.lifts) {
        const struct around a = around(v, x, y, z);
        lift = rare_lift(v, odd, view_index(v, x, y, z), &a);
    }
    if (row->fluid && beside) {
        const struct around a = around(v, x, y, z);
        const uint32_t links = links_from_walls(v, view_index(v, x, y, z), &a);
        cell_arrived(v, &slots, x, y, z, links, lift, arrived);
    }
    if (row->fluid)
        for (int i = 0; i < Q; i++) {
            const double f =
                beside
                    ? (double)arrived[i]
                    : (double)value_of(populations[closed_address(v, SET_flow, odd, i, x, y, z)]);
            drho += f;
            for (int k = 0; k < 3; k++)
                j[k] = c[i][k] > 0 ? j[k] + f : c[i][k] < 0 ? j[k] - f : j[k];
        }
    flow[0] = drho;
    for (int k = 0; k < 3; k++)
        flow[1 + k] = row->fluid ? j[k] / (1 + drho) + 0.5 * view_acceleration(v, row, k) : 0;
    for (int k = 0; k < 3 && open && v->scalars.lifts && row->fluid; k++)
        flow[1 + k] += 0.5 * ((double)lift * v->scalars.gravity[k]);
    if (open && row->resist)
        resist_slows(v, row, flow + 1);
}

#endif

/* Velocities of neighbour ranks' cells beside the block: one layer per face of an axis with ghost
 * layers, in the order xmin xmax ymin ymax zmin zmax, each [cells of the layer, the axis with the
 * smaller letter fastest][3]. Returns the number of a face's first cell among all; for face 6, the
 * number of cells. */
TAGFLOW_FN size_t layer_first(const struct view *v, int face)
{
    const size_t nx = (size_t)v->n[0], ny = (size_t)v->n[1], nz = (size_t)v->n[2];
    const size_t x = v->ghost[0] ? ny * nz : 0, y = v->ghost[1] ? nx * nz : 0,
                 z = v->ghost[2] ? nx * ny : 0;
    return (face > 0 ? x : 0) + (face > 1 ? x : 0) + (face > 2 ? y : 0) + (face > 3 ? y : 0) +
           (face > 4 ? z : 0) + (face > 5 ? z : 0);
}

TAGFLOW_FN size_t layers_bytes(const struct view *v)
{
    return 3 * layer_first(v, 6) * sizeof(double);
}

/* Number of the cell beside (x, y, z) in the layer of this axis and side. */
TAGFLOW_FN size_t layer_cell(const struct view *v, int axis, int side, int x, int y, int z)
{
    const size_t cell = axis == 0   ? (size_t)z * (size_t)v->n[1] + (size_t)y
                        : axis == 1 ? (size_t)z * (size_t)v->n[0] + (size_t)x
                                    : (size_t)y * (size_t)v->n[0] + (size_t)x;
    return layer_first(v, 2 * axis + side) + cell;
}

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Velocity at the neighbour of a fluid cell with velocity u, along an axis. A neighbour that is not
 * fluid gets 2 u_wall - u, so that the wall's velocity is half-way between the two; beyond a plane
 * of symmetry it gets u mirrored. Returns 0 if the neighbour is beyond an open boundary, or absent
 * (not of this level): its velocity is unknown. */
TAGFLOW_FN int velocity_beside(const struct view *v, int odd, int open, int axis, int side, int x,
                               int y, int z, const double u[3], double beside[3])
{
    const int step = side ? 1 : -1;
    const int cell[3] = {x, y, z};
    const int c[3] = {(axis == 0) * step, (axis == 1) * step, (axis == 2) * step};
    const int at[3] = {x + c[0], y + c[1], z + c[2]};
    const struct tag_row *const row =
        &v->rows[v->tags[view_index(v, at[0], at[1], at[2])] & TAG_ROW];
    double flow[4];
    if (!row->fluid) {
        const int absent = row->boundary == BOUNDARY_none;
        if (absent || (open && boundary_open(row->boundary) && row->boundary != BOUNDARY_slip))
            return 0;
        double wall[3];
        wall_half_way(v, row, cell, c, wall);
        for (int b = 0; b < 3; b++)
            beside[b] = open && row->boundary == BOUNDARY_slip ? (b == axis ? -u[b] : u[b])
                                                               : 2 * wall[b] - u[b];
    } else if (v->ghost[axis] && (at[axis] < 0 || at[axis] >= v->n[axis])) {
        const double *const there = v->layers + 3 * layer_cell(v, axis, side, x, y, z);
        for (int b = 0; b < 3; b++)
            beside[b] = there[b];
    } else {
        flow_of(v, odd, open, view_wrap(v, 0, at[0]), view_wrap(v, 1, at[1]),
                view_wrap(v, 2, at[2]), flow);
        for (int b = 0; b < 3; b++)
            beside[b] = flow[1 + b];
    }
    return 1;
}

/* Is the neighbour of a fluid cell on the other side absent, and the one two cells away a fluid
 * cell of the block? */
TAGFLOW_FN int knows_second(const struct view *v, int axis, int side, int x, int y, int z)
{
    const int step = side ? 1 : -1;
    int second[3] = {x, y, z}, other[3] = {x, y, z};
    second[axis] += 2 * step;
    other[axis] -= step;
    const struct tag_row *const row =
        &v->rows[v->tags[view_index(v, other[0], other[1], other[2])] & TAG_ROW];
    return !row->fluid && row->boundary == BOUNDARY_none && second[axis] >= 0 &&
           second[axis] < v->n[axis] &&
           view_fluid(v, view_index(v, second[0], second[1], second[2]));
}

/* The difference u_1 - u to the only neighbour that is known, or one of second order,
 * (4 u_1 - 3 u - u_2) / 2, times 1 or -1. */
TAGFLOW_FN void one_sided(const struct view *v, int odd, int open, int axis, int side, int x, int y,
                          int z, const double u[3], const double known[3], double slope[3])
{
    int second[3] = {x, y, z};
    double flow[4];
    if (!knows_second(v, axis, side, x, y, z)) {
        for (int b = 0; b < 3; b++)
            slope[b] = side ? known[b] - u[b] : u[b] - known[b];
        return;
    }
    for (int b = 0; b < 3; b++)
        slope[b] = 4 * known[b] - 3 * u[b];
    second[axis] += side ? 2 : -2;
    flow_of(v, odd, open, second[0], second[1], second[2], flow);
    for (int b = 0; b < 3; b++)
        slope[b] = (side ? 0.5 : -0.5) * (slope[b] - flow[1 + b]);
}

/* d u / d x along an axis at a fluid cell: by central differences; one-sided where one neighbour is
 * unknown, and of second order where it is absent. */
TAGFLOW_FN void derivative(const struct view *v, int odd, int open, int axis, int x, int y, int z,
                           const double u[3], double slope[3])
{
    double before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
    TAGFLOW_FORGET(x); /* addresses of the previous derivative are of no use */
    TAGFLOW_FORGET(y);
    TAGFLOW_FORGET(z);
    const int below = velocity_beside(v, odd, open, axis, 0, x, y, z, u, before);
    const int above = velocity_beside(v, odd, open, axis, 1, x, y, z, u, after);
    if (below != above) {
        for (int b = 0; b < 3; b++)
            after[b] = above ? after[b] : before[b];
        one_sided(v, odd, open, axis, above, x, y, z, u, after, slope);
        return;
    }
    for (int b = 0; b < 3; b++)
        slope[b] = below ? 0.5 * (after[b] - before[b]) : 0;
}

/* curl u of a fluid cell by central differences, lattice units. */
TAGFLOW_FN void curl_of(const struct view *v, int odd, int open, int x, int y, int z,
                        double curl[3])
{
    double dx[3], dy[3], dz[3], here[4];
    flow_of(v, odd, open, x, y, z, here);
    derivative(v, odd, open, 0, x, y, z, here + 1, dx);
    derivative(v, odd, open, 1, x, y, z, here + 1, dy);
    derivative(v, odd, open, 2, x, y, z, here + 1, dz);
    curl[0] = dy[2] - dz[1];
    curl[1] = dz[0] - dx[2];
    curl[2] = dx[1] - dy[0];
}

#endif
#endif
