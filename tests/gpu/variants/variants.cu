/* Variants of the step on a GPU: are their bits those of cell_step, and how fast are they?
 *
 *   variants [--cells N] [--seconds S] [--only TEXT] [--flow periodic|box] [--json FILE]
 *   variants --check [--only TEXT] [--json FILE] [--mutant K]     bits alone, all flows
 *
 * Before a rate two states after STEPS steps are compared, by a sum over mixed canonical bits: on
 * N x 6 x 5 cells with that of cell_step on the host, and on N^3 cells with that of the first
 * variant, tagflow's step on the GPU. No rate without equal bits. The first variant comes again
 * after every sixth. Exit status: 1 bits differ or the machine failed, 2 wrong usage. */
#include "rates.h"
#include "step.h"

enum { STEPS = 7, CHECK_Y = 6, CHECK_Z = 5, CHECK_X = 192 };

enum flow { FLOW_periodic, FLOW_box, FLOW_obstacles, FLOW_both, FLOWS };
static const char *const flow_name[] = {"periodic", "box", "obstacles", "box with obstacles"};

/* Argument of all kernels here. */
struct job {
    struct variant_call call;
    int flow;
};

static const int block_plain[2] = {32, 4};

/* ---- flows ---- */

TAGFLOW_FN uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Number of a cell, the same for all layouts. */
TAGFLOW_FN uint64_t cell_number(const int n[3], int x, int y, int z)
{
    return ((uint64_t)z * (uint64_t)n[1] + (uint64_t)y) * (uint64_t)n[0] + (uint64_t)x;
}

/* Is the cell, or the one at most one cell beyond the block, solid? */
TAGFLOW_FN int solid(const int n[3], int flow, int x, int y, int z)
{
    const int boxed = flow == FLOW_box || flow == FLOW_both;
    if (boxed && (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]))
        return 1;
    if (flow == FLOW_periodic || flow == FLOW_box)
        return 0;
    return mixed(1 + cell_number(n, (x + n[0]) % n[0], (y + n[1]) % n[1], (z + n[2]) % n[2])) %
               199 ==
           0;
}

/* Bit i: link i of the cell comes from a solid cell. */
TAGFLOW_FN uint32_t solid_links(const int n[3], int flow, int x, int y, int z)
{
    uint32_t links = 0;
#define X(i, j, cx, cy, cz, weight)                                                                \
    links |= (uint32_t)solid(n, flow, x - (cx), y - (cy), z - (cz)) << (i);                        \
    links |= (uint32_t)solid(n, flow, x + (cx), y + (cy), z + (cz)) << (j);
    PAIR_LIST(X)
#undef X
    return links;
}

TAGFLOW_FN stored first_population(const int n[3], int i, int x, int y, int z)
{
    const uint64_t random = mixed((uint64_t)Q * cell_number(n, x, y, z) + (uint64_t)i + 1);
    return stored_of((number)(0.02 * ((double)(random >> 11) * 0x1p-53 - 0.5)));
}

TAGFLOW_FN uint64_t population_bits(stored s)
{
#if TAGFLOW_STORAGE == 16
    return s.bits;
#elif TAGFLOW_STORAGE == 32
    return float_bits(s);
#else
    union {
        double x;
        uint64_t bits;
    } u;
    u.x = s;
    return u.bits;
#endif
}

TAGFLOW_FN uint64_t population_mixed(const int n[3], stored s, int i, int x, int y, int z)
{
    return mixed(population_bits(s) * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)Q * cell_number(n, x, y, z) + (uint64_t)i);
}

/* ---- cells of a variant's block ---- */

/* Writes what a cell is. */
TAGFLOW_FN void mark_cell(const struct job *j, int x, int y, int z)
{
    const struct variant_call *const c = &j->call;
    if (solid(c->view.n, j->flow, x, y, z))
        return;
    const uint32_t links = solid_links(c->view.n, j->flow, x, y, z);
    const uint32_t kind = links | 1u << KIND_TYPE | KIND_SWEPT;
    const cell_index at = row_index(c, x, y, z);
    int k = 1;
    while (k < KINDS_AT_HAND - 1 && c->kinds.at_hand[k].is != kind)
        k++;
    ((uint8_t *)c->view.tags)[at] = (uint8_t)(1 | (links ? TAG_BESIDE : 0));
    ((uint8_t *)(uintptr_t)c->kinds.number)[at] = (uint8_t)k;
}

TAGFLOW_FN size_t line_count(const struct job *j)
{
    return (j->call.view.cells + LINE - 1) / LINE;
}

/* The same for 32 cells. */
TAGFLOW_FN void mark_line(const struct job *j, size_t k)
{
    const uint8_t *const kinds = (const uint8_t *)j->call.kinds.number + k * LINE;
    int alike = 1;
    for (int m = 1; m < LINE; m++)
        alike &= kinds[m] == kinds[0];
    ((uint8_t *)j->call.line_kinds)[k] = alike ? kinds[0] : (uint8_t)LINE_MIXED;
}

/* Offset of population i that the coming step loads, of a cell that is not solid. */
TAGFLOW_FN size_t arriving_at(const struct job *j, int i, int x, int y, int z)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    const struct variant_call *const c = &j->call;
    const int *const from = velocity[i], *const to = velocity[opposite(i)];
    const int own = i == 0 || i & 1;
    const int bounces =
        i > 0 && !c->stored && solid(c->view.n, j->flow, x - from[0], y - from[1], z - from[2]);
    const cell_index at =
        own ? row_index(c, x, y, z) : row_index(c, x + to[0], y + to[1], z + to[2]);
    return (size_t)slot_load(c->odd, bounces ? opposite(i) : i) * c->view.set[SET_flow].stride + at;
}

TAGFLOW_FN void fill_cell(const struct job *j, int x, int y, int z)
{
    stored *const f = (stored *)j->call.view.set[SET_flow].populations;
    if (solid(j->call.view.n, j->flow, x, y, z))
        return;
    for (int i = 0; i < Q; i++)
        f[arriving_at(j, i, x, y, z)] = first_population(j->call.view.n, i, x, y, z);
}

TAGFLOW_FN uint64_t hash_cell(const struct job *j, int x, int y, int z)
{
    const stored *const f = (const stored *)j->call.view.set[SET_flow].populations;
    uint64_t sum = 0;
    if (solid(j->call.view.n, j->flow, x, y, z))
        return 0;
    for (int i = 0; i < Q; i++)
        sum += population_mixed(j->call.view.n, f[arriving_at(j, i, x, y, z)], i, x, y, z);
    return sum;
}

/* ---- kernels ---- */

#define THREAD_CELL(cells)                                                                         \
    KERNEL_CALL(struct job)                                                                        \
    const int x = (cells) * (int)(blockIdx.x * blockDim.x + threadIdx.x);                          \
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y), z = (int)blockIdx.z;               \
    if (x >= call.call.view.n[0] || y >= call.call.view.n[1])                                      \
    return

KERNEL(mark, struct job)
{
    THREAD_CELL(1);
    mark_cell(&call, x, y, z);
}

/* Threads in one dimension. */
KERNEL(mark_lines, struct job)
{
    KERNEL_CALL(struct job)
    const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < line_count(&call))
        mark_line(&call, k);
}

KERNEL(fill, struct job)
{
    THREAD_CELL(1);
    fill_cell(&call, x, y, z);
}

KERNEL(hash, struct job)
{
    THREAD_CELL(1);
    atomicAdd(call.call.sum, (unsigned long long)hash_cell(&call, x, y, z));
}

/* tagflow's step. */
#if TAGFLOW_STORAGE == 16
enum { STEP_CELLS = 2, BLOCKS_ONE = 10, BLOCKS_TWO = 5, BLOCKS_STEP = 5 };
#elif TAGFLOW_STORAGE == 32
enum { STEP_CELLS = 1, BLOCKS_ONE = 8, BLOCKS_TWO = 5, BLOCKS_STEP = 8 };
#else
enum { STEP_CELLS = 1, BLOCKS_ONE = 5, BLOCKS_TWO = 3, BLOCKS_STEP = 5 };
#endif
KERNEL(step_tagflow, struct job, __launch_bounds__(128, BLOCKS_STEP))
{
    THREAD_CELL(STEP_CELLS);
    const struct step_kind kind = step_kind(COLLISION_bgk, 0, 0, 0, 0, 0);
#if TAGFLOW_STORAGE == 16
    cell_step_two(&call.call.view, &call.call.slots, &call.call.kinds, call.call.odd, 0,
                  call.call.view.n[0], x, y, z, kind);
#else
    cell_step(&call.call.view, &call.call.slots, &call.call.kinds, call.call.odd, x, y, z, kind);
#endif
}

/* X(name, rows, known, walls, loads, rates, hint of loads, hint of stores, cells a thread, block
 * along x, along y, blocks of a multiprocessor at least, bytes at whose multiples rows begin),
 * those that decide most first. */
/* clang-format off */
#define VARIANT_LIST(X)                                                                                                         \
    X(kinds,                    plain,  kinds, other,  held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds,             lifted, kinds, other,  held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_stored,            lifted, kinds, stored, held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(two_kinds,                plain,  kinds, other,  held,  table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(two_lifted_kinds,         lifted, kinds, other,  held,  table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(two_lifted_stored,        lifted, kinds, stored, held,  table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(kinds_32,                 plain,  kinds, other,  held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   32)  \
    X(tags,                     plain,  tags,  other,  early, table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(stored,                   plain,  kinds, stored, held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(kinds_rates,              plain,  kinds, other,  held,  argument, none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_rates,       lifted, kinds, other,  held,  argument, none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_stored_rates,      lifted, kinds, stored, held,  argument, none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(two_stored,               plain,  kinds, stored, held,  table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(two_lifted_kinds_rates,   lifted, kinds, other,  held,  argument, none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(two_lifted_stored_rates,  lifted, kinds, stored, held,  argument, none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(kinds_late,               plain,  kinds, other,  late,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_late,        lifted, kinds, other,  late,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(two_lifted_kinds_late,    lifted, kinds, other,  late,  table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(lifted_tags,              lifted, tags,  other,  early, table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(two_tags,                 plain,  tags,  other,  early, table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(lifted_stored_lines,      lifted, lines, stored, held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(two_lifted_stored_lines,  lifted, lines, stored, held,  table,    none,        none,        2, 128, 1, BLOCKS_TWO,   128) \
    X(kinds_cs,                 plain,  kinds, other,  held,  table,    cs,          cs,          1, 128, 1, BLOCKS_ONE,   128) \
    X(kinds_evict,              plain,  kinds, other,  held,  table,    evict_first, evict_first, 1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_cs,          lifted, kinds, other,  held,  table,    cs,          cs,          1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_st_cs,       lifted, kinds, other,  held,  table,    none,        cs,          1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_no_allocate, lifted, kinds, other,  held,  table,    no_allocate, no_allocate, 1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_evict,       lifted, kinds, other,  held,  table,    evict_first, evict_first, 1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_st_evict,    lifted, kinds, other,  held,  table,    none,        evict_first, 1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_lu,          lifted, kinds, other,  held,  table,    lu,          none,        1, 128, 1, BLOCKS_ONE,   128) \
    X(lifted_kinds_wt,          lifted, kinds, other,  held,  table,    none,        wt,          1, 128, 1, BLOCKS_ONE,   128) \
    X(two_lifted_kinds_cs,      lifted, kinds, other,  held,  table,    cs,          cs,          2, 128, 1, BLOCKS_TWO,   128) \
    X(two_lifted_kinds_evict,   lifted, kinds, other,  held,  table,    evict_first, evict_first, 2, 128, 1, BLOCKS_TWO,   128) \
    X(lifted_kinds_32x4,        lifted, kinds, other,  held,  table,    none,        none,        1, 32,  4, BLOCKS_ONE,   128) \
    X(lifted_kinds_64x2,        lifted, kinds, other,  held,  table,    none,        none,        1, 64,  2, BLOCKS_ONE,   128) \
    X(lifted_kinds_256x1,       lifted, kinds, other,  held,  table,    none,        none,        1, 256, 1, BLOCKS_ONE/2, 128) \
    X(lifted_kinds_fewer,       lifted, kinds, other,  held,  table,    none,        none,        1, 128, 1, BLOCKS_ONE-2, 128) \
    X(two_lifted_kinds_64x2,    lifted, kinds, other,  held,  table,    none,        none,        2, 64,  2, BLOCKS_TWO,   128) \
    X(two_lifted_kinds_fewer,   lifted, kinds, other,  held,  table,    none,        none,        2, 128, 1, BLOCKS_TWO-1, 128)
/* clang-format on */

#define X(name, rows, known, walls, loads, rates, load, store, cells, bx, by, blocks, bytes)       \
    KERNEL(step_##name, struct job, __launch_bounds__((bx) * (by), blocks))                        \
    {                                                                                              \
        const struct way way = {ROWS_##rows,   KNOWN_##known, WALLS_##walls, LOADS_##loads,        \
                                RATES_##rates, HINT_##load,   HINT_##store,  cells};               \
        THREAD_CELL(cells);                                                                        \
        variant_step(&call.call, x, y, z, way);                                                    \
    }
VARIANT_LIST(X)
#undef X

struct variant {
    const char *name;
    void (*run)(
#ifdef __CUDACC__
        struct job
#else
        struct cuda_call
#endif
    );
    struct way way;
    const char *words[7]; /* of rows .. store_hint */
    int block[2], bytes;
};

/* tagflow's step touches what the variant with these properties touches. */
#define TAGFLOW_STEP(bytes)                                                                        \
    {                                                                                              \
        "tagflow_" #bytes, step_tagflow, {ROWS_plain,     KNOWN_kinds, WALLS_other, LOADS_held,    \
                                          RATES_argument, HINT_none,   HINT_none,   STEP_CELLS},   \
            {"plain", "kinds", "other", "held", "argument", "none", "none"}, {128, 1}, bytes       \
    }
static const struct variant variants[] = {TAGFLOW_STEP(32), TAGFLOW_STEP(128), TAGFLOW_STEP(64),
#define X(name, rows, known, walls, loads, rates, load, store, cells, bx, by, blocks, bytes)       \
    {#name,                                                                                        \
     step_##name,                                                                                  \
     {ROWS_##rows, KNOWN_##known, WALLS_##walls, LOADS_##loads, RATES_##rates, HINT_##load,        \
      HINT_##store, cells},                                                                        \
     {#rows, #known, #walls, #loads, #rates, #load, #store},                                       \
     {bx, by},                                                                                     \
     bytes},
                                          VARIANT_LIST(X)
#undef X
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* ---- a block of cells ---- */

static struct tag_row types[TAG_ROWS];

static void make_types(void)
{
    types[0].boundary = BOUNDARY_halfway;
    types[1].fluid = FLUID_swept;
    types[1].collision = COLLISION_bgk;
    tag_row_rates(&types[1], 0.6, 0.25);
}

/* A view of n cells with rows at multiples of so many bytes, without memory. */
static void make_view(struct view *v, const int n[3], int flow, int bytes)
{
    const size_t line = 128 / sizeof(stored);
    memset(v, 0, sizeof *v);
    for (int a = 0; a < 3; a++) {
        v->n[a] = n[a];
        v->ghost[a] = flow == FLOW_box || flow == FLOW_both;
    }
    v->rows = types;
    v->sets = 1;
    for (int k = 0; k < SIGNALS; k++)
        v->signal[k] = 1;
    view_lay_out(v, (size_t)bytes / sizeof(stored));
    view_derive(v);
    v->early = 1;
    /* An odd number of lines between slots, as in src/domain/domain.c. */
    const size_t lines = (v->cells + line - 1) / line;
    v->set[SET_flow].stride = (lines + (lines % 2 == 0)) * line;
    v->set[SET_flow].q = Q;
    v->set[SET_flow].bits = TAGFLOW_STORAGE;
}

/* All kinds of a flow, the inner cell's first. Of a box without obstacles three cells along each
 * axis have them all. Returns 0 if they are too many. */
static int make_kinds(struct variant_call *c, const int n[3], int flow)
{
    const int simple = flow == FLOW_periodic || flow == FLOW_box, three[3] = {3, 3, 3};
    const int *const m = simple ? three : n;
    int count = 2;
    c->kinds.bytes = 1;
    c->kinds.type = 1;
    c->kinds.row = types[1];
    c->kinds.at_hand[KINDS_AT_HAND].is = KIND_MORE;
    c->kinds.at_hand[1].is = 1u << KIND_TYPE | KIND_SWEPT;
    for (int z = 0; z < m[2]; z++)
        for (int y = 0; y < m[1]; y++)
            for (int x = 0; x < m[0]; x++) {
                if (solid(m, flow, x, y, z))
                    continue;
                const uint32_t kind = solid_links(m, flow, x, y, z) | 1u << KIND_TYPE | KIND_SWEPT;
                int k = 1;
                while (k < count && c->kinds.at_hand[k].is != kind)
                    k++;
                if (k == LINE_MIXED)
                    return 0;
                c->kinds.at_hand[k].is = kind;
                count = k == count ? k + 1 : count;
            }
    return 1;
}

/* Geometry of a variant's block. NULL, or why there is none. */
static const char *make_job(struct job *j, const struct variant *t, const int n[3], int flow)
{
    struct variant_call *const c = &j->call;
    struct view *const v = &c->view;
    const int cells = t->way.cells;
    memset((void *)j, 0, sizeof *j);
    j->flow = flow;
    make_view(v, n, flow, t->bytes);
    if (n[0] % cells)
        return "cells along x are odd";
    if (t->way.rows == ROWS_lifted) {
        const size_t align = (size_t)t->bytes / sizeof(stored),
                     room = (size_t)(n[0] + 2 * v->ghost[0]);
        c->places = 32 * cells;
        c->lines = n[0] / c->places;
        if (c->lines < 2 || c->lines * c->places != n[0])
            return "cells along x are not two or more whole lines";
        v->row = (ptrdiff_t)((room + align - 1) / align * align);
        v->plane = v->row * (n[1] + 2 * v->ghost[1]);
        v->origin = (size_t)(v->ghost[1] * v->row + v->ghost[2] * v->plane);
        v->cells = (size_t)v->plane * (size_t)(n[2] + 2 * v->ghost[2]);
        view_derive(v);
        v->early = 1;
    }
    c->stored = t->way.walls == WALLS_stored;
    c->type = types[1];
    if (!make_kinds(c, n, flow))
        return "more kinds than a byte names";
    return NULL;
}

/* Bytes of a block's arrays: populations; tags, kinds, kinds of lines. */
static size_t population_bytes(const struct job *j)
{
    return j->call.view.set[SET_flow].stride * Q * sizeof(stored);
}
static size_t tag_bytes(const struct job *j)
{
    return j->call.view.cells + 2 * LINE;
}

static void *device_room(size_t bytes)
{
    void *room;
    GOOD(cudaMalloc(&room, bytes));
    GOOD(cudaMemset(room, 0, bytes));
    return room;
}

static void launch_cells(struct gpu *g, const void *kernel, const struct job *j)
{
    launch(g, kernel, j->call.view.n, block_plain, j, sizeof *j);
}

/* Memory on the GPU, with tags and kinds. */
static void job_create(struct gpu *g, struct job *j)
{
    struct variant_call *const c = &j->call;
    const int lines[3] = {(int)line_count(j), 1, 1}, block[2] = {128, 1};
    c->view.set[SET_flow].populations = device_room(population_bytes(j));
    c->view.tags = (const uint8_t *)device_room(tag_bytes(j));
    c->kinds.number = device_room(tag_bytes(j));
    c->line_kinds = (const uint8_t *)device_room(tag_bytes(j) / LINE + 1);
    c->sum = (unsigned long long *)device_room(sizeof *c->sum);
    c->view.rows = (const struct tag_row *)device_room(sizeof types);
    GOOD(cudaMemcpy((void *)c->view.rows, types, sizeof types, cudaMemcpyHostToDevice));
    GOOD(cudaDeviceSynchronize());
    launch_cells(g, (const void *)mark, j);
    launch(g, (const void *)mark_lines, lines, block, j, sizeof *j);
    launch_cells(g, (const void *)fill, j);
}

static void job_destroy(struct gpu *g, struct job *j)
{
    struct variant_call *const c = &j->call;
    GOOD(cudaStreamSynchronize(g->stream));
    GOOD(cudaFree(c->view.set[SET_flow].populations));
    GOOD(cudaFree((void *)c->view.tags));
    GOOD(cudaFree((void *)(uintptr_t)c->kinds.number));
    GOOD(cudaFree((void *)c->line_kinds));
    GOOD(cudaFree(c->sum));
    GOOD(cudaFree((void *)c->view.rows));
}

static void job_step(struct gpu *g, const struct variant *t, struct job *j)
{
    struct variant_call *const c = &j->call;
    const int threads[3] = {c->view.n[0] / t->way.cells, c->view.n[1], c->view.n[2]};
    c->slots = slots_at(&c->view, c->odd, sizeof(stored));
    launch(g, (const void *)t->run, threads, t->block, j, sizeof *j);
    c->odd = !c->odd;
}

static uint64_t job_hash(struct gpu *g, const struct job *j)
{
    unsigned long long sum;
    GOOD(cudaMemset(j->call.sum, 0, sizeof sum));
    GOOD(cudaDeviceSynchronize());
    launch_cells(g, (const void *)hash, j);
    GOOD(cudaStreamSynchronize(g->stream));
    GOOD(cudaMemcpy(&sum, j->call.sum, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

/* ---- on the host ---- */

static void *host_room(size_t bytes)
{
    void *const room = calloc(1, bytes);
    if (!room)
        fail("out of memory: %zu bytes", bytes);
    return room;
}

#define EACH_CELL(n, x, y, z)                                                                      \
    for (int z = 0; z < (n)[2]; z++)                                                               \
        for (int y = 0; y < (n)[1]; y++)                                                           \
            for (int x = 0; x < (n)[0]; x++)

/* The state after STEPS of cell_step, in tagflow's own layout and with its own addresses. */
static uint64_t reference(const int n[3], int flow)
{
    struct view v;
    uint64_t sum = 0;
    const struct step_kind kind = step_kind(COLLISION_bgk, 0, 0, 0, 0, 0);
    make_view(&v, n, flow, 32);
    stored *const f = (stored *)host_room(v.set[SET_flow].stride * Q * sizeof *f);
    uint8_t *const tags = (uint8_t *)host_room(v.cells);
    v.set[SET_flow].populations = f;
    v.tags = tags;
    EACH_CELL(n, x, y, z)
    if (!solid(n, flow, x, y, z))
        tags[view_index(&v, x, y, z)] = solid_links(n, flow, x, y, z) ? 1 | TAG_BESIDE : 1;
    EACH_CELL(n, x, y, z)
    for (int i = 0; i < Q && tags[view_index(&v, x, y, z)]; i++)
        f[canonical_address(&v, 0, i, x, y, z)] = first_population(n, i, x, y, z);
    for (int t = 0; t < STEPS; t++) {
        const struct slots s = slots_at(&v, t % 2, sizeof *f);
        EACH_CELL(n, x, y, z)
        cell_step(&v, &s, NULL, t % 2, x, y, z, kind);
    }
    EACH_CELL(n, x, y, z)
    for (int i = 0; i < Q && tags[view_index(&v, x, y, z)]; i++)
        sum += population_mixed(n, f[canonical_address(&v, STEPS % 2, i, x, y, z)], i, x, y, z);
    free(f);
    free(tags);
    return sum;
}

/* Requests and sectors of a warp. */
struct touched {
    double requests, sectors;
};

/* Mean over the warps of all inner rows of the check's block, by running their steps on the host.
 * In a large box nearly all rows are inner ones. */
static struct touched count_touched(const struct variant *t, const int n[3], int flow)
{
    struct job *const j = (struct job *)host_room(sizeof *j);
    struct trace *const warp = (struct trace *)host_room(sizeof *warp);
    struct touched sum = {0, 0};
    struct variant_call *const c = &j->call;
    int warps = 0;
    if (make_job(j, t, n, flow))
        fail("count_touched: no such block");
    /* At a line, as device memory. */
    char *const f = (char *)host_room(population_bytes(j) + 128);
    uint8_t *const tags = (uint8_t *)host_room(tag_bytes(j) + 128);
    uint8_t *const kinds = (uint8_t *)host_room(tag_bytes(j) + 128);
    c->view.set[SET_flow].populations = f + (128 - (uintptr_t)f % 128);
    c->view.tags = tags + (128 - (uintptr_t)tags % 128);
    c->kinds.number = kinds + (128 - (uintptr_t)kinds % 128);
    c->line_kinds = (const uint8_t *)host_room(tag_bytes(j) / LINE + 1);
    EACH_CELL(n, x, y, z)
    {
        mark_cell(j, x, y, z);
        fill_cell(j, x, y, z);
    }
    for (size_t k = 0; k < line_count(j); k++)
        mark_line(j, k);
    c->slots = slots_at(&c->view, 0, sizeof(stored));
    const int width = 32 * t->way.cells;
    for (int z = 1; z < n[2] - 1; z++)
        for (int y = 1; y < n[1] - 1; y++)
            for (int p = 0; p + width <= n[0]; p += width) {
                memset(warp, 0, sizeof *warp);
                tracing = warp;
                for (int lane = 0; lane < 32; lane++)
                    variant_step(c, p + lane * t->way.cells, y, z, t->way);
                tracing = NULL;
                for (int site = 0; site < SITES; site++) {
                    sum.requests += accesses_touch(&warp->site[site], REQUEST);
                    sum.sectors += accesses_touch(&warp->site[site], SECTOR);
                }
                warps++;
            }
    free(f);
    free(tags);
    free(kinds);
    free((void *)c->line_kinds);
    free(j);
    free(warp);
    if (warps) {
        sum.requests /= warps;
        sum.sectors /= warps;
    }
    return sum;
}

/* ---- rows of the report ---- */

struct options {
    int cells, check, flow, mutant; /* flow: -1: all */
    double seconds;
    const char *only, *json;
};

/* State of the block after STEPS steps of the variant. */
static uint64_t state_after(struct gpu *g, const struct variant *t, struct job *j)
{
    for (int k = 0; k < STEPS; k++)
        job_step(g, t, j);
    return job_hash(g, j);
}

static void say_variant(struct gpu *g, const struct variant *t, int flow, const int n[3])
{
    static const char *const name[] = {"rows",  "known",     "walls",     "loads",
                                       "rates", "load_hint", "store_hint"};
    say(g,
        "{\"variant\": \"%s\", \"flow\": \"%s\", \"precision\": \"fp%d\", \"cells\": [%d, %d, %d]",
        t->name, flow_name[flow], TAGFLOW_STORAGE, n[0], n[1], n[2]);
    for (int k = 0; k < 7; k++)
        say(g, ", \"%s\": \"%s\"", name[k], t->words[k]);
    say(g, ", \"cells_a_thread\": %d, \"block\": [%d, %d], \"row_bytes\": %d", t->way.cells,
        t->block[0], t->block[1], t->bytes);
}

/* One row; returns 1 if bits differ. *first: the state on N^3 cells of the first variant, 0 before
 * it is known. */
static int row(struct gpu *g, const struct options *o, const struct variant *t, int flow, int again,
               uint64_t expected, uint64_t *first)
{
    struct job *const j = (struct job *)host_room(sizeof *j);
    const int small[3] = {o->check ? CHECK_X : o->cells, CHECK_Y, CHECK_Z};
    const int whole[3] = {o->cells, o->cells, o->cells};
    const int *const n = o->check ? small : whole;
    printf("%-28s %-18s ", t->name, flow_name[flow]);
    say_variant(g, t, flow, n);
    const char *const none = make_job(j, t, small, flow);
    int differ = 0;
    if (none) {
        printf("left out: %s\n", none);
        say(g, ", \"left_out\": \"%s\"", none);
        differ = o->check; /* a check is of all variants */
        say_end(g);
        free(j);
        return differ;
    }
#ifndef __CUDACC__
    j->call.wrong = o->mutant;
#endif
    job_create(g, j);
    differ = state_after(g, t, j) != expected;
    job_destroy(g, j);
    say(g, ", \"bits_equal\": %s", differ ? "false" : "true");
    if (flow == FLOW_periodic || flow == FLOW_box) {
        const struct touched touched = count_touched(t, small, flow);
        say_touched(g, touched.requests, touched.sectors);
        printf("%6.1f requests, %6.1f sectors a warp  ", touched.requests, touched.sectors);
    }
    if (!o->check && !differ) {
        size_t unused, all;
        make_job(j, t, whole, flow);
        const size_t bytes = population_bytes(j) + 2 * tag_bytes(j) + tag_bytes(j) / LINE;
        GOOD(cudaMemGetInfo(&unused, &all));
        if (bytes > unused) {
            printf("left out: %.1f GB do not fit\n", 1e-9 * (double)bytes);
            say(g, ", \"left_out\": \"memory\"");
            say_end(g);
            free(j);
            return 0;
        }
        job_create(g, j);
        const uint64_t state = state_after(g, t, j);
        *first = *first ? *first : state;
        differ = state != *first;
        say(g, ", \"states_equal\": %s, \"again\": %s", differ ? "false" : "true",
            again ? "true" : "false");
        if (!differ) {
            const struct samples s = measure(g, o->seconds, [&] { job_step(g, t, j); });
            const double updates = (double)n[0] * n[1] * n[2], each = 2.0 * Q * sizeof(stored) + 1;
            const double glups = 1e-9 * updates / s.work[SAMPLES / 2];
            const double gbs = 1e-9 * (double)g->copy_bytes / s.copy[SAMPLES / 2];
            const double memory = (double)bytes / updates;
            const struct resources r =
                resources_of((const void *)t->run, t->block[0] * t->block[1]);
            say_rates(g, "glups", 1e-9 * updates, s.work);
            say_rates(g, "copy_gbs", 1e-9 * (double)g->copy_bytes, s.copy);
            say(g, ", \"share\": %.4f, \"bytes_a_cell\": %.2f", each * glups / gbs, memory);
            say_conditions(g, &s, r);
            printf("%8.3f GLUPS %5.1f %% of %5.0f GB/s, %3d registers, %2d blocks, %5.1f B a cell, "
                   "%4.0f MHz, %3.0f W  ",
                   glups, 100 * each * glups / gbs, gbs, r.registers, r.blocks, memory, s.mhz[0],
                   s.watts);
        }
        job_destroy(g, j);
    }
    printf("%s\n", differ ? "BITS DIFFER" : "bits agree");
    fflush(stdout);
    say_end(g);
    free(j);
    return differ;
}

static int report(struct gpu *g, const struct options *o)
{
    const int small[3] = {o->check ? CHECK_X : o->cells, CHECK_Y, CHECK_Z};
    uint64_t expected[FLOWS] = {0}, first[FLOWS] = {0};
    int differ = 0, done = 0;
    for (int flow = 0; flow < (o->check ? (int)FLOWS : (int)FLOW_box + 1); flow++)
        expected[flow] = reference(small, flow);
    for (int k = 0; k < VARIANTS; k++) {
        if (k > 0 && !strstr(variants[k].name, o->only))
            continue;
        for (int flow = 0; flow < (o->check ? (int)FLOWS : (int)FLOW_box + 1); flow++)
            if (o->flow < 0 || flow == o->flow)
                differ += row(g, o, &variants[k], flow, 0, expected[flow], &first[flow]);
        if (++done % 6 == 0 && !o->check)
            for (int flow = 0; flow <= FLOW_box; flow++)
                if (o->flow < 0 || flow == o->flow)
                    differ += row(g, o, &variants[0], flow, 1, expected[flow], &first[flow]);
    }
    printf("%d variants, %d times bits differ\n", done, differ);
    return differ;
}

int main(int argc, char **argv)
{
    struct options o = {256, 0, -1, 0, 0.1, "", NULL};
    program = "variants";
    for (int k = 1; k < argc; k++) {
        const char *const value = k + 1 < argc ? argv[k + 1] : NULL;
        if (strcmp(argv[k], "--check") == 0) {
            o.check = 1;
            continue;
        }
        if (!value)
            usage(argv[k], "variants.cu");
        if (strcmp(argv[k], "--cells") == 0)
            o.cells = (int)wanted_number(value, 4, 1625);
        else if (strcmp(argv[k], "--seconds") == 0)
            o.seconds = wanted_number(value, 1e-9, 1000);
        else if (strcmp(argv[k], "--only") == 0)
            o.only = value;
        else if (strcmp(argv[k], "--json") == 0)
            o.json = value;
        else if (strcmp(argv[k], "--flow") == 0 && strcmp(value, "periodic") == 0)
            o.flow = FLOW_periodic;
        else if (strcmp(argv[k], "--flow") == 0 && strcmp(value, "box") == 0)
            o.flow = FLOW_box;
#ifndef __CUDACC__
        else if (strcmp(argv[k], "--mutant") == 0)
            o.mutant = (int)wanted_number(value, 0, MUTANTS);
#endif
        else
            usage(argv[k], "variants.cu");
        k++;
    }
    struct gpu g;
    make_types();
    gpu_create(&g, o.json);
    say(&g, "{\"program\": \"variants\", \"device\": \"%s\", \"precision\": \"fp%d\"", g.name,
        TAGFLOW_STORAGE);
    say_end(&g);
    if (!o.check)
        gpu_copies(&g, copy_bytes(o.cells));
    const int differ = report(&g, &o);
    gpu_destroy(&g);
    return differ != 0;
}
