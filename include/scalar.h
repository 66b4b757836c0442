/* Scalars carried by the flow: heat and species. Each is a set of populations g_i on D3Q7 (c_s^2 =
 * 1/4, weights 1/4 and 1/8) that streams like the flow's:
 *
 *   C dT/dt + div(C_f u T) = div(k grad T) + S - lambda T
 *
 * E, the sum of the populations, is the enthalpy C T; C_f is the fluid's capacity C, 0 in solids,
 * which conduct only. With g+ = (g_i + g_j)/2 and g- = (g_i - g_j)/2 of a pair,
 *
 *   T = (E + S/2) / (C + lambda/2),   s = S - lambda T
 *   g+ += omega+ (T/8 - g+) + (1 - omega+/2) s/8
 *   g- += omega- (m/2 - g-),   m_a = C_f T u_a - 16 k omega- u_a (u . d),
 *                              d_b = C_f T u_b - (g_i - g_j) of axis b
 *   omega- = 1/(4 k + 1/2),   omega+ = 1/(magic/(4 k) + 1/2)
 *
 * The rest population gets the rest: a step changes E by s.
 *
 * - The moving weights are the same for any capacity, so T and the flux of heat are continuous
 *   across a link between two materials without a rule (cf. Huang, Wu, J. Comput. Phys. 277:305,
 *   2014).
 * - m has a second term because the lattice alone diffuses by (1/omega- - 1/2)(1/4 - u u). With it
 *   the diffusivity is k up to the fourth order of u.
 * - magic = 1/6 puts a wall of given value half-way (two relaxation rates: Ginzburg, Adv. Water
 *   Resour. 28:1171, 2005).
 *
 * The population that comes back from a wall is a g*_out + b, see struct scalar_row in tag.h.
 *
 * The limiter is for scalars that the flow carries much faster than they diffuse. Three things
 * change with it (docs/lab/scalar_limiter.md):
 * - omega+ = omega-: otherwise the even part lags behind the flow.
 * - What leaves a cell stays between least h and most h, where h is what a scalar of value 1 sends
 *   (scalar_limit). So no value leaves [least, most].
 * - Walls and openings act by their flux (SCALAR_layer, SCALAR_open): the populations beside them
 *   do not tell the value at the wall, where a layer is thinner than a cell.
 *
 * A scalar with a mean gradient G is T + G . x. The set holds T, which is periodic. Let h be the
 * set of a scalar that is 1 everywhere. The populations of T + G . x are g + (G . x) h, and the
 * step is linear: so what leaves along c_i into a cell that holds the set is g*_i - (G . c_i) h*_i.
 * A population that leaves into a wall comes back to the same x, without this term. In a flow
 * without divergence h*_i is 1/8 + c_i . u / 2, up to second derivatives of u. Hence T gets
 * -(G . u) a step. Its mean over the fluid is given back everywhere, as a multiple of h: so T does
 * not drift. */
#ifndef TAGFLOW_SCALAR_H
#define TAGFLOW_SCALAR_H

#include "slot.h"

/* Parameters of a set in cells of this type; set: its number, at least 1. */
TAGFLOW_FN const struct scalar_row *scalar_row(const struct view *v, int set, int type)
{
    return &v->scalars.row[(size_t)(set - 1) * TAG_ROWS + (size_t)type];
}

/* Do cells of this type hold populations of the set? */
TAGFLOW_FN int type_holds(const struct view *v, int set, int tag)
{
    const int type = tag & TAG_ROW;
    return set == SET_flow || !v->scalars.row ? v->rows[type].fluid != FLUID_none
                                              : scalar_row(v, set, type)->holds;
}

TAGFLOW_FN int view_holds(const struct view *v, int set, size_t cell)
{
    return type_holds(v, set, v->tags[cell]);
}

#ifdef TAGFLOW_STORAGE

/* How populations of scalars are stored: never in fewer than 32 bits, as a slow change would be
 * rounded away. */
#if TAGFLOW_STORAGE == 64
typedef double set_stored;
#else
typedef float set_stored;
#endif

/* Parameters of a set in cells of a type, in the variant's arithmetic. */
struct scalar_parameters {
    number inverse;                   /* 1 / (C + lambda/2) */
    number flow;                      /* C_f */
    number source, half, decay, gain; /* S, S/2, lambda, and the factor of another scalar in S */
    number odd, even, tensor;         /* omega-, omega+, 16 k omega- */
    number conductivity, magic, turbulent; /* k; C_f / turbulent Prandtl number */
    number per_flow;                       /* 1 / C_f */
    int limited;                           /* it has the limiter */
};

/* Values between which the limiter keeps a scalar. */
struct scalar_range {
    number least, most;
};

/* Rates of a cell. */
struct scalar_rates {
    real odd, even, tensor;
};

TAGFLOW_FN struct scalar_parameters scalar_parameters(const struct scalar_row *row)
{
    struct scalar_parameters p;
    p.inverse = (number)row->inverse;
    p.flow = (number)row->flow;
    p.source = (number)row->source;
    p.half = (number)(0.5 * row->source);
    p.decay = (number)row->decay;
    p.gain = (number)row->gain;
    p.odd = (number)row->omega_odd;
    p.even = (number)row->omega_even;
    p.tensor = (number)row->tensor;
    p.conductivity = (number)row->conductivity;
    p.magic = (number)row->magic;
    p.turbulent = (number)row->turbulent;
    p.per_flow = (number)row->per_flow;
    p.limited = row->limited;
    return p;
}

TAGFLOW_FN struct scalar_range scalar_range(const struct view *v, int set)
{
    struct scalar_range r;
    r.least = (number)v->scalars.range[set].least;
    r.most = (number)v->scalars.range[set].most;
    return r;
}

/* The conductivity, with the eddies'. */
TAGFLOW_FN real scalar_conductivity(struct scalar_parameters p, int subgrid, real eddy)
{
    return subgrid ? p.conductivity + p.turbulent * eddy : real_of(p.conductivity);
}

/* The scalar's value. other: value of the scalar that turns into this one; used if there is one. */
TAGFLOW_FN real scalar_value(const real g[Q_AXES], struct scalar_parameters p, real other)
{
    real e = (((g[1] + g[2]) + (g[3] + g[4])) + (g[5] + g[6])) + g[0];
    if (p.half != 0)
        e = e + p.half;
    if (p.gain != 0)
        e = e + ((number)0.5 * p.gain) * other;
    return e * p.inverse;
}

/* eddy: eddy viscosity of the flow; used if `subgrid`. */
TAGFLOW_FN struct scalar_rates scalar_rates(struct scalar_parameters p, int subgrid, real eddy)
{
    struct scalar_rates r;
    r.odd = real_of(p.odd);
    r.even = real_of(p.even);
    r.tensor = real_of(p.tensor);
    if (subgrid && p.turbulent != 0) {
        const real k = scalar_conductivity(p, subgrid, eddy);
        r.odd = (number)1 / ((number)4 * k + (number)0.5);
        r.even = ((number)4 * k) / (p.magic + (number)2 * k);
        if (p.limited)
            r.even = real_if_less(k, real_of((number)LIMITED_MOST), r.odd, r.even);
        r.tensor = ((number)16 * k) * r.odd;
    }
    return r;
}

/* The collision g -> out; t: the scalar's value, other: as above, moves: the cell is fluid, u: its
 * velocity. */
TAGFLOW_FN void scalar_collide(const real g[Q_AXES], real out[Q_AXES], struct scalar_parameters p,
                               struct scalar_rates r, real t, real other, int moves,
                               const real u[3])
{
    const number half = (number)0.5;
    const real d1 = g[1] - g[2], d3 = g[3] - g[4], d5 = g[5] - g[6];
    const real eighth = (number)0.125 * t;
    real m1 = real_of(0), m3 = real_of(0), m5 = real_of(0), add = real_of(0), s = real_of(0);
    const int sources = p.source != 0 || p.decay != 0 || p.gain != 0;
    if (moves) {
        const real carried = p.flow * t;
        const real f1 = carried * u[0], f3 = carried * u[1], f5 = carried * u[2];
        const real ud = (u[0] * (f1 - d1) + u[1] * (f3 - d3)) + u[2] * (f5 - d5);
        const real k = r.tensor * ud;
        m1 = f1 - k * u[0];
        m3 = f3 - k * u[1];
        m5 = f5 - k * u[2];
    }
    if (sources) {
        s = p.source - p.decay * t;
        if (p.gain != 0)
            s = s + p.gain * other;
        add = ((number)1 - half * r.even) * ((number)0.125 * s);
    }
    real sum = real_of(0);
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        real even = r.even * (eighth - half * (g[i] + g[j]));                                      \
        const real odd = r.odd * (half * (m##i - d##i));                                           \
        if (sources)                                                                               \
            even = even + add;                                                                     \
        out[i] = g[i] + (even + odd);                                                              \
        out[j] = g[j] + (even - odd);                                                              \
        sum = sum + even;                                                                          \
    }
    AXIS_LIST(X)
#undef X
    out[0] = sources ? g[0] + (s - (number)2 * sum) : g[0] - (number)2 * sum;
}

/* Population that a scalar of value 1 sends along link i, or keeps (i = 0); carried: C_f u. */
TAGFLOW_FN real scalar_sends(int i, number flow, const real carried[3])
{
    const number half = (number)0.5, eighth = (number)0.125;
    if (i == 0)
        return real_of(flow - (number)0.75);
    const real moved = half * carried[(i - 1) / 2];
    return i & 1 ? eighth + moved : eighth - moved;
}

/* Keeps what leaves a moving cell within the range: with t the value of what leaves, one factor
 * brings all of it close enough to h t. The sum stays. Cells that are within it already keep their
 * bits. If t itself is outside, it is the bound. */
TAGFLOW_FN void scalar_limit(real out[Q_AXES], struct scalar_parameters p,
                             struct scalar_range range, const real u[3])
{
    const real e = (((out[1] + out[2]) + (out[3] + out[4])) + (out[5] + out[6])) + out[0];
    const real carried[3] = {p.flow * u[0], p.flow * u[1], p.flow * u[2]}, one = real_of(1);
    real t = e * p.per_flow, beyond = real_of(0), factor = one;
    const real down = real_if_less(t, real_of(range.least), real_of(0), range.least - t);
    const real up = real_if_less(real_of(range.most), t, real_of(0), range.most - t);
    TAGFLOW_UNROLL
    for (int i = 0; i < Q_AXES; i++) {
        const real h = scalar_sends(i, p.flow, carried), d = out[i] - h * t;
        const real above = d - up * h, below = down * h - d;
        beyond = real_if_less(beyond, above, above, beyond);
        beyond = real_if_less(beyond, below, below, beyond);
    }
    if (!real_any_above_0(beyond))
        return;
    TAGFLOW_FORGET_REAL(t); /* compute all again: saves registers */
    TAGFLOW_UNROLL
    for (int i = 0; i < Q_AXES; i++) {
        const real h = scalar_sends(i, p.flow, carried), d = out[i] - h * t;
        const real high = up * h, low = down * h;
        const real for_high = real_if_less(high, d, high / d, one);
        const real for_low = real_if_less(d, low, low / d, one);
        factor = real_if_less(for_high, factor, for_high, factor);
        factor = real_if_less(for_low, factor, for_low, factor);
    }
    factor = real_if_less(factor, real_of(0), real_of(0), factor);
    TAGFLOW_UNROLL
    for (int i = 1; i < Q_AXES; i++) {
        const real h = scalar_sends(i, p.flow, carried), d = out[i] - h * t;
        out[i] = real_if_less(factor, one, h * t + factor * d, out[i]);
    }
    const real sum = ((out[1] + out[2]) + (out[3] + out[4])) + (out[5] + out[6]);
    out[0] = real_if_less(factor, one, e - sum, out[0]);
}

/* Populations that leave a cell; parameters: as for scalar_collide(). */
TAGFLOW_FN void scalar_leave(const real g[Q_AXES], real out[Q_AXES], struct scalar_parameters p,
                             struct scalar_rates r, struct scalar_range range, real t, real other,
                             int moves, const real u[3])
{
    scalar_collide(g, out, p, r, t, other, moves, u);
    if (p.limited)
        scalar_limit(out, p, range, u);
}

/* State of a cell for links to walls: its index, the scalar's value before the step, the
 * conductivity with the eddies', C_f, and the velocity. */
struct scalar_cell {
    cell_index n;
    number t, k, flow, u[3];
};

TAGFLOW_FN struct scalar_cell scalar_cell(struct scalar_parameters p, cell_index n, number t,
                                          number k, const number u[3])
{
    const struct scalar_cell c = {n, t, k, p.flow, {u[0], u[1], u[2]}};
    return c;
}

/* b of a wall's rule beside owned cell n, where it varies over the face. From row.table - 1 on, the
 * view's table holds it: [n2][n1], the block's cells along the axes of the face. */
TAGFLOW_RARE double scalar_of_table(const struct view *v, const struct scalar_row *wall,
                                    cell_index n)
{
    const cell_index from = n - (cell_index)v->origin, plane = (cell_index)v->plane,
                     row = (cell_index)v->row;
    const cell_index x = (cell_index)row_x(v, (int)(from % row)), y = from % plane / row,
                     z = from / plane;
    const cell_index first = wall->across == 0 ? y : x, second = wall->across == 2 ? y : z;
    return v->table[wall->table - 1 + first + second * (cell_index)v->n[wall->across == 0]];
}

/* b of a wall's rule beside owned cell n at this step. */
TAGFLOW_FN double scalar_wall_b(const struct view *v, const struct scalar_row *wall, cell_index n)
{
    return (wall->table ? scalar_of_table(v, wall, n) : wall->b) * v->signal[wall->signal];
}

/* Population returned by a wall of given value behind a layer of resistance a. The link meets the
 * wall at fraction q of it; n: component of the wall's normal along the link. A linear profile
 * between the cell and the wall gives the flux; more than 1/4 of the difference would overshoot.
 * Solids resolve their layers: they keep the rules without the limiter. */
TAGFLOW_FN number scalar_layer_back(const struct view *v, const struct scalar_row *wall, number q,
                                    number n, number left, struct scalar_cell c)
{
    const number most = (number)0.25, given = (number)scalar_wall_b(v, wall, c.n);
    const number a = (number)wall->a, four = (number)4 * n;
    if (c.flow == 0)
        return ((a - four) * left + n * given) / (a + four);
    const number share = (n * c.k) / (n * q + c.k * a);
    return left + (share < most ? share : most) * (given - c.t);
}

/* Population returned along link `in` by an opening, see tag.h. */
TAGFLOW_FN number scalar_through(const struct view *v, const struct scalar_row *wall, int in,
                                 number left, struct scalar_cell c)
{
    const int axis = (in - 1) / 2;
    const number u = axis == 0 ? c.u[0] : axis == 1 ? c.u[1] : c.u[2];
    const number inwards = c.flow * (in & 1 ? u : -u);
    const number given = (number)scalar_wall_b(v, wall, c.n);
    if (c.flow == 0)
        return (number)0.25 * (wall->a != 0 ? given : c.t) - left;
    if (wall->a != 0 && inwards > (number)OPEN_LEAST)
        return left + inwards * given;
    return ((number)0.125 + (number)0.5 * inwards) * c.t;
}

/* Stored population returned along link `in` by a wall or an opening without normal. left: stored
 * population that left into it. */
TAGFLOW_FN set_stored scalar_back(const struct view *v, const struct scalar_row *wall, int in,
                                  set_stored left, struct scalar_cell c)
{
    const number half = (number)0.5, one = 1;
    switch (wall->wall) {
    case SCALAR_given:
        return (set_stored)((number)wall->a * (number)left + (number)scalar_wall_b(v, wall, c.n));
    case SCALAR_free:
        return (set_stored)((number)0.25 * c.t - (number)left);
    case SCALAR_layer:
        return (set_stored)scalar_layer_back(v, wall, half, one, (number)left, c);
    case SCALAR_open:
        return (set_stored)scalar_through(v, wall, in, (number)left, c);
    default:
        return left;
    }
}

/* The mean gradient of a set in cells of a type. */
struct scalar_slope {
    number along[3]; /* G */
    number rise;     /* G . mean velocity */
};

TAGFLOW_FN struct scalar_slope scalar_slope(const struct view *v, const struct scalar_row *row)
{
    const double *const g = row->gradient, *const u = v->scalars.mean_flow;
    struct scalar_slope s;
    for (int a = 0; a < 3; a++)
        s.along[a] = (number)g[a];
    s.rise = (number)((g[0] * u[0] + g[1] * u[1]) + g[2] * u[2]);
    return s;
}

/* Part that a link takes from the population that leaves along it, (G . c_i) h*_i. g, u: components
 * of G and of the velocity, of one cell or of a vector, along its axis; way: of c_i, 1 or -1. */
#define SCALAR_CLIMB(g, way, u) ((number)0.125 * ((way) * (g)) + ((number)0.5 * (g)) * (u))

/* Takes it from all populations, as if all left into cells that hold the set, and gives back what
 * the mean velocity takes, as populations of the set h. */
TAGFLOW_FN void scalar_ascend(real out[Q_AXES], struct scalar_slope s, const real u[3])
{
    const number up = 1, down = -1, eighth = (number)0.125 * s.rise, half = (number)0.5 * s.rise;
    out[0] = out[0] + (number)0.25 * s.rise;
    for (int a = 0; a < 3; a++) {
        const real odd = half * u[a];
        out[2 * a + 1] = (out[2 * a + 1] + (eighth + odd)) - SCALAR_CLIMB(s.along[a], up, u[a]);
        out[2 * a + 2] = (out[2 * a + 2] + (eighth - odd)) - SCALAR_CLIMB(s.along[a], down, u[a]);
    }
}

/* Slots of a set at a step, as struct slots. */
struct set_slots {
    set_stored *rest, *own[3], *next[3];
};

TAGFLOW_FN struct set_slots set_slots_at(const struct view *v, int set, int odd)
{
    set_stored *const g = (set_stored *)v->set[set].populations;
    const size_t stride = v->set[set].stride;
    struct set_slots s;
    s.rest = g;
    for (int i = 1; i < Q_AXES; i += 2) {
        s.own[i / 2] = g + (size_t)slot_load(odd, i) * stride;
        s.next[i / 2] = g + (size_t)slot_load(odd, i + 1) * stride;
    }
    return s;
}

/* Bit i, i = 1 .. 6: link i of cell n comes from a cell that does not hold the set. Fluid cells
 * hold all scalars, so those that are not beside walls have no such links. */
TAGFLOW_FN uint32_t set_links(const struct view *v, int set, cell_index n, const struct around *a)
{
    const uint8_t tag = v->tags[n];
    uint32_t links = 0;
    if (!(tag & TAG_BESIDE) && !type_in(&v->solid, tag))
        return 0;
#define X(i, j, cx, cy, cz, weight)                                                                \
    links |= (uint32_t)!type_holds(v, set, v->tags[n + neighbour(a, -(cx), -(cy), -(cz))]) << (i); \
    links |= (uint32_t)!type_holds(v, set, v->tags[n + neighbour(a, cx, cy, cz)]) << (j);
    AXIS_LIST(X)
#undef X
    return links;
}

/* Places of a cell's populations of scalars: the first three of struct places. */
struct set_places {
    cell_index own, next[3];
};

TAGFLOW_FN struct set_places set_places_of(const struct view *v, cell_index n,
                                           const struct around *a)
{
    struct set_places p;
    p.own = v->place ? place_in(v->place, n) : n;
#define X(i, j, cx, cy, cz, weight)                                                                \
    p.next[i / 2] = n + neighbour(a, cx, cy, cz);                                                  \
    if (v->place)                                                                                  \
        p.next[i / 2] = sparse_next(v, i / 2, p.own, p.next[i / 2]);
    AXIS_LIST(X)
#undef X
    return p;
}

TAGFLOW_FN void set_load(const struct set_slots *s, const struct set_places *p, uint32_t links,
                         number g[Q_AXES])
{
    g[0] = (number)s->rest[p->own];
    for (int k = 0; k < 3; k++) {
        const int i = 2 * k + 1, j = i + 1;
        g[i] = (number)(links >> i & 1 ? s->next[k][p->own] : s->own[k][p->own]);
        g[j] = (number)(links >> j & 1 ? s->own[k][p->next[k]] : s->next[k][p->next[k]]);
    }
}

/* Replaces the populations of these links, as set_load has loaded them without links. */
TAGFLOW_FN void set_load_links(const struct set_slots *s, const struct set_places *p,
                               uint32_t links, number g[Q_AXES])
{
    for (int k = 0; k < 3; k++) {
        const int i = 2 * k + 1, j = i + 1;
        if (links >> i & 1)
            g[i] = (number)s->next[k][p->own];
        if (links >> j & 1)
            g[j] = (number)s->own[k][p->next[k]];
    }
}

/* The population that comes back from a wall of given value whose surface crosses the link at
 * fraction q of it. in, out: populations along and against the link before the step, c_in, c_out
 * after it. Linear profiles are exact for any B; with B = 2 up to q = 1/2 and 1/q above nothing
 * grows (eigenvalues of a layer between two surfaces). At q = 1/2 it is half-way. */
TAGFLOW_FN number scalar_surface_back(const struct view *v, const struct scalar_row *wall,
                                      cell_index n, number q, number out, number c_in, number c_out)
{
    const number two = 2, one = 1, half = (number)0.5, b = q > half ? one / q : two;
    const double eighth = wall->wall == SCALAR_layer ? 0.125 : 0.5;    /* b: T_w, T_w/4 */
    const number given = (number)(eighth * scalar_wall_b(v, wall, n)); /* T_w / 8 */
    return (((one - half * b) - b * q) * c_out + (one - half * b) * c_in) +
           ((b * q - one) * out + b * given);
}

/* The same from an oblique surface, see tag.h; n: component of its normal, left: what left. */
TAGFLOW_FN number scalar_oblique_back(const struct view *v, const struct scalar_row *wall, number n,
                                      number left)
{
    const number one = 1, r = n * (number)wall->a;
    const number given = (number)(wall->b * v->signal[wall->signal]);
    return ((one - r) * left + n * given) / (one + r);
}

/* Stored population returned along link `in` by a wall. g, out: populations before and after the
 * collision; left: stored population that left into the wall. near: the cell's entry in the list of
 * cells beside surfaces, NULL: none. */
TAGFLOW_FN set_stored link_back(const struct view *v, const struct scalar_row *wall, int in,
                                const number g[Q_AXES], const number out[Q_AXES], set_stored left,
                                struct scalar_cell c, const struct near_cell *near)
{
    if (near && (wall->surface || wall->oblique)) {
        const uint32_t before = near->links & ((1u << in) - 1);
        const size_t k = near->first + TAGFLOW_POPCOUNT(before);
        const number half = (number)0.5, one = 1;
        const number q = wall->surface ? (number)v->near.crossing[k] : half;
        const number n = wall->surface ? one : (number)v->near.facing[k];
        if (wall->wall == SCALAR_layer && !(wall->surface && c.flow == 0))
            return (set_stored)scalar_layer_back(v, wall, q, n, (number)left, c);
        if (wall->oblique)
            return (set_stored)scalar_oblique_back(v, wall, n, (number)left);
        return (set_stored)scalar_surface_back(v, wall, c.n, q, g[opposite(in)], out[in],
                                               out[opposite(in)]);
    }
    return scalar_back(v, wall, in, left, c);
}

/* The population that left into the wall cell m along the link against `in`: it lies where the next
 * step loads link `in` from. */
TAGFLOW_FN set_stored *set_waiting(const struct view *v, int set, int odd, int in,
                                   const struct set_places *p, cell_index m)
{
    const cell_index place = in & 1 ? p->own : v->place ? sparse_next(v, in / 2 - 1, p->own, m) : m;
    return (set_stored *)v->set[set].populations + (size_t)slot_load(odd, in) * v->set[set].stride +
           place;
}

/* Stores the populations returned by walls at a cell's links; parameters: as for link_back(). */
TAGFLOW_FN void set_leaves(const struct view *v, int set, int odd, cell_index n,
                           const struct around *a, const struct set_places *p, uint32_t links,
                           const number g[Q_AXES], const number out[Q_AXES],
                           struct scalar_cell cell, const struct near_cell *near)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    TAGFLOW_ROLLED
    for (int in = 1; in < Q_AXES; in++) {
        const int to = opposite(in);
        if (!(links >> in & 1))
            continue;
        const cell_index m = n + neighbour(a, c[to][0], c[to][1], c[to][2]);
        const struct scalar_row *const wall = scalar_row(v, set, v->tags[m] & TAG_ROW);
        set_stored *const waiting = set_waiting(v, set, odd, in, p, m);
        if (wall->wall != SCALAR_adiabatic)
            *waiting = link_back(v, wall, in, g, out, *waiting, cell, near);
    }
}

/* Gives the populations that left into walls what scalar_ascend took for the links. */
TAGFLOW_FN void set_stays(const struct view *v, int set, int odd, cell_index n,
                          const struct around *a, const struct set_places *p, uint32_t links,
                          const struct scalar_row *row, const number u[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    TAGFLOW_ROLLED
    for (int in = 1; in < Q_AXES; in++) {
        const int to = opposite(in), axis = (in - 1) / 2;
        const cell_index m = n + neighbour(a, c[to][0], c[to][1], c[to][2]);
        if (!(links >> in & 1))
            continue;
        set_stored *const waiting = set_waiting(v, set, odd, in, p, m);
        const number way = in & 1 ? -1 : 1;
        const number along = axis == 0 ? u[0] : axis == 1 ? u[1] : u[2]; /* u stays in registers */
        *waiting =
            (set_stored)((number)*waiting + SCALAR_CLIMB((number)row->gradient[axis], way, along));
    }
}

#ifndef TAGFLOW_LANES

/* The value of a scalar in cell n; 0 where the cell does not hold it. The scalar that turns into it
 * comes before it, and the one that turns into that one before both. */
TAGFLOW_FN number cell_value(const struct view *v, int set, int odd, cell_index n,
                             const struct around *a, const struct set_places *p)
{
    const int type = v->tags[n] & TAG_ROW;
    int before = 0;
    number t = 0;
    for (int k = scalar_row(v, set, type)->from; k; k = scalar_row(v, k, type)->from)
        before++;
    for (; before >= 0; before--) {
        int which = set;
        for (int k = 0; k < before; k++)
            which = scalar_row(v, which, type)->from;
        const struct scalar_row *const row = scalar_row(v, which, type);
        const struct set_slots s = set_slots_at(v, which, odd);
        number g[Q_AXES];
        if (!row->holds) {
            t = 0;
            continue;
        }
        set_load(&s, p, set_links(v, which, n, a), g);
        t = scalar_value(g, scalar_parameters(row), t);
    }
    return t;
}

/* The part of a scalar in the factor on gravity; t: its value. */
TAGFLOW_FN number lift_of(double buoyancy, number t)
{
    return (number)buoyancy * t;
}

/* The factor on gravity of the buoyancy in cell n. */
TAGFLOW_FN number cell_lift(const struct view *v, int odd, cell_index n, const struct around *a)
{
    const int type = v->tags[n] & TAG_ROW;
    number lift = 0;
    if (!v->scalars.lifts)
        return 0;
    const struct set_places p = set_places_of(v, n, a);
    for (int set = 1; set < v->sets; set++) {
        const struct scalar_row *const row = scalar_row(v, set, type);
        if (row->holds && row->buoyancy != 0)
            lift = lift - lift_of(row->buoyancy, cell_value(v, set, odd, n, a, &p));
    }
    return lift;
}

/* The same where few cells need it. */
TAGFLOW_RARE number rare_lift(const struct view *v, int odd, cell_index n, const struct around *a)
{
    return cell_lift(v, odd, n, a);
}

/* Stores what leaves a cell. odd: a pointer, so that the caller keeps no slots. */
TAGFLOW_FN void set_store(const struct view *v, int set, int *odd, const struct set_places *p,
                          const number out[Q_AXES])
{
    TAGFLOW_FORGET(*odd);
    const struct set_slots s = set_slots_at(v, set, *odd);
    s.rest[p->own] = (set_stored)out[0];
    for (int k = 0; k < 3; k++) {
        s.own[k][p->own] = (set_stored)out[2 * k + 2];
        s.next[k][p->next[k]] = (set_stored)out[2 * k + 1];
    }
}

/* Changes what leaves cell n into walls, after set_store. g, out: populations before and after the
 * step, t: the value before it, q: parameters of the cell's type, slopes: it has a mean gradient;
 * the rest: as for cell_carry(). */
TAGFLOW_FN void set_walls(const struct view *v, int set, int odd, cell_index n,
                          const struct around *a, const struct set_places *p, uint32_t links,
                          int type, struct scalar_parameters q, int slopes, const number g[Q_AXES],
                          const number out[Q_AXES], number t, const number u[3], number eddy,
                          int subgrid, const struct near_cell *near)
{
    if (links && v->scalars.walls)
        set_leaves(v, set, odd, n, a, p, links, g, out,
                   scalar_cell(q, n, t, scalar_conductivity(q, subgrid, eddy), u), near);
    if (links && slopes)
        set_stays(v, set, odd, n, a, p, links, scalar_row(v, set, type), u);
}

/* The step of all scalars in cell n. u, eddy: velocity and eddy viscosity of the flow, 0 in a
 * solid; subgrid: of the cell; near: as for link_back(). A scalar that turns into another one comes
 * before it, and is needed as it was before the step: so the last one is stepped first. */
TAGFLOW_FN void cell_carry(const struct view *v, int odd, cell_index n, const struct around *a,
                           const number u[3], number eddy, int subgrid,
                           const struct near_cell *near)
{
    const struct set_places p = set_places_of(v, n, a);
    int type = v->tags[n] & TAG_ROW;
    TAGFLOW_ROLLED
    for (int set = v->sets - 1; set > 0; set--) {
        const int from = scalar_row(v, set, type)->from;
        const struct set_slots s = set_slots_at(v, set, odd);
        number g[Q_AXES], out[Q_AXES], other = 0;
        if (!scalar_row(v, set, type)->holds)
            continue;
        const uint32_t links = set_links(v, set, n, a);
        if (from)
            other = cell_value(v, from, odd, n, a, &p);
        set_load(&s, &p, links, g);
        TAGFLOW_FORGET(type); /* or its parameters, and below all addresses, stay in registers */
        const struct scalar_parameters q = scalar_parameters(scalar_row(v, set, type));
        const number t = scalar_value(g, q, other);
        scalar_leave(g, out, q, scalar_rates(q, subgrid, eddy), scalar_range(v, set), t, other,
                     q.flow != 0, u);
        const int slopes = scalar_row(v, set, type)->slopes;
        if (slopes)
            scalar_ascend(out, scalar_slope(v, scalar_row(v, set, type)), u);
        set_store(v, set, &odd, &p, out);
        set_walls(v, set, odd, n, a, &p, links, type, q, slopes, g, out, t, u, eddy, subgrid, near);
    }
}

#endif
#endif
#endif
