/* The stand-in's devices: how many, what they say of themselves, which is the current one. */
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int standin_device;

static bool is_device(int device)
{
    return device >= 0 && device < standin_options.devices;
}

int standin_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        if (value)
            return atoi(value);
    }
    return 0;
}

int standin_bus(int device)
{
    switch (standin_options.uuid) {
    case STANDIN_UUID_SAME:
        return 1;
    case STANDIN_UUID_RANK:
        return 1 + device + standin_options.devices * standin_rank();
    case STANDIN_UUID_DEVICE:
        break;
    }
    return 1 + device;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = standin_enter(STANDIN_cudaGetDeviceCount);
    *count = error ? 0 : standin_options.devices;
    if (!error && standin_options.devices == 0)
        error = cudaErrorNoDevice;
    return standin_leave(error);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = standin_enter(STANDIN_cudaSetDevice);
    if (!error && !is_device(device))
        error = cudaErrorInvalidDevice;
    if (!error)
        standin_device = device;
    return standin_leave(error);
}

cudaError_t cudaGetDevice(int *device)
{
    const cudaError_t error = standin_enter(STANDIN_cudaGetDevice);
    if (!error)
        *device = standin_device;
    return standin_leave(error);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = standin_enter(STANDIN_cudaGetDeviceProperties);
    if (!error && !is_device(device))
        error = cudaErrorInvalidDevice;
    if (error)
        return standin_leave(error);
    *properties = (struct cudaDeviceProp){
        .name = "stand-in for a GPU",
        .totalGlobalMem = standin_options.memory,
        .warpSize = 32,
        .maxThreadsPerBlock = 1024,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {2147483647, 65535, 65535},
        .major = standin_options.major,
        .minor = standin_options.minor,
        .multiProcessorCount = 132,
        .concurrentKernels = 1,
        .ECCEnabled = 1,
        .pciBusID = standin_bus(device),
        .asyncEngineCount = 3,
        .unifiedAddressing = 1,
        .memoryBusWidth = 5120,
        .l2CacheSize = 52428800,
    };
    char uuid[sizeof properties->uuid.bytes + 1];
    snprintf(uuid, sizeof uuid, "stand-in %7d", standin_bus(device));
    memcpy(properties->uuid.bytes, uuid, sizeof properties->uuid.bytes);
    return standin_leave(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = standin_enter(STANDIN_cudaDeviceGetAttribute);
    if (!error && !is_device(device))
        error = cudaErrorInvalidDevice;
    if (error)
        return standin_leave(error);
    switch (attribute) {
#define X(name, number, here)                                                                      \
    case name:                                                                                     \
        *value = here;                                                                             \
        return standin_leave(cudaSuccess);
        STANDIN_ATTRIBUTE_LIST(X)
#undef X
    }
    return standin_leave(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudaError_t error = standin_enter(STANDIN_cudaDeviceCanAccessPeer);
    if (!error && (!is_device(device) || !is_device(peer)))
        error = cudaErrorInvalidDevice;
    if (!error)
        *can = device != peer && standin_options.peers;
    return standin_leave(error);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    const cudaError_t error = standin_enter(STANDIN_cudaDeviceGetStreamPriorityRange);
    if (!error) {
        *least = 0;
        *greatest = -5;
    }
    return standin_leave(error);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    const cudaError_t error = standin_enter(STANDIN_cudaDriverGetVersion);
    if (!error)
        *version = standin_options.driver;
    return standin_leave(error);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    const cudaError_t error = standin_enter(STANDIN_cudaRuntimeGetVersion);
    if (!error)
        *version = CUDART_VERSION;
    return standin_leave(error);
}

cudaError_t cudaDeviceReset(void)
{
    const cudaError_t error = standin_enter(STANDIN_cudaDeviceReset);
    if (!error) {
        standin_streams_reset(standin_device);
        standin_memory_reset(standin_device);
        standin_sticky = cudaSuccess;
    }
    return standin_leave(error);
}
