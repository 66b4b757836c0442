/* The CPU's step kernel: rows of cells along x, a vector of neighbours at a time. Compiled once per
 * variant with TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC, TAGFLOW_ISA and TAGFLOW_VECTOR (bytes of a
 * vector register) set. */
#include "cpu/scalars.h" /* first: it defines `real` */

#include <omp.h>

/* Addresses of the row at (y, z); `first`: of cell 0 of the array. */
static struct row row_at(const struct view *v, const struct row *first, int y, int z)
{
    struct row r = *first;
    size_t at[3][3]; /* cell 0 of the rows around: [cy + 1][cz + 1] */
    for (int cy = -1; cy <= 1; cy++)
        for (int cz = -1; cz <= 1; cz++)
            at[cy + 1][cz + 1] = (size_t)((ptrdiff_t)v->origin + view_wrap(v, 1, y + cy) * v->row +
                                          view_wrap(v, 2, z + cz) * v->plane);
    r.rest += at[1][1];
#define X(i, j, cx, cy, cz, weight)                                                                \
    r.own[i / 2] += at[1][1];                                                                      \
    r.next[i / 2] += at[cy + 1][cz + 1] + cx;
    PAIR_LIST(X)
#undef X
    return r;
}

/* Moments, subgrid model and collision of the cells from x on. The ints are constants in calls
 * from loops that determine the speed. */
TAGFLOW_FN void operate(const real f[Q], real out[Q], const struct run_parameters *p, ptrdiff_t x,
                        const int collision, const int subgrid, const int loops)
{
    const int forced = loops & LOOP_forced, carries = loops & LOOP_carries;
    const struct collision_parameters *c = &p->collision;
    struct collision_parameters whole;
    if ((forced && carries) || loops & LOOP_resists) {
        whole = lifted(p, x);
        c = &whole;
    }
    struct moments m = moments_in(f, STORED_ONE, *c, forced);
    if (loops & LOOP_resists)
        resist(&whole, &m, p->resist);
    real damping = p->damping;
    if (subgrid != SUBGRID_none && p->damping_along)
        damping = p->damping *
                  __builtin_convertvector(*(const unaligned_doubles *)(p->damping_along + x), real);
    const struct rates r = subgrid_rates(subgrid, f, m, *c, damping, forced);
    if (carries) {
        *(unaligned_reals *)(p->u[0] + x) = m.ux;
        *(unaligned_reals *)(p->u[1] + x) = m.uy;
        *(unaligned_reals *)(p->u[2] + x) = m.uz;
    }
    if (carries && subgrid_mixes(subgrid))
        *(unaligned_reals *)(p->eddy + x) = eddy_viscosity(*c, r.even);
    collide(collision, f, out, m, *c, r, forced);
}

/* Changes the populations of the cells from x on that leave into walls of rule `boundary`, which
 * the masks p->ruled are for. */
TAGFLOW_FN void leave_lanes(real out[Q], const struct run_parameters *p, ptrdiff_t x,
                            const int boundary)
{
    if (boundary == BOUNDARY_none)
        return;
    const lane_bits ruled =
        __builtin_convertvector(*(const mask_lanes *)(p->ruled + (x - p->first)), lane_bits);
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const real back_j = boundary_leave(boundary, cx, cy, cz, out[i], p->wall);                 \
        const real back_i = boundary_leave(boundary, -(cx), -(cy), -(cz), out[j], p->wall);        \
        out[i] = choose(has_bit(ruled, j), out[i], back_j);                                        \
        out[j] = choose(has_bit(ruled, i), out[j], back_i);                                        \
    }
    PAIR_LIST(X)
#undef X
}

/* Steps cells x <= cell < x + count of the row, as cell_step does. Only `count` lanes are stored.
 * wraps: the neighbour along +x of the last of these cells is cell 0.
 *
 * Collision is by function `by`; if it is NULL, by `collision`, `subgrid` and `loops`, which are
 * then constants.
 *
 * bounce_links has copied the populations of links from cells that are not fluid to where fluid
 * would have stored them. `boundary`: see leave_lanes. */
TAGFLOW_FN void step_lanes(const struct row *row, const struct run_parameters *p, ptrdiff_t x,
                           int count, int wraps, lanes_operation *by, const int collision,
                           const int subgrid, const int loops, const int boundary)
{
    real f[Q], out[Q];

    prefetch(row->rest + x);
    f[0] = load_lanes(row->rest + x);
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const stored *const own = row->own[i / 2] + x, *const next = row->next[i / 2] + x;         \
        prefetch(own);                                                                             \
        prefetch(next);                                                                            \
        f[i] = load_lanes(own);                                                                    \
        f[j] = load_lanes(next);                                                                   \
        if (wraps && cx)                                                                           \
            f[j] = with_lane(f[j], count - 1, next[count - 1 - row->nx]);                          \
    }
    PAIR_LIST(X)
#undef X

    if (by)
        by(f, out, p, x);
    if (by && p->target)
        sponge_pull(p->target, sponge_of_lanes(p, x), STORED_ONE, out);
    if (!by)
        operate(f, out, p, x, collision, subgrid, loops);
    leave_lanes(out, p, x, boundary);

    store_lanes(row->rest + x, out[0], count);
#define X(i, j, cx, cy, cz, weight)                                                                \
    store_lanes(row->own[i / 2] + x, out[j], count);                                               \
    store_lanes(row->next[i / 2] + x, out[i], wraps && cx ? count - 1 : count);                    \
    if (wraps && cx)                                                                               \
        row->next[i / 2][x + count - 1 - row->nx] = lane(out[i], count - 1);
    PAIR_LIST(X)
#undef X
}

/* Steps cells x0 <= x < x1 of the row: whole vectors, then the rest with the cell that wraps. */
TAGFLOW_FN void step_run(const struct row *row, const struct run_parameters *p, int x0, int x1,
                         int wraps, lanes_operation *by, const int boundary)
{
    int x = x0;
    for (; x + LANES <= x1 - wraps; x += LANES)
        step_lanes(row, p, x, LANES, 0, by, 0, 0, 0, boundary);
    if (x + LANES == x1)
        step_lanes(row, p, x, LANES, 1, by, 0, 0, 0, boundary);
    else if (x < x1)
        step_lanes(row, p, x, x1 - x, wraps, by, 0, 0, 0, boundary);
}

/* Steps cells of a mixed run as cell_step does: of the vector at x, the run's cells in begin <=
 * cell < end. wraps: the last lane is the last cell of a row that wraps.
 *
 * The other lanes store what they loaded. This is safe: only one cell stores to a slot in a step,
 * and these slots are of cells of this row, which belongs to this thread. A cell of a wall's link
 * may read the slot meanwhile; its value does not change.
 *
 * Pores are short: they end before the processor detects a stream. So prefetch the same place in
 * the next row, where there is mostly fluid too. */
TAGFLOW_FN void step_mixed_lanes(const struct row *row, const struct run_parameters *p, ptrdiff_t x,
                                 int begin, int end, lanes_operation *by, const int wraps,
                                 const int boundary)
{
    const ptrdiff_t back = x + LANES - 1 - row->nx; /* neighbour of the last lane along +x */
    const lane_bits at = lane_numbers + (lane_bit)x;
    const lane_bits links =
        __builtin_convertvector(*(const mask_lanes *)(p->links + (x - p->first)), lane_bits);
    const lane_bits active =
        has_bit(links, 0) & (at >= (lane_bits){0} + begin) & (at < (lane_bits){0} + end);
    real f[Q], out[Q];

    __builtin_prefetch(row->rest + x + row->pitch, 1);
    f[0] = load_lanes(row->rest + x);
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const stored *const own = row->own[i / 2] + x, *const next = row->next[i / 2] + x;         \
        const stored *const own_back = own + row->flip, *const next_back = next - row->flip;       \
        __builtin_prefetch(own + row->pitch, 1);                                                   \
        __builtin_prefetch(next + row->pitch, 1);                                                  \
        __builtin_prefetch(own_back + row->pitch, 1);                                              \
        __builtin_prefetch(next_back + row->pitch, 1);                                             \
        real own_wall = load_lanes(own_back), next_wall = load_lanes(next_back);                   \
        f[i] = load_lanes(own);                                                                    \
        f[j] = load_lanes(next);                                                                   \
        if (wraps && cx) {                                                                         \
            f[j] = with_lane(f[j], LANES - 1, row->next[i / 2][back]);                             \
            next_wall = with_lane(next_wall, LANES - 1, (row->next[i / 2] - row->flip)[back]);     \
        }                                                                                          \
        f[i] = choose(has_bit(links, i), f[i], own_wall);                                          \
        f[j] = choose(has_bit(links, j), f[j], next_wall);                                         \
    }
    PAIR_LIST(X)
#undef X

    by(f, out, p, x);
    if (p->target)
        sponge_pull(p->target, sponge_of_lanes(p, x), STORED_ONE, out);

    leave_lanes(out, p, x, boundary);
    store_active(row->rest + x, out[0], active);
#define X(i, j, cx, cy, cz, weight)                                                                \
    store_active(row->own[i / 2] + x, out[j], active);                                             \
    if (!(wraps && cx)) {                                                                          \
        store_active(row->next[i / 2] + x, out[i], active);                                        \
    } else {                                                                                       \
        for (int k = 0; k < LANES - 1; k++)                                                        \
            if (active[k])                                                                         \
                row->next[i / 2][x + k] = lane(out[i], k);                                         \
        if (active[LANES - 1])                                                                     \
            row->next[i / 2][back] = lane(out[i], LANES - 1);                                      \
    }
    PAIR_LIST(X)
#undef X
}

/* Steps cells x0 <= x < x1 of a mixed run, vector by vector, each from one of the run's cells to
 * the next. The last vector is moved back to end at the end of the row. It would overwrite what the
 * scalars are told of cells before x: so these are gathered behind each vector. */
TAGFLOW_FN void step_mixed(const struct row *row, const struct run_parameters *p, int x0, int x1,
                           int wraps, lanes_operation *by, const int boundary)
{
    const uint32_t *const links = p->links - p->first;
    struct gathered told;
    int next;
    told.count = 0;
    for (int x = x0; x < x1; x = next) {
        x += links[x] & MASK_ACTIVE ? 0 : (int)(links[x] >> 1);
        if (x >= x1)
            break;
        next = x + LANES;
        const int at = next > row->nx ? row->nx - LANES : x;
        if (wraps && next >= row->nx)
            step_mixed_lanes(row, p, at, x, x1, by, 1, boundary);
        else
            step_mixed_lanes(row, p, at, x, x1, by, 0, boundary);
        for (int k = x; k < next && k < x1 && p->scalars; k++)
            if (links[k] & MASK_ACTIVE)
                gather_told(p->view, p->scalars, p->odd, &told, k, k, p->y, p->z);
    }
    if (told.count)
        gathered_step(p->view, p->odd, &told);
}

/* One function per rule of the wall that the masks are for. */
#define RUN(name)                                                                                  \
    static void step_##name(const struct row *row, const struct run_parameters *p, int x0, int x1, \
                            int wraps, lanes_operation *by)                                        \
    {                                                                                              \
        step_run(row, p, x0, x1, wraps, by, BOUNDARY_##name);                                      \
    }
RUN(none)
RUN(moving)
#undef RUN

void step_rest(const struct row *row, const struct run_parameters *p, int x0, int x1,
               lanes_operation *by)
{
    step_none(row, p, x0, x1, 0, by);
}

#define MIXED(name)                                                                                \
    static void mixed_##name(const struct row *row, const struct run_parameters *p, int x0,        \
                             int x1, int wraps, lanes_operation *by)                               \
    {                                                                                              \
        step_mixed(row, p, x0, x1, wraps, by, BOUNDARY_##name);                                    \
    }
MIXED(none)
MIXED(moving)
#undef MIXED

#define OPERATE(name, collision, subgrid, loops)                                                   \
    static __attribute__((noinline)) void operate_##name(                                          \
        const real f[Q], real out[Q], const struct run_parameters *p, ptrdiff_t x)                 \
    {                                                                                              \
        operate(f, out, p, x, collision, subgrid, loops);                                          \
    }
/* Laws of the viscosity, and accelerations that depend on the velocity, have no loop of their own:
 * it would take long to compile, and what they do in a cell is slower than the call. */
static int bulk_none(const struct row *row, const struct run_parameters *p, int x0, int x1,
                     int wraps)
{
    (void)row, (void)p, (void)x1, (void)wraps;
    return x0;
}

/* The plainest loop of each operator also does the vector whose last cell wraps. That takes a
 * second copy of the operator, which takes long to compile: so the other loops leave it to
 * step_run(). */
#define BULK(name, collision, subgrid, loops)                                                      \
    static int bulk_##name(const struct row *row, const struct run_parameters *p, int x0, int x1,  \
                           int wraps)                                                              \
    {                                                                                              \
        int x = x0;                                                                                \
        for (; x + LANES <= x1 - wraps; x += LANES)                                                \
            step_lanes(row, p, x, LANES, 0, NULL, collision, subgrid, loops, 0);                   \
        if (subgrid == SUBGRID_none && loops == 0 && x + LANES == x1) {                            \
            step_lanes(row, p, x, LANES, 1, NULL, collision, subgrid, loops, 0);                   \
            x = x1;                                                                                \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    OPERATE(name, collision, subgrid, loops)
#define X(name, ...)                                                                               \
    BULK(name##_0, COLLISION_##name, SUBGRID_none, 0)                                              \
    BULK(name##_1, COLLISION_##name, SUBGRID_none, 1)                                              \
    BULK(name##_2, COLLISION_##name, SUBGRID_none, 2)                                              \
    BULK(name##_3, COLLISION_##name, SUBGRID_none, 3)                                              \
    BULK(name##_smagorinsky_0, COLLISION_##name, SUBGRID_smagorinsky, 0)                           \
    BULK(name##_smagorinsky_1, COLLISION_##name, SUBGRID_smagorinsky, 1)                           \
    BULK(name##_smagorinsky_2, COLLISION_##name, SUBGRID_smagorinsky, 2)                           \
    BULK(name##_smagorinsky_3, COLLISION_##name, SUBGRID_smagorinsky, 3)                           \
    OPERATE(name##_law_0, COLLISION_##name, SUBGRID_law, 0)                                        \
    OPERATE(name##_law_1, COLLISION_##name, SUBGRID_law, 1)                                        \
    OPERATE(name##_law_2, COLLISION_##name, SUBGRID_law, 2)                                        \
    OPERATE(name##_law_3, COLLISION_##name, SUBGRID_law, 3)                                        \
    OPERATE(name##_resisting, COLLISION_##name, p->subgrid, p->loops)
COLLISION_LIST(X)
#undef X

const struct operator_loops row_loops[COLLISIONS][SUBGRIDS][LOOPS] = {
#define LOOP(name)                                                                                 \
    {                                                                                              \
        bulk_##name, operate_##name                                                                \
    }
#define SINGLE(name)                                                                               \
    {                                                                                              \
        bulk_none, operate_##name                                                                  \
    }
#define X(name, ...)                                                                               \
    [COLLISION_##name] = {                                                                         \
        [SUBGRID_none] = {LOOP(name##_0), LOOP(name##_1), LOOP(name##_2), LOOP(name##_3)},         \
        [SUBGRID_smagorinsky] = {LOOP(name##_smagorinsky_0), LOOP(name##_smagorinsky_1),           \
                                 LOOP(name##_smagorinsky_2), LOOP(name##_smagorinsky_3)},          \
        [SUBGRID_law] = {SINGLE(name##_law_0), SINGLE(name##_law_1), SINGLE(name##_law_2),         \
                         SINGLE(name##_law_3)},                                                    \
    },
    COLLISION_LIST(X)
#undef X
};

const struct operator_loops resisting_loops[COLLISIONS] = {
#define X(name, ...) [COLLISION_##name] = SINGLE(name##_resisting),
    COLLISION_LIST(X)
#undef X
};

/* Masks and wall of this run. */
static void set_masks(struct run_parameters *p, const struct view *v, const struct runs *runs,
                      const struct row_run *run)
{
    p->first = run->x0;
    p->links = run->masks ? runs->links + run->masks : NULL;
    p->ruled = run->rules ? runs->ruled + run->rules : NULL;
    if (run->wall)
        p->wall = wall_parameters(v, &v->rows[run->wall], STORED_ONE);
}

/* Prefetches the runs and masks of a list. Where rows differ, the next list most likely belongs to
 * the next row. */
static void prefetch_runs(const struct runs *runs, size_t list)
{
    enum { RUNS = 4, MASKS = 64, MASKS_A_LINE = 16 };
    if (list >= runs->list_count)
        return;
    const struct row_run *const run = &runs->run[runs->first[list]];
    for (int k = 0; k < RUNS; k++)
        __builtin_prefetch(run + k);
    if (!runs->first[list] || !run[-1].masks)
        return;
    /* they follow the masks of run[-1], which is in cache */
    const uint32_t *const masks = runs->links + run[-1].masks + (run[-1].x1 - run[-1].x0);
    for (int k = 0; k < MASKS; k += MASKS_A_LINE)
        __builtin_prefetch(masks + k);
}

/* Copies the populations of links from cells that are not fluid, in cells x0 <= x < x1, to where
 * fluid would have stored them. Nothing else uses this memory: a link has two slots, and the cell
 * at its other end reads none of them. Planes of symmetry: nothing writes in this step to the slot
 * that is read, see slip.h. Prefetches the same links in the next row, which are far from other
 * memory in use. */
static void bounce_links(const struct view *v, const struct slots *s, const struct row *row,
                         const struct runs *runs, const struct row_run *run, int x0, int x1, int y,
                         int z)
{
    for (size_t k = run->bounce; k < run->bounce_end; k++) {
        const struct bounce b = runs->bounce[k];
        const unsigned pair = (b.link - 1u) / 2, own = b.link & 1u;
        const int end = b.x1 < x1 ? b.x1 : x1;
        int x = b.x0 > x0 ? b.x0 : x0;
        stored *const to = (own ? row->own[pair] : row->next[pair]) - (b.wraps ? row->nx : 0);
        const stored *from = to + (own ? row->flip : -row->flip);
        if (k >= run->mirror && x < end)
            from = mirrored_at(v, s, b.link, b.from, x, y, z) - x;
        for (; x + LANES <= end; x += LANES) {
            __builtin_prefetch(from + x + row->pitch);
            *(unaligned_lanes *)(to + x) = *(const unaligned_lanes *)(from + x);
        }
        if (x < end)
            __builtin_prefetch(from + x + row->pitch);
        for (; x < end; x++)
            to[x] = from[x];
    }
}

/* The buoyancy of the cells of a mixed run. active: their masks. */
static void lift_mixed(const struct view *v, const struct scalars *a, int odd, int x0, int x1,
                       int y, int z, const uint32_t *active)
{
    struct gathered g;
    g.count = 0;
    for (int x = x0; x < x1; x++) {
        if (active[x] & MASK_ACTIVE)
            gather_for(&g, x, x, y, z);
        if (g.count == LANES)
            tell_lift(v, a, odd, &g);
    }
    if (g.count)
        tell_lift(v, a, odd, &g);
}

/* Steps the scalars of the cells of a row that are not fluid. */
static void scalars_solid(const struct view *v, const struct box *b, int odd, int y, int z)
{
    const uint8_t *const tags = v->tags + owned_index(v, 0, y, z);
    struct gathered g = {.count = 0}; /* at rest */
    for (int x = b->lo[0]; x < b->hi[0]; x++) {
        if (!type_in(&v->scalars.holding, tags[x]))
            continue;
        if (g.count && ((tags[x] ^ tags[g.at[0][0]]) & TAG_ROW))
            gathered_step(v, odd, &g);
        gather(&g, x, y, z, NULL);
        if (g.count == LANES)
            gathered_step(v, odd, &g);
    }
    if (g.count)
        gathered_step(v, odd, &g);
}

/* Steps the part of a box in one row. a: NULL without scalars. */
static void step_row(const struct view *v, const struct runs *runs, const struct row *first,
                     const struct slots *slots, struct queue *queue, const struct box *b, int y,
                     int z, const struct scalars *a, int odd)
{
    const struct row row = row_at(v, first, y, z);
    struct run_parameters p;
    int known = -1; /* cell type that p is for */
    const uint32_t list = runs->row_list[(size_t)y + (size_t)z * (size_t)v->n[1]];
    prefetch_runs(runs, list + 1);
    for (uint32_t r = runs->first[list]; r < runs->first[list + 1]; r++) {
        const struct row_run *const run = &runs->run[r];
        const int x0 = run->x0 > b->lo[0] ? run->x0 : b->lo[0];
        const int x1 = run->x1 < b->hi[0] ? run->x1 : b->hi[0];
        if (x0 >= x1)
            continue;
        if (run->kind == RUN_CELLS) {
            queue_cells(v, slots, runs, queue, run, x0, x1, y, z);
            continue;
        }
        const struct tag_row *const cells = &v->rows[run->row], *const wall = &v->rows[run->wall];
        const int from = x0 > b->lo[0] ? x0 - run->before : x0;
        const int to = x1 < b->hi[0] ? x1 + run->after : x1;
        const int wraps = !v->ghost[0] && to == v->n[0];
        bulk_function *const bulk = loops_of(v, cells)->bulk;
        lanes_operation *const by = loops_of(v, cells)->operate;
        if (run->row != known)
            set_parameters(&p, v, cells, y, z);
        known = run->row;
        set_masks(&p, v, runs, run);
        if (a)
            tell_scalars(&p, v, a, odd, y, z);
        if (a && v->scalars.lifts && run->kind == RUN_MIXED)
            lift_mixed(v, a, odd, x0, x1, y, z, p.links - p.first);
        if (run->kind == RUN_MIXED) {
            (wall->boundary == BOUNDARY_moving ? mixed_moving : mixed_none)(&row, &p, x0, x1,
                                                                            !v->ghost[0], by);
            continue;
        }
        bounce_links(v, slots, &row, runs, run, x0, x1, y, z);
        if (a)
            scalars_before(v, runs, run, a, odd, x0, x1, y, z);
        const int ruled = run->kind == RUN_RULED;
        const int x = ruled || p.target ? from : bulk(&row, &p, from, to, wraps);
        if (x < to)
            (ruled ? step_moving : step_none)(&row, &p, x, to, wraps, by);
        if (a)
            scalars_after(v, runs, run, a, odd, x0, x1, y, z);
    }
    if (queue->full || queue->empty < ROW_ENDS)
        queue_settle(v, runs, queue);
    if (a && v->scalars.any_holding)
        scalars_solid(v, b, odd, y, z);
}

cpu_kernel VARIANT(cpu_step);
void VARIANT(cpu_step)(const struct view *v, const struct runs *runs, const struct box *b,
                       struct task t)
{
    if (v->place) {
        step_pores(v, runs, b, t.odd);
        return;
    }
    const struct row first = rows_at(v, t.odd);
    const struct slots slots = slots_at(v, t.odd, sizeof(stored));
#pragma omp parallel
    {
        struct queue queue;
        struct scalars scalars;
        if (v->scalars.row)
            /* in a sweep one thread of the sweep runs this kernel alone */
            scalars = scalars_of_thread(v, runs, omp_get_ancestor_thread_num(1));
        queue_start(&queue, t.odd);
#pragma omp for collapse(2) schedule(static) nowait
        for (int z = b->lo[2]; z < b->hi[2]; z++)
            for (int y = b->lo[1]; y < b->hi[1]; y++)
                step_row(v, runs, &first, &slots, &queue, b, y, z, v->scalars.row ? &scalars : NULL,
                         t.odd);
        queue_finish(v, runs, &queue);
    }
}

#define NAME(token) NAME_(token)
#define NAME_(token) #token

#define X(name) cpu_kernel VARIANT(cpu_##name);
CPU_VARIANT_LIST(X)
#undef X
extern cpu_kernel *const PRECISION(cpu_cells)[KERNELS]; /* cells.c */
extern const struct cpu_variant VARIANT(cpu_variant);
const struct cpu_variant VARIANT(cpu_variant) = {
    .isa = NAME(TAGFLOW_ISA),
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .kernel =
        {
#define X(name) [KERNEL_##name] = VARIANT(cpu_##name),
            CPU_VARIANT_LIST(X)
#undef X
        },
    .others = PRECISION(cpu_cells),
};
