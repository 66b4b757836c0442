/* Atomic files: complete or absent; see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"

char *file_temporary(const char *path)
{
    size_t room = strlen(path) + sizeof FILE_TEMPORARY;
    char *temporary = malloc(room);
    if (temporary)
        snprintf(temporary, room, "%s%s", path, FILE_TEMPORARY);
    return temporary;
}

int file_write_at(int fd, const void *data, size_t length, off_t offset)
{
    const char *from = data;
    while (length > 0) {
        ssize_t written = pwrite(fd, from, length, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        if (written == 0) { /* not seen so far; prevents an endless loop */
            errno = EIO;
            return -1;
        }
        from += written;
        offset += written;
        length -= (size_t)written;
    }
    return 0;
}

int file_read_at(int fd, void *data, size_t length, off_t offset)
{
    char *to = data;
    while (length > 0) {
        ssize_t got = pread(fd, to, length, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0) {
            errno = EIO;
            return -1;
        }
        to += got;
        offset += got;
        length -= (size_t)got;
    }
    return 0;
}

/* The folder of path, allocated; NULL without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* EINVAL: the file system cannot sync folders, and nothing more can be done. */
enum status file_sync_folder(const char *path)
{
    char *folder = folder_of(path);
    if (!folder)
        return fail_machine("no memory for a file name");
    enum status status = STATUS_OK;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        status = fail_machine("cannot sync the folder %s: %s", folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(folder);
    return status;
}

enum status file_rename(const char *temporary, const char *path)
{
    if (rename(temporary, path) != 0) {
        int reason = errno;
        unlink(temporary);
        return fail_machine("cannot rename %s to %s: %s", temporary, path, strerror(reason));
    }
    return file_sync_folder(path);
}

int file_create_new(const char *path)
{
    int fd = -1;
    for (int k = 0; fd < 0 && k < 8 && (k == 0 || errno == EEXIST); k++) {
        if (k > 0)
            unlink(path);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* follows no link */
    }
    return fd;
}

/* Puts a copy in place of a file. Returns 0 or errno. */
static int copy_itself(int from, const char *path)
{
    char chunk[64 * 1024], *const temporary = file_temporary(path);
    const int to = temporary ? file_create_new(temporary) : -1;
    int failed = to < 0 ? errno : 0;
    for (off_t at = 0; !failed;) {
        const ssize_t got = pread(from, chunk, sizeof chunk, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || (got > 0 && file_write_at(to, chunk, (size_t)got, at) != 0))
            failed = errno;
        if (got <= 0)
            break;
        at += got;
    }
    if (!failed && fsync(to) != 0)
        failed = errno;
    if (to >= 0 && close(to) != 0 && !failed)
        failed = errno;
    if (!failed && rename(temporary, path) != 0)
        failed = errno;
    if (failed && to >= 0)
        unlink(temporary);
    free(temporary);
    return failed;
}

int file_open_own(const char *path, int flags)
{
    struct stat info;
    flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (bool copied = false;; copied = true) {
        const int fd = open(path, flags, 0666);
        int failed = fd < 0 ? errno : fstat(fd, &info) != 0 ? errno : 0;
        if (!failed && !S_ISREG(info.st_mode))
            failed = EINVAL;
        if (!failed && (info.st_nlink == 1 || copied))
            return fd;
        const int from = failed ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (!failed)
            failed = from < 0 ? errno : copy_itself(from, path);
        if (from >= 0)
            close(from);
        if (fd >= 0)
            close(fd);
        if (failed) {
            errno = failed == ENXIO ? EINVAL : failed; /* a pipe that nobody reads */
            return -1;
        }
    }
}

enum status file_prepare(const char *path, const char *temporary, const void *data, size_t length)
{
    int fd = file_create_new(temporary);
    if (fd < 0)
        return fail_machine("cannot create %s: %s", temporary, strerror(errno));
    /* Network file systems may report a full disk only at fsync or close. */
    int failed = file_write_at(fd, data, length, 0) != 0 || fsync(fd) != 0 ? errno : 0;
    if (close(fd) != 0 && !failed)
        failed = errno;
    if (failed) {
        unlink(temporary);
        return fail_machine("cannot write %s: %s", path, strerror(failed));
    }
    return STATUS_OK;
}

/* Writes into a device or a pipe: it keeps its name, or root would lose /dev/null. */
static enum status write_into(const char *path, const char *data, size_t length)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    int failed = fd < 0 ? errno : 0;
    while (length > 0 && !failed) {
        const ssize_t put = write(fd, data, length);
        if (put > 0) {
            data += put;
            length -= (size_t)put;
        } else if (put == 0 || errno != EINTR) {
            failed = put == 0 ? EIO : errno;
        }
    }
    if (fd >= 0 && close(fd) != 0 && !failed)
        failed = errno;
    return failed ? fail_machine("cannot write %s: %s", path, strerror(failed)) : STATUS_OK;
}

enum status file_replace(const char *path, const void *data, size_t length)
{
    char *temporary = file_temporary(path);
    if (!temporary)
        return fail_machine("no memory to write %s", path);
    enum status status = file_prepare(path, temporary, data, length);
    if (!status)
        status = file_rename(temporary, path);
    free(temporary);
    return status;
}

enum status file_write(const char *path, const void *data, size_t length)
{
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return write_into(path, data, length);
    return file_replace(path, data, length);
}

/* Reads fd to its end into *text, which grows as needed, because fstat gives a wrong size for pipes
 * and in /proc. Returns 0 or errno; EFBIG when there is more than limit. */
static int read_all(int fd, size_t limit, char **text, size_t *length)
{
    size_t room = 4096, filled = 0;
    char *buffer = malloc(room);
    if (!buffer)
        return ENOMEM;
    for (;;) {
        if (filled + 1 == room) {
            char *larger = room > SIZE_MAX / 2 ? NULL : realloc(buffer, 2 * room);
            if (!larger) {
                free(buffer);
                return ENOMEM;
            }
            buffer = larger;
            room *= 2;
        }
        ssize_t got = read(fd, buffer + filled, room - filled - 1);
        if (got < 0 && errno == EINTR)
            continue;
        int reason = got < 0 ? errno : filled + (size_t)got > limit ? EFBIG : 0;
        if (reason) {
            free(buffer);
            return reason;
        }
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    buffer[filled] = '\0';
    *text = buffer;
    *length = filled;
    return 0;
}

int file_get(const char *path, size_t limit, char **text, size_t *length)
{
    struct stat info;
    size_t bytes;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* waits for no pipe */
    int reason = fd < 0 || fstat(fd, &info) != 0 ? errno : 0;
    if (!reason && !S_ISREG(info.st_mode))
        reason = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    if (!reason)
        reason = read_all(fd, limit, text, length ? length : &bytes);
    if (fd >= 0)
        close(fd);
    return reason;
}

enum status file_blame(int reason)
{
    return reason == ENOMEM || reason == EMFILE || reason == ENFILE ? STATUS_MACHINE : STATUS_USAGE;
}

/* Reports why a file could not be read. */
static enum status unread(const char *path, size_t limit, int reason)
{
    if (reason == EFBIG)
        return fail_machine("cannot read %s: it is larger than %zu bytes", path, limit);
    if (reason == EINVAL)
        return fail_machine("cannot read %s: it is not a file", path);
    return fail_machine("cannot read %s: %s", path, strerror(reason));
}

enum status file_read(const char *path, size_t limit, char **text, size_t *length)
{
    const int reason = file_get(path, limit, text, length);
    return reason ? unread(path, limit, reason) : STATUS_OK;
}

enum status file_read_any(const char *path, size_t limit, char **text, size_t *length)
{
    size_t bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int reason = fd < 0 || fcntl(fd, F_SETFL, 0) != 0 ? errno : 0;
    if (!reason)
        reason = read_all(fd, limit, text, length ? length : &bytes);
    if (fd >= 0)
        close(fd);
    if (!reason)
        return STATUS_OK;
    unread(path, limit, reason);
    return file_blame(reason);
}

double file_number(const char *path)
{
    double value = -1;
    FILE *const file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%lf", &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

enum status folder_create(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return file_sync_folder(path);
    int reason = errno;
    struct stat info;
    if (reason == EEXIST && stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return STATUS_OK;
        reason = ENOTDIR;
    }
    return fail_machine("cannot create the folder %s: %s", path, strerror(reason));
}
