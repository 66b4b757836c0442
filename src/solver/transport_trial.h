/* Can MPI send from the memory of GPUs, and receive into it? Tried before a run begins. */
#ifndef TAGFLOW_TRANSPORT_TRIAL_H
#define TAGFLOW_TRANSPORT_TRIAL_H

#include "solver/backend.h"

/* Exchanges a short and a long message from memory of the backend with the ranks 1, 2, 4, ...
 * further on, or also with this one (to_self), and compares what arrived. Collective.
 *
 * After a failed message MPI cannot be used any more, and without GPU support it dies of a memory
 * fault. So the process ends here, with one line and STATUS_MACHINE: when a message fails, when it
 * arrives changed, when MPI faults or aborts, and after so many seconds without an answer. Returns
 * STATUS_MACHINE, reported, only where the backend fails. */
enum status transport_trial(struct backend *, MPI_Comm, bool to_self, double seconds);

#endif
