/* Files that are there whole or not at all, and the small steps they are made of.
 *
 * Every function that returns enum status reports its own failure, with the path and the reason. */
#ifndef TAGFLOW_FILE_H
#define TAGFLOW_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/* What a file is called, beyond its final name, until it is complete: a job that was killed leaves
 * at most such files behind, and nobody else's file ends so. */
#define FILE_TEMPORARY ".tmp"

/* Puts length bytes of data at path: on success the file is on disk and holds just that, otherwise
 * whatever was at path before is still there. */
enum status file_replace(const char *path, const void *data, size_t length);

/* Reads the whole file into *text, allocated and with a NUL after its *length bytes (length may be
 * NULL). A file of more than `limit` bytes is an error, and so is a folder. */
enum status file_read(const char *path, size_t limit, char **text, size_t *length);

/* Makes the last folder of path; one that is there already is fine. */
enum status folder_create(const char *path);

/* path with FILE_TEMPORARY behind it, allocated; NULL, reported, without memory. */
char *file_temporary(const char *path);

/* Gives the complete and synced file `temporary` its name, and syncs the folder. On failure
 * `temporary` is removed. */
enum status file_rename(const char *temporary, const char *path);

/* All of data at `offset` of fd, or -1 with errno set: partial writes and signals are dealt with.
 */
int file_write_at(int fd, const void *data, size_t length, off_t offset);

/* Exactly length bytes at `offset` of fd into data, or -1 with errno set; EIO if the file ends
 * before. */
int file_read_at(int fd, void *data, size_t length, off_t offset);

#endif
