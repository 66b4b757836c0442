/* Transport of halos between GPUs: directly from GPU memory if MPI can read it, else through the
 * host. */
#ifndef TAGFLOW_TRANSPORT_H
#define TAGFLOW_TRANSPORT_H

#include "case/case.h"
#include "solver/backend.h"

/* Does this MPI say that it reads the memory of GPUs? */
bool transport_aware(void);

/* Sets *transport to TRANSPORT_device or TRANSPORT_host according to run.transport, the same on all
 * ranks; `why`: one line with the choice and its reason. Before TRANSPORT_device messages are
 * tried: if they fail, the process ends (transport_trial.h). */
enum status transport_choose(const struct flow_case *c, struct backend *b, MPI_Comm comm,
                             enum transport *transport, char why[128]);

/* Memory of the host that receives messages after a GPU has failed: MPI then does not write to it.
 * Without memory the run ends here. */
char *transport_spare(MPI_Comm, size_t bytes);

#endif
