/* What the files of the stand-in share; standin.c says what it is. */
#ifndef TAGFLOW_STANDIN_H
#define TAGFLOW_STANDIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_runtime_api.h"
#include "kernels.h" /* struct cuda_call, the one argument that every kernel has */

/* clang-format off */
/* What is counted and can be made to fail: name, what it needs (nothing, a driver, a device), the
 * error it fails with. */
#define STANDIN_CALL_LIST(X) \
    X(cudaGetDeviceCount, DRIVER, cudaErrorNoDevice) \
    X(cudaSetDevice, DEVICE, cudaErrorDevicesUnavailable) \
    X(cudaGetDevice, DEVICE, cudaErrorUnknown) \
    X(cudaGetDeviceProperties, DEVICE, cudaErrorUnknown) \
    X(cudaDeviceGetAttribute, DEVICE, cudaErrorUnknown) \
    X(cudaDeviceCanAccessPeer, DEVICE, cudaErrorUnknown) \
    X(cudaDeviceGetStreamPriorityRange, DEVICE, cudaErrorUnknown) \
    X(cudaDeviceSynchronize, DEVICE, cudaErrorLaunchFailure) \
    X(cudaDeviceReset, DRIVER, cudaErrorUnknown) \
    X(cudaDriverGetVersion, NOTHING, cudaErrorUnknown) \
    X(cudaRuntimeGetVersion, NOTHING, cudaErrorUnknown) \
    X(cudaGetLastError, NOTHING, cudaErrorUnknown) \
    X(cudaPeekAtLastError, NOTHING, cudaErrorUnknown) \
    X(cudaMemGetInfo, DEVICE, cudaErrorUnknown) \
    X(cudaMalloc, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaFree, DEVICE, cudaErrorLaunchFailure) \
    X(cudaMallocHost, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaHostAlloc, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaFreeHost, DEVICE, cudaErrorLaunchFailure) \
    X(cudaMemcpy, DEVICE, cudaErrorUnknown) \
    X(cudaMemcpyAsync, DEVICE, cudaErrorUnknown) \
    X(cudaMemset, DEVICE, cudaErrorUnknown) \
    X(cudaMemsetAsync, DEVICE, cudaErrorUnknown) \
    X(cudaStreamCreateWithFlags, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaStreamCreateWithPriority, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaStreamDestroy, DEVICE, cudaErrorUnknown) \
    X(cudaStreamSynchronize, DEVICE, cudaErrorLaunchFailure) \
    X(cudaStreamQuery, DEVICE, cudaErrorLaunchFailure) \
    X(cudaStreamWaitEvent, DEVICE, cudaErrorUnknown) \
    X(cudaEventCreate, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaEventCreateWithFlags, DEVICE, cudaErrorMemoryAllocation) \
    X(cudaEventDestroy, DEVICE, cudaErrorUnknown) \
    X(cudaEventRecord, DEVICE, cudaErrorUnknown) \
    X(cudaEventSynchronize, DEVICE, cudaErrorLaunchFailure) \
    X(cudaEventQuery, DEVICE, cudaErrorLaunchFailure) \
    X(cudaEventElapsedTime, DEVICE, cudaErrorUnknown) \
    X(cudaIpcGetMemHandle, DEVICE, cudaErrorNotSupported) \
    X(cudaIpcOpenMemHandle, DEVICE, cudaErrorMapBufferObjectFailed) \
    X(cudaIpcCloseMemHandle, DEVICE, cudaErrorInvalidValue) \
    X(cudaIpcGetEventHandle, DEVICE, cudaErrorNotSupported) \
    X(cudaIpcOpenEventHandle, DEVICE, cudaErrorMapBufferObjectFailed) \
    X(cudaLaunchKernel, DEVICE, cudaErrorLaunchOutOfResources) \
    X(kernel, NOTHING, cudaErrorIllegalAddress) \
    X(staged, NOTHING, cudaErrorUnknown)
/* clang-format on */

enum standin_call {
#define X(name, ...) STANDIN_##name,
    STANDIN_CALL_LIST(X)
#undef X
        STANDIN_CALLS
};

enum standin_order { STANDIN_LAZY, STANDIN_EAGER, STANDIN_RANDOM, STANDIN_OTHERS };
enum standin_uuid { STANDIN_UUID_DEVICE, STANDIN_UUID_SAME, STANDIN_UUID_RANK };
enum standin_messages { STANDIN_GOOD, STANDIN_ERROR, STANDIN_HANG, STANDIN_WRONG };
enum { STANDIN_DEVICES = 64, STANDIN_RULES = 16 };

/* Of TAGFLOW_STANDIN. */
struct standin_options {
    enum standin_order order;
    enum standin_uuid uuid;
    uint64_t seed;
    int devices, major, minor, driver;
    size_t memory, stacks;
    bool aware, late, leaks, ipc, peers;
    int deaf;  /* what of writes into another process's memory is lost: nothing, all, the rest of
                * the first page */
    bool says; /* MPIX_Query_cuda_support() */
    enum standin_messages messages;
    bool unreadable; /* the driver cannot read the kernels */
    char count[4096];
    int rules;
    struct standin_rule {
        bool skip; /* or fail */
        enum standin_call call;
        long number; /* from 1 */
    } rule[STANDIN_RULES];
};

extern struct standin_options standin_options;
extern int standin_device; /* the current one */

/* Our own mistake, or that of the code under test: one line, abort. */
__attribute__((format(printf, 1, 2), noreturn)) void standin_die(const char *format, ...);

/* A random number below `below`. */
uint64_t standin_random(uint64_t below);

/* Reads the options at the first call of all. */
void standin_begin(void);

/* Every function of the API begins with enter, which counts it and says with which error it has to
 * return at once, if not cudaSuccess, and ends with leave, which remembers its error. Between them
 * the caller holds the lock. */
cudaError_t standin_enter(enum standin_call call);
cudaError_t standin_leave(cudaError_t error);

/* The lock of everything: a thread of the stand-in runs streams whose events others wait for. */
void standin_hold(void);
void standin_release(void);

/* One more of something that is no function of the API; true when the rules want it to fail. */
bool standin_happens(enum standin_call call);

/* True when the rules want this call, which was entered, to do nothing. */
bool standin_skipped(enum standin_call call);

/* The error from which the device does not recover, cudaSuccess for none. */
extern cudaError_t standin_sticky;

/* The rank as mpirun or srun set it, before MPI_Init. */
int standin_rank(void);

/* Bus number of a device; ranks that are given the same one share the device. */
int standin_bus(int device);

/* Memory. */
enum standin_where { STANDIN_PAGEABLE, STANDIN_PINNED, STANDIN_DEVICE };

/* Asks to be told of faults; at the first call of all. */
void standin_memory_begin(void);
void standin_take_stacks(void);

/* Where the memory at `pointer` is; aborts when `size` bytes from there are not within one
 * allocation, of those the stand-in made. */
enum standin_where standin_where(const void *pointer, size_t size, const char *who);

/* The host may touch device memory from unlock to lock; they nest. */
void standin_unlock(void);
void standin_lock(void);

/* What a fault in the next instructions means: a kernel is running. */
void standin_in_kernel(bool yes);

/* Copies that may touch device memory. */
void standin_copy(void *to, const void *from, size_t count);
void standin_set(void *to, int value, size_t count);

/* Aborts when an asynchronous copy is not what it is called or not of pinned and device memory. */
void standin_check_async_copy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind);

/* Aborts when the bytes of a kernel's argument hold an address of the host's pageable memory. */
void standin_check_argument(const void *argument, size_t size);

/* Memory that processes share; ipc.c. A handle is good for one kind of thing. */
enum standin_kind { STANDIN_MEMORY = 1, STANDIN_EVENT };
struct standin_handle {
    enum standin_kind kind;
    int process, file;
    size_t size;
};
int standin_share(size_t size); /* a file for so much memory */
void *standin_map(int file, size_t offset, size_t size, void *at, int protection);
/* A file of the handle's memory. -1: of another kind, or its process is gone; *error says which. */
int standin_open(const void *handle, enum standin_kind kind, struct standin_handle *,
                 cudaError_t *error);
void standin_export(void *handle, enum standin_kind kind, int file, size_t size);

/* Frees all device memory of a device. */
void standin_memory_reset(int device);

/* The most bytes of a device that were allocated at a time, as cudaMemGetInfo counts them. */
size_t standin_memory_most(void);

/* Bytes that were copied from devices to the host. */
size_t standin_memory_fetched(void);

/* Device and pinned allocations not freed; looks at what lies around them. */
int standin_memory_left(void);

/* Streams and events. */

/* The function to run for the address that a launch gives. NULL: this address. */
typedef void standin_kernel(struct cuda_call);
extern standin_kernel *(*standin_find)(const void *function);

/* What cudaMemcpy (`from` not NULL; its bytes are taken now) or cudaMemset (of `value`) does, in
 * the order of the default stream: at once, or with late=1 and `later` when that is waited for. */
void standin_default_stream(void *to, const void *from, int value, size_t count, bool later);

void standin_run_some(void); /* order=random: some of what may run */
void standin_run_all(void);
void standin_streams_reset(int device);
int standin_streams_left(void);

#endif
