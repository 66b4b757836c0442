/* A second process; see child.h. */
#include "foreign/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"

extern char **environ;

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* Milliseconds after which a request to stop is noticed that comes just before poll(). */
enum { PATIENCE = 500 };

/* Signals that batch systems send to all processes of a job. */
static const int sent_to_all[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2};
enum { SENT_TO_ALL = sizeof sent_to_all / sizeof *sent_to_all };

static int make_pipes(int requests[2], int answers[2])
{
    if (pipe2(requests, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(answers, O_CLOEXEC) == 0)
        return 0;
    const int failed = errno;
    close(requests[0]);
    close(requests[1]);
    return failed;
}

/* Starts the child; the pipes are its standard input and output. It has its own process group, so
 * that keys on a terminal do not reach it. Signals stay blocked until it has set how to handle
 * them. */
static int spawn(pid_t *pid, const char *program, const char *const *arguments, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all, some;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&how);
    if (failed) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    sigfillset(&all);
    sigemptyset(&some);
    for (int k = 0; k < SENT_TO_ALL; k++)
        sigaddset(&some, sent_to_all[k]);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &some);
    posix_spawnattr_setpgroup(&how, 0);
    failed = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETPGROUP);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawn(pid, program, &files, &how, (char *const *)arguments, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static char program[4096]; /* "": this one */

void child_program(const char *path)
{
    snprintf(program, sizeof program, "%s", path ? path : "");
}

const char *child_name(void)
{
    return *program ? program : "a process";
}

int child_start(struct child *c, const char *const *arguments)
{
    static const char self[] = "/proc/self/exe";
    char path[4096];
    int requests[2], answers[2];
    *c = (struct child){.to = -1, .from = -1};
    int failed = make_pipes(requests, answers);
    if (failed)
        return failed;
    /* Start the program by its path, if that still exists: under valgrind the link itself leads to
     * valgrind. */
    const ssize_t length = readlink(self, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *const own = access(path, X_OK) == 0 ? path : self;
    failed = spawn(&c->pid, *program ? program : own, arguments, requests[0], answers[1]);
    close(requests[0]);
    close(answers[1]);
    if (failed) {
        close(requests[1]);
        close(answers[0]);
        c->pid = 0;
        return failed;
    }
    c->to = requests[1];
    c->from = answers[0];
    return 0;
}

/* Waits until the pipe is ready, or this process is asked to stop. */
static enum child_answer wait_for(int fd, short events)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        if (signals_stop())
            return CHILD_STOPPED;
        if (poll(&p, 1, PATIENCE) > 0)
            return CHILD_THERE;
    }
}

enum child_answer child_read(struct child *c, void *data, size_t bytes)
{
    char *to = data;
    while (bytes > 0) {
        if (wait_for(c->from, POLLIN) == CHILD_STOPPED)
            return CHILD_STOPPED;
        const ssize_t got = read(c->from, to, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return CHILD_ENDED;
        to += got;
        bytes -= (size_t)got;
    }
    return CHILD_THERE;
}

enum child_answer child_write(struct child *c, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        const ssize_t put = write(c->to, from, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return CHILD_ENDED;
        from += put;
        bytes -= (size_t)put;
    }
    return CHILD_THERE;
}

int child_end(struct child *c)
{
    int how = 0;
    if (!c->pid)
        return 0;
    close(c->to); /* an idle child ends when the pipe closes; a busy one is killed */
    close(c->from);
    if (waitpid(c->pid, &how, WNOHANG) == 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &how, 0) < 0 && errno == EINTR)
            continue;
    }
    *c = (struct child){.to = -1, .from = -1};
    return how;
}

void child_begin(struct child *parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int k = 0; k < SENT_TO_ALL; k++)
        signal(sent_to_all[k], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    *parent = (struct child){.pid = getppid(), .from = STDIN_FILENO};
    /* Output of libraries must not get between the answers. */
    parent->to = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        if (fd != parent->to)
            close(fd); /* descriptors of MPI */
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
}

static void set_soft(int what, rlim_t value)
{
    struct rlimit limit;
    if (getrlimit(what, &limit) != 0)
        return;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    setrlimit(what, &limit);
}

void child_limit(size_t bytes, int seconds)
{
    struct rusage used;
    size_t pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    if (pages && !SANITIZED)
        set_soft(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes);
    if (getrusage(RUSAGE_SELF, &used) == 0)
        set_soft(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + seconds));
}
