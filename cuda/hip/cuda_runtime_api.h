/* CUDA's names for HIP's calls: with this folder before those of the CUDA toolkit, hipcc compiles
 * the kernels and the backend for AMD GPUs. HIP's calls have the arguments of CUDA's.
 *
 * Two differences: CUDA's second number of __launch_bounds__ is the least number of blocks of a
 * multiprocessor, HIP's that of waves of an execution unit, so it is left out; and HIP has no
 * __grid_constant__, as it passes every argument in constant memory. */
#ifndef TAGFLOW_HIP_CUDA_RUNTIME_API_H
#define TAGFLOW_HIP_CUDA_RUNTIME_API_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#else
#include <hip/hip_runtime_api.h>
#endif

/* In what the program says of itself. A whole number names an architecture: 90 for gfx90a and gfx908. */
#define GPU_ARCH "gfx"
#define GPU_RUNTIME "HIP"
#define GPU_MAKER "AMD"

#define GPU_UUID(to, device, p) hipDeviceGetUuid((hipUUID *)(to), device)

#define CUDART_VERSION (1000 * HIP_VERSION_MAJOR + 10 * HIP_VERSION_MINOR)

#define cudaDeviceProp hipDeviceProp_t
#define cudaError_t hipError_t
#define cudaEvent_t hipEvent_t
#define cudaIpcEventHandle_t hipIpcEventHandle_t
#define cudaIpcMemHandle_t hipIpcMemHandle_t
#define cudaStream_t hipStream_t

#define cudaSuccess hipSuccess
#define cudaErrorInsufficientDriver hipErrorInsufficientDriver
#define cudaErrorInvalidKernelImage hipErrorInvalidKernelFile
#define cudaErrorNoDevice hipErrorNoDevice
#define cudaErrorNoKernelImageForDevice hipErrorNoBinaryForGpu
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorUnknown hipErrorUnknown
#define cudaErrorUnsupportedPtxVersion hipErrorInvalidImage

#define cudaEventDisableTiming hipEventDisableTiming
#define cudaEventInterprocess hipEventInterprocess
#define cudaIpcMemLazyEnablePeerAccess hipIpcMemLazyEnablePeerAccess
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaStreamNonBlocking hipStreamNonBlocking

#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaEventCreate hipEventCreate
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaEventQuery hipEventQuery
#define cudaEventRecord hipEventRecord
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaIpcCloseMemHandle hipIpcCloseMemHandle
#define cudaIpcGetEventHandle hipIpcGetEventHandle
#define cudaIpcGetMemHandle hipIpcGetMemHandle
#define cudaIpcOpenEventHandle hipIpcOpenEventHandle
#define cudaIpcOpenMemHandle hipIpcOpenMemHandle
#define cudaLaunchKernel hipLaunchKernel
#define cudaMalloc hipMalloc
#define cudaMallocHost(to, bytes) hipHostMalloc(to, bytes, hipHostMallocDefault)
#define cudaMemGetInfo hipMemGetInfo
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemsetAsync hipMemsetAsync
#define cudaSetDevice hipSetDevice
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamQuery hipStreamQuery
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent

#ifdef __HIPCC__
#define __grid_constant__
#undef __launch_bounds__
#define __launch_bounds__(threads, ...) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#endif

#endif
