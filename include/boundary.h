/* Boundary rules: one row in BOUNDARY_LIST and the two hooks of each.
 *
 *   arrive_<name>  the row of a fluid cell: after its populations are loaded, before moments
 *   leave_<name>   the row of a cell that is not fluid: what a link that leads into it gives back;
 *                  the value waits in the link's own slot and is loaded at the next step
 *
 * Rules of walls are here: they are in every kernel, and what they take is what a link brings.
 * Those of open boundaries may ask for all of the cell (open.h); only kernels of cells of any kind
 * have them. docs/boundaries.md says where the plane of each lies. */
#ifndef TAGFLOW_BOUNDARY_H
#define TAGFLOW_BOUNDARY_H

#include "collision.h"

/* clang-format off */
#define BOUNDARY_WALL_LIST(X)                                                                     \
    X(none,    "fluid: populations arrive as they were sent")                                     \
    X(halfway, "wall at rest: half-way bounce-back")                                              \
    X(moving,  "wall with a velocity: half-way bounce-back that adds its momentum (Ladd 1994)")   \
    X(surface, "wall of a body where it crosses the link, by a list of cells; see surface.h")
#define BOUNDARY_OPEN_LIST(X)                                                                     \
    X(slip,                 "plane of symmetry: mirrored")                                        \
    X(velocity_links,       "given velocity: bounce-back that lets fluid through")                \
    X(pressure_links,       "given density: anti-bounce-back (Ginzburg et al. 2008)")             \
    X(outflow,              "convective outlet")                                                  \
    X(nonreflecting,        "characteristic outlet: no sound comes back")                         \
    X(velocity_regularised, "given velocity on the node (Latt, Chopard et al. 2008)")             \
    X(pressure_regularised, "given density on the node (Latt, Chopard et al. 2008)")              \
    X(edge_regularised,     "both given on the node")
#define BOUNDARY_LIST(X) BOUNDARY_WALL_LIST(X) BOUNDARY_OPEN_LIST(X)
/* clang-format on */

enum boundary {
#define X(name, meaning) BOUNDARY_##name,
    BOUNDARY_LIST(X)
#undef X
        BOUNDARY_RULES
};

/* Is it none of a wall's? */
TAGFLOW_FN int boundary_open(int boundary)
{
    return boundary >= BOUNDARY_slip;
}

/* Does what leaves into it come back as it was, as far as the step is concerned? */
TAGFLOW_FN int boundary_as_sent(int boundary)
{
    return boundary == BOUNDARY_none || boundary == BOUNDARY_halfway ||
           boundary == BOUNDARY_surface;
}

#ifdef TAGFLOW_STORAGE

/* Walls change nothing of what arrives: what comes back has waited in its slot. */

/* What leave hooks are told of the wall, in the variant's arithmetic. */
struct wall_parameters {
    scalar ux, uy, uz; /* velocity, each a sixth: 6 w c.u along an axis is 2 of these, else 1 */
};

TAGFLOW_FN struct wall_parameters wall_parameters(const struct view *v, const struct tag_row *row)
{
    const scalar signal = (scalar)v->signal[row->signal];
    struct wall_parameters w;
    w.ux = (scalar)row->wall_sixth[0] * signal;
    w.uy = (scalar)row->wall_sixth[1] * signal;
    w.uz = (scalar)row->wall_sixth[2] * signal;
    return w;
}

/* f*_i leaves along (cx, cy, cz) into the wall; returned is what comes back as f_opposite(i). */
TAGFLOW_FN real leave_none(int cx, int cy, int cz, real out, struct wall_parameters w)
{
    (void)cx, (void)cy, (void)cz, (void)w;
    return out;
}

TAGFLOW_FN real leave_halfway(int cx, int cy, int cz, real out, struct wall_parameters w)
{
    (void)cx, (void)cy, (void)cz, (void)w;
    return out;
}

/* The list's kernel does more. */
TAGFLOW_FN real leave_surface(int cx, int cy, int cz, real out, struct wall_parameters w)
{
    (void)cx, (void)cy, (void)cz, (void)w;
    return out;
}

/* -6 w_i c_i.u_wall with density 1, not the cell's: so links of a lid add no mass
 * (Ladd, J. Fluid Mech. 271:285, 1994, eq. 3.3, for a closed box). */
TAGFLOW_FN real leave_moving(int cx, int cy, int cz, real out, struct wall_parameters w)
{
    const scalar scale = cx * cx + cy * cy + cz * cz == 1 ? 2 : 1;
    scalar cu = 0;
    if (cx)
        cu = cx > 0 ? w.ux : -w.ux;
    if (cy)
        cu = cx ? (cy > 0 ? cu + w.uy : cu - w.uy) : cy > 0 ? w.uy : -w.uy;
    if (cz)
        cu = cx || cy ? (cz > 0 ? cu + w.uz : cu - w.uz) : cz > 0 ? w.uz : -w.uz;
    return out - scale * cu;
}

TAGFLOW_FN real boundary_leave(int boundary, int cx, int cy, int cz, real out,
                               struct wall_parameters w)
{
    switch (boundary) {
#define X(name, meaning)                                                                           \
    case BOUNDARY_##name:                                                                          \
        return leave_##name(cx, cy, cz, out, w);
        BOUNDARY_WALL_LIST(X)
#undef X
    default:
        return out;
    }
}

#endif
#endif
