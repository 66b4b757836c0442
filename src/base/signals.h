/* Signals as requests to a run: SIGTERM, SIGUSR1, SIGHUP and the first SIGINT ask it to stop with a
 * checkpoint, SIGUSR2 asks for a checkpoint. A second SIGINT ends the process at once. SIGHUP stays
 * ignored if it was ignored before, as under nohup. */
#ifndef TAGFLOW_SIGNALS_H
#define TAGFLOW_SIGNALS_H

#include <stdbool.h>

/* Call this after MPI_Init(), which installs its own handlers. Earlier signals have their usual
 * effect. */
void signals_install(void);

/* The name of the signal that asked this rank to stop; NULL: none did. */
const char *signals_stop(void);

/* Has this rank been asked for a checkpoint since the last call? */
bool signals_checkpoint(void);

#endif
