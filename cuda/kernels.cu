/* The kernels: the cell functions of include/, one thread per cell. Compiled once per variant with
 * TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set (see meson.build). */
#include <cuda_runtime.h> /* first: hipcc has __forceinline__ from here */

#include "kernels.h"

#if TAGFLOW_STORAGE == 16
#include "cell_two.h"
#endif

/* Blocks of CUDA_STEP_LIST for this variant. */
enum {
    WIDE = TAGFLOW_STORAGE == 64 || TAGFLOW_ARITHMETIC == 64,
    TWO = TAGFLOW_STORAGE == 16, /* cells a thread */
#define X(name, plain, forced, full, sparse, scalars, one, wide_plain, wide_forced, wide_full,     \
          wide_sparse, wide_scalars, wide_one, two_plain, two_forced, two_full, two_sparse,        \
          two_scalars, two_one)                                                                    \
    BLOCKS_##name = WIDE  ? wide_plain                                                             \
                    : TWO ? two_plain                                                              \
                          : plain,                                                                 \
    BLOCKS_##name##_forced = WIDE  ? wide_forced                                                   \
                             : TWO ? two_forced                                                    \
                                   : forced,                                                       \
    BLOCKS_##name##_full = WIDE  ? wide_full                                                       \
                           : TWO ? two_full                                                        \
                                 : full,                                                           \
    BLOCKS_##name##_sparse = WIDE  ? wide_sparse                                                   \
                             : TWO ? two_sparse                                                    \
                                   : sparse,                                                       \
    BLOCKS_##name##_scalars = WIDE  ? wide_scalars                                                 \
                              : TWO ? two_scalars                                                  \
                                    : scalars,                                                     \
    BLOCKS_##name##_one = WIDE  ? wide_one                                                         \
                          : TWO ? two_one                                                          \
                                : one,
    CUDA_STEP_LIST(X)
#undef X
};

/* Blocks per multiprocessor of the other kernels, at least: allows 80 registers. Kernels for open
 * boundaries, whose rules are functions with local arrays called in few cells, have no limit. */
enum { OTHER_BLOCKS = 6 };

/* The argument of a kernel, `call`. hipcc copies an argument whose address is taken into each
 * thread's memory: so kernels take the address at which it lies. */
#ifdef __HIPCC__
#define ARGUMENT const struct cuda_call by_value
#define TAKE_ARGUMENT                                                                              \
    (void)by_value;                                                                                \
    const struct cuda_call &call =                                                                 \
        *(const struct cuda_call *)__builtin_amdgcn_kernarg_segment_ptr();
#else
#define ARGUMENT const __grid_constant__ struct cuda_call call
#define TAKE_ARGUMENT
#endif

/* The number of the box that the thread's block belongs to. */
static __device__ __forceinline__ int box_of(const struct cuda_call *call)
{
    int k = 0;
    while (k + 1 < call->count && blockIdx.x >= call->first[k + 1])
        k++;
    return k;
}

/* The box of the thread's block; sets *first to the number of its first block. */
static __device__ __forceinline__ const struct work *work_of(const struct cuda_call *call,
                                                             unsigned *first)
{
    const int k = box_of(call);
    *first = call->first[k];
    return &call->work[k];
}

/* Sets `at` to the thread's cell in a step, or to the first of its `cells` cells along x, which
 * begin at a multiple of them; x: those x[0] <= x < x[1] are in the box, by value, as a pointer to
 * an argument is loaded from as from memory. Along x the box and the cell are positions. Returns
 * the box; NULL: no cell. (An int in its place makes nvcc 13.0 spill in steps with scalars.) */
static __device__ __forceinline__ const struct box *step_cell(const struct cuda_call *call,
                                                              int cells, int at[3], int x[2])
{
    if (call->count == 1) {
        const struct box *const b = &call->step.box[0];
        at[0] = b->lo[0] / cells * cells + cells * (int)(blockIdx.x * blockDim.x + threadIdx.x);
        at[1] = b->lo[1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);
        at[2] = b->lo[2] + (int)(blockIdx.z * blockDim.z + threadIdx.z);
        x[0] = b->lo[0];
        x[1] = b->hi[0];
        return at[0] < b->hi[0] && at[1] < b->hi[1] && at[2] < b->hi[2] ? b : NULL;
    }
    const int k = box_of(call);
    const struct box *const b = &call->step.box[k];
    const int from = b->lo[0] / cells;
    const unsigned nx = (unsigned)((b->hi[0] + cells - 1) / cells - from);
    const unsigned ny = (unsigned)(b->hi[1] - b->lo[1]);
    const unsigned cell = (blockIdx.x - call->first[k]) * CUDA_BLOCK + threadIdx.x, row = cell / nx;
    at[0] = cells * (from + (int)(cell % nx));
    at[1] = b->lo[1] + (int)(row % ny);
    at[2] = b->lo[2] + (int)(row / ny);
    x[0] = b->lo[0];
    x[1] = b->hi[0];
    return at[2] < b->hi[2] ? b : NULL;
}

/* The same for a step of fluid cells that have places, with the number of the cell's kind. Returns
 * 0 if there is no cell. */
static __device__ __forceinline__ int place_cell(const struct cuda_call *call, int at[3],
                                                 cell_index *place, uint32_t *which)
{
    const int k = box_of(call);
    const struct cuda_places p = call->places[k];
    const struct box *const b = &call->step.box[k];
    if (p.begin == p.end) {
        int x[2];
        if (step_cell(call, 1, at, x) == NULL)
            return 0;
        const cell_index n = owned_index(&call->view, at[0], at[1], at[2]);
        const struct place_word word = call->view.place[n / 32];
        *place = word_place(word, n);
        *which = word_has(word, n) ? kind_number(&call->step.kinds, *place) : 0;
        return word_has(word, n);
    }
    *place = cuda_first_place(p) + (blockIdx.x - call->first[k]) * CUDA_BLOCK + threadIdx.x;
    if (*place < p.begin || *place >= p.end)
        return 0;
    uint32_t cell = call->cells[*place], of_kind = kind_number(&call->step.kinds, *place);
    TAGFLOW_FORGET(cell);
    TAGFLOW_FORGET(of_kind); /* both before the test */
    *which = of_kind;
    if (cell == CUDA_GHOST)
        return 0;
    const unsigned nx = (unsigned)call->view.n[0], ny = (unsigned)call->view.n[1], row = cell / nx;
    at[0] = (int)(cell % nx);
    at[1] = (int)(row % ny);
    at[2] = (int)(row / ny);
    return at[0] >= b->lo[0] && at[0] < b->hi[0] && at[1] >= b->lo[1] && at[1] < b->hi[1] &&
           at[2] >= b->lo[2] && at[2] < b->hi[2];
}

/* Steps for cells beside open boundaries look at tags, all others at kinds. */
#define STEP(name, collision, forced, full, open, sparse, scalars, blocks)                         \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks) step_##name(ARGUMENT)             \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        struct step_kind kind = step_kind(collision, forced, full, open, sparse, scalars);         \
        kind.along = call.along;                                                                   \
        int at[3], x[2];                                                                           \
        if (step_cell(&call, 1, at, x) != NULL)                                                    \
            cell_step(&call.view, &call.slots, (open) ? NULL : &call.step.kinds, call.odd, at[0],  \
                      at[1], at[2], kind);                                                         \
    }

/* A step for cells without open boundaries, of blocks in which only fluid cells have places. */
#define STEP_SPARSE(name, collision, scalars, blocks)                                              \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks) step_##name(ARGUMENT)             \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        const struct step_kind kind = step_kind(collision, 1, 1, 0, 1, scalars);                   \
        int at[3];                                                                                 \
        cell_index place;                                                                          \
        uint32_t which;                                                                            \
        if (place_cell(&call, at, &place, &which))                                                 \
            cell_step_placed(&call.view, &call.slots, &call.step.kinds, which, call.odd, at[0],    \
                             at[1], at[2], place, kind);                                           \
    }

/* A step for cells of one operator, without open boundaries and without places. */
#if TAGFLOW_STORAGE == 16
#define STEP_ONE(name, collision, forced, full, scalars, blocks)                                   \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks) step_##name(ARGUMENT)             \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        struct step_kind kind = step_kind(collision, forced, full, 0, 0, scalars);                 \
        kind.along = call.along;                                                                   \
        int at[3], x[2];                                                                           \
        if (step_cell(&call, 2, at, x) != NULL)                                                    \
            cell_step_two(&call.view, &call.slots, &call.step.kinds, call.odd, x[0], x[1], at[0],  \
                          at[1], at[2], kind);                                                     \
    }
#else
#define STEP_ONE(name, collision, forced, full, scalars, blocks)                                   \
    STEP(name, collision, forced, full, 0, 0, scalars, blocks)
#endif
#define X(name, free, space, registers, ...)                                                       \
    STEP_ONE(name, COLLISION_##name, 0, 0, 0, BLOCKS_##registers)                                  \
    STEP_ONE(name##_forced, COLLISION_##name, 1, 0, 0, BLOCKS_##registers##_forced)                \
    STEP_ONE(name##_full, COLLISION_##name, 1, 1, 0, BLOCKS_##registers##_full)                    \
    STEP_SPARSE(name##_sparse, COLLISION_##name, 0, BLOCKS_##registers##_sparse)                   \
    STEP(name##_scalars, COLLISION_##name, 1, 1, 0, 0, SCALARS_any, BLOCKS_##registers##_scalars)  \
    STEP_ONE(name##_one, COLLISION_##name, 1, 1, SCALARS_one, BLOCKS_##registers##_one)
COLLISION_LIST(X)
#undef X
STEP(mixed, COLLISION_mixed, 1, 1, 0, 0, 0, BLOCKS_mixed)
STEP_SPARSE(mixed_sparse, COLLISION_mixed, 0, BLOCKS_mixed)
STEP(mixed_scalars, COLLISION_mixed, 1, 1, 0, 0, SCALARS_any, BLOCKS_mixed_scalars)
STEP_SPARSE(mixed_scalars_sparse, COLLISION_mixed, SCALARS_any, BLOCKS_mixed_scalars)
STEP(open, COLLISION_mixed, 1, 1, 1, call.view.place != NULL, 0, 1)
STEP(open_scalars, COLLISION_mixed, 1, 1, 1, call.view.place != NULL, SCALARS_any, 1)

/* A kernel over the cells of a box. Kernels that read populations as they arrive exist twice: the
 * second one is for cases with open boundaries. */
#define LOOP_cells(name, function, result, may_open)                                               \
    static __global__ void __launch_bounds__(CUDA_BLOCK, (may_open) ? 1 : OTHER_BLOCKS)            \
        cells_##name(ARGUMENT)                                                                     \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        unsigned first;                                                                            \
        const struct work *const w = work_of(&call, &first);                                       \
        const unsigned cell = (blockIdx.x - first) * CUDA_BLOCK + threadIdx.x;                     \
        const size_t cells = box_cells(&w->box);                                                   \
        struct task t = w->task;                                                                   \
        t.open = may_open;                                                                         \
        if (cell < cells) {                                                                        \
            const struct coordinates c = box_cell(&w->box, cell);                                  \
            cell_##function(&call.view, t, cell, cells, c.x, c.y, c.z);                            \
        }                                                                                          \
    }

/* A kernel over the values of messages. Few registers: what limits it is how many loads wait at a
 * time. */
enum { VALUE_BLOCKS = 16 };
#define LOOP_values(name, function, result, may_open)                                              \
    static __global__ void __launch_bounds__(CUDA_BLOCK, VALUE_BLOCKS) values_##name(ARGUMENT)     \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        const struct value_job *const j = &call.job[blockIdx.z];                                   \
        const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        const unsigned r = blockIdx.y * blockDim.y + threadIdx.y;                                  \
        if (k < j->n[0] && r < j->n[1])                                                            \
            value_##function(&call.view, j, k, r);                                                 \
    }

/* A kernel over entries of a list. */
#define LOOP_list(name, function, result, may_open)                                                \
    static __global__ void __launch_bounds__(CUDA_BLOCK, (may_open) ? 1 : OTHER_BLOCKS)            \
        list_##name(ARGUMENT)                                                                      \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        unsigned first;                                                                            \
        const struct work *const w = work_of(&call, &first);                                       \
        const unsigned k = (blockIdx.x - first) * CUDA_BLOCK + threadIdx.x;                        \
        struct task t = w->task;                                                                   \
        t.open = may_open;                                                                         \
        if (k < box_cells(&w->box))                                                                \
            entry_##function(&call.view, t, (size_t)w->box.lo[0] + k);                             \
    }

/* A kernel of sums: each thread is a worker; neighbouring threads take neighbouring cells, or
 * entries of a list. ADD: for number n. */
#define SUMS(name, result, may_open, ADD)                                                          \
    static __global__ void __launch_bounds__(CUDA_BLOCK, (may_open) ? 1 : OTHER_BLOCKS)            \
        name(ARGUMENT)                                                                             \
    {                                                                                              \
        TAKE_ARGUMENT                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        struct task t = call.work[0].task;                                                         \
        const unsigned worker = blockIdx.x * CUDA_BLOCK + threadIdx.x;                             \
        const unsigned workers = (unsigned)t.workers;                                              \
        const size_t count = box_cells(b);                                                         \
        if (worker >= workers)                                                                     \
            return;                                                                                \
        t.open = may_open;                                                                         \
        struct result mine = result##_none();                                                      \
        for (size_t n = worker; n < count; n += workers) {                                         \
            ADD;                                                                                   \
        }                                                                                          \
        ((struct result *)t.buffer)[worker] = mine;                                                \
    }
#define LOOP_sums(name, function, result, may_open)                                                \
    SUMS(sums_##name, result, may_open, const struct coordinates c = box_cell(b, n);               \
         cell_##function(&call.view, t, n, count, c.x, c.y, c.z, &mine))
#define LOOP_list_sums(name, function, result, may_open)                                           \
    SUMS(list_sums_##name, result, may_open,                                                       \
         entry_##function(&call.view, t, (size_t)b->lo[0] + n, &mine))

/* The kernels of KERNEL_LIST; <name>_open: for cases with open boundaries. */
#define KERNELS_own(loop, name, result)
#define KERNELS_never(loop, name, result) LOOP_##loop(name, name, result, 0)
#define KERNELS_always(loop, name, result) LOOP_##loop(name##_open, name, result, 1)
#define KERNELS_either(loop, name, result)                                                         \
    KERNELS_never(loop, name, result) KERNELS_always(loop, name, result)
#define X(name, loop, open, result) KERNELS_##open(loop, name, result)
KERNEL_LIST(X)
#undef X

static struct cuda_variant table(void)
{
    struct cuda_variant v = {};
    v.storage = TAGFLOW_STORAGE;
    v.arithmetic = TAGFLOW_ARITHMETIC;
    v.step_cells = TWO ? 2 : 1;
#define X(name, ...)                                                                               \
    v.step[COLLISION_##name][CUDA_plain] = (const void *)step_##name;                              \
    v.step[COLLISION_##name][CUDA_forced] = (const void *)step_##name##_forced;                    \
    v.step[COLLISION_##name][CUDA_full] = (const void *)step_##name##_full;                        \
    v.step[COLLISION_##name][CUDA_sparse] = (const void *)step_##name##_sparse;                    \
    v.step[COLLISION_##name][CUDA_scalars] = (const void *)step_##name##_scalars;                  \
    v.step[COLLISION_##name][CUDA_one] = (const void *)step_##name##_one;
    COLLISION_LIST(X)
#undef X
    v.mixed[0][0] = (const void *)step_mixed;
    v.mixed[0][1] = (const void *)step_mixed_sparse;
    v.mixed[1][0] = (const void *)step_mixed_scalars;
    v.mixed[1][1] = (const void *)step_mixed_scalars_sparse;
    v.open[0] = (const void *)step_open;
    v.open[1] = (const void *)step_open_scalars;
#define SET(open, name, function) v.kernel[open][KERNEL_##name] = (const void *)function;
#define SET_own(loop, name)
#define SET_never(loop, name) SET(0, name, loop##_##name) SET(1, name, loop##_##name)
#define SET_always(loop, name) SET(0, name, loop##_##name##_open) SET(1, name, loop##_##name##_open)
#define SET_either(loop, name) SET(0, name, loop##_##name) SET(1, name, loop##_##name##_open)
#define X(name, loop, open, ...) SET_##open(loop, name)
    KERNEL_LIST(X)
#undef X
    return v;
}

extern "C" struct cuda_variant CUDA_VARIANT(cuda_variant)(void);
extern "C" struct cuda_variant CUDA_VARIANT(cuda_variant)(void)
{
    return table();
}
