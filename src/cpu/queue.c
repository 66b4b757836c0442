/* Single cells of the CPU's step, at open faces and where links with different rules meet: cells
 * that are alike wait until a vector is full of them. Compiled once per variant, as rows.c. */
#include "cpu/rows.h" /* first: it defines `real` */

#include "open.h"
#include "slip.h"

const stored *mirrored_at(const struct view *v, const struct slots *s, int link, int from, int x,
                          int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int own = from % 2;
    int at[3] = {x, y, z};
    for (int a = 0; a < 3; a++) {
        const int across = c[link][a] != c[from][a];
        at[a] -= (across ? c[link][a] : 0) + (own ? 0 : c[from][a]);
    }
    return (const stored *)(own ? s->own[from / 2] : s->next[from / 2 - 1]) +
           (own ? pair_place(v, from / 2, at[0], at[1], at[2])
                : view_place(v, view_index(v, at[0], at[1], at[2])));
}

/* Coordinates of `count` cells; the other lanes repeat the first one, and are not stored. */
typedef int lane_cells[LANES][3];

TAGFLOW_FN real gather(const stored *from, const cell_index place[LANES])
{
    stored word[LANES];
    for (int k = 0; k < LANES; k++)
        word[k] = from[place[k]];
    return load_lanes(word);
}

TAGFLOW_FN void scatter(stored *to, const cell_index place[LANES], real value, int count)
{
    const stored_lanes words = lanes_of(value);
    const stored *const word = (const stored *)&words;
    for (int k = 0; k < count; k++)
        to[place[k]] = word[k];
}

/* Velocities that cell type `row` gives at cells, see given_velocity. `c` from each. */
static void given_lanes(const struct view *v, const struct tag_row *row, lane_cells at,
                        const int c[3], double u[3][LANES])
{
    for (int k = 0; k < LANES; k++) {
        const int there[3] = {at[k][0] + c[0], at[k][1] + c[1], at[k][2] + c[2]};
        double here[3];
        given_velocity(v, row, there, here);
        for (int a = 0; a < 3; a++)
            u[a][k] = here[a];
    }
}

TAGFLOW_FN real lanes_from(const double number[LANES])
{
    return __builtin_convertvector(*(const unaligned_doubles *)number, real);
}

/* The walls beside nodes of open faces, as walls_beside finds them. */
static void walls_beside_lanes(const struct view *v, const struct link_group *g, lane_cells at,
                               struct arriving *a)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    a->walls = 0;
    for (int i = 1; i < Q; i++) {
        const struct tag_row *const wall = &v->rows[g->beyond[i]];
        double u[3][LANES];
        if (!(g->links >> i & 1) || boundary_open(wall->boundary))
            continue;
        a->walls |= i <= 6 ? 1 << (i - 1) : BESIDE_EDGE;
        for (int k = 0; k < LANES && i <= 6; k++) {
            double here[3];
            wall_half_way(v, wall, at[k], c[opposite(i)], here);
            for (int axis = 0; axis < 3; axis++)
                u[axis][k] = here[axis];
        }
        for (int axis = 0; axis < 3 && i <= 6; axis++)
            a->wall_velocity[i - 1][axis] = lanes_from(u[axis]);
    }
}

/* What the rule of the cells' own type makes of populations that arrived. */
static __attribute__((noinline)) void arrive_lanes(const struct view *v, const struct link_group *g,
                                                   lane_cells at, real f[Q])
{
    static const int here[3] = {0, 0, 0};
    struct arriving a;
    double u[3][LANES];
    a.row = &v->rows[g->row];
    walls_beside_lanes(v, g, at, &a);
    given_lanes(v, a.row, at, here, u);
    a.drho = given_drho(v, a.row);
    for (int axis = 0; axis < 3; axis++) {
        a.u[axis] = lanes_from(u[axis]);
        a.half[axis] = real_of((scalar)(0.5 * view_acceleration(v, a.row, axis)));
    }
    open_arrive(f, &a);
}

/* Replaces the populations that leave into cells that are not fluid, as cell_leaves does. */
static __attribute__((noinline)) void group_leaves(const struct view *v, const struct link_group *g,
                                                   lane_cells at, const real f[Q], real out[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES, nowhere[3] = {0, 0, 0};
    const struct tag_row *const row = &v->rows[g->row];
    const struct collision_parameters p = collision_parameters(v, row);
    const struct moments bare = moments(f, p, 0), m = moments(f, p, row->forced);
    struct leaving l = {.drho = m.drho, .u = {m.ux, m.uy, m.uz}, .j = {bare.jx, bare.jy, bare.jz}};
    real collided[Q];
    for (int i = 0; i < Q; i++)
        collided[i] = out[i];
    for (int in = 1; in < Q; in++) {
        const int to = opposite(in);
        if (!(g->links >> in & 1))
            continue;
        l.row = &v->rows[g->beyond[in]];
        l.in = in;
        l.f_in = f[in];
        l.f_out = f[to];
        l.c_in = collided[in];
        l.c_out = collided[to];
        if (!boundary_open(l.row->boundary)) {
            out[to] = boundary_leave(l.row->boundary, c[to][0], c[to][1], c[to][2], collided[to],
                                     wall_parameters(v, l.row, 1));
            continue;
        }
        if (boundary_is(l.row->boundary) & RULE_velocity) {
            double here[3][LANES], there[3][LANES];
            given_lanes(v, l.row, at, nowhere, here);
            given_lanes(v, l.row, at, c[to], there);
            for (int axis = 0; axis < 3; axis++) {
                for (int k = 0; k < LANES; k++)
                    here[axis][k] = 0.5 * (here[axis][k] + there[axis][k]);
                l.given_u[axis] = lanes_from(here[axis]);
            }
        }
        l.given_drho = given_drho(v, l.row);
        out[to] = open_leave(&l);
    }
}

/* Index of the neighbour of owned cell n at c_i, for each pair of directions, as lane k. */
TAGFLOW_FN void next_cells(const struct view *v, cell_index n, const int at[3], int k,
                           cell_index next[Q / 2][LANES])
{
    const ptrdiff_t step[3] = {1, v->row, v->plane};
    ptrdiff_t up[3], down[3];
    for (int a = 0; a < 3; a++) {
        const ptrdiff_t across = v->ghost[a] ? -1 : v->n[a] - 1; /* wraps at both ends */
        up[a] = at[a] == across ? -across * step[a] : step[a];
        down[a] = at[a] == 0 && across >= 0 ? across * step[a] : -step[a];
    }
#define X(i, j, cx, cy, cz, weight)                                                                \
    next[i / 2][k] = n + (cell_index)(((cx) ? up[0] : 0) +                                         \
                                      ((cy) > 0   ? up[1]                                          \
                                       : (cy) < 0 ? down[1]                                        \
                                                  : 0) +                                           \
                                      ((cz) > 0   ? up[2]                                          \
                                       : (cz) < 0 ? down[2]                                        \
                                                  : 0));
    PAIR_LIST(X)
#undef X
}

/* Steps `count` cells of a group, as cell_step does. */
static __attribute__((noinline)) void step_group(const struct view *v, const struct slots *s,
                                                 const struct link_group *g, lane_cells at,
                                                 int count)
{
    const struct tag_row *const row = &v->rows[g->row];
    struct run_parameters p = row_parameters(v, row, at[0][1], at[0][2]);
    cell_index own[LANES], next[Q / 2][LANES];
    double strength[LANES];
    scalar damping[LANES];
    real f[Q], out[Q];
    for (int k = 0; k < LANES; k++) {
        const int x = at[k][0], y = at[k][1], z = at[k][2];
        own[k] = owned_index(v, x, y, z);
        next_cells(v, own[k], at[k], k, next);
        if (p.damping_along)
            damping[k] = damping_of_row(v, row, y, z) * (scalar)damping_along(v, row)[x];
        if (p.target)
            strength[k] = sponge_of_cell(v, row, x, y, z);
    }
    for (int k = 0; k < LANES && v->place; k++) {
        own[k] = place_in(v->place, own[k]);
        for (int pair = 0; pair < Q / 2; pair++)
            next[pair][k] = sparse_next(v, pair, own[k], next[pair][k]);
    }
    if (p.damping_along)
        p.damping = *(const unaligned_reals *)damping;
    p.damping_along = NULL;
    p.sponge = strength;
    p.sponge_along = 1;

    f[0] = gather((const stored *)s->rest, own);
#define X(i, j, cx, cy, cz, weight)                                                                \
    f[i] = gather((const stored *)(g->links & 1u << (i) ? s->next : s->own)[i / 2], own);          \
    f[j] = gather((const stored *)(g->links & 1u << (j) ? s->own : s->next)[i / 2], next[i / 2]);
    PAIR_LIST(X)
#undef X
    for (int i = 1; i < Q; i++) {
        stored word[LANES];
        for (int k = 0; k < LANES && g->from[i]; k++)
            word[k] = *mirrored_at(v, s, i, g->from[i], at[k][0], at[k][1], at[k][2]);
        if (g->from[i])
            f[i] = load_lanes(word);
    }
    if (boundary_open(row->boundary) && g->links) {
        for (int i = 0; i < Q; i++)
            f[i] = f[i] * (1 / STORED_ONE);
        arrive_lanes(v, g, at, f);
        for (int i = 0; i < Q; i++)
            f[i] = f[i] * STORED_ONE;
    }
    row_loops[row->collision][row->subgrid][row->forced != 0].operate(f, out, &p, 0);
    if (p.target)
        sponge_pull(p.target, sponge_of_lanes(&p, 0), STORED_ONE, out);
    if (g->changes) {
        for (int i = 0; i < Q; i++) {
            f[i] = f[i] * (1 / STORED_ONE);
            out[i] = out[i] * (1 / STORED_ONE);
        }
        group_leaves(v, g, at, f, out);
        for (int i = 0; i < Q; i++)
            out[i] = out[i] * STORED_ONE;
    }
    scatter((stored *)s->rest, own, out[0], count);
#define X(i, j, cx, cy, cz, weight)                                                                \
    scatter((stored *)s->own[i / 2], own, out[j], count);                                          \
    scatter((stored *)s->next[i / 2], next[i / 2], out[i], count);
    PAIR_LIST(X)
#undef X
}

static void step_waiting(const struct view *v, const struct slots *s, const struct runs *runs,
                         struct waiting *w)
{
    if (!w->count)
        return;
    for (int k = w->count; k < LANES; k++)
        for (int a = 0; a < 3; a++)
            w->at[k][a] = w->at[0][a];
    step_group(v, s, &runs->group[w->group], w->at, w->count);
    w->count = 0;
}

/* The queue's place for cells of a group. Without a free one, the fullest is stepped. */
static struct waiting *waiting_of(const struct view *v, const struct slots *s,
                                  const struct runs *runs, struct queue *q, uint32_t group)
{
    struct waiting *best = &q->cells[0];
    for (struct waiting *w = q->cells; w < q->cells + WAITING; w++) {
        if (w->count && w->group == group)
            return w;
        if (best->count && (!w->count || w->count > best->count))
            best = w;
    }
    step_waiting(v, s, runs, best);
    best->group = group;
    return best;
}

void queue_cells(const struct view *v, const struct slots *s, const struct runs *runs,
                 struct queue *q, uint32_t group, int x0, int x1, int y, int z)
{
    struct waiting *const w = waiting_of(v, s, runs, q, group);
    for (int x = x0; x < x1; x++) {
        int *const at = w->at[w->count++];
        at[0] = x;
        at[1] = y;
        at[2] = z;
        if (w->count == LANES)
            step_waiting(v, s, runs, w);
    }
}

void queue_finish(const struct view *v, const struct slots *s, const struct runs *runs,
                  struct queue *q)
{
    for (int k = 0; k < WAITING; k++)
        step_waiting(v, s, runs, &q->cells[k]);
}
