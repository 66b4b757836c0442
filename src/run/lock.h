/* One job in a folder: a lock on its file .lock, which the system releases when the process ends in
 * any way.
 *
 * Some file systems have no locks, or locks that other hosts do not see, or keep the lock of a host
 * that died for minutes. So the file also holds a note: who has the folder, and a number that a
 * thread increases while the process lives. Whoever gets the lock and finds the note of a process
 * on another host that did not end in order watches this number first. The thread also reads the
 * note: if it is another job's, this job must end. */
#ifndef TAGFLOW_LOCK_H
#define TAGFLOW_LOCK_H

#include <stdbool.h>

#include "base/status.h"

/* Seconds for which lock_take() watches a note, at most. */
enum { LOCK_WATCH = 15 };

struct lock;

/* Take the lock of the folder dir, which exists. If another job has the folder, also after some
 * seconds (a dying one may release it): the status `in_use`, reported with the holder. On a file
 * system without locks: a warning, and the note alone protects the folder. */
enum status lock_take(struct lock **lock, const char *dir, enum status in_use);

/* Has another job taken the folder, because this process seemed to be dead? Reported once. */
bool lock_lost(struct lock *lock);

/* The same, but looks into the file now, not every two seconds: before a file is replaced. */
bool lock_look(struct lock *lock);

/* A text that the file .lock contains as long as this job has the folder. */
enum { LOCK_ID = 640 };
void lock_id(const struct lock *lock, char id[LOCK_ID]);

/* NULL: nothing. */
void lock_release(struct lock *lock);

#endif
