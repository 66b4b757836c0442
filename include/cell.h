/* One cell's step: load, arrive, subgrid, collide, leave, store.
 *
 * This is the whole step, for any cell; the GPU kernels call it. The CPU's loops over lines of
 * cells (src/cpu/rows.c) do the same for several cells at once, with bit-identical results. */
#ifndef TAGFLOW_CELL_H
#define TAGFLOW_CELL_H

#include "boundary.h"
#include "collision.h"
#include "kinds.h"
#include "open.h"
#include "scalar.h"
#include "slip.h"
#include "slot.h"
#include "sponge.h"
#include "stored.h"
#include "surface.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* Address of canonical population i, the value that the coming step loads, of a cell with links to
 * cells that are not fluid. */
TAGFLOW_RARE size_t linked_address(const struct view *v, int odd, int i, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct tag_row *const row =
        &v->rows[v->tags[view_index(v, x - c[i][0], y - c[i][1], z - c[i][2])] & TAG_ROW];
    int at[3], from = 0;
    if (row->fluid)
        return load_address(v, SET_flow, odd, i, x, y, z, 0);
    if (row->boundary == BOUNDARY_slip)
        from = slip_from(v, row, i, x, y, z, at);
    return from ? load_address(v, SET_flow, odd, from, at[0], at[1], at[2], 0)
                : load_address(v, SET_flow, odd, i, x, y, z, 1);
}

/* Does link i of cell (x, y, z) come from a cell that does not hold the set? */
TAGFLOW_FN int set_bounces(const struct view *v, int set, int i, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    return !view_holds(v, set, view_index(v, x - c[i][0], y - c[i][1], z - c[i][2]));
}

/* Address of canonical population i of a cell that holds the set: of the flow in a case without
 * open boundaries, or of another set. */
TAGFLOW_FN size_t closed_address(const struct view *v, int set, int odd, int i, int x, int y, int z)
{
    const int beside = set != SET_flow || v->tags[view_index(v, x, y, z)] & TAG_BESIDE;
    const int bounce = i > 0 && beside && set_bounces(v, set, i, x, y, z);
    return load_address(v, set, odd, i, x, y, z, bounce);
}

/* Address of canonical population i of any fluid cell. */
TAGFLOW_FN size_t canonical_address(const struct view *v, int odd, int i, int x, int y, int z)
{
    if (i > 0 && (v->tags[view_index(v, x, y, z)] & TAG_BESIDE))
        return linked_address(v, odd, i, x, y, z);
    return load_address(v, SET_flow, odd, i, x, y, z, 0);
}

/* Place at which cell n keeps populations of a pair at its neighbour. */
TAGFLOW_FN cell_index next_to(const struct view *v, int pair, cell_index n, const struct around *a)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int *const to = c[2 * pair + 1];
    const cell_index m = n + neighbour(a, to[0], to[1], to[2]);
    return v->place ? sparse_next(v, pair, place_in(v->place, n), m) : m;
}

/* Bit i: link i of the cell comes from a cell of one of these types. */
TAGFLOW_FN uint32_t links_from(const struct view *v, const struct type_set *types, cell_index n,
                               const struct around *a)
{
    uint32_t links = 0;
#define X(i, j, cx, cy, cz, weight)                                                                \
    links |= (uint32_t)type_in(types, v->tags[n + neighbour(a, -(cx), -(cy), -(cz))]) << (i);      \
    links |= (uint32_t)type_in(types, v->tags[n + neighbour(a, cx, cy, cz)]) << (j);
    PAIR_LIST(X)
#undef X
    return links;
}

/* Bit i: link i of the cell comes from a cell that is not fluid. */
TAGFLOW_FN uint32_t links_from_walls(const struct view *v, cell_index n, const struct around *a)
{
    return links_from(v, &v->solid, n, a);
}

/* Does any of these links come from beyond an open boundary? */
TAGFLOW_FN int links_open(const struct view *v, cell_index n, const struct around *a,
                          uint32_t links)
{
    int open = 0;
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (links & 1u << (i))                                                                         \
        open |= boundary_open(                                                                     \
            v->rows[v->tags[n + neighbour(a, -(cx), -(cy), -(cz))] & TAG_ROW].boundary);           \
    if (links & 1u << (j))                                                                         \
        open |= boundary_open(v->rows[v->tags[n + neighbour(a, cx, cy, cz)] & TAG_ROW].boundary);
    PAIR_LIST(X)
#undef X
    return open;
}

/* Fills in the walls beside a node of an open face. `links`: as from links_from_walls. */
TAGFLOW_FN void walls_beside(const struct view *v, int x, int y, int z, uint32_t links,
                             struct arriving *a)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int at[3] = {x, y, z};
    a->walls = 0;
    for (int i = 1; i < Q; i++) {
        double u[3];
        if (!(links >> i & 1))
            continue;
        const struct tag_row *const wall =
            &v->rows[v->tags[view_index(v, x - c[i][0], y - c[i][1], z - c[i][2])] & TAG_ROW];
        if (boundary_open(wall->boundary))
            continue;
        a->walls |= i <= 6 ? 1 << (i - 1) : BESIDE_EDGE;
        if (i > 6)
            continue;
        wall_half_way(v, wall, at, c[opposite(i)], u);
        for (int k = 0; k < 3; k++)
            a->wall_velocity[i - 1][k] = (real)u[k];
    }
}

/* The populations f of a fluid cell as they arrive: loaded, mirrored on links from planes of
 * symmetry, then changed by the cell's own rule. `links`: as from links_from_walls; lift: as from
 * cell_lift. */
TAGFLOW_RARE void cell_arrived(const struct view *v, const struct slots *s, int x, int y, int z,
                               uint32_t links, number lift, real f[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct around a = around(v, x, y, z);
    const cell_index n = view_index(v, x, y, z);
    struct arriving here;
    here.row = &v->rows[v->tags[n] & TAG_ROW];
    here.law = law_of(v, here.row);
    here.resist = resist_of(v, here.row);
    f[0] = value_of(((const stored *)s->rest)[view_place(v, n)]);
    TAGFLOW_UNROLL
    for (int i = 1; i < Q; i++) {
        const int pair = (i - 1) / 2, wall = links >> i & 1;
        const stored *const own = (const stored *)s->own[pair], *const next =
                                                                    (const stored *)s->next[pair];
        if (i & 1)
            f[i] = value_of((wall ? next : own)[view_place(v, n)]);
        else
            f[i] = value_of((wall ? own : next)[next_to(v, pair, n, &a)]);
    }
    for (int i = 1; i < Q; i++) {
        int at[3], from = 0;
        if (!(links >> i & 1))
            continue;
        const struct tag_row *const rule =
            &v->rows[v->tags[n + neighbour(&a, -c[i][0], -c[i][1], -c[i][2])] & TAG_ROW];
        if (rule->boundary == BOUNDARY_slip)
            from = slip_from(v, rule, i, x, y, z, at);
        if (from)
            f[i] = value_of(
                ((const stored *)load_slot(s, from))[load_place(v, from, at[0], at[1], at[2])]);
    }
    if (!boundary_open(here.row->boundary))
        return;
    const int at[3] = {x, y, z};
    double u[3];
    walls_beside(v, x, y, z, links, &here);
    given_velocity(v, here.row, at, u);
    here.drho = given_drho(v, here.row);
    for (int k = 0; k < 3; k++) {
        here.u[k] = (real)u[k];
        here.half[k] = (real)(0.5 * view_acceleration(v, here.row, k));
        if (v->scalars.lifts)
            here.half[k] += (number)0.5 * (lift * (number)v->scalars.gravity[k]);
        here.pushed[k] = here.half[k];
    }
    open_arrive(f, &here);
}

/* Wall damping factor of the subgrid model. */
TAGFLOW_FN real cell_damping(const struct view *v, const struct tag_row *row, int model, int x,
                             int y, int z)
{
    if (model == SUBGRID_none || !row->damped)
        return 1;
    return damping_of_row(v, row, y, z) * (number)damping_along(v, row)[x];
}

/* Replaces out[i] of the links that lead into cells that are not fluid by the populations that come
 * back; f: the populations that arrived. `crossing`: where the links meet surfaces, in the order of
 * `links`; NULL: no surfaces. */
TAGFLOW_RARE void cell_leaves(const struct view *v, int x, int y, int z, uint32_t links,
                              const float *crossing, number lift, const real f[Q], real out[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct tag_row *const row = &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
    struct collision_parameters p = collision_parameters(v, row);
    if (v->scalars.lifts)
        accelerate(&p, v, lift);
    const int at[3] = {x, y, z};
    real collided[Q];
    struct leaving l;
    const struct moments bare = moments(f, p, 0);
    struct moments m = moments(f, p, row->forced);
    if (row->resist)
        resist(&p, &m, resist_of(v, row));
    for (int i = 0; i < Q; i++)
        collided[i] = out[i];
    l.drho = m.drho;
    l.u[0] = m.ux;
    l.u[1] = m.uy;
    l.u[2] = m.uz;
    l.j[0] = bare.jx;
    l.j[1] = bare.jy;
    l.j[2] = bare.jz;
    l.outside = row->outside;
    for (int in = 1; in < Q; in++) {
        const int to = opposite(in), wall[3] = {x + c[to][0], y + c[to][1], z + c[to][2]};
        double here[3], there[3];
        if (!(links >> in & 1))
            continue;
        const double q = crossing ? (double)*crossing : 0.5;
        const double speed =
            crossing && v->near.speed ? v->near.speed[crossing - v->near.crossing] : 1;
        crossing += crossing ? 1 : 0;
        l.row = &v->rows[v->tags[view_index(v, wall[0], wall[1], wall[2])] & TAG_ROW];
        l.in = in;
        l.f_in = f[in];
        l.f_out = f[to];
        l.c_in = collided[in];
        l.c_out = collided[to];
        if (l.row->boundary == BOUNDARY_surface) {
            const struct rates r = subgrid_rates(
                row->subgrid, f, m, p, cell_damping(v, row, row->subgrid, x, y, z), row->forced);
            surface_arm(v, l.row, at, c[to], q, here);
            surface_velocity(l.row, here, there);
            for (int k = 0; k < 3; k++)
                l.given_u[k] = (real)there[k];
            out[to] = surface_leave(&l, (real)q, surface_rate(row->collision, p, r));
            continue;
        }
        if (!boundary_open(l.row->boundary)) {
            out[to] = boundary_leave(l.row->boundary, c[to][0], c[to][1], c[to][2], collided[to],
                                     wall_parameters(v, l.row, 1));
            continue;
        }
        given_velocity(v, l.row, at, here); /* the crossing is half-way between the two */
        given_velocity(v, l.row, wall, there);
        for (int k = 0; k < 3; k++)
            l.given_u[k] = (real)(0.5 * (here[k] + there[k]) * speed);
        l.q = (real)q;
        l.given_drho = given_drho(v, l.row);
        out[to] = open_leave(&l);
    }
}

/* The population that comes back from the wall with index n, into which `out` leaves along (cx, cy,
 * cz). */
TAGFLOW_FN real leave_into(const struct view *v, cell_index n, int cx, int cy, int cz, real out)
{
    const struct tag_row *const wall = &v->rows[v->tags[n] & TAG_ROW];
    return boundary_leave(wall->boundary, cx, cy, cz, out, wall_parameters(v, wall, STORED_ONE));
}

/* Changes the collided populations that leave into walls of one type. The cell's kind is looked up
 * again: few cells need its walls. */
TAGFLOW_FN void walls_push(const struct view *v, const struct cell_kinds *kinds, cell_index place,
                           real out[Q])
{
    const uint32_t which = kind_number(kinds, place);
    const uint32_t walls = kind_of(kinds, which, kind_at_hand(kinds, which)).walls;
    const struct tag_row *const wall = &v->rows[kind_type(walls)];
    const struct wall_parameters w = wall_parameters(v, wall, STORED_ONE);
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (walls & 1u << (j))                                                                         \
        out[i] = boundary_leave(wall->boundary, cx, cy, cz, out[i], w);                            \
    if (walls & 1u << (i))                                                                         \
        out[j] = boundary_leave(wall->boundary, -(cx), -(cy), -(cz), out[j], w);
    PAIR_LIST(X)
#undef X
}

/* Features that a step can meet. A kernel passes constants, and the step is compiled for them. */
struct step_kind {
    int collision;           /* COLLISION_mixed: as the cell type says; only this step meets
                              * accelerations that depend on the velocity */
    int forced;              /* there may be forces */
    int full;                /* there may be subgrid models and sponges */
    int open;                /* there may be open boundaries */
    int sparse;              /* some cells have no place, see view_place */
    int scalars;             /* SCALARS_ */
    struct line_steps along; /* in the line of the cell; of plain rows 1 and -1 */
};

/* Scalars in a step. */
enum {
    SCALARS_none,
    SCALARS_any,
    SCALARS_one, /* one, which the fluid cells hold, and no others; all cells have places. Needs
                  * kinds */
};

TAGFLOW_FN struct step_kind step_kind(int collision, int forced, int full, int open, int sparse,
                                      int scalars)
{
    const struct step_kind kind = {collision, forced, full, open, sparse, scalars, {1, -1}};
    return kind;
}

/* The step for cells of any type. */
TAGFLOW_FN struct step_kind step_any(int open, int sparse, int scalars)
{
    return step_kind(COLLISION_mixed, 1, 1, open, sparse, scalars);
}

/* Coupling of flow and scalars in a cell. */
struct carried {
    number lift;       /* from cell_lift */
    number u[3], eddy; /* velocity and eddy viscosity of the flow */
    int subgrid;
    number g[Q_AXES]; /* with SCALARS_one: its populations before the step */
};

TAGFLOW_FN void carried_flow(struct carried *k, struct moments m, struct collision_parameters p,
                             struct rates r, int model)
{
    k->u[0] = m.ux;
    k->u[1] = m.uy;
    k->u[2] = m.uz;
    k->subgrid = subgrid_mixes(model);
    k->eddy = k->subgrid ? eddy_viscosity(p, r.even) : 0;
}

/* The parts of a step that a cell type asks for. */
struct cell_parts {
    int forced, subgrid, sponge, resists;
};

TAGFLOW_FN struct cell_parts cell_parts(const struct tag_row *row)
{
    const struct cell_parts parts = {row->forced, row->subgrid, row->sponge, row->resist != 0};
    return parts;
}

/* f -> out: subgrid model, collision operator and sponge of a cell. `one`: a density of 1 in their
 * unit. parts, p: of the row. carried: with scalars, in: lift, out: the flow. */
TAGFLOW_FN void cell_collide(const struct view *v, const struct tag_row *row,
                             struct cell_parts parts, struct collision_parameters p,
                             const int at[3], struct step_kind kind, number one, real f[Q],
                             real out[Q], struct carried *carried)
{
    if (kind.scalars && v->scalars.lifts)
        accelerate(&p, v, carried->lift);
    int with_force = kind.forced ? parts.forced : 0;
    int model = kind.full ? parts.subgrid : (int)SUBGRID_none;
    int sponge = kind.full ? parts.sponge : 0;
    if (kind.forced)
        TAGFLOW_FORGET(with_force); /* loaded here, all at once */
    if (kind.full) {
        TAGFLOW_FORGET(model);
        TAGFLOW_FORGET(sponge);
    }
    const int x = at[0], y = at[1], z = at[2];
    struct moments m = moments_in(f, one, p, with_force);
    if (kind.collision == COLLISION_mixed && parts.resists)
        resist(&p, &m, resist_of(v, row));
    for (int i = 0; i < Q; i++)
        TAGFLOW_FORGET_REAL(f[i]);
    const struct rates r =
        subgrid_rates(model, f, m, p, cell_damping(v, row, model, x, y, z), with_force);
    if (kind.scalars)
        carried_flow(carried, m, p, r, model);
    collide(kind.collision == COLLISION_mixed ? row->collision : kind.collision, f, out, m, p, r,
            with_force);
    if (kind.full && sponge)
        sponge_pull(sponge_target(v, row), (real)sponge_of_cell(v, row, x, y, z), one, out);
}

/* Some bits of a number, which depend on all that it was made from. */
TAGFLOW_FN uint32_t real_bits(real x)
{
#if !defined TAGFLOW_ON_GPU
    return x > 0;
#elif TAGFLOW_ARITHMETIC == 64
    return (uint32_t)__double2loint(x);
#else
    return __float_as_uint(x);
#endif
}

/* Reload wall addresses here: saves registers. */
#define FORGET_PLACE                                                                               \
    TAGFLOW_FORGET(x);                                                                             \
    TAGFLOW_FORGET(y);                                                                             \
    TAGFLOW_FORGET(z)

/* What a step knows of a cell. which: number of its kind; kinds NULL: it looks at tags. */
TAGFLOW_FN struct cell_kind cell_known(const struct view *v, const struct cell_kinds *kinds,
                                       uint32_t which, cell_index n, const struct around *a)
{
    const struct cell_kind by_tags = {kinds ? 0 : kind_by_tags(v, n, a), 0};
    return kinds ? kind_at_hand(kinds, which) : by_tags;
}

/* `which`, when all populations have been loaded, see kind_held. */
TAGFLOW_FN uint32_t which_held(const struct cell_kinds *kinds, uint32_t which, const real f[Q])
{
    uint32_t bits[Q];
    for (int i = 0; i < Q; i++)
        bits[i] = real_bits(f[i]);
    return kind_held(kinds, which, bits);
}

/* Row of the only scalar in cells of the type, at hand or from memory: an expression, so that a
 * compiler reads the argument and not a pointer to it. */
#define ONE_ROW(v, kinds, type, expression_of)                                                     \
    ((type) == (kinds)->type ? expression_of(&(kinds)->scalar)                                     \
                             : expression_of(scalar_row(v, 1, type)))
#define ROW_BUOYANCY(row) ((row)->buoyancy)
#define ROW_SLOPES(row) ((row)->slopes)

/* The places of a scalar's populations among the cell's. */
TAGFLOW_FN struct set_places one_places(const struct places *p)
{
    const struct set_places places = {p->own, {p->next[0], p->next[1], p->next[2]}};
    return places;
}

/* With SCALARS_one: loads the scalar's populations, as in a cell without links; p: the cell's. */
TAGFLOW_FN void one_load(const struct view *v, int odd, const struct places *p, uint32_t links,
                         number g[Q_AXES])
{
    const struct set_slots s = set_slots_at(v, 1, odd);
    const struct set_places places = one_places(p);
    if (links)
        set_load_links(&s, &places, links, g);
    else
        set_load(&s, &places, 0, g);
}

/* The lift, from its populations. */
TAGFLOW_FN number one_lift(const struct view *v, const struct cell_kinds *kinds, int type,
                           const number g[Q_AXES])
{
    number lift = 0;
    if (!v->scalars.lifts)
        return 0;
    const double buoyancy = ONE_ROW(v, kinds, type, ROW_BUOYANCY);
    if (buoyancy != 0)
        lift = lift -
               lift_of(buoyancy, scalar_value(g, ONE_ROW(v, kinds, type, scalar_parameters), 0));
    return lift;
}

/* What leaves the cell, g -> out, with k the flow. Returns the scalar's value. */
TAGFLOW_FN number one_leave(const struct view *v, const struct cell_kinds *kinds, int type,
                            const number g[Q_AXES], number out[Q_AXES], const struct carried *k)
{
    TAGFLOW_FORGET(type);
    const struct scalar_parameters q = ONE_ROW(v, kinds, type, scalar_parameters);
    const number t = scalar_value(g, q, 0);
    scalar_leave(g, out, q, scalar_rates(q, k->subgrid, k->eddy), scalar_range(v, 1), t, 0,
                 q.flow != 0, k->u);
    if (ONE_ROW(v, kinds, type, ROW_SLOPES))
        scalar_ascend(out, scalar_slope(v, scalar_row(v, 1, type)), k->u);
    return t;
}

/* Changes what leaves the cell at position x into walls, when it is stored; is: KIND_ of the cell,
 * t: from one_leave. */
TAGFLOW_FN void one_walls(const struct view *v, const struct cell_kinds *kinds, int odd,
                          struct line_steps line, int x, int y, int z, uint32_t is, number t,
                          const struct carried *k)
{
    const number none[Q_AXES] = {0}; /* no surface crosses the links of a swept cell */
    const int type = kind_type(is);
    if (!(is & KIND_AXES))
        return;
    FORGET_PLACE;
    const cell_index n = position_index(v, x, y, z);
    const struct around a = position_around(v, line, x, y, z);
    const struct places all = places_of(n, &a);
    const struct set_places p = one_places(&all);
    const int slopes = ONE_ROW(v, kinds, type, ROW_SLOPES);
    set_walls(v, 1, odd, n, &a, &p, is & KIND_AXES, type,
              ONE_ROW(v, kinds, type, scalar_parameters), slopes, none, none, t, k->u, k->eddy,
              k->subgrid, NULL);
}

/* The rest of its step. */
TAGFLOW_FN void one_carry(const struct view *v, const struct cell_kinds *kinds, int odd,
                          struct line_steps line, int x, int y, int z, uint32_t is,
                          const struct carried *k)
{
    number out[Q_AXES];
    const number t = one_leave(v, kinds, kind_type(is), k->g, out, k);
    FORGET_PLACE;
    const struct around a = position_around(v, line, x, y, z);
    const struct places all = places_of(position_index(v, x, y, z), &a);
    const struct set_places p = one_places(&all);
    set_store(v, 1, &odd, &p, out);
    one_walls(v, kinds, odd, line, x, y, z, is, t, k);
}

/* The step of the flow in the owned cell at position x of row (y, z), which in plain rows is its
 * coordinate; `s`: the slots of this step, odd: its parity. kinds: of the view; NULL: from tags.
 * which: number of the cell's kind, if there are kinds; place: of the cell, if kind.sparse.
 * carried: with scalars, out: the flow.
 *
 * A GPU hides memory latency behind many threads, which share the registers. The TAGFLOW_FORGETs
 * save registers: without them the compiler keeps sums over pairs, and all addresses, from their
 * first use to their last. */
TAGFLOW_FN void cell_step_flow(const struct view *v, const struct slots *s,
                               const struct cell_kinds *kinds, uint32_t which, int odd, int x,
                               int y, int z, cell_index place, struct step_kind kind,
                               struct carried *carried)
{
    struct around a = position_around(v, kind.along, x, y, z);
    cell_index n = position_index(v, x, y, z);
    stored *const *const own = (stored *const *)s->own, *const *const next =
                                                            (stored *const *)s->next;
    stored *const rest = (stored *)s->rest;
    real f[Q], out[Q];
    struct cell_kind self;

    /* Either the kind is known before populations are loaded, or all are on their way at once. The
     * first takes fewer registers. */
    const int kind_first = kind.sparse || kind.open || kind.scalars == SCALARS_any;
    if (kind_first || !v->early) {
        if (!kind_first)
            TAGFLOW_BARRIER;
        self = cell_known(v, kinds, which, n, &a);
        if (kinds && kind_first)
            self = kind_of(kinds, which, self);
        if (!(self.is & (KIND_SWEPT | KIND_MORE)))
            return;
    }
    if (kind.scalars == SCALARS_any)
        carried->lift = cell_lift(v, odd, n, &a);
    struct places p = kind.sparse ? sparse_places(v, n, &a, place, (self.is & KIND_LINKS) != 0)
                                  : places_of(n, &a);
    real arrived[Q];
    const int opens = kind.open && self.is & KIND_LINKS &&
                      (boundary_open(v->rows[kind_type(self.is)].boundary) ||
                       links_open(v, n, &a, self.is & KIND_LINKS));
    if (opens) {
        cell_arrived(v, s, row_x(v, x), y, z, self.is & KIND_LINKS,
                     kind.scalars ? carried->lift : 0, arrived);
        for (int i = 0; i < Q; i++)
            f[i] = arrived[i] * STORED_ONE;
    } else {
        f[0] = raw_of(rest[p.own]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    f[i] = raw_of(own[i / 2][p.own]);                                                              \
    f[j] = raw_of(next[i / 2][p.next[i / 2]]);
        PAIR_LIST(X)
#undef X
        if (kind.scalars == SCALARS_one) {
            one_load(v, odd, &p, 0, carried->g);
            for (int i = 0; i < Q_AXES; i++)
                TAGFLOW_FORGET_REAL(carried->g[i]);
        }
        for (int i = 0; i < Q && !kind_first; i++)
            TAGFLOW_FORGET_REAL(f[i]);
    }
    if (!kind_first) {
        if (kinds)
            which = which_held(kinds, which, f);
        self = cell_known(v, kinds, which, n, &a);
    }
    if (self.is & (KIND_LINKS | KIND_MORE) && !opens) {
        if (kinds && !kind_first)
            self = kind_of(kinds, which, self);
        const uint32_t links = self.is & KIND_LINKS;
        if (!kind_first) {
            FORGET_PLACE;
            a = position_around(v, kind.along, x, y, z);
            n = position_index(v, x, y, z);
            p = places_of(n, &a);
        }
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (links & 1u << (i))                                                                         \
        f[i] = raw_of(next[i / 2][p.own]);                                                         \
    if (links & 1u << (j))                                                                         \
        f[j] = raw_of(own[i / 2][p.next[i / 2]]);
        PAIR_LIST(X)
#undef X
        if (kind.scalars == SCALARS_one && links & KIND_AXES)
            one_load(v, odd, &p, links & KIND_AXES, carried->g);
    }
    if (!kind_first && !(self.is & KIND_SWEPT))
        return;
    const uint32_t links = self.is & KIND_LINKS;
    const int type = kind_type(self.is);
    const struct tag_row *const row = &v->rows[type];
    /* rows of sparse memory are plain: this saves instructions */
    const int at[3] = {kind.sparse ? x : row_x(v, x), y, z},
              at_hand =
                  kinds && !kind_first && (!kind.forced || kind.scalars) && type == kinds->type;
    if (kind.scalars == SCALARS_one)
        carried->lift = one_lift(v, kinds, type, carried->g);
    cell_collide(v, row, at_hand ? cell_parts(&kinds->row) : cell_parts(row),
                 at_hand ? collision_parameters(v, &kinds->row) : collision_parameters(v, row), at,
                 kind, STORED_ONE, f, out, carried);

    if (opens) {
        real back[Q];
        for (int i = 0; i < Q; i++)
            back[i] = out[i] / STORED_ONE;
        cell_leaves(v, row_x(v, x), y, z, links, NULL, kind.scalars ? carried->lift : 0, arrived,
                    back);
        for (int i = 0; i < Q; i++)
            out[i] = back[i] * STORED_ONE;
    } else if (self.is & KIND_PUSHES && kinds && !(self.is & KIND_SEVERAL)) {
        FORGET_PLACE;
        walls_push(v, kinds, kind.sparse ? place : position_index(v, x, y, z), out);
    } else if (self.is & KIND_PUSHES) {
        FORGET_PLACE;
        a = position_around(v, kind.along, x, y, z);
        n = position_index(v, x, y, z);
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (links & 1u << (j))                                                                         \
        out[i] = leave_into(v, n + neighbour(&a, cx, cy, cz), cx, cy, cz, out[i]);                 \
    if (links & 1u << (i))                                                                         \
        out[j] = leave_into(v, n + neighbour(&a, -(cx), -(cy), -(cz)), -(cx), -(cy), -(cz), out[j]);
        PAIR_LIST(X)
#undef X
    }
    FORGET_PLACE;
    a = position_around(v, kind.along, x, y, z);
    n = position_index(v, x, y, z);
    if (!kind.sparse) /* looking up places again would cost more than ten registers */
        p = places_of(n, &a);
    rest[p.own] = stored_raw(out[0]);
#define X(i, j, cx, cy, cz, weight)                                                                \
    own[i / 2][p.own] = stored_raw(out[j]);                                                        \
    next[i / 2][p.next[i / 2]] = stored_raw(out[i]);
    PAIR_LIST(X)
#undef X
    if (kind.scalars == SCALARS_one)
        one_carry(v, kinds, odd, kind.along, x, y, z, self.is, carried);
}

/* The step of the owned cell at position x of row (y, z): of the flow, and of the scalars that it
 * holds. Parameters as of cell_step_flow. */
TAGFLOW_FN void cell_step_placed(const struct view *v, const struct slots *s,
                                 const struct cell_kinds *kinds, uint32_t which, int odd, int x,
                                 int y, int z, cell_index place, struct step_kind kind)
{
    struct carried carried = {0, {0, 0, 0}, 0, 0, {0, 0, 0, 0, 0, 0, 0}};
    cell_step_flow(v, s, kinds, which, odd, x, y, z, place, kind, &carried);
    if (kind.scalars != SCALARS_any)
        return;
    FORGET_PLACE;
    const cell_index n = position_index(v, x, y, z);
    const struct around a = position_around(v, kind.along, x, y, z);
    if (type_in(&v->swept, v->tags[n]) || type_in(&v->scalars.holding, v->tags[n]))
        cell_carry(v, odd, n, &a, carried.u, carried.eddy, carried.subgrid, NULL);
}

/* The same; place and kind are looked up. Where only fluid cells have places, others hold nothing.
 */
TAGFLOW_FN void cell_step(const struct view *v, const struct slots *s,
                          const struct cell_kinds *kinds, int odd, int x, int y, int z,
                          struct step_kind kind)
{
    const cell_index n = position_index(v, x, y, z);
    const int placed = !kind.sparse || has_place(v->place, n);
    const cell_index place = kind.sparse && placed ? place_in(v->place, n) : n;
    if (placed)
        cell_step_placed(v, s, kinds, kinds ? kind_number(kinds, place) : 0, odd, x, y, z, place,
                         kind);
}

/* The step of a cell of the list, up to its stores: f arrived, `out` is collided, `back` is for the
 * slots. carried: out. Returns the cell's type. */
TAGFLOW_SHARED const struct tag_row *near_leaves(const struct view *v, const struct slots *s,
                                                 int odd, const struct near_cell *cell, real f[Q],
                                                 real out[Q], real back[Q], struct carried *carried)
{
    const int x = cell->at[0], y = cell->at[1], z = cell->at[2];
    const struct tag_row *const row = &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
    const struct around a = around(v, x, y, z);
    carried->lift = v->scalars.lifts ? rare_lift(v, odd, owned_index(v, x, y, z), &a) : 0;
    cell_arrived(v, s, x, y, z, cell->links, carried->lift, f);
    cell_collide(v, row, cell_parts(row), collision_parameters(v, row), cell->at, step_any(1, 1, 1),
                 1, f, out, carried);
    for (int i = 0; i < Q; i++)
        back[i] = out[i];
    cell_leaves(v, x, y, z, cell->links, v->near.crossing + cell->first, carried->lift, f, back);
    return row;
}

/* The step of the scalars of a cell of the list. */
TAGFLOW_RARE void near_carry(const struct view *v, int odd, const struct near_cell *cell,
                             const struct carried *k)
{
    const struct around a = around(v, cell->at[0], cell->at[1], cell->at[2]);
    cell_carry(v, odd, owned_index(v, cell->at[0], cell->at[1], cell->at[2]), &a, k->u, k->eddy,
               k->subgrid, cell);
}

TAGFLOW_FN void near_step(const struct view *v, int odd, const struct near_cell *cell)
{
    const struct slots slots = slots_at(v, odd, sizeof(stored));
    stored *const populations = (stored *)v->set[SET_flow].populations;
    struct carried k;
    real f[Q], out[Q], back[Q];
    if (!view_fluid(v, view_index(v, cell->at[0], cell->at[1], cell->at[2]))) {
        const struct carried none = {0, {0, 0, 0}, 0, 0, {0, 0, 0, 0, 0, 0, 0}};
        near_carry(v, odd, cell, &none);
        return;
    }
    near_leaves(v, &slots, odd, cell, f, out, back, &k);
    for (int i = 0; i < Q; i++)
        populations[store_address(v, SET_flow, odd, i, cell->at[0], cell->at[1], cell->at[2])] =
            stored_of(back[i]);
    if (v->scalars.row)
        near_carry(v, odd, cell, &k);
}

/* Adds the momentum that the coming step would give to `body` (1 + its number) through the links of
 * a cell of the list. */
TAGFLOW_FN void near_forces(const struct view *v, int odd, const struct near_cell *cell, int body,
                            struct forces *sum)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct slots slots = slots_at(v, odd, sizeof(stored));
    const float *crossing = v->near.crossing + cell->first;
    const int *const at = cell->at;
    real f[Q], out[Q], back[Q];
    struct carried k;
    if (!view_fluid(v, view_index(v, at[0], at[1], at[2])))
        return;
    const struct tag_row *const row = near_leaves(v, &slots, odd, cell, f, out, back, &k);
    const double drho = (double)moments(f, collision_parameters(v, row), 0).drho;
    for (int in = 1; in < Q; in++) {
        const int to = opposite(in);
        double arm[3], u[3];
        if (!(cell->links >> in & 1))
            continue;
        const double q = (double)*crossing++;
        const size_t there = view_index(v, at[0] + c[to][0], at[1] + c[to][1], at[2] + c[to][2]);
        const struct tag_row *const wall = &v->rows[v->tags[there] & TAG_ROW];
        if (wall->body != body)
            continue;
        surface_arm(v, wall, at, c[to], q, arm);
        surface_velocity(wall, arm, u);
        forces_add(sum, to, (double)out[to], (double)back[to], drho, u, arm);
    }
}

#endif
#endif
