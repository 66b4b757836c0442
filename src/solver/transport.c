/* Transport of halos between GPUs; see transport.h. */
#include "solver/transport.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "base/message.h"
#include "solver/transport_trial.h"

bool transport_aware(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() != 0;
#else
    return false; /* this MPI has no query */
#endif
}

/* Longest trial; less where check.hang is less. */
enum { TRIAL_SECONDS = 60 };

enum status transport_choose(const struct flow_case *c, struct backend *b, MPI_Comm comm,
                             enum transport *transport, char why[128])
{
    int aware = transport_aware(), ranks;
    const enum transport wanted = c->run.transport;
    const double hang = c->check.hang;
    const bool to_self = c->run.exchange & EXCHANGE_others;
    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &aware, 1, MPI_INT, MPI_MIN, comm);
    *transport = TRANSPORT_host;
    if (b->type->host_memory) {
        snprintf(why, 128, "through MPI, from host memory");
        return STATUS_OK;
    }
    if (wanted == TRANSPORT_host || (wanted != TRANSPORT_device && !aware)) {
        snprintf(why, 128, "through MPI, by way of host memory: %s",
                 aware ? "run.transport is host" : "this MPI does not read that of GPUs");
        return STATUS_OK;
    }
    *transport = TRANSPORT_device;
    snprintf(why, 128, "through MPI, from GPU memory: %s",
             aware ? "this MPI reads it" : "this MPI does not say so, but it read it in a trial");
    if (ranks == 1 && !to_self)
        return STATUS_OK; /* no messages */
    return transport_trial(b, comm, to_self,
                           hang > 0 && hang < TRIAL_SECONDS ? hang : TRIAL_SECONDS);
}

char *transport_spare(MPI_Comm comm, size_t bytes)
{
    char *const spare = malloc(bytes);
    if (!spare)
        MPI_Abort(comm, (int)fail_machine("out of memory"));
    return spare;
}
