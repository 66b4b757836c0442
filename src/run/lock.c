/* One job in a folder; see lock.h. */
#include "run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "run/folder.h"

enum { TRIES = 100, NOTE = 256 };
static const struct timespec pause_between = {.tv_nsec = 50 * 1000 * 1000};

/* An open-file-description lock: closing another descriptor does not release it. */
static int try_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (errno == EINVAL && fcntl(fd, F_SETLK, &lock) == 0) /* an old kernel */
        return 0;
    return errno == EACCES ? EAGAIN : errno;
}

static enum status held_by_other(int fd, const char *dir)
{
    char note[NOTE] = "";
    const ssize_t length = pread(fd, note, sizeof note - 1, 0);
    note[length > 0 ? length : 0] = '\0';
    note[strcspn(note, "\n")] = '\0';
    return fail_user("%s is in use by another run%s%s%s (wait for its end, or --output DIR for "
                     "another folder)",
                     dir, *note ? " (" : "", note, *note ? ")" : "");
}

enum status lock_take(int *fd, const char *dir)
{
    char path[FOLDER_PATH], host[128] = "?", note[NOTE];
    *fd = -1;
    if (!folder_path(path, dir, ".lock"))
        return fail_user("the name of the output folder is too long");
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0)
        return fail_machine("cannot create %s: %s", path, strerror(errno));
    int failed = try_lock(lock);
    for (int k = 1; k < TRIES && failed == EAGAIN; k++) {
        nanosleep(&pause_between, NULL);
        failed = try_lock(lock);
    }
    if (failed == EAGAIN) {
        const enum status status = held_by_other(lock, dir);
        close(lock);
        return status;
    }
    if (failed) {
        warn("%s cannot be locked (%s): take care that no second job runs in it", dir,
             strerror(failed));
        close(lock);
        return STATUS_OK;
    }
    /* Note the holder, for the message to others; the lock holds even if this fails. */
    gethostname(host, sizeof host - 1);
    snprintf(note, sizeof note, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(lock, 0) == 0)
        file_write_at(lock, note, strlen(note), 0);
    *fd = lock;
    return STATUS_OK;
}

void lock_release(int fd)
{
    if (fd >= 0)
        close(fd);
}
