/* A disk that fails: preloaded into a program (LD_PRELOAD), it makes one call on one file return
 * -1.
 *
 *     FAIL_IN     the part of a path that tells which files are meant, as "/checkpoints/"
 *     FAIL_CALL   open write read sync close room (fallocate, ftruncate) name (rename); a close
 *                 only of what is open for writing: else nothing is lost, and HDF5 1.10
 *                 crashes; threads: MPI_Init_thread offers none, FAIL_IN being MPI
 *     FAIL_AT     which of those calls on those files, from 1; it and all behind it fail
 *     FAIL_RANK   on which rank of mpirun; none: on all
 *     FAIL_WITH   the number of the error (5, EIO)
 *     FAIL_COUNT  a file to which a byte is written when the first one fails
 *     SLOW_IN     the part of a path as FAIL_IN: each fsync of such a file takes
 *     SLOW_MS     so many milliseconds more
 *     LOCKS       none: a file system without locks; own: with locks that other hosts do not see
 *     NAMES_TO    a file to which the new name is appended at each rename */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;

/* Is this the call that fails? */
static bool fails(const char *call, const char *path)
{
    const char *const in = getenv("FAIL_IN"), *const which = getenv("FAIL_CALL"),
                      *const at = getenv("FAIL_AT"), *const rank = getenv("FAIL_RANK"),
                      *const own = getenv(getenv("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK"),
                      *const with = getenv("FAIL_WITH"), *const count = getenv("FAIL_COUNT");
    if (!in || !which || !at || strcmp(which, call) != 0 || !strstr(path, in))
        return false;
    if (rank && strcmp(rank, own ? own : "0") != 0)
        return false;
    const int number = atomic_fetch_add(&calls, 1) + 1;
    if (number < atoi(at))
        return false;
    FILE *const mark = count && number == atoi(at) ? fopen(count, "a") : NULL;
    if (mark) {
        fputc('x', mark);
        fclose(mark);
    }
    errno = with ? atoi(with) : EIO;
    return true;
}

/* False: the file has no path. */
static bool path_of(int fd, char path[4096])
{
    char link[64];
    const int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, 4095);
    errno = before;
    if (length >= 0)
        path[length] = '\0';
    return length >= 0;
}

static bool fails_fd(const char *call, int fd)
{
    char path[4096];
    return path_of(fd, path) && fails(call, path);
}

/* Functions that handlers of signals call, too: dlsym() has a lock, at which a handler would wait for
 * the thread that it interrupted (mpirun was seen to). So they are looked up before main(). */
static struct {
    const char *name;
    void *found;
} early[] = {{"write", NULL}, {"read", NULL}, {"close", NULL}, {"fcntl", NULL}, {"fcntl64", NULL}};
enum { EARLY = sizeof early / sizeof *early };

__attribute__((constructor)) static void look_up_early(void)
{
    for (int k = 0; k < EARLY; k++)
        early[k].found = dlsym(RTLD_NEXT, early[k].name);
}

static void *next(const char *name)
{
    for (int k = 0; k < EARLY; k++)
        if (early[k].found && strcmp(name, early[k].name) == 0)
            return early[k].found;
    void *const found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static int lock_or(const char *name, int fd, int command, void *argument)
{
    const char *const locks = getenv("LOCKS");
    int (*const real)(int, int, ...) = (int (*)(int, int, ...))next(name);
    if (!locks || (command != F_OFD_SETLK && command != F_SETLK))
        return real(fd, command, argument);
    errno = ENOLCK;
    return strcmp(locks, "own") == 0 ? 0 : -1;
}

#define CONTROL(name)                                                                              \
    int name(int fd, int command, ...);                                                            \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, command);                                                                   \
        void *const argument = va_arg(list, void *);                                               \
        va_end(list);                                                                              \
        return lock_or(#name, fd, command, argument);                                              \
    }
CONTROL(fcntl)
CONTROL(fcntl64)

/* result name(fd, ...), under each of its names */
#define ON_FD(call, result, name, parameters, arguments)                                           \
    result name parameters;                                                                        \
    result name parameters                                                                         \
    {                                                                                              \
        if (fails_fd(call, fd))                                                                    \
            return -1;                                                                             \
        result(*real) parameters = (result(*) parameters)next(#name);                              \
        return real arguments;                                                                     \
    }
ON_FD("write", ssize_t, pwrite, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at))
ON_FD("write", ssize_t, pwrite64, (int fd, const void *b, size_t n, off_t at), (fd, b, n, at))
ON_FD("write", ssize_t, write, (int fd, const void *b, size_t n), (fd, b, n))
ON_FD("read", ssize_t, pread, (int fd, void *b, size_t n, off_t at), (fd, b, n, at))
ON_FD("read", ssize_t, pread64, (int fd, void *b, size_t n, off_t at), (fd, b, n, at))
ON_FD("read", ssize_t, read, (int fd, void *b, size_t n), (fd, b, n))
ON_FD("room", int, fallocate, (int fd, int mode, off_t from, off_t n), (fd, mode, from, n))
ON_FD("room", int, fallocate64, (int fd, int mode, off_t from, off_t n), (fd, mode, from, n))
ON_FD("room", int, ftruncate, (int fd, off_t n), (fd, n))
ON_FD("room", int, ftruncate64, (int fd, off_t n), (fd, n))

int fsync(int fd)
{
    const char *const in = getenv("SLOW_IN"), *const ms = getenv("SLOW_MS");
    char path[4096];
    if (in && ms && path_of(fd, path) && strstr(path, in))
        usleep(1000 * (useconds_t)atoi(ms));
    if (fails_fd("sync", fd))
        return -1;
    int (*real)(int) = (int (*)(int))next("fsync");
    return real(fd);
}

int close(int fd)
{
    int (*real)(int) = (int (*)(int))next("close");
    const int flags = fcntl(fd, F_GETFL);
    const bool bad = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fails_fd("close", fd);
    const int failed = errno, result = real(fd); /* closed it is all the same */
    if (bad)
        errno = failed;
    return bad ? -1 : result;
}

int rename(const char *from, const char *to)
{
    if (fails("name", to))
        return -1;
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))next("rename");
    const char *const names = getenv("NAMES_TO");
    FILE *const list = names ? fopen(names, "a") : NULL;
    if (list) {
        fprintf(list, "%s\n", to);
        fclose(list);
    }
    return real(from, to);
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *offered);
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *offered)
{
    int (*real)(int *, char ***, int, int *) =
        (int (*)(int *, char ***, int, int *))next("MPI_Init_thread");
    const int result = real(argc, argv, wanted, offered);
    if (fails("threads", "MPI"))
        *offered = 0; /* MPI_THREAD_SINGLE, in every MPI */
    return result;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;              \
        va_end(list);                                                                              \
        if (fails("open", path))                                                                   \
            return -1;                                                                             \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))next(#name);        \
        return real(path, flags, mode);                                                            \
    }
OPEN(open)
#undef open64
int open64(const char *path, int flags, ...);
OPEN(open64)
