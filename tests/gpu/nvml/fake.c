/* A stand-in for NVML: two GPUs that use 1.5 J more every time they are asked. To be found by
 * LD_LIBRARY_PATH, in the tests of cuda/nvml.c only.
 *
 * TAGFLOW_FAKE_NVML=FUNCTION: that one fails. */
#include <stdlib.h>
#include <string.h>

/* Bytes 0 to 15, and device 0 of the stand-in for CUDA's runtime, "stand-in       1" and 2. */
static const char *const gpus[] = {
    "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",
    "GPU-7374616e-642d-696e-2020-202020202031",
    "GPU-7374616e-642d-696e-2020-202020202032",
};
enum { GPUS = sizeof gpus / sizeof *gpus, NOT_FOUND = 6, UNINITIALIZED = 1, UNKNOWN = 999 };

static unsigned long long asked[GPUS];
static int users;

/* What every function gives back. */
static int result(const char *function)
{
    const char *const failing = getenv("TAGFLOW_FAKE_NVML");
    if (failing && strcmp(failing, function) == 0)
        return UNKNOWN;
    return users > 0 ? 0 : UNINITIALIZED;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);
int nvmlSystemGetDriverVersion(char *version, unsigned length);

int nvmlInit_v2(void)
{
    users++;
    const int failed = result("nvmlInit_v2");
    users -= failed != 0;
    return failed;
}

/* One too many ends the program: as damage that a driver might do. */
int nvmlShutdown(void)
{
    if (users-- == 0)
        abort();
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    const int failed = result("nvmlDeviceGetHandleByUUID");
    for (int k = 0; k < GPUS && !failed; k++)
        if (strcmp(uuid, gpus[k]) == 0) {
            *device = &asked[k];
            return 0;
        }
    *device = &users; /* of no use */
    return failed ? failed : NOT_FOUND;
}

#ifndef FAKE_OLD
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    unsigned long long *const times = device;
    *millijoules = 1ULL << 40 | 1500 * ++*times;
    return result("nvmlDeviceGetTotalEnergyConsumption");
}
#endif

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1980 : clock == 2 ? 3201 : 0;
    return device == &users ? NOT_FOUND : result("nvmlDeviceGetClockInfo");
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    strncpy(version, "550.54.15", length);
    return result("nvmlSystemGetDriverVersion");
}
