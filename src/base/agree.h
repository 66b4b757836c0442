/* Ranks act on a failure together or not at all. */
#ifndef TAGFLOW_AGREE_H
#define TAGFLOW_AGREE_H

#include <mpi.h>

#include "base/status.h"

/* The worst status of all ranks, on all of them. Collective. */
enum status status_agree(MPI_Comm comm, enum status mine);

#endif
