/* What signals ask of a run: SIGTERM, SIGUSR1 and the first SIGINT to stop with a checkpoint,
 * SIGUSR2 for a checkpoint. A second SIGINT ends the process at once. */
#ifndef TAGFLOW_SIGNALS_H
#define TAGFLOW_SIGNALS_H

#include <stdbool.h>

/* After MPI_Init, which has handlers of its own. Whatever arrives before has its usual effect. */
void signals_install(void);

/* The name of the signal that asked this rank to stop; NULL: none did. */
const char *signals_stop(void);

/* Has this rank been asked for a checkpoint since the last call? */
bool signals_checkpoint(void);

#endif
