/* Ends a process that makes no progress: one rank that hangs makes all others wait in MPI for ever.
 *
 * Time counts only while the process can run: a job that the batch system suspended for a night
 * then continues as usual. */
#ifndef TAGFLOW_WATCHDOG_H
#define TAGFLOW_WATCHDOG_H

#include "base/file.h"

/* From now on the process ends with exit status 1 and one line if watchdog_progress() is not called
 * for so many seconds (up to three tenths more, plus the time to write its files, 10 s at most). 0:
 * never. A second call is for a later run in this process. The program lets the watchdog go on
 * after its run, because MPI_Finalize() can wait for a dead rank, too. */
enum status watchdog_start(double seconds);
void watchdog_progress(void);

/* Time between watchdog_rest() and watchdog_wake() does not count: a caller of the library has it.
 */
void watchdog_rest(void);
void watchdog_wake(void);

/* The reason that it gives when it ends the process; NULL: there is no watchdog. The same on all
 * ranks. */
const char *watchdog_reason(void);

/* Set the files that the watchdog writes when it ends the process. They replace the files of these
 * names in folder dir; the text of the last one must contain watchdog_reason(). Texts are copied.
 * One of all ranks that have set files writes them. dir NULL: no files any more. */
#define WATCHDOG_TEMPORARY ".hang" FILE_TEMPORARY /* suffix of a file until it is complete */
enum { WATCHDOG_FILES = 2 };
struct watchdog_file {
    const char *name, *text;
};
void watchdog_files(const char *dir, const struct watchdog_file file[WATCHDOG_FILES]);

/* The files are written only while the file at `path` contains `text`, and not when another job has
 * taken the folder: the ranks of a job that lost a host may live on for a while. */
enum { WATCHDOG_OWNER = 1024 };
void watchdog_owner(const char *path, const char *text);

/* Call this before replacing the last of these files. If another rank has already written there
 * that the job hangs, this rank woke up too late: it waits here until it is ended. */
void watchdog_hold(const char *path);

#endif
