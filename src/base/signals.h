/* Signals as requests to a run: SIGTERM, SIGUSR1, SIGHUP, SIGXCPU and the first SIGINT ask it to
 * stop with a checkpoint, SIGUSR2 asks for a checkpoint. A second SIGINT ends the process at once.
 * SIGHUP stays ignored if it was ignored before, as under nohup. */
#ifndef TAGFLOW_SIGNALS_H
#define TAGFLOW_SIGNALS_H

#include <stdbool.h>

/* Call this as the program starts, and again after MPI_Init(), which may install its own handlers.
 */
void signals_install(void);

/* Give all these signals back the actions that they have now, and forget what came: a library
 * leaves its caller's signals as they were. */
void signals_save(void);
void signals_restore(void);

/* The signal that asked this rank to stop; 0: none did. It stays. Loops that take long look at it,
 * leave early, and stop_agree() follows. */
int signals_number(void);

/* Its name; NULL: it is none that asks to stop. */
const char *signals_name(int number);

/* The name of the signal that asked this rank to stop; NULL: none did. */
const char *signals_stop(void);

/* Has this rank been asked for a checkpoint since the last call? */
bool signals_checkpoint(void);

#endif
