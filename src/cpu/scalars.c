/* The CPU's step of scalars, before and after the loop of a run of the flow. Compiled once per
 * variant, as rows.c.
 *
 * A run of plain cells goes a vector of neighbours at a time: first the buoyancy, then the loop of
 * the flow, which feels it and leaves its velocity, then the collision of the scalars. What passes
 * between the three lies in arrays of the thread, which stay in the cache. Other cells are gathered
 * (gathered.c), with the same results. */
#include "cpu/scalars.h" /* first: it defines `real` */
#include "cpu/set_lanes.h"

#include "boundary.h"

/* A set's populations in a row of cells, as struct row. */
struct set_row {
    set_stored *rest, *own[3], *next[3];
    ptrdiff_t flip;
    int nx;
};

static struct set_row set_row_at(const struct view *v, int set, int odd, int y, int z)
{
    set_stored *const g = (set_stored *)v->set[set].populations;
    const size_t stride = v->set[set].stride;
    const size_t here = owned_index(v, 0, y, z);
    const size_t there[3] = {here + 1, view_index(v, 0, y + 1, z), view_index(v, 0, y, z + 1)};
    struct set_row r = {
        .rest = g + here, .flip = odd ? (ptrdiff_t)stride : -(ptrdiff_t)stride, .nx = v->n[0]};
    for (int i = 1; i < Q_AXES; i += 2) {
        r.own[i / 2] = g + (size_t)slot_load(odd, i) * stride + here;
        r.next[i / 2] = g + (size_t)slot_load(odd, i + 1) * stride + there[i / 2];
    }
    return r;
}

/* Loads the set's populations of cells x <= cell < x + count, all where fluid would have stored
 * them. wraps: the neighbour along +x of the last of them is cell 0. */
TAGFLOW_FN void load_row(const struct set_row *r, ptrdiff_t x, int count, int wraps, real g[Q_AXES])
{
    g[0] = load_set(r->rest + x);
    for (int k = 0; k < 3; k++) {
        g[2 * k + 1] = load_set(r->own[k] + x);
        g[2 * k + 2] = load_set(r->next[k] + x);
    }
    if (wraps)
        g[2] = choose(lane_numbers == (lane_bits){0} + (count - 1), g[2],
                      real_of((number)r->next[0][x + count - 1 - r->nx]));
}

TAGFLOW_FN void store_row(const struct set_row *r, ptrdiff_t x, int count, int wraps,
                          const real out[Q_AXES])
{
    store_set(r->rest + x, out[0], count);
    for (int k = 0; k < 3; k++) {
        store_set(r->own[k] + x, out[2 * k + 2], count);
        store_set(r->next[k] + x, out[2 * k + 1], wraps && k == 0 ? count - 1 : count);
    }
    if (wraps)
        r->next[0][x + count - 1 - r->nx] = (set_stored)out[1][count - 1];
}

/* Where population `link` of cell x of the row lies if fluid stored it; a wall's is at + flip, or
 * at - flip if the link is even. */
TAGFLOW_FN set_stored *link_at(const struct set_row *r, int link, int wraps)
{
    const int k = (link - 1) / 2;
    return (link & 1 ? r->own[k] : r->next[k]) - (wraps ? r->nx : 0);
}

/* The type of the cell from which a link of cell x comes. */
TAGFLOW_FN int type_beyond(const struct view *v, int link, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    return v->tags[view_index(v, x - c[link][0], y - c[link][1], z - c[link][2])] & TAG_ROW;
}

/* A part of a run: cells x0 <= x < x1, before the loops of the flow. */
struct stretch {
    const struct view *v;
    const struct runs *runs;
    const struct row_run *run;
    int x0, x1, y, z;
    int wraps; /* the neighbour of cell x1 - 1 along +x is cell 0 */
};

/* Copies the populations of links from walls to where fluid would have stored them. */
static void bounce_set(const struct stretch *s, const struct set_row *r, int set)
{
    for (size_t k = s->run->bounce; k < s->run->bounce_end; k++) {
        const struct bounce b = s->runs->bounce[k];
        const int from = b.x0 > s->x0 ? b.x0 : s->x0, to = b.x1 < s->x1 ? b.x1 : s->x1;
        if (b.link >= Q_AXES)
            continue;
        set_stored *const at = link_at(r, b.link, b.wraps);
        const ptrdiff_t wall = b.link & 1 ? r->flip : -r->flip;
        for (int x = from; x < to; x++)
            if (!type_holds(s->v, set, type_beyond(s->v, b.link, x, s->y, s->z)))
                at[x] = at[x + wall];
    }
}

/* Replaces populations that left into walls by those that the walls return. */
static void give_back(const struct stretch *s, const struct set_row *r, int set,
                      const struct scalars *a)
{
    const struct scalar_parameters p = scalar_parameters(scalar_row(s->v, set, s->run->row));
    const int subgrid = subgrid_mixes(s->v->rows[s->run->row].subgrid);
    for (size_t k = s->run->bounce; k < s->run->bounce_end; k++) {
        const struct bounce b = s->runs->bounce[k];
        const int from = b.x0 > s->x0 ? b.x0 : s->x0, to = b.x1 < s->x1 ? b.x1 : s->x1;
        if (b.link >= Q_AXES)
            continue;
        set_stored *const at = link_at(r, b.link, b.wraps);
        for (int x = from; x < to; x++) {
            const struct scalar_row *const wall =
                scalar_row(s->v, set, type_beyond(s->v, b.link, x, s->y, s->z));
            if (wall->holds || wall->wall == SCALAR_adiabatic)
                continue;
            const number u[3] = {a->u[0][x], a->u[1][x], a->u[2][x]};
            const number conductivity =
                subgrid ? p.conductivity + p.turbulent * a->eddy[x] : p.conductivity;
            at[x] = scalar_back(
                s->v, wall, b.link, at[x],
                scalar_cell(p, owned_index(s->v, x, s->y, s->z), a->t[set][x], conductivity, u));
        }
    }
}

/* Gives back what a mean gradient took from populations that left into walls, as set_stays does.
 */
static void give_level(const struct stretch *s, const struct set_row *r, int set,
                       const struct scalars *a)
{
    const struct scalar_slope slope = scalar_slope(s->v, scalar_row(s->v, set, s->run->row));
    for (size_t k = s->run->bounce; k < s->run->bounce_end; k++) {
        const struct bounce b = s->runs->bounce[k];
        const int from = b.x0 > s->x0 ? b.x0 : s->x0, to = b.x1 < s->x1 ? b.x1 : s->x1;
        if (b.link >= Q_AXES)
            continue;
        set_stored *const at = link_at(r, b.link, b.wraps);
        const int axis = (b.link - 1) / 2;
        const number way = b.link & 1 ? -1 : 1;
        for (int x = from; x < to; x++)
            if (!type_holds(s->v, set, type_beyond(s->v, b.link, x, s->y, s->z)))
                at[x] = (set_stored)((number)at[x] +
                                     SCALAR_CLIMB(slope.along[axis], way, a->u[axis][x]));
    }
}

/* The values of a set, and their part of the buoyancy. */
static void find_values(const struct stretch *s, const struct set_row *r, int set,
                        const struct scalars *a)
{
    const struct scalar_row *const row = scalar_row(s->v, set, s->run->row);
    const struct scalar_parameters p = scalar_parameters(row);
    const number expansion = (number)row->buoyancy, *const other = a->t[row->from];
    for (int x = s->x0; x < s->x1; x += LANES) {
        const int left = s->x1 - x, count = left < LANES ? left : LANES;
        real g[Q_AXES];
        load_row(r, x, count, s->wraps && left <= LANES, g);
        const real t = scalar_value(g, p, row->from ? load_number(other + x) : real_of(0));
        store_number(a->t[set] + x, t);
        if (expansion != 0)
            store_number(a->lift + x, load_number(a->lift + x) - expansion * t);
    }
}

/* Arguments of a set's collision, beside its populations. */
struct set_collision {
    struct scalar_parameters p;
    const number *other, *u[3], *eddy; /* [x]; other: NULL without a source */
    number *t;
    int subgrid, slopes;
    struct scalar_slope slope;
    struct scalar_range range;
};

/* Possible terms of a collision: none; sources, the subgrid model and a gradient; these and the
 * limiter. */
enum full { FULL_none, FULL_sources, FULL_limited };

/* Collides cells x <= cell < x + count. */
TAGFLOW_FN void collide_lanes(const struct set_row *r, const struct set_collision *c, ptrdiff_t x,
                              int count, int wraps, const enum full full)
{
    const real u[3] = {load_number(c->u[0] + x), load_number(c->u[1] + x),
                       load_number(c->u[2] + x)};
    const int plain = full == FULL_none, subgrid = plain ? 0 : c->subgrid;
    struct scalar_parameters p = c->p;
    real g[Q_AXES], out[Q_AXES], other = real_of(0), eddy = real_of(0);
    if (plain)
        p.source = p.half = p.decay = p.gain = 0;
    p.limited = full == FULL_limited;
    if (!plain && c->other)
        other = load_number(c->other + x);
    if (subgrid)
        eddy = load_number(c->eddy + x);
    load_row(r, x, count, wraps, g);
    const real t = scalar_value(g, p, other);
    store_number(c->t + x, t);
    scalar_leave(g, out, p, scalar_rates(p, subgrid, eddy), c->range, t, other, 1, u);
    if (!plain && c->slopes)
        scalar_ascend(out, c->slope, u);
    store_row(r, x, count, wraps, out);
}

TAGFLOW_FN void collide_stretch(const struct stretch *s, const struct set_row *r,
                                const struct set_collision *c, const enum full full)
{
    int x = s->x0;
    for (; x + LANES <= s->x1 - s->wraps; x += LANES)
        collide_lanes(r, c, x, LANES, 0, full);
    if (x < s->x1)
        collide_lanes(r, c, x, s->x1 - x, s->wraps, full);
}

static void collide_set(const struct stretch *s, const struct set_row *r, int set,
                        const struct scalars *a)
{
    const struct scalar_row *const row = scalar_row(s->v, set, s->run->row);
    const struct set_collision c = {
        .p = scalar_parameters(row),
        .other = row->from ? a->t[row->from] : NULL,
        .u = {a->u[0], a->u[1], a->u[2]},
        .eddy = a->eddy,
        .t = a->t[set],
        .subgrid = subgrid_mixes(s->v->rows[s->run->row].subgrid),
        .slopes = row->slopes,
        .slope = scalar_slope(s->v, row),
        .range = scalar_range(s->v, set),
    };
    if (row->limited)
        collide_stretch(s, r, &c, FULL_limited);
    else if (c.subgrid || c.slopes || row->source != 0 || row->decay != 0 || row->gain != 0)
        collide_stretch(s, r, &c, FULL_sources);
    else
        collide_stretch(s, r, &c, FULL_none);
}

void scalars_before(const struct view *v, const struct runs *runs, const struct row_run *run,
                    const struct scalars *a, int odd, int x0, int x1, int y, int z)
{
    const struct stretch s = {v, runs, run, x0, x1, y, z, !v->ghost[0] && x1 == v->n[0]};
    for (int x = x0; x < x1 && v->scalars.lifts; x++)
        a->lift[x] = 0;
    for (int set = 1; set < v->sets; set++) {
        const struct set_row r = set_row_at(v, set, odd, y, z);
        bounce_set(&s, &r, set);
        if (v->scalars.lifts)
            find_values(&s, &r, set, a);
    }
}

void scalars_after(const struct view *v, const struct runs *runs, const struct row_run *run,
                   const struct scalars *a, int odd, int x0, int x1, int y, int z)
{
    const struct stretch s = {v, runs, run, x0, x1, y, z, !v->ghost[0] && x1 == v->n[0]};
    for (int set = 1; set < v->sets; set++) {
        const struct set_row r = set_row_at(v, set, odd, y, z);
        collide_set(&s, &r, set, a);
        if (v->scalars.walls)
            give_back(&s, &r, set, a);
        if (scalar_row(v, set, run->row)->slopes)
            give_level(&s, &r, set, a);
    }
}
