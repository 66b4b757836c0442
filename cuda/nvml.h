/* A GPU's energy, clocks and driver version from NVML, the driver's library for monitoring. The
 * library is opened at the first query, so that the program runs without it. */
#ifndef TAGFLOW_CUDA_NVML_H
#define TAGFLOW_CUDA_NVML_H

#include <stdbool.h>

struct nvml;

/* For the GPU with this UUID, as CUDA gives it. A part of a GPU (MIG) has a UUID that NVML does not
 * find this way: its queries fail. NULL: out of memory. */
struct nvml *nvml_create(const unsigned char uuid[16]);

/* Each returns false if n is NULL, or if the library, the GPU or the value is missing. */

/* Joules used by the whole board since the driver was loaded. */
bool nvml_energy(struct nvml *n, double *joules);

/* Current clocks of the multiprocessors and of the memory, MHz. */
bool nvml_clocks(struct nvml *n, double mhz[2]);

/* The driver's version, "550.54.15". */
bool nvml_driver(struct nvml *n, char version[64]);

/* NULL is allowed. */
void nvml_destroy(struct nvml *n);

#endif
