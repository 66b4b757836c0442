/* One job in a folder: a lock on the file .lock in it, which the system lets go of when the process
 * ends, however it ends. */
#ifndef TAGFLOW_LOCK_H
#define TAGFLOW_LOCK_H

#include "base/status.h"

/* Take the lock of the folder dir, which exists. Another job has it: after a few seconds, in which
 * one that is dying could let go, STATUS_USAGE, reported with what the other one is. A file system
 * without locks: a warning, and *fd -1. */
enum status lock_take(int *fd, const char *dir);

/* -1: nothing. */
void lock_release(int fd);

#endif
