/* The kernels: the cell functions of include/, one thread a cell. Compiled once per variant with
 * TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set (see meson.build). */
#include "kernels.h"

#include <cuda_runtime.h>

/* So many blocks share a multiprocessor, which leaves each thread of a step 65536 / 128 / blocks
 * registers, in steps of 8: for operators on pairs 48 in fp32 and 96 in fp64, for those in moment
 * space and steps that do more what they take without spilling. The last is that of the step of
 * mixed cases, which holds all operators. tests/gpu/registers.py knows these numbers. */
enum { WIDE = TAGFLOW_STORAGE == 64 || TAGFLOW_ARITHMETIC == 64, MIXED_BLOCKS = WIDE ? 2 : 4 };

constexpr int step_blocks(int collision, bool more)
{
    const bool pairs = collision == COLLISION_bgk || collision == COLLISION_trt;
    const bool central = collision == COLLISION_central || collision == COLLISION_central_hermite ||
                         collision == COLLISION_cumulant;
    return pairs     ? (WIDE ? 5 : 10)
           : more    ? (WIDE ? 2 : 5)
           : central ? (WIDE ? 3 : 6)
           : WIDE    ? 4
                     : 8;
}
constexpr int subgrid_blocks(int collision)
{
    const int blocks = step_blocks(collision, true);
    return blocks > MIXED_BLOCKS * 2 ? MIXED_BLOCKS * 2 : blocks;
}

/* Of the other kernels at least so many: up to 80 registers. */
enum { OTHER_BLOCKS = 6 };

#define STEP(name, collision, subgrid, forced, blocks)                                             \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks)                                   \
        step_##name(const __grid_constant__ struct cuda_call call)                                 \
    {                                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        const int x = b->lo[0] + (int)(blockIdx.x * blockDim.x + threadIdx.x);                     \
        const int y = b->lo[1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);                     \
        const int z = b->lo[2] + (int)(blockIdx.z * blockDim.z + threadIdx.z);                     \
        if (x < b->hi[0] && y < b->hi[1] && z < b->hi[2])                                          \
            cell_step(&call.view, &call.slots, x, y, z, collision, subgrid, forced);               \
    }
#define X(name, free, meaning)                                                                     \
    STEP(name, COLLISION_##name, SUBGRID_none, 0, step_blocks(COLLISION_##name, false))            \
    STEP(name##_forced, COLLISION_##name, SUBGRID_none, FORCED_mixed,                              \
         step_blocks(COLLISION_##name, true))                                                      \
    STEP(name##_subgrid, COLLISION_##name, SUBGRID_mixed, FORCED_mixed,                            \
         subgrid_blocks(COLLISION_##name))
COLLISION_LIST(X)
#undef X
STEP(mixed, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, MIXED_BLOCKS)

/* A kernel of cells in the order of a box. */
#define CELLS(name)                                                                                \
    static __global__ void __launch_bounds__(CUDA_BLOCK, OTHER_BLOCKS)                             \
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
        if (cell < cells)                                                                          \
            cell_##name(&call.view, call.work[k].task, cell, cells, b->lo[0] + (int)(cell % nx),   \
                        b->lo[1] + (int)(row % ny), b->lo[2] + (int)(row / ny));                   \
    }
CELLS(pack)
CELLS(unpack)
CELLS(get)
CELLS(put)
CELLS(flow)
CELLS(curl)

/* A kernel of sums: a thread is a worker, and neighbouring threads take neighbouring cells. */
#define SUMS(name, partial)                                                                        \
    static __global__ void __launch_bounds__(CUDA_BLOCK, OTHER_BLOCKS)                             \
        sums_##name(const __grid_constant__ struct cuda_call call)                                 \
    {                                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        const struct task t = call.work[0].task;                                                   \
        const unsigned nx = (unsigned)(b->hi[0] - b->lo[0]), ny = (unsigned)(b->hi[1] - b->lo[1]); \
        const unsigned worker = blockIdx.x * CUDA_BLOCK + threadIdx.x;                             \
        const unsigned workers = (unsigned)t.workers;                                              \
        const size_t cells = box_cells(b);                                                         \
        if (worker >= workers)                                                                     \
            return;                                                                                \
        struct partial mine = partial##_none();                                                    \
        for (size_t cell = worker; cell < cells; cell += workers) {                                \
            const unsigned row = (unsigned)cell / nx, x = (unsigned)cell % nx;                     \
            cell_##name(&call.view, t, cell, b->lo[0] + (int)x, b->lo[1] + (int)(row % ny),        \
                        b->lo[2] + (int)(row / ny), &mine);                                        \
        }                                                                                          \
        ((struct partial *)t.buffer)[worker] = mine;                                               \
    }
SUMS(sums, sums)
SUMS(drift, drift)
SUMS(enstrophy, enstrophy)

static struct cuda_variant table(void)
{
    struct cuda_variant v = {};
    v.storage = TAGFLOW_STORAGE;
    v.arithmetic = TAGFLOW_ARITHMETIC;
#define X(name, free, meaning)                                                                     \
    v.step[COLLISION_##name][0] = (const void *)step_##name;                                       \
    v.step[COLLISION_##name][1] = (const void *)step_##name##_forced;                              \
    v.step[COLLISION_##name][2] = (const void *)step_##name##_subgrid;
    COLLISION_LIST(X)
#undef X
    v.mixed = (const void *)step_mixed;
    v.kernel[KERNEL_pack] = (const void *)cells_pack;
    v.kernel[KERNEL_unpack] = (const void *)cells_unpack;
    v.kernel[KERNEL_get] = (const void *)cells_get;
    v.kernel[KERNEL_put] = (const void *)cells_put;
    v.kernel[KERNEL_flow] = (const void *)cells_flow;
    v.kernel[KERNEL_curl] = (const void *)cells_curl;
    v.kernel[KERNEL_sums] = (const void *)sums_sums;
    v.kernel[KERNEL_drift] = (const void *)sums_drift;
    v.kernel[KERNEL_enstrophy] = (const void *)sums_enstrophy;
    return v;
}

extern "C" struct cuda_variant CUDA_VARIANT(cuda_variant)(void);
extern "C" struct cuda_variant CUDA_VARIANT(cuda_variant)(void)
{
    return table();
}
