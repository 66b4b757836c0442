/* How halos get from one GPU to another: out of its memory, where MPI can read that, or by way of
 * the host. */
#ifndef TAGFLOW_TRANSPORT_H
#define TAGFLOW_TRANSPORT_H

#include "case/case.h"
#include "solver/backend.h"

/* Does this MPI say that it reads the memory of GPUs? */
bool transport_aware(void);

/* What run.transport comes to, TRANSPORT_device or TRANSPORT_host, the same on all ranks, and a
 * line that says which and why. STATUS_MACHINE, reported, when MPI cannot what was asked for. */
enum status transport_choose(const struct flow_case *c, const struct backend *b, MPI_Comm comm,
                             enum transport *transport, char why[128]);

#endif
