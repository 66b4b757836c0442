/* Start of MPI, as the program and the library do it. */
#ifndef TAGFLOW_START_H
#define TAGFLOW_START_H

#include <mpi.h>
#include <stdbool.h>

#include "base/status.h"

/* Initialises MPI unless that was done, and sets the rank of messages to that of MPI_COMM_WORLD.
 * comm: whose ranks call this, in an MPI that was initialised. *ours: this call initialised it, so that the caller finalises it, also on a failure.
 * STATUS_USAGE, reported: the launcher's ranks do not find each other, or the caller's MPI has no
 * threads; STATUS_MACHINE, reported: no MPI has them. */
enum status start_mpi(bool *ours, MPI_Comm comm);

#endif
