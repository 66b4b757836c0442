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

/* Of the other kernels at least so many: up to 80 registers. With open boundaries, whose rules are
 * functions with arrays of their own, called in few cells, as many registers as they like. */
enum { OTHER_BLOCKS = 6 };

#define STEP(name, collision, subgrid, forced, open, sparse, blocks)                               \
    static __global__ void __launch_bounds__(CUDA_BLOCK, blocks)                                   \
        step_##name(const __grid_constant__ struct cuda_call call)                                 \
    {                                                                                              \
        const struct box *const b = &call.work[0].box;                                             \
        const int x = b->lo[0] + (int)(blockIdx.x * blockDim.x + threadIdx.x);                     \
        const int y = b->lo[1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);                     \
        const int z = b->lo[2] + (int)(blockIdx.z * blockDim.z + threadIdx.z);                     \
        if (x < b->hi[0] && y < b->hi[1] && z < b->hi[2])                                          \
            cell_step(&call.view, &call.slots, x, y, z, collision, subgrid, forced, open, sparse); \
    }
#define X(name, free, meaning)                                                                     \
    STEP(name, COLLISION_##name, SUBGRID_none, 0, 0, 0, step_blocks(COLLISION_##name, false))      \
    STEP(name##_forced, COLLISION_##name, SUBGRID_none, FORCED_mixed, 0, 0,                        \
         step_blocks(COLLISION_##name, true))                                                      \
    STEP(name##_subgrid, COLLISION_##name, SUBGRID_mixed, FORCED_mixed, 0, 0,                      \
         subgrid_blocks(COLLISION_##name))
COLLISION_LIST(X)
#undef X
STEP(mixed, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 0, 0, MIXED_BLOCKS)
STEP(sparse, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 0, 1, MIXED_BLOCKS)
STEP(open, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 1, call.view.line != NULL, 1)

/* A kernel of cells in the order of a box; of those that take populations as they arrive there is
 * one more for flows with open boundaries. */
#define CELLS(name, function, may_open)                                                            \
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
CELLS(pack, pack, 0)
CELLS(unpack, unpack, 0)
CELLS(get, get, 0)
CELLS(put, put, 0)
CELLS(flow, flow, 0)
CELLS(flow_open, flow, 1)
CELLS(curl, curl, 0)
CELLS(curl_open, curl, 1)

/* A kernel of sums: a thread is a worker, and neighbouring threads take neighbouring cells. */
#define SUMS(name, partial, may_open)                                                              \
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
            cell_##partial(&call.view, t, cell, b->lo[0] + (int)x, b->lo[1] + (int)(row % ny),     \
                           b->lo[2] + (int)(row / ny), &mine);                                     \
        }                                                                                          \
        ((struct partial *)t.buffer)[worker] = mine;                                               \
    }
CELLS(near, near, 1)
SUMS(forces, forces, 1)
SUMS(sums, sums, 0)
SUMS(sums_open, sums, 1)
SUMS(drift, drift, 0)
SUMS(drift_open, drift, 1)
SUMS(enstrophy, enstrophy, 0)
SUMS(enstrophy_open, enstrophy, 1)

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
    v.sparse = (const void *)step_sparse;
    v.open = (const void *)step_open;
    for (int open = 0; open < 2; open++) {
        v.kernel[open][KERNEL_pack] = (const void *)cells_pack;
        v.kernel[open][KERNEL_unpack] = (const void *)cells_unpack;
        v.kernel[open][KERNEL_get] = (const void *)cells_get;
        v.kernel[open][KERNEL_put] = (const void *)cells_put;
        v.kernel[open][KERNEL_near] = (const void *)cells_near;
        v.kernel[open][KERNEL_forces] = (const void *)sums_forces;
    }
#define X(kind, name)                                                                              \
    v.kernel[0][KERNEL_##name] = (const void *)kind##_##name;                                      \
    v.kernel[1][KERNEL_##name] = (const void *)kind##_##name##_open;
    X(cells, flow)
    X(cells, curl)
    X(sums, sums)
    X(sums, drift)
    X(sums, enstrophy)
#undef X
    return v;
}

extern "C" struct cuda_variant CUDA_VARIANT(cuda_variant)(void);
extern "C" struct cuda_variant CUDA_VARIANT(cuda_variant)(void)
{
    return table();
}
