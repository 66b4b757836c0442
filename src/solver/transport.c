/* Transport of halos between GPUs; see transport.h. */
#include "solver/transport.h"

#include <stdio.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "base/message.h"

bool transport_aware(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() != 0;
#else
    return false; /* this MPI has no query */
#endif
}

enum status transport_choose(const struct flow_case *c, const struct backend *b, MPI_Comm comm,
                             enum transport *transport, char why[128])
{
    int aware = transport_aware();
    MPI_Allreduce(MPI_IN_PLACE, &aware, 1, MPI_INT, MPI_MIN, comm);
    *transport = TRANSPORT_host;
    if (b->type->host_memory) {
        snprintf(why, 128, "through MPI, from host memory");
        return STATUS_OK;
    }
    if (c->run.transport == TRANSPORT_device && !aware && message_rank() != 0)
        return STATUS_MACHINE; /* rank 0 reports it */
    if (c->run.transport == TRANSPORT_device && !aware)
        return fail_machine("run.transport is device, but this MPI does not say that it reads the "
                            "memory of GPUs (run.transport: auto, or an MPI with CUDA support)");
    if (c->run.transport != TRANSPORT_host && aware)
        *transport = TRANSPORT_device;
    snprintf(why, 128, "%s",
             *transport == TRANSPORT_device ? "through MPI, from GPU memory: this MPI reads it"
             : aware ? "through MPI, by way of host memory: run.transport is host"
                     : "through MPI, by way of host memory: this MPI does not read that of GPUs");
    return STATUS_OK;
}
