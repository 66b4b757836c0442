/* Single cells of the CPU's step, at open faces and where links with different rules meet: cells
 * that are alike wait until a vector is full of them. Compiled once per variant, as rows.c. */
#include "cpu/scalars.h" /* first: it defines `real` */

#include <string.h>

#include "open.h"
#include "slip.h"

const stored *mirrored_at(const struct view *v, const struct slots *s, int link, int from, int x,
                          int y, int z)
{
    int at[3];
    slip_beside(link, from, x, y, z, at);
    return (const stored *)load_slot(s, from) + load_place(v, from, at[0], at[1], at[2]);
}

/* Stores a population of `count` cells. */
TAGFLOW_FN void scatter(stored *to, const cell_index place[LANES], real value, int count)
{
    const stored_lanes words = lanes_of(value);
    const stored *const word = (const stored *)&words;
    if (count == LANES) {
        for (int k = 0; k < LANES; k++)
            to[place[k]] = word[k];
        return;
    }
    for (int k = 0; k < count; k++)
        to[place[k]] = word[k];
}

/* Velocities that cell type `row` gives at cells, see given_velocity. `c` from each. */
static void given_lanes(const struct view *v, const struct tag_row *row,
                        const struct gathered *cells, const int c[3], double u[3][LANES])
{
    for (int k = 0; k < LANES; k++) {
        const int there[3] = {cells->at[k][0] + c[0], cells->at[k][1] + c[1],
                              cells->at[k][2] + c[2]};
        double here[3];
        given_velocity(v, row, there, here);
        for (int a = 0; a < 3; a++)
            u[a][k] = here[a];
    }
}

TAGFLOW_FN real lanes_from(const double value[LANES])
{
    return __builtin_convertvector(*(const unaligned_doubles *)value, real);
}

/* The walls beside nodes of open faces, as walls_beside finds them. */
static void walls_beside_lanes(const struct view *v, const struct link_group *g,
                               const struct gathered *cells, struct arriving *a)
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
            wall_half_way(v, wall, cells->at[k], c[opposite(i)], here);
            for (int axis = 0; axis < 3; axis++)
                u[axis][k] = here[axis];
        }
        for (int axis = 0; axis < 3 && i <= 6; axis++)
            a->wall_velocity[i - 1][axis] = lanes_from(u[axis]);
    }
}

/* open_arrive for nodes of one face and no wall beside them, with rule and face as constants: half
 * the instructions. Faces across x have such nodes in every row. */
TAGFLOW_FN void arrive_at(real f[Q], struct arriving *a, const int boundary, const int face)
{
    const struct tag_row *const type = a->row;
    struct tag_row row = {
        .boundary = (uint8_t)boundary,
        .face = (uint8_t)face,
        .outside = (uint8_t)(1 << face),
        .omega_even = type->omega_even,
        .shear_lost = type->shear_lost,
    };
    a->row = &row;
    a->walls = 0;
    open_arrive(f, a);
    a->row = type;
}

#define ARRIVE(name, face)                                                                         \
    static __attribute__((noinline)) void arrive_##name##_##face(real f[Q], struct arriving *a)    \
    {                                                                                              \
        arrive_at(f, a, BOUNDARY_##name##_regularised, face);                                      \
    }
ARRIVE(velocity, 0)
ARRIVE(velocity, 1)
ARRIVE(pressure, 0)
ARRIVE(pressure, 1)
#undef ARRIVE

static __attribute__((noinline)) void arrive_any(real f[Q], struct arriving *a)
{
    open_arrive(f, a);
}

typedef void arrive_function(real f[Q], struct arriving *a);

static arrive_function *arrive_of(const struct arriving *a)
{
    const int face = a->row->face, boundary = a->row->boundary;
    if (a->walls || face > 1 || a->row->outside != 1 << face)
        return arrive_any;
    return boundary == BOUNDARY_velocity_regularised
               ? (face ? arrive_velocity_1 : arrive_velocity_0)
           : boundary == BOUNDARY_pressure_regularised
               ? (face ? arrive_pressure_1 : arrive_pressure_0)
               : arrive_any;
}

/* Applies the rule of the cells' own type to populations that arrived. */
static __attribute__((noinline)) void arrive_lanes(const struct view *v, const struct link_group *g,
                                                   const struct gathered *cells, const number *lift,
                                                   real f[Q])
{
    static const int here[3] = {0, 0, 0};
    struct arriving a;
    double u[3][LANES];
    a.row = &v->rows[g->row];
    a.law = law_of(v, a.row);
    a.resist = resist_of(v, a.row);
    walls_beside_lanes(v, g, cells, &a);
    given_lanes(v, a.row, cells, here, u);
    a.drho = given_drho(v, a.row);
    for (int axis = 0; axis < 3; axis++) {
        a.u[axis] = lanes_from(u[axis]);
        a.half[axis] = real_of((number)(0.5 * view_acceleration(v, a.row, axis)));
        if (lift)
            a.half[axis] +=
                (number)0.5 * (*(const unaligned_reals *)lift * (number)v->scalars.gravity[axis]);
        a.pushed[axis] = a.half[axis];
    }
    arrive_of (&a)(f, &a);
}

/* Replaces the populations that leave into cells that are not fluid, as cell_leaves does. */
static __attribute__((noinline)) void group_leaves(const struct view *v, const struct link_group *g,
                                                   const struct gathered *cells,
                                                   const struct run_parameters *by, const real f[Q],
                                                   real out[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES, nowhere[3] = {0, 0, 0};
    const struct tag_row *const row = &v->rows[g->row];
    struct collision_parameters p = lifted(by, 0);
    const struct moments bare = moments(f, p, 0);
    struct moments m = moments(f, p, row->forced);
    if (by->resist)
        resist(&p, &m, by->resist);
    struct leaving l = {.outside = row->outside,
                        .drho = m.drho,
                        .u = {m.ux, m.uy, m.uz},
                        .j = {bare.jx, bare.jy, bare.jz}};
    real collided[Q];
    for (int i = 0; i < Q; i++)
        collided[i] = out[i];
    for (uint32_t links = g->changes; links; links &= links - 1) {
        const int in = __builtin_ctz(links), to = opposite(in);
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
            given_lanes(v, l.row, cells, nowhere, here);
            given_lanes(v, l.row, cells, c[to], there);
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

/* Steps the cells of a group that wait, as cell_step does. */
static __attribute__((noinline)) void step_group(const struct view *v, const struct link_group *g,
                                                 struct waiting *w, int odd)
{
    const struct tag_row *const row = &v->rows[g->row];
    struct gathered *const cells = &w->cells;
    const int count = cells->count;
    struct run_parameters p;
    real f[Q], out[Q];
    if (v->scalars.lifts)
        gathered_lift(v, odd, cells);
    set_gathered(&p, v, row, cells);
    for (int k = count; k < LANES; k++) /* not stored */
        for (int i = 0; i < Q; i++)
            w->f[i][k] = w->f[i][0];
    for (int i = 0; i < Q; i++)
        f[i] = load_lanes(w->f[i]);
    if (boundary_open(row->boundary) && g->links) {
        for (int i = 0; i < Q; i++)
            f[i] = f[i] * (1 / STORED_ONE);
        arrive_lanes(v, g, cells, p.lift, f);
        for (int i = 0; i < Q; i++)
            f[i] = f[i] * STORED_ONE;
    }
    loops_of(v, row)->operate(f, out, &p, 0);
    if (p.target)
        sponge_pull(p.target, sponge_of_lanes(&p, 0), STORED_ONE, out);
    if (g->changes) {
        for (int i = 0; i < Q; i++) {
            f[i] = f[i] * (1 / STORED_ONE);
            out[i] = out[i] * (1 / STORED_ONE);
        }
        group_leaves(v, g, cells, &p, f, out);
        for (int i = 0; i < Q; i++)
            out[i] = out[i] * STORED_ONE;
    }
    scatter(w->to[0], w->own, out[0], count);
#define X(i, j, cx, cy, cz, weight)                                                                \
    scatter(w->to[j], w->own, out[j], count);                                                      \
    scatter(w->to[i], v->place ? w->next[i / 2] : w->own, out[i], count);
    PAIR_LIST(X)
#undef X
    if (v->scalars.row)
        gathered_step(v, odd, cells);
    cells->count = 0;
}

static void step_waiting(const struct view *v, const struct runs *runs, struct queue *q,
                         struct waiting *w)
{
    q->full -= w->cells.count == LANES;
    q->empty++;
    step_group(v, &runs->group[w->group], w, q->odd);
}

/* The waiting cells to which none was added for longest: most likely they would never be full. */
static struct waiting *oldest(struct queue *q)
{
    struct waiting *best = NULL;
    for (struct waiting *w = q->waiting; w < q->waiting + WAITING; w++)
        if (w->cells.count && (!best || w->added < best->added))
            best = w;
    return best;
}

/* An empty place of the queue. */
static struct waiting *empty_place(const struct view *v, const struct runs *runs, struct queue *q)
{
    for (struct waiting *w = q->waiting; w < q->waiting + WAITING; w++)
        if (!w->cells.count)
            return w;
    struct waiting *const w = oldest(q);
    step_waiting(v, runs, q, w);
    return w;
}

/* Bit 2 axis + side: the neighbours of a cell on this side are at the other end of the block. Cells
 * with the same bits have the same index differences to their neighbours. */
TAGFLOW_FN int seams_of(const struct view *v, const int at[3])
{
    int seams = 0;
    for (int k = 0; k < 6; k++)
        seams |= (at[k / 2] == v->seam[k / 2][k % 2]) << k;
    return seams;
}

TAGFLOW_FN int has_room(const struct waiting *w, uint32_t group, int seams)
{
    return w->group == group && w->seams == seams && w->cells.count < LANES;
}

/* Addresses of the populations of a group. `a`: index differences to the neighbours. */
static void set_addresses(const struct view *v, const struct slots *s, const struct link_group *g,
                          const struct around *a, struct waiting *w)
{
    w->from[0] = w->to[0] = (stored *)s->rest;
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const ptrdiff_t to_next = v->place ? 0 : (ptrdiff_t)neighbour(a, cx, cy, cz);              \
        stored *const own = (stored *)s->own[i / 2], *const next = (stored *)s->next[i / 2];       \
        w->from[i] = g->links & 1u << (i) ? next : own;                                            \
        w->from[j] = (g->links & 1u << (j) ? own : next) + to_next;                                \
        w->to[j] = own;                                                                            \
        w->to[i] = next + to_next;                                                                 \
    }
    PAIR_LIST(X)
#undef X
}

/* The place of the queue with room for a cell of a group. */
static struct waiting *waiting_of(const struct view *v, const struct slots *s,
                                  const struct runs *runs, struct queue *q, uint32_t group,
                                  const int at[3])
{
    const int seams = v->place ? 0 : seams_of(v, at);
    uint8_t *const latest = &q->latest[group % (sizeof q->latest)];
    struct waiting *w = &q->waiting[*latest];
    if (has_room(w, group, seams))
        return w;
    for (w = q->waiting; w < q->waiting + WAITING && !has_room(w, group, seams); w++)
        ;
    if (w == q->waiting + WAITING) {
        const struct around a = around(v, at[0], at[1], at[2]);
        w = empty_place(v, runs, q);
        w->group = group;
        w->seams = seams;
        set_addresses(v, s, &runs->group[group], &a, w);
    }
    *latest = (uint8_t)(w - q->waiting);
    return w;
}

/* Loads the populations of a cell into lane k. Prefetches those that the cell at the same x in the
 * next row, `pitch` cells ahead, has in the slots of `links`. With one such cell per row, as beside
 * an inlet across x, the processor cannot predict these addresses; the loop over the row prefetches
 * the others. */
TAGFLOW_FN void load_waiting(struct waiting *w, int k, const struct places *p, ptrdiff_t pitch,
                             uint32_t links)
{
    w->own[k] = p->own;
    w->f[0][k] = w->from[0][p->own];
#define X(i, j, cx, cy, cz, weight)                                                                \
    w->f[i][k] = w->from[i][p->own];                                                               \
    w->f[j][k] = w->from[j][p->next[i / 2]];
    PAIR_LIST(X)
#undef X
    for (; links; links &= links - 1)
        __builtin_prefetch(w->from[__builtin_ctz(links)] + p->own + pitch);
}

/* The same where only fluid cells have places. */
static void load_sparse(const struct view *v, struct waiting *w, int k, const int at[3])
{
    const struct around a = around(v, at[0], at[1], at[2]);
    const cell_index n = owned_index(v, at[0], at[1], at[2]);
    struct places p = {.own = place_in(v->place, n)};
#define X(i, j, cx, cy, cz, weight)                                                                \
    p.next[i / 2] = sparse_next(v, i / 2, p.own, n + neighbour(&a, cx, cy, cz));                   \
    w->next[i / 2][k] = p.next[i / 2];
    PAIR_LIST(X)
#undef X
    load_waiting(w, k, &p, 0, 0);
}

void queue_cells(const struct view *v, const struct slots *s, const struct runs *runs,
                 struct queue *q, const struct row_run *run, int x0, int x1, int y, int z)
{
    const struct link_group *const g = &runs->group[run->group];
    for (int x = x0; x < x1; x++) {
        const int at[3] = {x, y, z};
        struct waiting *const w = waiting_of(v, s, runs, q, run->group, at);
        const cell_index n = owned_index(v, x, y, z);
        q->empty -= !w->cells.count;
        const int k = w->cells.count;
        gather(&w->cells, x, y, z, NULL);
        q->full += w->cells.count == LANES;
        w->added = q->added++;
        if (v->place)
            load_sparse(v, w, k, at);
        else
            load_waiting(w, k, &(struct places){n, {n, n, n, n, n, n, n, n, n}}, v->row, g->links);
        for (uint32_t links = g->mirrored; links; links &= links - 1) {
            const int i = __builtin_ctz(links);
            w->f[i][k] = *mirrored_at(v, s, i, g->from[i], x, y, z);
        }
        if (w->cells.count == LANES && !run->end)
            step_waiting(v, runs, q, w);
    }
}

void queue_settle(const struct view *v, const struct runs *runs, struct queue *q)
{
    for (struct waiting *w = q->waiting; w < q->waiting + WAITING; w++)
        if (w->cells.count == LANES)
            step_waiting(v, runs, q, w);
    while (q->empty < ROW_ENDS)
        step_waiting(v, runs, q, oldest(q));
}

void queue_finish(const struct view *v, const struct runs *runs, struct queue *q)
{
    for (struct waiting *w = q->waiting; w < q->waiting + WAITING; w++)
        if (w->cells.count)
            step_waiting(v, runs, q, w);
}
