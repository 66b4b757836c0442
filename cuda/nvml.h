/* What the driver's library for monitoring (NVML) says of a GPU: energy, clocks, version. It comes
 * with the driver and is opened when first asked for, so that nothing depends on its being there.
 */
#ifndef TAGFLOW_CUDA_NVML_H
#define TAGFLOW_CUDA_NVML_H

#include <stdbool.h>

struct nvml;

/* The GPU with that UUID, as CUDA has it (part of a GPU, MIG, has one that NVML does not find like
 * this: nothing is known of it). NULL: out of memory. */
struct nvml *nvml_create(const unsigned char uuid[16]);

/* Each false when there is no library, no such GPU, or it does not tell; also with NULL. */

/* Joules that the whole board has used since the driver was loaded. */
bool nvml_energy(struct nvml *n, double *joules);

/* Clocks of its multiprocessors and of its memory now, MHz. */
bool nvml_clocks(struct nvml *n, double mhz[2]);

/* The driver's version, "550.54.15". */
bool nvml_driver(struct nvml *n, char version[64]);

/* Takes NULL. */
void nvml_destroy(struct nvml *n);

#endif
