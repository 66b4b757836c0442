/* One job in a folder: a lock on its file .lock, which the system releases when the process ends in
 * any way. */
#ifndef TAGFLOW_LOCK_H
#define TAGFLOW_LOCK_H

#include "base/status.h"

/* Take the lock of the folder dir, which exists. If another job keeps it for some seconds (a dying
 * one may release it): STATUS_USAGE, reported with the holder. On a file system without locks: a
 * warning, and *fd is -1. */
enum status lock_take(int *fd, const char *dir);

/* -1: nothing. */
void lock_release(int fd);

#endif
