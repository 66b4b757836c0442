/* Which GPU a rank uses. */
#ifndef TAGFLOW_CUDA_DEVICE_H
#define TAGFLOW_CUDA_DEVICE_H

#include <mpi.h>
#include <stdbool.h>

#include "base/status.h"

extern const struct backend_type backend_cuda;

/* Has every rank a GPU and a driver? False with a reason, the same on all ranks. Collective. */
bool device_present(MPI_Comm comm, char reason[256]);

/* Describes the GPUs that this rank sees, for `info`. */
void device_describe(char line[512]);

/* Describes which of them reach each other's memory, for `info`; empty if there are none. */
void device_describe_peers(char line[128]);

/* Selects this rank's GPU, by its rank on the node, among those that it sees. Collective.
 * STATUS_MACHINE, reported, if two ranks would share a GPU without `share`, if the GPU cannot be
 * used, or if it is too old for the kernels. `remark`: as in struct backend; `uuid`: of the GPU. */
enum status device_choose(MPI_Comm comm, bool share, char description[128], const char **remark,
                          unsigned char uuid[16]);

#endif
