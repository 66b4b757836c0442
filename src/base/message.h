/* Messages of the program: errors and warnings on stderr, the log on stdout and in the run's log
 * file.
 *
 * The function that first knows the error reports it and returns its status; callers only pass the
 * status on. */
#ifndef TAGFLOW_MESSAGE_H
#define TAGFLOW_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* Set this process's rank and the number of ranks, for the prefix of machine errors; only rank 0
 * prints user errors, warnings and the log. Before this call the environment of mpirun or srun
 * gives the rank; without one the process counts as rank 0 of 1. */
void message_set_rank(int rank, int ranks);

/* This process's rank, as message_set_rank() or the environment gives it. */
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

/* The text of the last error that this rank reported since message_begin(), NULL: there was
 * none. */
const char *message_error(void);

/* Forget errors and warnings: of an earlier run in this process. */
void message_begin(void);
void message_forget_error(void);

/* From now on nothing is printed, on stdout and stderr, until it is called with false. Messages are
 * still kept, and go to the log file. */
void message_silent(bool silent);

/* One line "tagflow: warning: ..." from rank 0, on stderr and in the log file. name: of its kind, a
 * literal; programs rely on it, and docs/warnings.md lists them all. */
void warn(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same at a step of a run. */
void warn_at(int64_t step, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct warning {
    const char *name, *text;
    int64_t step; /* -1: none */
};

/* Warning number 0, 1, ... of this process; NULL: it is not kept. The first 128 are. Of rank 0
 * alone. */
const struct warning *message_warning(int number);

/* The number of all warnings. */
int message_warnings(void);

/* One line of the log, from rank 0, on stdout and in the log file. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on keep lines of the log back. Warnings are still printed, but not where stderr goes to
 * the same file, terminal or pipe as stdout: their reader gets them from the caller, once. */
void message_hold(void);

/* Ends it, and returns the lines, to be freed; NULL: there are none. warnings: print those that
 * were kept back. */
char *message_release(bool warnings);

/* From now on errors of the user and warnings are neither printed nor kept, until it is called with
 * false: of a case that is only tried. */
void message_mute(bool mute);

/* Show text on a terminal, without a line feed, in place of the text shown before; the next message
 * replaces it. to: a stream that ends there. */
void message_show(FILE *to, const char *text);

/* Has the reader of this descriptor closed it, as `head` does when it has its lines? */
bool message_unread(int fd);

/* Could the log file not be written (disk full)? The first such failure was reported. STATUS_OK or
 * STATUS_MACHINE; on ranks other than 0 always STATUS_OK. */
enum status message_log_state(void);

#endif
