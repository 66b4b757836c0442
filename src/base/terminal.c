/* The terminal of this program; see terminal.h. */
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"

enum { TEXT = 4096 };

/* Reads a file of /proc/<pid>; returns its length, 0 if it cannot be read. A NUL is behind it. */
static size_t read_process(pid_t pid, const char *name, char text[TEXT])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, TEXT - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* Parent, process group, and the group in the foreground of the process's terminal (-1: none). */
static bool family(pid_t pid, long *parent, long *group, long *front)
{
    char text[TEXT];
    long session, device;
    read_process(pid, "stat", text);
    const char *const name_end = strrchr(text, ')');
    return name_end && sscanf(name_end + 1, " %*c %ld %ld %ld %ld %ld", parent, group, &session,
                              &device, front) == 5;
}

static bool is_launcher(const char *name)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The mpirun of this rank on this host; 0: not known. */
static pid_t launcher(void)
{
    char name[TEXT];
    long parent = getppid(), group, front;
    read_process((pid_t)parent, "comm", name);
    if (strncmp(name, "hydra_pmi", 9) == 0) { /* MPICH has a process in between */
        if (!family((pid_t)parent, &parent, &group, &front))
            return 0;
        read_process((pid_t)parent, "comm", name);
    }
    return is_launcher(name) ? (pid_t)parent : 0;
}

/* Does mpirun put words before its ranks' lines, or write them into files? Its options end where
 * this program's name begins. */
static bool rewrites_output(pid_t pid)
{
    char text[TEXT];
    const size_t length = read_process(pid, "cmdline", text);
    const char *const own = program_invocation_short_name;
    for (const char *word = text; word < text + length; word += strlen(word) + 1) {
        const char *const slash = strrchr(word, '/');
        if (strcmp(slash ? slash + 1 : word, own) == 0)
            return false;
        if (*word == '-' && (strstr(word, "output") || strstr(word, "xml") || !strcmp(word, "-l") ||
                             strstr(word, "prepend")))
            return true;
    }
    return true; /* too long, or not as expected */
}

/* Opens the standard output of a process if it is a terminal; else -1. */
static int open_output(pid_t pid)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, STDOUT_FILENO);
    if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
        return -1;
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || isatty(fd))
        return fd;
    close(fd);
    return -1;
}

void terminal_find(struct terminal *t)
{
    const bool alone = !launcher_found();
    *t = (struct terminal){.fd = -1, .process = alone ? getpid() : launcher()};
    if (alone && isatty(STDERR_FILENO)) {
        t->to = stderr;
        t->fd = dup(STDERR_FILENO);
    } else if (!alone && t->process && !rewrites_output(t->process)) {
        t->fd = open_output(t->process);
        t->to = t->fd < 0 ? NULL : stdout;
    }
}

void terminal_close(struct terminal *t)
{
    if (t->fd >= 0)
        close(t->fd);
    *t = (struct terminal){.fd = -1};
}

bool terminal_in_front(const struct terminal *t)
{
    long parent, group, front;
    return !family(t->process, &parent, &group, &front) || front < 0 || front == group;
}

int terminal_width(const struct terminal *t)
{
    struct winsize size = {0};
    return ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
