/* The physics headers as nvcc reads them: every kernel's work on a cell, in both precisions of a
 * variant (-DTAGFLOW_STORAGE, -DTAGFLOW_ARITHMETIC). Compiled only: that they do compile is the
 * test. */
#include "kernel.h"

#define X(name)                                                                                    \
    __global__ void launch_##name(struct view v, struct task t, size_t cells)                      \
    {                                                                                              \
        const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                \
        if (x < v.n[0])                                                                            \
            cell_##name(&v, t, (size_t)x, cells, x, (int)blockIdx.y, (int)blockIdx.z);             \
    }
X(pack)
X(unpack)
X(get)
X(put)
X(flow)
#undef X

__global__ void launch_step(struct view v, int odd)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (x < v.n[0])
        cell_step(&v, odd, x, (int)blockIdx.y, (int)blockIdx.z);
}
