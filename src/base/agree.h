/* Ranks act on a failure together or not at all. */
#ifndef TAGFLOW_AGREE_H
#define TAGFLOW_AGREE_H

#include <mpi.h>

#include "base/status.h"

/* The worse of two statuses. From best to worst: STATUS_OK; STATUS_STOPPED, which promises a good
 * checkpoint, so that any failure overrides it; STATUS_MACHINE, which another job may not meet
 * again; STATUS_USAGE, which the user must correct; STATUS_DIVERGED, which ends the run for
 * good. */
enum status status_worse(enum status a, enum status b);

/* The worst status of all ranks, on all of them. Collective. */
enum status status_agree(MPI_Comm comm, enum status mine);

/* Was a rank asked to stop? Then STATUS_STOPPED, reported. For a run that has not written anything
 * yet. Collective. */
enum status stop_agree(MPI_Comm comm);

#endif
