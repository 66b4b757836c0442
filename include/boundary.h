/* Boundary rules: one line in BOUNDARY_LIST, with all that other files need to know about a rule,
 * and two hooks each.
 *
 *   arrive_<name>  rule of a fluid cell: changes its populations after they are loaded, before the
 *                  moments are taken
 *   leave_<name>   rule of a cell that is not fluid: the population that comes back along a
 *                  link; it stays in the link's own slot and is loaded at the next step
 *
 * Rules of walls are in this file. Every kernel has them; they take only the population of one
 * link. Rules of open boundaries (open.h) may read all populations of the cell; only kernels for
 * cells of any type have them. docs/boundaries.md says where the plane of each rule lies. */
#ifndef TAGFLOW_BOUNDARY_H
#define TAGFLOW_BOUNDARY_H

#include "collision.h"
#include "scalar.h"

/* Properties of a rule. */
enum {
    RULE_plain = 0,
    RULE_as_sent = 1, /* boundary_leave returns the population unchanged */
    RULE_nodes = 2,   /* the outermost fluid cells are nodes: the rule makes their populations */
    RULE_mirror = 4,  /* a plane of symmetry */
    RULE_listed = 8,  /* by a list of cells, see surface.h */
    /* A number waits in the slot of the link along the outward normal, see open.h: the normal
     * velocity u_n; or c_s drho - u_n. */
    RULE_keeps_velocity = 16,
    RULE_keeps_sound = 32,
    RULE_velocity = 64, /* the leave hook reads the given velocity */
};

/* X(name, RULE_: properties, precedence, meaning). Precedence: where two faces meet beyond an edge,
 * the rule with the larger number holds; 0: slip, and rules that no face has. */
/* clang-format off */
#define BOUNDARY_WALL_LIST(X)                                                                      \
    X(none,    RULE_as_sent, 0, "fluid: populations arrive as they were sent")                     \
    X(halfway, RULE_as_sent, 5, "wall at rest: half-way bounce-back")                              \
    X(moving,  RULE_plain,   5,                                                                    \
      "wall with a velocity: half-way bounce-back that adds its momentum (Ladd 1994)")             \
    X(surface, RULE_as_sent | RULE_listed, 0,                                                      \
      "wall of a body where it crosses the link, by a list of cells; see surface.h")
#define BOUNDARY_OPEN_LIST(X)                                                                      \
    X(slip,                 RULE_mirror, 0, "plane of symmetry: mirrored")                         \
    X(velocity_links,       RULE_velocity, 4,                                                      \
      "given velocity: bounce-back that lets fluid through")                                       \
    X(pressure_links,       RULE_plain, 3,                                                         \
      "given density: anti-bounce-back (Ginzburg et al. 2008)")                                    \
    X(outflow,              RULE_plain, 1, "convective outlet")                                    \
    X(nonreflecting,        RULE_nodes | RULE_keeps_sound, 2,                                      \
      "characteristic outlet: no sound comes back")                                                \
    X(velocity_regularised, RULE_nodes, 4,                                                         \
      "given velocity on the node (Latt, Chopard et al. 2008)")                                    \
    X(pressure_regularised, RULE_nodes | RULE_keeps_velocity, 3,                                   \
      "given density on the node (Latt, Chopard et al. 2008)")                                     \
    X(edge_regularised,     RULE_nodes, 0, "both given on the node")                               \
    X(cap_velocity,         RULE_listed, 0,                                                        \
      "cap of a mesh with given flow rate: bounce-back that lets fluid through")                   \
    X(cap_pressure,         RULE_listed, 0,                                                        \
      "cap of a mesh with given density: anti-bounce-back")
#define BOUNDARY_LIST(X) BOUNDARY_WALL_LIST(X) BOUNDARY_OPEN_LIST(X)
/* clang-format on */

enum boundary {
#define X(name, ...) BOUNDARY_##name,
    BOUNDARY_WALL_LIST(X) /* rules of walls */
    BOUNDARY_WALLS,
    BOUNDARY_LAST_WALL = BOUNDARY_WALLS - 1,
    BOUNDARY_OPEN_LIST(X) /* rules of open boundaries */
#undef X
    BOUNDARY_RULES
};

/* Properties of rules. */

/* Is this the rule of an open boundary? */
TAGFLOW_FN int boundary_open(int boundary)
{
    return boundary > BOUNDARY_LAST_WALL;
}

TAGFLOW_FN int boundary_is(int boundary)
{
    switch (boundary) {
#define X(name, is, ...)                                                                           \
    case BOUNDARY_##name:                                                                          \
        return is;
        BOUNDARY_LIST(X)
#undef X
    default:
        return RULE_plain;
    }
}

TAGFLOW_FN int boundary_precedence(int boundary)
{
    switch (boundary) {
#define X(name, is, precedence, ...)                                                               \
    case BOUNDARY_##name:                                                                          \
        return precedence;
        BOUNDARY_LIST(X)
#undef X
    default:
        return 0;
    }
}

/* May the rule of a cell that is not fluid change the population that leaves along a link into it?
 * `in`: direction of the population that comes back. bits: of a stored population. Rules of nodes
 * change those along the normal of their face at most; where a sum over steps needs more than 16
 * bits (memory_of in open.h), those through the face. */
TAGFLOW_FN int boundary_changes(const struct tag_row *beyond, int in, int bits)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int is = boundary_is(beyond->boundary);
    if (is & RULE_nodes)
        return (is & (RULE_keeps_velocity | RULE_keeps_sound)) && c[in][beyond->face / 2] != 0 &&
               (in <= 6 || (bits == 16 && is & RULE_keeps_sound));
    return !(is & (RULE_as_sent | RULE_mirror));
}

/* Fills in what a view holds for kernels, which then need not look it up. */
TAGFLOW_FN void view_derive(struct view *v)
{
    const struct type_set none = {{0}};
    v->swept = v->solid = v->pushing = v->scalars.holding = none;
    v->early = v->scalars.lifts = v->scalars.walls = v->scalars.any_holding = 0;
    const ptrdiff_t step[3] = {1, v->row, v->plane};
    for (int axis = 0; axis < 3; axis++) {
        v->seam[axis][0] = v->ghost[axis] ? -1 : 0;
        v->seam[axis][1] = v->ghost[axis] ? -1 : v->n[axis] - 1;
        v->across[axis] = (v->n[axis] - 1) * step[axis];
    }
    const struct lifted_rows plain = {1, 1, 31, 0, 0, INT32_MIN, INT32_MAX, {1, 1}, {-1, -1}};
    v->lifted = plain;
    for (int type = 0; type < TAG_ROWS; type++) {
        const struct tag_row *const row = &v->rows[type];
        const uint32_t bit = (uint32_t)1 << type % 32;
        const int pushes =
            !boundary_open(row->boundary) && !(boundary_is(row->boundary) & RULE_as_sent);
        v->swept.word[type / 32] |= row->fluid == FLUID_swept ? bit : 0;
        v->solid.word[type / 32] |= row->fluid == FLUID_none ? bit : 0;
        v->pushing.word[type / 32] |= row->fluid == FLUID_none && pushes ? bit : 0;
        for (int set = 1; set < v->sets && v->scalars.row; set++) {
            const struct scalar_row *const s = scalar_row(v, set, type);
            const int conducts = s->holds == HOLDS_swept && row->fluid == FLUID_none;
            v->scalars.holding.word[type / 32] |= conducts ? bit : 0;
            v->scalars.any_holding |= conducts;
            v->scalars.lifts |= s->buoyancy != 0;
            v->scalars.walls |= s->wall != SCALAR_adiabatic || s->slopes;
        }
    }
}

#ifdef TAGFLOW_STORAGE

/* Walls have no arrive hook: the population that comes back is already in its slot. */

/* Parameters of a wall for leave hooks, in the variant's arithmetic and the unit of the
 * populations, in which a density of 1 is `one`. */
struct wall_parameters {
    number ux, uy, uz; /* velocity / 6; 6 w c.u is 2 of these along an axis, 1 along a diagonal */
};

TAGFLOW_FN struct wall_parameters wall_parameters(const struct view *v, const struct tag_row *row,
                                                  number one)
{
    const number signal = (number)v->signal[row->signal] * one;
    struct wall_parameters w;
    w.ux = (number)row->wall_sixth[0] * signal;
    w.uy = (number)row->wall_sixth[1] * signal;
    w.uz = (number)row->wall_sixth[2] * signal;
    return w;
}

/* f*_i (`out`) leaves along (cx, cy, cz) into the wall. Returns the population that comes back as
 * f_opposite(i). */
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

/* The kernel of the list calls surface_leave instead. */
TAGFLOW_FN real leave_surface(int cx, int cy, int cz, real out, struct wall_parameters w)
{
    (void)cx, (void)cy, (void)cz, (void)w;
    return out;
}

/* Adds -6 w_i c_i.u_wall, with density 1 instead of the cell's density: the links of a lid then add
 * no mass (Ladd, J. Fluid Mech. 271:285, 1994, eq. 3.3, for a closed box). */
TAGFLOW_FN real leave_moving(int cx, int cy, int cz, real out, struct wall_parameters w)
{
    const number scale = cx * cx + cy * cy + cz * cz == 1 ? 2 : 1;
    number cu = 0;
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
#define X(name, ...)                                                                               \
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
