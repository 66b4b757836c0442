/* Atomic files: complete or absent; and the functions they are made of.
 *
 * Every function that returns enum status reports its own failure, with the path and the reason. */
#ifndef TAGFLOW_FILE_H
#define TAGFLOW_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/* Suffix of a file's name until the file is complete. A killed job leaves only such files behind,
 * and no other file has this ending. */
#define FILE_TEMPORARY ".tmp"

/* Puts length bytes of data at path. On success the file is on disk with exactly this content;
 * otherwise an old file at path is unchanged. What a link at path points to is not touched. */
enum status file_replace(const char *path, const void *data, size_t length);

/* The same for a path that the user gives: a device or a pipe is written into. */
enum status file_write(const char *path, const void *data, size_t length);

/* Creates a file for reading and writing in place of one of this name, of which a dead job may have
 * left one; what that links to is not touched. Returns its descriptor, or -1 with errno. */
int file_create_new(const char *path);

/* The first half of file_replace(): writes the data to the temporary file of path. The second half
 * is file_rename(). */
enum status file_prepare(const char *path, const char *temporary, const void *data, size_t length);

/* Opens a file of a run's folder to change it: a regular file that has no other name, or another
 * file would change with it. One with several names gets a copy of its own first. flags: of open(),
 * O_CREAT among them if it may be new. Returns its descriptor, or -1 with errno: ELOOP for a link,
 * EINVAL for a pipe or a device. Waits for nobody. */
int file_open_own(const char *path, int flags);

/* Reads the whole file into *text, allocated and with a NUL after its *length bytes (length may be
 * NULL). A file of more than `limit` bytes is an error, and so is what is not a regular file. */
enum status file_read(const char *path, size_t limit, char **text, size_t *length);

/* The same without a report: returns 0 or errno; EFBIG: larger; EINVAL: not a regular file. */
int file_get(const char *path, size_t limit, char **text, size_t *length);

/* Who has to do something if a file that the user names cannot be read? STATUS_MACHINE: the machine
 * lacks memory or descriptors (an errno); STATUS_USAGE: the user. */
enum status file_blame(int reason);

/* The same as file_read() for a path that the user gives, which may be a pipe: it is read to its
 * end, and is empty if nobody has it open for writing. The status is file_blame()'s. */
enum status file_read_any(const char *path, size_t limit, char **text, size_t *length);

/* The number with which a file begins, as in /proc and /sys; below 0, not reported: there is none.
 */
double file_number(const char *path);

/* Creates the last folder of path, unless it exists. */
enum status folder_create(const char *path);

/* path with FILE_TEMPORARY behind it, allocated; NULL without memory. */
char *file_temporary(const char *path);

/* Gives the complete and synced file `temporary` its name, and syncs the folder. On failure
 * `temporary` is removed. */
enum status file_rename(const char *temporary, const char *path);

/* Syncs the folder that path is in: only then is a new name on disk. */
enum status file_sync_folder(const char *path);

/* Writes all of data at `offset` of fd; partial and interrupted writes are repeated. Returns 0, or
 * -1 with errno set. */
int file_write_at(int fd, const void *data, size_t length, off_t offset);

/* Reads exactly length bytes at `offset` of fd into data. Returns 0, or -1 with errno set; EIO if
 * the file is too short. */
int file_read_at(int fd, void *data, size_t length, off_t offset);

#endif
