/* Ends a process that makes no progress; see watchdog.h.
 *
 * The main thread may hang anywhere, with any lock: in MPI, in the memory allocator, in a write to
 * a file system that does not answer. So two threads are created at the start. One measures the
 * time and ends the process; it does nothing that can hang. The other one writes; it takes no lock
 * and allocates nothing, but may hang in a file system, too. */
#include "base/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"

/* The limit is divided into this many naps; a nap during which the process was suspended counts
 * once. */
enum { NAPS = 10, WRITER_SECONDS = 10, WRITER_NAPS = 10 * WRITER_SECONDS };
enum { STACK = 256 << 10, STATUS_ROOM = 8192 };
static const struct timespec tenth = {.tv_nsec = 100 * 1000 * 1000};

/* The files to write: paths and texts. */
struct files {
    char *path[WATCHDOG_FILES], *temporary[WATCHDOG_FILES], *text[WATCHDOG_FILES];
};

static atomic_int naps; /* naps since the last progress */
static atomic_bool expired, written;
static atomic_bool resting;  /* naps do not count */
static atomic_int patience;  /* naps without progress; differs by rank: one message is enough */
static atomic_llong nap;     /* nanoseconds */
static bool started, wanted; /* are there threads? has this run a limit? */
static char reason[256], last_words[1024];
static sem_t begin_writing;
static char owner_path[PATH_MAX], owner[WATCHDOG_OWNER]; /* "": nobody's */

/* The main thread fills the slot that is not `shown`, and none after the time has expired: the slot
 * that the writer uses does not change. */
static struct files slots[2];
static atomic_int shown = -1; /* -1: there are no files */

/* ---- the thread that writes ---- */

static bool write_file(int fd, const char *text)
{
    const bool good = file_write_at(fd, text, strlen(text), 0) == 0 && fsync(fd) == 0;
    return close(fd) == 0 && good;
}

static bool contains(const char *path, const char *part)
{
    char text[STATUS_ROOM];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t length = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return strstr(text, part) != NULL;
}

/* Has a rank already written the reason into this file? */
static bool is_told(const char *path)
{
    return contains(path, reason);
}

/* The temporary file of the last one exists while a rank writes. The others wait for it, because
 * mpirun kills all ranks when one ends. */
static void write_files(const struct files *f)
{
    const int last = WATCHDOG_FILES - 1;
    int mine = -1;
    if (*owner && !contains(owner_path, owner))
        return;
    while (!is_told(f->path[last]) && mine < 0) {
        mine = open(f->temporary[last], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (mine < 0 && errno != EEXIST)
            return;
        if (mine < 0)
            nanosleep(&tenth, NULL);
    }
    if (mine < 0)
        return;
    for (int i = 0; i < WATCHDOG_FILES; i++) {
        const int fd = i == last ? mine : file_create_new(f->temporary[i]);
        if (fd < 0 || !write_file(fd, f->text[i]) || rename(f->temporary[i], f->path[i]))
            unlink(f->temporary[i]);
    }
}

/* Can a line be written without blocking? Not to a full pipe that nobody reads. */
static bool takes_a_line(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

static void *write_last_words(void *unused)
{
    while (sem_wait(&begin_writing) != 0)
        ;
    const bool now = takes_a_line(STDERR_FILENO);
    ssize_t ignored = now ? write(STDERR_FILENO, last_words, strlen(last_words)) : 0;
    const int slot = shown;
    if (slot >= 0)
        write_files(&slots[slot]);
    if (!now)
        ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    written = true;
    return unused;
}

/* ---- the thread that keeps the time ---- */

static void *watch(void *unused)
{
    const long long second = 1000 * 1000 * 1000;
    while (resting || atomic_fetch_add(&naps, 1) <= patience) {
        const long long each = nap;
        if (resting)
            naps = 0;
        nanosleep(&(struct timespec){(time_t)(each / second), (long)(each % second)}, NULL);
    }
    expired = true;
    sem_post(&begin_writing);
    for (int k = 0; k < WRITER_NAPS && !written; k++)
        nanosleep(&tenth, NULL);
    _exit(STATUS_MACHINE);
    return unused;
}

/* Starts a thread with all signals blocked: they are for the main thread. */
static bool start_thread(void *(*function)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool good = !pthread_attr_setstacksize(&attributes, STACK) &&
                      !pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) &&
                      !pthread_create(&thread, &attributes, function, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return good;
}

/* ---- the main thread ---- */

enum status watchdog_start(double seconds)
{
    char host[256] = "?";
    resting = true; /* what follows belongs to the other threads otherwise */
    wanted = seconds > 0;
    *reason = '\0';
    if (!wanted)
        return STATUS_OK;
    gethostname(host, sizeof host - 1);
    snprintf(reason, sizeof reason,
             "no progress for %g s (check.hang): a rank, a device or a file system hangs", seconds);
    snprintf(last_words, sizeof last_words, "tagflow: rank %d on %s: %s; giving up\n",
             message_rank(), host, reason);
    patience = NAPS + (message_rank() < 2 ? message_rank() : 2);
    const double each = seconds / NAPS > 0.01 ? seconds / NAPS : 0.01;
    nap = (long long)(each * 1e9);
    watchdog_wake();
    if (started)
        return STATUS_OK;
    sem_init(&begin_writing, 0, 0);
    started = start_thread(write_last_words) && start_thread(watch);
    return started ? STATUS_OK : fail_machine("cannot start a thread for check.hang");
}

void watchdog_rest(void)
{
    resting = true;
}

void watchdog_wake(void)
{
    naps = 0;
    resting = !wanted;
}

void watchdog_progress(void)
{
    naps = 0;
    while (expired) /* too late: another thread reports and ends the process */
        nanosleep(&tenth, NULL);
}

const char *watchdog_reason(void)
{
    return *reason ? reason : NULL;
}

static void free_files(struct files *f)
{
    for (int i = 0; i < WATCHDOG_FILES; i++) {
        free(f->path[i]);
        free(f->temporary[i]);
        free(f->text[i]);
    }
    *f = (struct files){0};
}

static bool fill_files(struct files *f, const char *dir, const struct watchdog_file *file)
{
    char path[PATH_MAX];
    bool good = true;
    for (int i = 0; i < WATCHDOG_FILES && good; i++) {
        good =
            snprintf(path, sizeof path, "%s/%s" WATCHDOG_TEMPORARY, dir, file[i].name) < PATH_MAX;
        f->temporary[i] = strdup(path);
        snprintf(path, sizeof path, "%s/%s", dir, file[i].name);
        f->path[i] = strdup(path);
        f->text[i] = strdup(file[i].text);
        good = good && f->temporary[i] && f->path[i] && f->text[i];
    }
    return good;
}

void watchdog_files(const char *dir, const struct watchdog_file file[WATCHDOG_FILES])
{
    if (expired)
        return;
    if (!dir) {
        shown = -1;
        return;
    }
    const int slot = shown == 0 ? 1 : 0;
    free_files(&slots[slot]);
    if (fill_files(&slots[slot], dir, file))
        shown = slot;
}

void watchdog_owner(const char *path, const char *text)
{
    if (expired)
        return;
    *owner = '\0';
    snprintf(owner_path, sizeof owner_path, "%s", path);
    snprintf(owner, sizeof owner, "%s", text);
}

void watchdog_hold(const char *path)
{
    while (*reason && is_told(path))
        nanosleep(&tenth, NULL);
}
