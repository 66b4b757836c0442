/* One job in a folder; see lock.h. */
#include "run/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"

enum { TRIES = 100, WHO = 320, PLACE = 320, NOTE = 1024, BEAT_SECONDS = 2, STACK = 256 << 10 };
enum { PATH = 4096 }; /* longest path of the file, with its end */
static const struct timespec pause_between = {.tv_nsec = 50 * 1000 * 1000};

/* How a note begins: the number of the process follows. */
static const char note_begin[] = "process ";

struct lock {
    int fd;
    bool read_by_name; /* closing another descriptor of the file does not release the lock */
    const char *dir;   /* the caller's */
    char path[PATH];
    char who[WHO];     /* for people: process, host, batch job */
    char place[PLACE]; /* host and its start: locks between processes there are certain */
    char id[LOCK_ID];  /* of this process and no other, the note's second line */
    char found[NOTE];  /* the note of the job that took the folder from this one */
    atomic_bool lost;
    bool told, ends; /* ends: under the mutex */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

/* ---- the note: "process N on HOST, job J", "at PLACE, process N, began T", "beat K" ---- */

static void read_note(int fd, char note[NOTE])
{
    const ssize_t length = pread(fd, note, NOTE - 1, 0);
    note[length > 0 ? length : 0] = '\0';
}

/* The file may have been replaced, and a network file system shows what other hosts wrote only to
 * who opens it again. False: it cannot be read. */
static bool read_note_again(const char *path, char note[NOTE])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *note = '\0';
    if (fd < 0)
        return false;
    read_note(fd, note);
    close(fd);
    return true;
}

static bool write_note(const struct lock *l, long beat)
{
    char note[NOTE];
    const int length = snprintf(note, sizeof note, "%s\n%s\nbeat %10ld\n", l->who, l->id, beat);
    return file_write_at(l->fd, note, (size_t)length, 0) == 0 && fdatasync(l->fd) == 0;
}

/* Is it the note of a process of this host since its start? */
static bool is_from_here(const struct lock *l, const char *note)
{
    const char *const second = strchr(note, '\n');
    return second && strncmp(second + 1, l->place, strlen(l->place)) == 0;
}

static bool is_mine(const struct lock *l, const char *note)
{
    const char *const second = strchr(note, '\n');
    return second && strncmp(second + 1, l->id, strlen(l->id)) == 0;
}

/* The number of the batch job; "": none. */
static const char *batch_job(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (getenv(names[k]) && *getenv(names[k]))
            return getenv(names[k]);
    return "";
}

static void describe_self(struct lock *l)
{
    char host[128] = "?", start[64] = "?";
    const char *const job = batch_job();
    struct timespec now = {0};
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, start, sizeof start - 1);
    if (length > 0)
        start[length] = '\0';
    start[strcspn(start, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(l->who, sizeof l->who, "%s%ld on %s%s%.64s", note_begin, (long)getpid(), host,
             *job ? ", job " : "", job);
    snprintf(l->place, sizeof l->place, "at %s since %s,", host, start);
    snprintf(l->id, sizeof l->id, "%s process %ld, began %lld.%09ld", l->place, (long)getpid(),
             (long long)now.tv_sec, now.tv_nsec);
}

/* Has another job taken the folder? */
static bool look(struct lock *l)
{
    char note[NOTE];
    if (!l->read_by_name || !read_note_again(l->path, note) || !*note || is_mine(l, note))
        return l->lost;
    pthread_mutex_lock(&l->mutex);
    if (!l->lost)
        strcpy(l->found, note);
    l->lost = true;
    pthread_mutex_unlock(&l->mutex);
    return true;
}

/* ---- the thread that shows that this process lives ---- */

static void *show_life(void *lock)
{
    struct lock *const l = lock;
    pthread_mutex_lock(&l->mutex);
    for (long beat = 1; !l->ends; beat++) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += BEAT_SECONDS;
        while (!l->ends && pthread_cond_timedwait(&l->wake, &l->mutex, &until) == 0)
            ;
        if (l->ends)
            break;
        pthread_mutex_unlock(&l->mutex);
        if (look(l))
            return NULL;
        write_note(l, beat); /* if it fails, the next may succeed */
        pthread_mutex_lock(&l->mutex);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

static bool start_thread(struct lock *l)
{
    pthread_attr_t attributes;
    pthread_condattr_t clock;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->wake, &clock);
    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool good = !pthread_attr_setstacksize(&attributes, STACK) &&
                      !pthread_create(&l->thread, &attributes, show_life, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_condattr_destroy(&clock);
    pthread_attr_destroy(&attributes);
    return good;
}

/* ---- taking the lock ---- */

/* An open-file-description lock: closing another descriptor does not release it. */
static int try_lock(struct lock *l)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    l->read_by_name = true;
    if (fcntl(l->fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (errno == EINVAL && fcntl(l->fd, F_SETLK, &lock) == 0) { /* an old kernel */
        l->read_by_name = false;
        return 0;
    }
    return errno == EACCES ? EAGAIN : errno;
}

static enum status held_by_other(const struct lock *l, const char *note, enum status in_use)
{
    const int length = (int)strcspn(note, "\n");
    fail_user("%s is in use by another run%s%.*s%s: wait for its end, or take another folder "
              "(--output DIR); if its host is down for good, remove %s",
              l->dir, length ? " (" : "", length, note, length ? ")" : "", l->path);
    return in_use;
}

/* Does another process change this note? */
static bool is_alive(const struct lock *l, char note[NOTE])
{
    char now[NOTE];
    say("the last run in %s did not end in order (%.*s): up to %d s to see whether it still runs",
        l->dir, (int)strcspn(note, "\n"), note, LOCK_WATCH);
    for (int k = 0; k < 4 * LOCK_WATCH; k++) {
        nanosleep(&(struct timespec){.tv_nsec = 250 * 1000 * 1000}, NULL);
        watchdog_progress();
        if (!read_note_again(l->path, now) || strcmp(now, note) == 0)
            continue;
        strcpy(note, now);
        return *now != '\0'; /* it ended just now, in order */
    }
    return false;
}

/* Opens the file .lock. Taking the lock empties it: a link, or another file that someone put there,
 * is refused. */
static enum status open_lock(struct lock *l)
{
    char note[NOTE];
    struct stat info;
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (l->fd < 0 && errno != ELOOP)
        return fail_machine("cannot create %s: %s", l->path, strerror(errno));
    const bool file =
        l->fd >= 0 && fstat(l->fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1;
    if (file)
        read_note(l->fd, note);
    if (file && (*note ? strncmp(note, note_begin, strlen(note_begin)) == 0
                       : info.st_size < NOTE)) /* zeros after a power loss */
        return STATUS_OK;
    return fail_user("%s is no lock of tagflow but %s: nothing was written (remove it, or --output "
                     "DIR for another folder)",
                     l->path, file ? "another file" : "a link, or has a second name");
}

static enum status take(struct lock *l, enum status in_use)
{
    char note[NOTE];
    const enum status status = open_lock(l);
    if (status)
        return status;
    int failed = try_lock(l);
    for (int k = 1; k < TRIES && failed == EAGAIN; k++) {
        nanosleep(&pause_between, NULL);
        failed = try_lock(l);
    }
    read_note(l->fd, note);
    if (failed == EAGAIN)
        return held_by_other(l, note, in_use);
    if (failed)
        warn("lock_none",
             "%s cannot be locked (%s): other jobs are noticed by its file .lock alone", l->dir,
             strerror(failed));
    if (*note && (failed || !is_from_here(l, note)) && is_alive(l, note))
        return held_by_other(l, note, in_use);
    /* On a full disk the lock alone protects the folder. */
    if ((ftruncate(l->fd, 0) || !write_note(l, 0)) && failed)
        return fail_machine("cannot write %s: %s", l->path, strerror(errno));
    return start_thread(l) ? STATUS_OK : fail_machine("cannot start a thread for %s", l->path);
}

enum status lock_take(struct lock **lock, const char *dir, enum status in_use)
{
    struct lock *const l = calloc(1, sizeof *l);
    *lock = NULL;
    if (!l)
        return fail_machine("out of memory");
    l->fd = -1;
    l->dir = dir;
    describe_self(l);
    enum status status = snprintf(l->path, PATH, "%s/.lock", dir) < PATH
                             ? take(l, in_use)
                             : fail_user("the name of the output folder is too long");
    if (status) {
        if (l->fd >= 0)
            close(l->fd);
        free(l);
        return status;
    }
    *lock = l;
    return STATUS_OK;
}

bool lock_lost(struct lock *l)
{
    if (!l || !l->lost)
        return false;
    if (!l->told)
        fail_machine("%s was taken by another run (%.*s), for which this one seemed to be dead: "
                     "this one ends",
                     l->dir, (int)strcspn(l->found, "\n"), l->found);
    l->told = true;
    return true;
}

bool lock_look(struct lock *l)
{
    if (l)
        look(l);
    return lock_lost(l);
}

void lock_id(const struct lock *l, char id[LOCK_ID])
{
    memcpy(id, l->id, sizeof l->id);
}

void lock_release(struct lock *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->ends = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex);
    pthread_join(l->thread, NULL);
    if (!l->lost && ftruncate(l->fd, 0))
        warn("lock_unwritten", "cannot write %s: %s", l->path, strerror(errno));
    close(l->fd);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->wake);
    free(l);
}
