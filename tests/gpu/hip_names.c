/* HIP's calls on the stand-in for CUDA's runtime, by HIP's own declarations: what runs the backend as
 * it is compiled for AMD GPUs, where there is none. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <string.h>

#define dim3 standin_dim3
#define uint3 standin_uint3
#include "standin/cuda_runtime_api.h"
#undef dim3
#undef uint3

#define STREAM(s) ((cudaStream_t)(s))
#define EVENT(e) ((cudaEvent_t)(e))

/* X(HIP's name, its arguments, CUDA's call) */
/* clang-format off */
#define CALLS(X) \
    X(hipDeviceCanAccessPeer, (int *can, int device, int peer), cudaDeviceCanAccessPeer(can, device, peer)) \
    X(hipDeviceGetStreamPriorityRange, (int *least, int *greatest), cudaDeviceGetStreamPriorityRange(least, greatest)) \
    X(hipDeviceSynchronize, (void), cudaDeviceSynchronize()) \
    X(hipDriverGetVersion, (int *version), cudaDriverGetVersion(version)) \
    X(hipEventCreate, (hipEvent_t *e), cudaEventCreate((cudaEvent_t *)e)) \
    X(hipEventCreateWithFlags, (hipEvent_t *e, unsigned flags), cudaEventCreateWithFlags((cudaEvent_t *)e, flags)) \
    X(hipEventDestroy, (hipEvent_t e), cudaEventDestroy(EVENT(e))) \
    X(hipEventElapsedTime, (float *ms, hipEvent_t from, hipEvent_t to), cudaEventElapsedTime(ms, EVENT(from), EVENT(to))) \
    X(hipEventQuery, (hipEvent_t e), cudaEventQuery(EVENT(e))) \
    X(hipEventRecord, (hipEvent_t e, hipStream_t s), cudaEventRecord(EVENT(e), STREAM(s))) \
    X(hipFree, (void *p), cudaFree(p)) \
    X(hipHostFree, (void *p), cudaFreeHost(p)) \
    X(hipGetDevice, (int *device), cudaGetDevice(device)) \
    X(hipGetDeviceCount, (int *count), cudaGetDeviceCount(count)) \
    X(hipGetLastError, (void), cudaGetLastError()) \
    X(hipIpcCloseMemHandle, (void *p), cudaIpcCloseMemHandle(p)) \
    X(hipIpcGetEventHandle, (hipIpcEventHandle_t *h, hipEvent_t e), cudaIpcGetEventHandle((cudaIpcEventHandle_t *)h, EVENT(e))) \
    X(hipIpcGetMemHandle, (hipIpcMemHandle_t *h, void *p), cudaIpcGetMemHandle((cudaIpcMemHandle_t *)h, p)) \
    X(hipIpcOpenEventHandle, (hipEvent_t *e, hipIpcEventHandle_t h), \
      cudaIpcOpenEventHandle((cudaEvent_t *)e, *(cudaIpcEventHandle_t *)&h)) \
    X(hipIpcOpenMemHandle, (void **p, hipIpcMemHandle_t h, unsigned flags), \
      cudaIpcOpenMemHandle(p, *(cudaIpcMemHandle_t *)&h, flags)) \
    X(hipLaunchKernel, (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, hipStream_t s), \
      cudaLaunchKernel(kernel, (struct standin_dim3){grid.x, grid.y, grid.z}, (struct standin_dim3){block.x, block.y, block.z}, \
                       arguments, shared, STREAM(s))) \
    X(hipMalloc, (void **p, size_t bytes), cudaMalloc(p, bytes)) \
    X(hipHostMalloc, (void **p, size_t bytes, unsigned flags), cudaHostAlloc(p, bytes, flags)) \
    X(hipMemGetInfo, (size_t *unused, size_t *total), cudaMemGetInfo(unused, total)) \
    X(hipMemcpy, (void *to, const void *from, size_t bytes, hipMemcpyKind kind), \
      cudaMemcpy(to, from, bytes, (enum cudaMemcpyKind)kind)) \
    X(hipMemcpyAsync, (void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t s), \
      cudaMemcpyAsync(to, from, bytes, (enum cudaMemcpyKind)kind, STREAM(s))) \
    X(hipMemsetAsync, (void *p, int value, size_t bytes, hipStream_t s), cudaMemsetAsync(p, value, bytes, STREAM(s))) \
    X(hipSetDevice, (int device), cudaSetDevice(device)) \
    X(hipStreamCreateWithPriority, (hipStream_t *s, unsigned flags, int priority), \
      cudaStreamCreateWithPriority((cudaStream_t *)s, flags, priority)) \
    X(hipStreamDestroy, (hipStream_t s), cudaStreamDestroy(STREAM(s))) \
    X(hipStreamQuery, (hipStream_t s), cudaStreamQuery(STREAM(s))) \
    X(hipStreamSynchronize, (hipStream_t s), cudaStreamSynchronize(STREAM(s))) \
    X(hipStreamWaitEvent, (hipStream_t s, hipEvent_t e, unsigned flags), cudaStreamWaitEvent(STREAM(s), EVENT(e), flags))
/* clang-format on */

/* Numbers of errors that both have in common mean the same. */
#define X(name, arguments, call)                                                                   \
    hipError_t name arguments                                                                      \
    {                                                                                              \
        return (hipError_t)call;                                                                   \
    }
CALLS(X)
#undef X

const char *hipGetErrorString(hipError_t error)
{
    return cudaGetErrorString((cudaError_t)error);
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *to, int device)
{
    struct cudaDeviceProp from;
    const cudaError_t error = cudaGetDeviceProperties(&from, device);
    memset(to, 0, sizeof *to);
    if (error)
        return (hipError_t)error;
    memcpy(to->name, from.name, sizeof to->name);
    to->totalGlobalMem = from.totalGlobalMem;
    to->warpSize = from.warpSize;
    to->maxThreadsPerBlock = from.maxThreadsPerBlock;
    to->major = from.major;
    to->minor = from.minor;
    to->multiProcessorCount = from.multiProcessorCount;
    to->integrated = from.integrated;
    to->pciBusID = from.pciBusID;
    to->pciDeviceID = from.pciDeviceID;
    to->pciDomainID = from.pciDomainID;
    to->l2CacheSize = from.l2CacheSize;
    return hipSuccess;
}

hipError_t hipDeviceGetUuid(hipUUID *to, hipDevice_t device)
{
    struct cudaDeviceProp from;
    const cudaError_t error = cudaGetDeviceProperties(&from, device);
    if (!error)
        memcpy(to->bytes, from.uuid.bytes, sizeof to->bytes);
    return (hipError_t)error;
}
