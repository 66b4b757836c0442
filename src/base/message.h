/* What tagflow says: errors and warnings on stderr, the log on stdout and in the run's log file.
 *
 * Whoever first knows which error it is reports it and returns its status; callers pass it on. */
#ifndef TAGFLOW_MESSAGE_H
#define TAGFLOW_MESSAGE_H

#include "base/status.h"

/* Who speaks: rank of ranks, for the prefix of machine errors; only rank 0 prints user errors,
 * warnings and the log. Before the call the launcher's word for it is taken (the
 * environment of mpirun and srun), and without one the program speaks as rank 0 of 1. */
void message_set_rank(int rank, int ranks);

/* The rank that speaks. */
int message_rank(void);

/* Log lines also go to FILE path from now on (rank 0 only); path NULL closes it.
 * Returns STATUS_MACHINE, reported, when the file cannot be written. */
enum status message_log_to(const char *path, int append);

/* The user's mistake: one line "tagflow: ..." from rank 0; returns STATUS_USAGE. All ranks must
 * call it. */
enum status fail_user(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The machine failed: one line with rank and host from the rank that calls; returns STATUS_MACHINE.
 */
enum status fail_machine(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line "tagflow: warning: ..." from rank 0, on stderr and in the log file. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line of the log, from rank 0, on stdout and in the log file. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The log file could not be written (disk full): the first such failure, reported once.
 * STATUS_OK or STATUS_MACHINE; on ranks other than 0 always STATUS_OK. */
enum status message_log_state(void);

#endif
