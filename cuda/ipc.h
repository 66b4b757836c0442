/* Memory and events that processes of one host share. */
#ifndef TAGFLOW_CUDA_IPC_H
#define TAGFLOW_CUDA_IPC_H

#include <stdbool.h>

#include <cuda_runtime_api.h>

#include "solver/backend.h"

/* As `share`, `peer_open` and `peer_close` of a backend. The own marks are interprocess events. */
bool ipc_share(void *memory, const struct peer *own, struct peer_handle *handle, char why[128]);
bool ipc_open(const struct peer_handle *handle, struct peer *peer, char why[128]);
void ipc_close(struct peer *peer);

#endif
