/* The CPU's step of scalars in gathered cells: beside surfaces, at open faces, among solids, and in
 * solids that conduct. Compiled once per variant, as rows.c. */
#include "cpu/scalars.h" /* first: it defines `real` */
#include "cpu/set_lanes.h"

/* Where gathered cells keep their populations of scalars. */
struct gathered_places {
    int type, count; /* of the cells */
    cell_index n[LANES];
    struct around around[LANES];
    struct set_places at[LANES];
    unsigned beside; /* bit k: cell k may have a neighbour that does not hold what it holds */
    int follow;      /* the cells fill a vector, and have consecutive places */
};

/* A set in gathered cells that are not all alike: links from cells that do not hold it, as from
 * set_links, and populations that arrive. */
struct gathered_set {
    uint32_t links[LANES];
    number g[Q_AXES][LANES];
};

/* May a neighbour of the cell not hold what the cell holds? */
TAGFLOW_FN unsigned beside_others(const struct view *v, cell_index n, const struct around *a)
{
    const int tag = v->tags[n];
    int others = 0;
    if (!type_in(&v->solid, tag))
        return tag & TAG_BESIDE ? 1 : 0;
#define X(i, j, cx, cy, cz, weight)                                                                \
    others |= v->tags[n + neighbour(a, cx, cy, cz)] ^ tag;                                         \
    others |= v->tags[n + neighbour(a, -(cx), -(cy), -(cz))] ^ tag;
    AXIS_LIST(X)
#undef X
    return (others & TAG_ROW) != 0;
}

static void find_places(struct gathered_places *p, const struct view *v, const struct gathered *g)
{
    cell_index gaps = 0;
    p->beside = 0;
    p->count = g->count;
    for (int k = 0; k < g->count; k++) {
        const int x = g->at[k][0], y = g->at[k][1], z = g->at[k][2];
        struct set_places *const at = &p->at[k];
        p->n[k] = owned_index(v, x, y, z);
        p->around[k] = around(v, x, y, z);
        *at = set_places_of(v, p->n[k], &p->around[k]);
        p->beside |= beside_others(v, p->n[k], &p->around[k]) << k;
        gaps |= at->own ^ (p->at[0].own + (cell_index)k);
        for (int pair = 0; pair < 3; pair++)
            gaps |= at->next[pair] ^ (p->at[0].next[pair] + (cell_index)k);
    }
    p->type = v->tags[p->n[0]] & TAG_ROW;
    p->follow = g->count == LANES && !gaps;
}

static void load_gathered(struct gathered_set *s, const struct view *v, int set, int odd,
                          const struct gathered_places *p, real g[Q_AXES])
{
    const struct set_slots slots = set_slots_at(v, set, odd);
    if (p->follow && !p->beside) {
        g[0] = load_set(slots.rest + p->at[0].own);
        for (int pair = 0; pair < 3; pair++) {
            g[2 * pair + 1] = load_set(slots.own[pair] + p->at[0].own);
            g[2 * pair + 2] = load_set(slots.next[pair] + p->at[0].next[pair]);
        }
        return;
    }
    for (int k = 0; k < p->count; k++) {
        number one[Q_AXES];
        s->links[k] = p->beside >> k & 1 ? set_links(v, set, p->n[k], &p->around[k]) : 0;
        set_load(&slots, &p->at[k], s->links[k], one);
        for (int i = 0; i < Q_AXES; i++)
            s->g[i][k] = one[i];
    }
    for (int k = p->count; k < LANES; k++) /* not stored */
        for (int i = 0; i < Q_AXES; i++)
            s->g[i][k] = s->g[i][0];
    for (int i = 0; i < Q_AXES; i++)
        g[i] = load_number(s->g[i]);
}

static void store_gathered(const struct view *v, int set, int odd, const struct gathered_places *p,
                           const real out[Q_AXES])
{
    const struct set_slots slots = set_slots_at(v, set, odd);
    number word[Q_AXES][LANES];
    if (p->follow) {
        store_set(slots.rest + p->at[0].own, out[0], LANES);
        for (int pair = 0; pair < 3; pair++) {
            store_set(slots.own[pair] + p->at[0].own, out[2 * pair + 2], LANES);
            store_set(slots.next[pair] + p->at[0].next[pair], out[2 * pair + 1], LANES);
        }
        return;
    }
    for (int i = 0; i < Q_AXES; i++)
        store_number(word[i], out[i]);
    for (int k = 0; k < p->count; k++) {
        const struct set_places *const at = &p->at[k];
        slots.rest[at->own] = (set_stored)word[0][k];
        for (int pair = 0; pair < 3; pair++) {
            slots.own[pair][at->own] = (set_stored)word[2 * pair + 2][k];
            slots.next[pair][at->next[pair]] = (set_stored)word[2 * pair + 1][k];
        }
    }
}

void gathered_lift(const struct view *v, int odd, struct gathered *g)
{
    struct gathered_places p;
    unsigned needed = 0; /* bit `set`: there is buoyancy of it, or of what it turns into */
    real t[SETS], lift = real_of(0);
    find_places(&p, v, g);
    for (int set = v->sets - 1; set > 0; set--) {
        const struct scalar_row *const row = scalar_row(v, set, p.type);
        needed |= (unsigned)(row->holds && row->buoyancy != 0) << set;
        needed |= (needed >> set & 1) << row->from;
    }
    for (int set = 1; set < v->sets; set++) {
        const struct scalar_row *const row = scalar_row(v, set, p.type);
        struct gathered_set s;
        real in[Q_AXES];
        t[set] = real_of(0);
        if (!row->holds || !(needed >> set & 1))
            continue;
        load_gathered(&s, v, set, odd, &p, in);
        t[set] = scalar_value(in, scalar_parameters(row), row->from ? t[row->from] : real_of(0));
        if (row->buoyancy != 0)
            lift = lift - (number)row->buoyancy * t[set];
    }
    store_number(g->lift, lift);
}

/* Changes the populations that left into walls; s: from load_gathered. t, k: the scalar's values
 * and conductivities. */
static void gathered_leave(const struct view *v, int set, int odd, const struct gathered *g,
                           const struct gathered_places *p, const struct gathered_set *s,
                           const real out[Q_AXES], real t, real k)
{
    const struct scalar_row *const row = scalar_row(v, set, p->type);
    const struct scalar_parameters q = scalar_parameters(row);
    for (int n = 0; n < p->count; n++) {
        const number u[3] = {g->u[0][n], g->u[1][n], g->u[2][n]};
        number arrived[Q_AXES], left[Q_AXES];
        if (!s->links[n])
            continue;
        for (int i = 0; i < Q_AXES; i++) {
            arrived[i] = s->g[i][n];
            left[i] = out[i][n];
        }
        if (v->scalars.walls)
            set_leaves(v, set, odd, p->n[n], &p->around[n], &p->at[n], s->links[n], arrived, left,
                       scalar_cell(q, p->n[n], t[n], k[n], u), g->near[n]);
        if (row->slopes)
            set_stays(v, set, odd, p->n[n], &p->around[n], &p->at[n], s->links[n], row, u);
    }
}

void gathered_step(const struct view *v, int odd, struct gathered *g)
{
    struct gathered_places p;
    real t[SETS];
    find_places(&p, v, g);
    for (int k = g->count; k < LANES; k++) {
        for (int a = 0; a < 3; a++)
            g->u[a][k] = g->u[a][0];
        g->eddy[k] = g->eddy[0];
    }
    const int subgrid = subgrid_mixes(v->rows[p.type].subgrid);
    const real eddy = load_number(g->eddy);
    const real u[3] = {load_number(g->u[0]), load_number(g->u[1]), load_number(g->u[2])};
    for (int set = 1; set < v->sets; set++) {
        const struct scalar_row *const row = scalar_row(v, set, p.type);
        const struct scalar_parameters q = scalar_parameters(row);
        struct gathered_set s;
        real in[Q_AXES], out[Q_AXES];
        const real other = row->from ? t[row->from] : real_of(0);
        t[set] = real_of(0);
        if (!row->holds)
            continue;
        load_gathered(&s, v, set, odd, &p, in);
        t[set] = scalar_value(in, q, other);
        scalar_leave(in, out, q, scalar_rates(q, subgrid, eddy), scalar_range(v, set), t[set],
                     other, q.flow != 0, u);
        if (row->slopes)
            scalar_ascend(out, scalar_slope(v, row), u);
        store_gathered(v, set, odd, &p, out);
        if (p.beside && (v->scalars.walls || row->slopes))
            gathered_leave(v, set, odd, g, &p, &s, out, t[set],
                           scalar_conductivity(q, subgrid, eddy));
    }
    g->count = 0;
}
