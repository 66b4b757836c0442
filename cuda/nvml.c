/* NVML by dlopen; see nvml.h. Functions and numbers: NVML API Reference Guide. */
#include "nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

/* Functions used from the library: name, arguments. All return 0 on success. */
#define NVML_LIST(X)                                                                               \
    X(nvmlInit_v2, (void))                                                                         \
    X(nvmlShutdown, (void))                                                                        \
    X(nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))                                \
    X(nvmlDeviceGetTotalEnergyConsumption, (void *device, unsigned long long *millijoules))        \
    X(nvmlDeviceGetClockInfo, (void *device, int clock, unsigned *mhz))                            \
    X(nvmlSystemGetDriverVersion, (char *version, unsigned length))

struct nvml {
    unsigned char uuid[16];
    bool tried; /* opening the library was tried */
    void *library, *device;
    bool begun;
#define X(name, arguments) int(*name) arguments;
    NVML_LIST(X)
#undef X
};

struct nvml *nvml_create(const unsigned char uuid[16])
{
    struct nvml *const n = calloc(1, sizeof *n);
    if (n)
        memcpy(n->uuid, uuid, sizeof n->uuid);
    return n;
}

/* "GPU-" and 16 bytes, with dashes after the 4th, 6th, 8th and 10th. */
static void uuid_text(const unsigned char uuid[16], char text[48])
{
    char *to = text + sprintf(text, "GPU-");
    for (int k = 0; k < 16; k++)
        to += sprintf(to, k == 4 || k == 6 || k == 8 || k == 10 ? "-%02x" : "%02x", uuid[k]);
}

/* Is the library present, and does it know the GPU? Functions that it lacks stay NULL. */
static bool ready(struct nvml *n)
{
    char uuid[48];
    if (!n)
        return false;
    if (n->tried)
        return n->device;
    n->tried = true;
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return false;
        /* POSIX way to convert dlsym's result to a function pointer */
#define X(name, arguments) *(void **)&n->name = dlsym(n->library, #name);
    NVML_LIST(X)
#undef X
    n->begun = n->nvmlInit_v2 && n->nvmlInit_v2() == NVML_SUCCESS;
    uuid_text(n->uuid, uuid);
    if (!n->begun || !n->nvmlDeviceGetHandleByUUID ||
        n->nvmlDeviceGetHandleByUUID(uuid, &n->device) != NVML_SUCCESS)
        n->device = NULL;
    return n->device;
}

bool nvml_energy(struct nvml *n, double *joules)
{
    unsigned long long millijoules;
    if (!ready(n) || !n->nvmlDeviceGetTotalEnergyConsumption ||
        n->nvmlDeviceGetTotalEnergyConsumption(n->device, &millijoules) != NVML_SUCCESS)
        return false;
    *joules = 1e-3 * (double)millijoules;
    return true;
}

bool nvml_clocks(struct nvml *n, double mhz[2])
{
    static const int clock[2] = {NVML_CLOCK_SM, NVML_CLOCK_MEM};
    unsigned now[2];
    if (!ready(n) || !n->nvmlDeviceGetClockInfo)
        return false;
    for (int k = 0; k < 2; k++)
        if (n->nvmlDeviceGetClockInfo(n->device, clock[k], &now[k]) != NVML_SUCCESS)
            return false;
    mhz[0] = now[0];
    mhz[1] = now[1];
    return true;
}

bool nvml_driver(struct nvml *n, char version[64])
{
    char text[128] = ""; /* NVML requires at least 80 bytes */
    if (!ready(n) || !n->nvmlSystemGetDriverVersion ||
        n->nvmlSystemGetDriverVersion(text, sizeof text) != NVML_SUCCESS || !*text)
        return false;
    snprintf(version, 64, "%.63s", text);
    return true;
}

void nvml_destroy(struct nvml *n)
{
    if (!n)
        return;
    if (n->begun && n->nvmlShutdown)
        n->nvmlShutdown();
    if (n->library)
        dlclose(n->library);
    free(n);
}
