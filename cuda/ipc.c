/* Memory and events that processes of one host share; see ipc.h. */
#include "ipc.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == PEER_HANDLE, "a handle of memory");
_Static_assert(sizeof(cudaIpcEventHandle_t) == PEER_HANDLE, "a handle of an event");

/* Is this no error? If it is one, the driver may refuse, and everything else still works. */
static bool allowed(cudaError_t error, const char *what, char why[128])
{
    if (error == cudaSuccess)
        return true;
    cudaGetLastError(); /* clear the error, or a later call returns it */
    snprintf(why, 128, "%s: %s", what, cudaGetErrorString(error));
    return false;
}

bool ipc_share(void *memory, const struct peer *own, struct peer_handle *handle, char why[128])
{
    cudaIpcMemHandle_t shared;
    cudaIpcEventHandle_t event;
    if (!allowed(cudaIpcGetMemHandle(&shared, memory), "memory cannot be shared", why))
        return false;
    memcpy(handle->memory, &shared, sizeof shared);
    for (int k = 0; k < PEER_MARKS; k++) {
        if (!allowed(cudaIpcGetEventHandle(&event, own->mark[k]), "events cannot be shared", why))
            return false;
        memcpy(handle->mark[k], &event, sizeof event);
    }
    return true;
}

bool ipc_open(const struct peer_handle *handle, struct peer *peer, char why[128])
{
    cudaIpcMemHandle_t shared;
    cudaIpcEventHandle_t event;
    *peer = (struct peer){.memory = NULL};
    memcpy(&shared, handle->memory, sizeof shared);
    bool good = allowed(cudaIpcOpenMemHandle(&peer->memory, shared, cudaIpcMemLazyEnablePeerAccess),
                        "another GPU's memory cannot be used", why);
    for (int k = 0; k < PEER_MARKS && good; k++) {
        cudaEvent_t opened;
        memcpy(&event, handle->mark[k], sizeof event);
        good = allowed(cudaIpcOpenEventHandle(&opened, event),
                       "another GPU's events cannot be used", why);
        peer->mark[k] = good ? opened : NULL;
    }
    if (!good)
        ipc_close(peer);
    return good;
}

void ipc_close(struct peer *peer)
{
    for (int k = 0; k < PEER_MARKS; k++)
        if (peer->mark[k])
            cudaEventDestroy(peer->mark[k]);
    if (peer->memory)
        cudaIpcCloseMemHandle(peer->memory);
    *peer = (struct peer){.memory = NULL};
}
