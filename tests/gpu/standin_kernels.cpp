/* CUDA C++ for the stand-in alone, as g++ compiles it. */
#include "cuda_runtime.h"

#include <cstring>

#include "standin_kernels.h"

static __device__ __forceinline__ size_t number()
{
    const size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t y = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    const size_t z = (size_t)blockIdx.z * blockDim.z + threadIdx.z;
    return x + (size_t)gridDim.x * blockDim.x * (y + (size_t)gridDim.y * blockDim.y * z);
}

extern "C" __global__ __launch_bounds__(1024, 1) void standin_visit(struct cuda_call call)
{
    struct visit v;
    static_assert(sizeof v <= sizeof call, "the argument is too small");
    memcpy(&v, &call, sizeof v);
    const size_t n = number();
    v.visits[n]++;
    v.ticket[n] = atomicAdd(v.tickets, 1ULL);
    atomicMax(v.latest, (unsigned long long)n);
}

extern "C" __global__ void standin_digit(struct cuda_call call)
{
    struct digit d;
    static_assert(sizeof d <= sizeof call, "the argument is too small");
    memcpy(&d, &call, sizeof d);
    *d.to = 10 * *d.from + d.value;
}

extern "C" __global__ void standin_touch(struct cuda_call call)
{
    struct touch t;
    static_assert(sizeof t <= sizeof call, "the argument is too small");
    memcpy(&t, &call, sizeof t);
    *t.at = 1;
}
