/* The part of CUDA's runtime that the stand-in offers, as tests/gpu/standin/standin.c explains;
 * found instead of the toolkit's header when this folder comes first on the include path.
 *
 * Included after the toolkit's own header it makes nothing anew but checks itself against that:
 * values and members by assertions, functions by being declared once more. */
#ifndef TAGFLOW_STANDIN_CUDA_RUNTIME_API_H
#define TAGFLOW_STANDIN_CUDA_RUNTIME_API_H

#include <stddef.h>

#define CUDART_VERSION 13000

/* clang-format off */

/* name, value, what cudaGetErrorString says */
#define STANDIN_ERROR_LIST(X) \
    X(cudaSuccess, 0, "no error") \
    X(cudaErrorInvalidValue, 1, "an argument is wrong") \
    X(cudaErrorMemoryAllocation, 2, "not enough memory") \
    X(cudaErrorInitializationError, 3, "the driver could not be started") \
    X(cudaErrorInvalidConfiguration, 9, "no device can run such a grid") \
    X(cudaErrorInvalidDevicePointer, 17, "not an address of device memory") \
    X(cudaErrorInvalidMemcpyDirection, 21, "a copy has no such direction") \
    X(cudaErrorInsufficientDriver, 35, "the driver is too old for this runtime") \
    X(cudaErrorDevicesUnavailable, 46, "the device is busy or not to be had") \
    X(cudaErrorInvalidDeviceFunction, 98, "not a kernel") \
    X(cudaErrorNoDevice, 100, "there is no device") \
    X(cudaErrorInvalidDevice, 101, "there is no device of that number") \
    X(cudaErrorInvalidKernelImage, 200, "kernels that the driver cannot read") \
    X(cudaErrorDeviceUninitialized, 201, "not for the context of this process") \
    X(cudaErrorMapBufferObjectFailed, 205, "memory could not be mapped") \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel was compiled for this device") \
    X(cudaErrorECCUncorrectable, 214, "memory lost bits that could not be restored") \
    X(cudaErrorUnsupportedPtxVersion, 222, "PTX that the driver does not know") \
    X(cudaErrorInvalidResourceHandle, 400, "not a stream or event that can be used here") \
    X(cudaErrorNotReady, 600, "not done yet") \
    X(cudaErrorIllegalAddress, 700, "a kernel touched an illegal address") \
    X(cudaErrorLaunchOutOfResources, 701, "too few resources for this launch") \
    X(cudaErrorLaunchTimeout, 702, "a kernel took too long") \
    X(cudaErrorLaunchFailure, 719, "a kernel failed") \
    X(cudaErrorNotPermitted, 800, "not permitted") \
    X(cudaErrorNotSupported, 801, "not supported") \
    X(cudaErrorSystemDriverMismatch, 803, "driver and library do not belong together") \
    X(cudaErrorUnknown, 999, "something unknown went wrong")

/* name, value, from where to where */
#define STANDIN_MEMCPY_LIST(X) \
    X(cudaMemcpyHostToHost, 0, "host to host") \
    X(cudaMemcpyHostToDevice, 1, "host to device") \
    X(cudaMemcpyDeviceToHost, 2, "device to host") \
    X(cudaMemcpyDeviceToDevice, 3, "device to device") \
    X(cudaMemcpyDefault, 4, "wherever they are")

/* name, number, value here */
#define STANDIN_ATTRIBUTE_LIST(X) \
    X(cudaDevAttrMaxThreadsPerBlock, 1, 1024) \
    X(cudaDevAttrMaxBlockDimX, 2, 1024) \
    X(cudaDevAttrMaxBlockDimY, 3, 1024) \
    X(cudaDevAttrMaxBlockDimZ, 4, 64) \
    X(cudaDevAttrMaxGridDimX, 5, 2147483647) \
    X(cudaDevAttrMaxGridDimY, 6, 65535) \
    X(cudaDevAttrMaxGridDimZ, 7, 65535) \
    X(cudaDevAttrWarpSize, 10, 32) \
    X(cudaDevAttrMultiProcessorCount, 16, 132) \
    X(cudaDevAttrIntegrated, 18, 0) \
    X(cudaDevAttrComputeMode, 20, 0) \
    X(cudaDevAttrEccEnabled, 32, 1) \
    X(cudaDevAttrPciBusId, 33, standin_bus(device)) \
    X(cudaDevAttrPciDeviceId, 34, 0) \
    X(cudaDevAttrMemoryClockRate, 36, 2619000) \
    X(cudaDevAttrGlobalMemoryBusWidth, 37, 5120) \
    X(cudaDevAttrL2CacheSize, 38, 52428800) \
    X(cudaDevAttrAsyncEngineCount, 40, 3) \
    X(cudaDevAttrUnifiedAddressing, 41, 1) \
    X(cudaDevAttrPciDomainId, 50, 0) \
    X(cudaDevAttrComputeCapabilityMajor, 75, standin_options.major) \
    X(cudaDevAttrComputeCapabilityMinor, 76, standin_options.minor) \
    X(cudaDevAttrPageableMemoryAccess, 88, 0)

#define STANDIN_PROPERTY_LIST(X) \
    X(char, name, [256]) \
    X(cudaUUID_t, uuid,) \
    X(size_t, totalGlobalMem,) \
    X(int, warpSize,) \
    X(int, maxThreadsPerBlock,) \
    X(int, maxThreadsDim, [3]) \
    X(int, maxGridSize, [3]) \
    X(int, major,) \
    X(int, minor,) \
    X(int, multiProcessorCount,) \
    X(int, integrated,) \
    X(int, concurrentKernels,) \
    X(int, ECCEnabled,) \
    X(int, pciBusID,) \
    X(int, pciDeviceID,) \
    X(int, pciDomainID,) \
    X(int, asyncEngineCount,) \
    X(int, unifiedAddressing,) \
    X(int, memoryBusWidth,) \
    X(int, l2CacheSize,)
/* clang-format on */

#ifdef __CUDA_RUNTIME_API_H__ /* the toolkit's */

#define X(name, value, last) _Static_assert((int)name == (value), #name);
STANDIN_ERROR_LIST(X)
STANDIN_MEMCPY_LIST(X)
STANDIN_ATTRIBUTE_LIST(X)
#undef X
#define X(type, name, dimension)                                                                   \
    _Static_assert(__builtin_types_compatible_p(type dimension,                                    \
                                                __typeof__(((struct cudaDeviceProp *)0)->name)),   \
                   #name);
STANDIN_PROPERTY_LIST(X)
#undef X

#else

#define X(name, value, last) name = value,
typedef enum cudaError { STANDIN_ERROR_LIST(X) } cudaError_t;
enum cudaMemcpyKind { STANDIN_MEMCPY_LIST(X) };
enum cudaDeviceAttr { STANDIN_ATTRIBUTE_LIST(X) };
#undef X

struct CUuuid_st {
    char bytes[16];
};
typedef struct CUuuid_st cudaUUID_t;

#define X(type, name, dimension) type name dimension;
struct cudaDeviceProp {
    STANDIN_PROPERTY_LIST(X)
};
#undef X

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

typedef struct cudaIpcMemHandle_st {
    char reserved[64];
} cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st {
    char reserved[64];
} cudaIpcEventHandle_t;

struct uint3 {
    unsigned int x, y, z;
};
typedef struct uint3 uint3;

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
#endif
};
typedef struct dim3 dim3;

#endif

/* Token for token what the toolkit has, or the check would be an error. */
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventWaitDefault 0x00
#define cudaIpcMemLazyEnablePeerAccess 0x01

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

cudaError_t cudaMemGetInfo(size_t *unused, size_t *total);
cudaError_t cudaMalloc(void **pointer, size_t size);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t size);
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void *pointer, int value, size_t count);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t count, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer);
cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void *pointer);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
