/* The kernels: the cell functions of include/, one thread per cell. Compiled once per variant with
 * TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set (see meson.build). */
#include "kernels.h"

#include <cuda_runtime.h>

#if TAGFLOW_STORAGE == 16
#include "cell_two.h"
#endif

/* Blocks of CUDA_STEP_LIST for this variant. */
enum {
    WIDE = TAGFLOW_STORAGE == 64 || TAGFLOW_ARITHMETIC == 64,
    TWO = TAGFLOW_STORAGE == 16, /* cells a thread */
#define X(name, plain, forced, subgrid, wide_plain, wide_forced, wide_subgrid, two_plain,          \
          two_forced, two_subgrid)                                                                 \
    BLOCKS_##name = WIDE  ? wide_plain                                                             \
                    : TWO ? two_plain                                                              \
                          : plain,                                                                 \
    BLOCKS_##name##_forced = WIDE  ? wide_forced                                                   \
                             : TWO ? two_forced                                                    \
                                   : forced,                                                       \
    BLOCKS_##name##_subgrid = WIDE  ? wide_subgrid                                                 \
                              : TWO ? two_subgrid                                                  \
                                    : subgrid,
    CUDA_STEP_LIST(X)
#undef X
};

/* Blocks per multiprocessor of the other kernels, at least: allows 80 registers. Kernels for open
 * boundaries, whose rules are functions with local arrays called in few cells, have no limit. */
enum { OTHER_BLOCKS = 6 };

#define STEP(name, collision, subgrid, forced, open, sparse, blocks)                               \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks)                                   \
        step_##name(const __grid_constant__ struct cuda_call call)                                 \
    {                                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        const int x = b->lo[0] + (int)(blockIdx.x * blockDim.x + threadIdx.x);                     \
        const int y = b->lo[1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);                     \
        const int z = b->lo[2] + (int)(blockIdx.z * blockDim.z + threadIdx.z);                     \
        const struct step_kind kind = {collision, subgrid, forced, open, sparse};                  \
        if (x < b->hi[0] && y < b->hi[1] && z < b->hi[2])                                          \
            cell_step(&call.view, &call.slots, x, y, z, kind);                                     \
    }

/* A step for cells of one operator, without open boundaries and without places. */
#if TAGFLOW_STORAGE == 16
#define STEP_ONE(name, collision, subgrid, forced, blocks)                                         \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks)                                   \
        step_##name(const __grid_constant__ struct cuda_call call)                                 \
    {                                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        const int pair = (int)(blockIdx.x * blockDim.x + threadIdx.x);                             \
        const int x = (b->lo[0] & ~1) + 2 * pair;                                                  \
        const int y = b->lo[1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);                     \
        const int z = b->lo[2] + (int)(blockIdx.z * blockDim.z + threadIdx.z);                     \
        const struct step_kind kind = {collision, subgrid, forced, 0, 0};                          \
        if (x < b->hi[0] && y < b->hi[1] && z < b->hi[2])                                          \
            cell_step_two(&call.view, &call.slots, b->lo[0], b->hi[0], x, y, z, kind);             \
    }
#else
#define STEP_ONE(name, collision, subgrid, forced, blocks)                                         \
    STEP(name, collision, subgrid, forced, 0, 0, blocks)
#endif
#define X(name, free, space, registers, ...)                                                       \
    STEP_ONE(name, COLLISION_##name, SUBGRID_none, 0, BLOCKS_##registers)                          \
    STEP_ONE(name##_forced, COLLISION_##name, SUBGRID_none, FORCED_mixed,                          \
             BLOCKS_##registers##_forced)                                                          \
    STEP_ONE(name##_subgrid, COLLISION_##name, SUBGRID_mixed, FORCED_mixed,                        \
             BLOCKS_##registers##_subgrid)
COLLISION_LIST(X)
#undef X
STEP(mixed, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 0, 0, BLOCKS_mixed)
STEP(sparse, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 0, 1, BLOCKS_mixed)
STEP(open, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 1, call.view.line != NULL, 1)

/* A kernel over the cells of a box. Kernels that read populations as they arrive exist twice: the
 * second one is for cases with open boundaries. */
#define LOOP_cells(name, function, may_open)                                                       \
    static __global__ void __launch_bounds__(CUDA_BLOCK, (may_open) ? 1 : OTHER_BLOCKS)            \
        cells_##name(const __grid_constant__ struct cuda_call call)                                \
    {                                                                                              \
        int k = 0;                                                                                 \
        while (k + 1 < call.count && blockIdx.x >= call.first[k + 1])                              \
            k++;                                                                                   \
        const struct box *const b = &call.work[k].box;                                             \
        const unsigned nx = (unsigned)(b->hi[0] - b->lo[0]), ny = (unsigned)(b->hi[1] - b->lo[1]); \
        const unsigned cell = (blockIdx.x - call.first[k]) * CUDA_BLOCK + threadIdx.x;             \
        const unsigned row = cell / nx;                                                            \
        const size_t cells = box_cells(b);                                                         \
        struct task t = call.work[k].task;                                                         \
        t.open = may_open;                                                                         \
        if (cell < cells)                                                                          \
            cell_##function(&call.view, t, cell, cells, b->lo[0] + (int)(cell % nx),               \
                            b->lo[1] + (int)(row % ny), b->lo[2] + (int)(row / ny));               \
    }

/* A kernel of sums: each thread is a worker; neighbouring threads take neighbouring cells. */
#define LOOP_sums(name, partial, may_open)                                                         \
    static __global__ void __launch_bounds__(CUDA_BLOCK, (may_open) ? 1 : OTHER_BLOCKS)            \
        sums_##name(const __grid_constant__ struct cuda_call call)                                 \
    {                                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        struct task t = call.work[0].task;                                                         \
        const unsigned nx = (unsigned)(b->hi[0] - b->lo[0]), ny = (unsigned)(b->hi[1] - b->lo[1]); \
        const unsigned worker = blockIdx.x * CUDA_BLOCK + threadIdx.x;                             \
        const unsigned workers = (unsigned)t.workers;                                              \
        const size_t cells = box_cells(b);                                                         \
        if (worker >= workers)                                                                     \
            return;                                                                                \
        t.open = may_open;                                                                         \
        struct partial mine = partial##_none();                                                    \
        for (size_t cell = worker; cell < cells; cell += workers) {                                \
            const unsigned row = (unsigned)cell / nx, x = (unsigned)cell % nx;                     \
            cell_##partial(&call.view, t, cell, cells, b->lo[0] + (int)x,                          \
                           b->lo[1] + (int)(row % ny), b->lo[2] + (int)(row / ny), &mine);         \
        }                                                                                          \
        ((struct partial *)t.buffer)[worker] = mine;                                               \
    }

/* The kernels of KERNEL_LIST; <name>_open: for cases with open boundaries. */
#define KERNELS_own(loop, name)
#define KERNELS_never(loop, name) LOOP_##loop(name, name, 0)
#define KERNELS_always(loop, name) LOOP_##loop(name##_open, name, 1)
#define KERNELS_either(loop, name) KERNELS_never(loop, name) KERNELS_always(loop, name)
#define X(name, loop, open, ...) KERNELS_##open(loop, name)
KERNEL_LIST(X)
#undef X

static struct cuda_variant table(void)
{
    struct cuda_variant v = {};
    v.storage = TAGFLOW_STORAGE;
    v.arithmetic = TAGFLOW_ARITHMETIC;
    v.step_cells = TWO ? 2 : 1;
#define X(name, ...)                                                                               \
    v.step[COLLISION_##name][0] = (const void *)step_##name;                                       \
    v.step[COLLISION_##name][1] = (const void *)step_##name##_forced;                              \
    v.step[COLLISION_##name][2] = (const void *)step_##name##_subgrid;
    COLLISION_LIST(X)
#undef X
    v.mixed = (const void *)step_mixed;
    v.sparse = (const void *)step_sparse;
    v.open = (const void *)step_open;
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
