/* Ends a process that gets no further: one rank that hangs makes all others wait in MPI, for ever.
 *
 * Time counts only while the process could run: a job that the batch system suspended for a night
 * goes on as if nothing had been. */
#ifndef TAGFLOW_WATCHDOG_H
#define TAGFLOW_WATCHDOG_H

/* From now on the process ends with exit status 1 and one line when watchdog_progress is not called
 * for so many seconds (about: up to three tenths more). 0: never. Uses SIGALRM.
 * It is never stopped: MPI_Finalize can wait for a dead rank as well. */
void watchdog_start(double seconds);
void watchdog_progress(void);

#endif
