/* The CPU's step of the list of cells beside surfaces: vectors of listed cells of one type, whose
 * links may differ. Compiled once per variant, as rows.c. */
#include "cpu/scalars.h" /* first: it defines `real` */

#include "slip.h"
#include "surface.h"

/* Addresses of a cell's populations, less its index. Population i is loaded from at[i], or, if its
 * link comes from a cell that is not fluid, from back[i]. f*_opposite(i) is stored to at[i]. */
struct lane_addresses {
    stored *at[Q], *back[Q];
};

/* Distance of prefetches in the list. */
enum { NEAR_AHEAD = 16 };

/* A step of the list; `inner`: addresses for all cells whose neighbours' indices do not wrap. */
struct near_list {
    const struct view *v;
    const struct runs *runs;
    struct slots s;
    struct lane_addresses inner;
    int odd;
};

/* Cells of a type that wait until a vector is full of them. */
struct near_waiting {
    uint8_t row;
    struct gathered cells;
};

/* Links of the cells of a vector from cells that are not fluid. set[i]: bit k, lane k has link i;
 * of these lanes, the fraction q and the type of the cell beyond the link. If `unlike` is 0, all
 * links of all lanes come from cells of type `first`. */
struct crossings {
    unsigned set[Q];
    float q[Q][LANES];
    uint8_t beyond[Q][LANES];
    uint8_t first, unlike;
};

/* `own` and `next`: index or place of the cell and of its neighbours at c_i, i odd. */
static void set_addresses(struct lane_addresses *a, const struct slots *s, ptrdiff_t own,
                          const ptrdiff_t next[Q / 2])
{
    a->at[0] = a->back[0] = (stored *)s->rest + own;
    for (int pair = 0; pair < Q / 2; pair++) {
        const int i = 2 * pair + 1;
        stored *const here = (stored *)s->own[pair], *const there = (stored *)s->next[pair];
        a->at[i] = here + own;
        a->back[i] = there + own;
        a->at[i + 1] = there + next[pair];
        a->back[i + 1] = here + next[pair];
    }
}

/* `inner` is not for views with places. */
static struct near_list near_list(const struct view *v, const struct runs *runs, int odd)
{
    struct near_list l = {.v = v, .runs = runs, .s = slots_at(v, odd, sizeof(stored)), .odd = odd};
    ptrdiff_t next[Q / 2];
#define X(i, j, cx, cy, cz, weight) next[i / 2] = (cx) + (cy)*v->row + (cz)*v->plane;
    PAIR_LIST(X)
#undef X
    set_addresses(&l.inner, &l.s, 0, next);
    return l;
}

static bool at_seam(const struct view *v, const int at[3])
{
    bool seam = false;
    for (int a = 0; a < 3; a++)
        seam |= (at[a] == v->seam[a][0]) | (at[a] == v->seam[a][1]);
    return seam;
}

/* Addresses of any cell, with its index. */
static __attribute__((noinline)) void other_addresses(const struct view *v, const struct slots *s,
                                                      const int at[3], struct lane_addresses *a)
{
    ptrdiff_t next[Q / 2];
    for (int pair = 0; pair < Q / 2; pair++)
        next[pair] = (ptrdiff_t)next_place(v, pair, at[0], at[1], at[2]);
    set_addresses(a, s, (ptrdiff_t)view_place(v, owned_index(v, at[0], at[1], at[2])), next);
}

/* Populations of links from planes of symmetry, as cell_arrived finds them. */
static __attribute__((noinline)) void load_mirrored(const struct view *v, const struct slots *s,
                                                    const struct gathered *g,
                                                    const struct crossings *l,
                                                    stored word[Q][LANES])
{
    for (int i = 1; i < Q; i++)
        for (int k = 0; k < LANES; k++) {
            const int *const at = g->at[k];
            int beside[3], from;
            if (!(l->set[i] >> k & 1))
                continue;
            const struct tag_row *const rule = &v->rows[l->beyond[i][k]];
            if (rule->boundary != BOUNDARY_slip)
                continue;
            from = slip_from(v, rule, i, at[0], at[1], at[2], beside);
            if (from)
                word[i][k] = *mirrored_at(v, s, i, from, at[0], at[1], at[2]);
        }
}

/* The lanes of links that lead to cells of type `row`. */
static unsigned lanes_beyond(const uint8_t beyond[LANES], uint8_t row)
{
    unsigned lanes = 0;
    for (int k = 0; k < LANES; k++)
        lanes |= (unsigned)(beyond[k] == row) << k;
    return lanes;
}

/* The velocity of a surface where the links `in` of cells meet it. */
static __attribute__((noinline)) void surface_lanes(const struct view *v, const struct tag_row *row,
                                                    const struct gathered *g, int in,
                                                    const float q[LANES], real u[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    double each[3][LANES];
    for (int k = 0; k < LANES; k++) {
        double arm[3], here[3];
        surface_arm(v, row, g->at[k], c[opposite(in)], (double)q[k], arm);
        surface_velocity(row, arm, here);
        for (int a = 0; a < 3; a++)
            each[a][k] = here[a];
    }
    for (int a = 0; a < 3; a++)
        u[a] = __builtin_convertvector(*(const unaligned_doubles *)each[a], real);
}

/* Does the velocity of a surface depend on where? It is w x arm + u, of which a product of zeros
 * with a sign keeps it where u is -0. */
static bool turns(const struct tag_row *row)
{
    bool turns = false;
    for (int a = 0; a < 3; a++)
        turns |= row->spin[a] != 0 || __builtin_signbit(row->wall_velocity[a]);
    return turns;
}

/* Momentum of cells without force, and the rate of their odd moments, see surface_rate. */
struct leaving_cells {
    real j[3], rate;
};

/* Link `in` of the cells into a surface of velocity `u`: what comes back. */
TAGFLOW_FN real surface_back(const struct leaving_cells *cells, int in, const real f[Q],
                             const real collided[Q], const real u[3], real q)
{
    const int to = opposite(in);
    const struct leaving l = {.in = in,
                              .f_in = f[in],
                              .f_out = f[to],
                              .c_in = collided[in],
                              .c_out = collided[to],
                              .j = {cells->j[0], cells->j[1], cells->j[2]},
                              .given_u = {u[0], u[1], u[2]}};
    return surface_leave(&l, q, cells->rate);
}

TAGFLOW_FN real fraction(const struct crossings *l, int in)
{
    return __builtin_convertvector(*(const unaligned_floats *)l->q[in], real);
}

/* b in the lanes whose bits are set, else a. */
TAGFLOW_FN real choose_lanes(unsigned lanes, real a, real b)
{
    const lane_bits bit = ((lane_bits){0} + 1) << lane_numbers;
    return choose((((lane_bits){0} + (lane_bit)lanes) & bit) != 0, a, b);
}

/* Populations returned along link `in` by walls of several types, in the lanes that have the link;
 * in other lanes the populations that leave. */
static __attribute__((noinline)) real leave_unlike(const struct view *v, const struct gathered *g,
                                                   const struct crossings *l,
                                                   const struct leaving_cells *cells, int in,
                                                   const real f[Q], const real collided[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int to = opposite(in);
    real out = collided[to];
    unsigned lanes;
    for (unsigned left = l->set[in]; left; left &= ~lanes) {
        const uint8_t type = l->beyond[in][__builtin_ctz(left)];
        const struct tag_row *const wall = &v->rows[type];
        real back, u[3];
        lanes = left & lanes_beyond(l->beyond[in], type);
        if (wall->boundary == BOUNDARY_surface) {
            surface_lanes(v, wall, g, in, l->q[in], u);
            back = surface_back(cells, in, f, collided, u, fraction(l, in));
        } else {
            back = boundary_leave(wall->boundary, c[to][0], c[to][1], c[to][2], collided[to],
                                  wall_parameters(v, wall, 1));
        }
        out = choose_lanes(lanes, out, back);
    }
    return out;
}

/* Replaces the populations that leave into cells that are not fluid, as cell_leaves does. */
static __attribute__((noinline)) void
leave_lanes(const struct view *v, const struct tag_row *row, const struct gathered *g,
            const struct crossings *l, const struct run_parameters *p, const real f[Q], real out[Q])
{
    const struct tag_row *const wall = &v->rows[l->first];
    struct collision_parameters cp = lifted(p, 0);
    const struct moments bare = moments(f, cp, 0);
    struct moments m = moments(f, cp, row->forced);
    if (p->resist)
        resist(&cp, &m, p->resist);
    const struct rates r = subgrid_rates(row->subgrid, f, m, cp, p->damping, row->forced);
    const struct leaving_cells cells = {{bare.jx, bare.jy, bare.jz},
                                        surface_rate(row->collision, cp, r)};
    const bool alike = !l->unlike && wall->boundary == BOUNDARY_surface, turning = turns(wall);
    real collided[Q], u[3];
    for (int a = 0; a < 3; a++)
        u[a] = real_of((number)wall->wall_velocity[a]);
    for (int i = 0; i < Q; i++)
        collided[i] = out[i];
    if (!alike) {
        for (int in = 1; in < Q; in++)
            if (l->set[in])
                out[opposite(in)] = leave_unlike(v, g, l, &cells, in, f, collided);
        return;
    }
    TAGFLOW_UNROLL
    for (int in = 1; in < Q; in++) {
        if (!l->set[in])
            continue;
        if (turning)
            surface_lanes(v, wall, g, in, l->q[in], u);
        out[opposite(in)] = choose_lanes(l->set[in], collided[opposite(in)],
                                         surface_back(&cells, in, f, collided, u, fraction(l, in)));
    }
}

/* Loads populations and links of lane k: of the cell with this index. */
TAGFLOW_FN void load_lane(const struct view *v, const struct runs *runs,
                          const struct near_cell *cell, const struct lane_addresses *a,
                          size_t index, int k, stored word[Q][LANES], struct crossings *l)
{
    const uint8_t *beyond = runs->beyond + cell->first;
    const float *crossing = v->near.crossing + cell->first;
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        word[i][k] = a->at[i][index];
    for (uint32_t left = cell->links; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        word[i][k] = a->back[i][index];
        l->set[i] |= 1u << k;
        l->q[i][k] = *crossing++;
        l->unlike |= *beyond ^ l->first;
        l->beyond[i][k] = *beyond++;
    }
}

/* Steps cells of one type, as near_step does. */
static __attribute__((noinline)) void step_cells(const struct near_list *list,
                                                 const struct tag_row *row, struct gathered *g)
{
    const struct view *const v = list->v;
    const int count = g->count;
    struct run_parameters p;
    struct lane_addresses other[LANES];
    const struct lane_addresses *addresses[LANES];
    size_t index[LANES];
    stored word[Q][LANES];
    struct crossings l;
    real f[Q], out[Q];
    l.first = list->runs->beyond[g->near[0]->first];
    l.unlike = 0;
    for (int i = 0; i < Q; i++)
        l.set[i] = 0;
    for (int i = 1; i < Q; i++)
        *(unaligned_floats *)l.q[i] = (unaligned_floats){0};
    if (v->scalars.lifts)
        gathered_lift(v, list->odd, g);
    set_gathered(&p, v, row, g);
    for (int k = 0; k < LANES; k++) {
        const struct near_cell *const cell = g->near[k];
        addresses[k] = &list->inner;
        index[k] = owned_index(v, cell->at[0], cell->at[1], cell->at[2]);
        if (v->place || at_seam(v, cell->at)) {
            other_addresses(v, &list->s, cell->at, &other[k]);
            addresses[k] = &other[k];
            index[k] = 0;
        }
        load_lane(v, list->runs, cell, addresses[k], index[k], k, word, &l);
    }
    if (l.unlike || v->rows[l.first].boundary == BOUNDARY_slip)
        load_mirrored(v, &list->s, g, &l, word);
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        f[i] = load_lanes(word[i]);
    loops_of(v, row)->operate(f, out, &p, 0);
    if (p.target)
        sponge_pull(p.target, sponge_of_lanes(&p, 0), STORED_ONE, out);
    for (int i = 0; i < Q && TAGFLOW_STORAGE == 16; i++) {
        f[i] = f[i] * (1 / STORED_ONE);
        out[i] = out[i] * (1 / STORED_ONE);
    }
    leave_lanes(v, row, g, &l, &p, f, out);
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        *(unaligned_lanes *)word[opposite(i)] = lanes_of(out[i] * STORED_ONE);
    for (int k = 0; k < count; k++) {
        TAGFLOW_UNROLL
        for (int i = 0; i < Q; i++)
            addresses[k]->at[i][index[k]] = word[i][k];
    }
    if (v->scalars.row)
        gathered_step(v, list->odd, g);
    g->count = 0;
}

/* The thread's place for cells of type `row`. Without a free one, the fullest is stepped. */
static struct gathered *cells_of(const struct near_list *list, struct near_waiting waiting[WAITING],
                                 uint8_t row)
{
    struct near_waiting *best = waiting;
    for (struct near_waiting *w = waiting; w < waiting + WAITING; w++) {
        if (w->cells.count && w->row == row)
            return &w->cells;
        if (best->cells.count && (!w->cells.count || w->cells.count > best->cells.count))
            best = w;
    }
    if (best->cells.count)
        step_cells(list, &list->v->rows[best->row], &best->cells);
    best->row = row;
    return &best->cells;
}

/* Prefetches a cell that is stepped a few vectors later: the populations of listed cells are not in
 * any stream that the processor follows. Not for views with places. */
TAGFLOW_FN void prefetch_cell(const struct view *v, const struct lane_addresses *inner,
                              const struct near_cell *cell)
{
    const size_t index = owned_index(v, cell->at[0], cell->at[1], cell->at[2]);
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        __builtin_prefetch(inner->at[i] + index, 1);
}

cpu_kernel VARIANT(cpu_near);
void VARIANT(cpu_near)(const struct view *v, const struct runs *runs, const struct box *b,
                       struct task t)
{
    const struct near_list list = near_list(v, runs, t.odd);
#pragma omp parallel
    {
        struct near_waiting waiting[WAITING];
        for (int k = 0; k < WAITING; k++)
            waiting[k].cells.count = 0;
#pragma omp for schedule(static) nowait
        for (int n = b->lo[0]; n < b->hi[0]; n++) {
            const struct near_cell *const cell = &v->near.cell[n];
            const uint8_t row = runs->near_row[n];
            if (!v->place && n + NEAR_AHEAD < b->hi[0])
                prefetch_cell(v, &list.inner, cell + NEAR_AHEAD);
            if (row & NEAR_ALONE) {
                near_alone(v, t.odd, cell);
                continue;
            }
            struct gathered *const g = cells_of(&list, waiting, row);
            gather(g, cell->at[0], cell->at[1], cell->at[2], cell);
            if (g->count == LANES)
                step_cells(&list, &v->rows[row], g);
        }
        for (struct near_waiting *w = waiting; w < waiting + WAITING; w++)
            if (w->cells.count)
                step_cells(&list, &v->rows[w->row], &w->cells);
    }
}
