/* What nvcc knows in CUDA C++ and g++ does not, for kernels that the stand-in is to run: one thread
 * after the other, so that there is no shared memory and no synchronisation. */
#ifndef TAGFLOW_STANDIN_CUDA_RUNTIME_H
#define TAGFLOW_STANDIN_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#ifdef __cplusplus
extern "C" const struct uint3 threadIdx, blockIdx;
extern "C" const struct dim3 blockDim, gridDim;

static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value)
{
    const unsigned long long old = *at;
    *at = old + value;
    return old;
}

static inline unsigned long long atomicMax(unsigned long long *at, unsigned long long value)
{
    const unsigned long long old = *at;
    *at = old < value ? value : old;
    return old;
}
#endif
#endif
