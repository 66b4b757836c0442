/* Messages of the program; see message.h. */
#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/launcher.h"
#include "base/text.h"

enum { LINE = 2048, WARNINGS = 32 };
/* To a terminal: to the beginning of the line, and clear it. */
static const char begin_again[] = "\r\033[K";

static struct {
    int rank, ranks;
    int log;       /* file descriptor, -1: none */
    off_t log_end; /* end of its last whole line */
    bool log_failed, out_failed;
    FILE *shown;      /* where message_show() left text; NULL: nowhere */
    char error[LINE]; /* the last error, without a line feed; "": none */
    char *warning[WARNINGS]; /* the first ones, likewise */
} speaker = {.rank = -1, .ranks = 1, .log = -1};

/* Guards everything above. Jobs of base/background.h report, too. A report may report that the log
 * failed: so one thread may lock it twice. */
static pthread_mutex_t speaking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Is this rank 0? Before MPI is initialised the launcher's environment decides. */
static bool first(void)
{
    if (speaker.rank < 0)
        speaker.rank = launcher_rank();
    return speaker.rank <= 0;
}

void message_set_rank(int rank, int ranks)
{
    speaker.rank = rank;
    speaker.ranks = ranks;
}

int message_rank(void)
{
    return first() ? 0 : speaker.rank;
}

enum status message_log_to(const char *path, int append)
{
    const int before = speaker.log;
    speaker.log = -1;
    speaker.log_failed = false;
    if (before >= 0 && close(before) != 0) /* network file systems may report a failure only now */
        return fail_machine("cannot write the log: %s", strerror(errno));
    if (!path || !first())
        return STATUS_OK;
    if (!append)
        unlink(path);
    const int fd = file_open_own(path, O_WRONLY | O_CREAT);
    const off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (end < 0) {
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        return fail_machine("cannot write the log %s: %s", path, strerror(reason));
    }
    speaker.log = fd;
    speaker.log_end = end;
    return STATUS_OK;
}

/* Puts prefix, text and line feed into line; returns their length. */
static size_t make_line(char line[LINE], const char *prefix, const char *format, va_list list)
{
    int length = snprintf(line, LINE - 1, "%s", prefix);
    length += vsnprintf(line + length, LINE - 1 - (size_t)length, format, list);
    if (length > LINE - 2)
        length = LINE - 2;
    text_harmless(line, (size_t)length); /* for example in a file's name */
    line[length] = '\n';
    line[length + 1] = '\0';
    return (size_t)length + 1;
}

bool message_unread(int fd)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP);
}

/* Is this descriptor of mpirun a pipe without a reader? mpirun forwards the ranks' output to it,
 * and Open MPI ends the job after some ten lines that it could not forward. Only a launcher on this
 * host can be checked. */
static bool launcher_unread(int fd)
{
    char path[64];
    struct stat info;
    if (!launcher_is_openmpi())
        return false;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), fd);
    if (stat(path, &info) != 0 || !S_ISFIFO(info.st_mode))
        return false;
    const int to = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const bool unread = to < 0 ? errno == ENXIO : message_unread(to);
    if (to >= 0)
        close(to);
    return unread;
}

/* One write per line, so that lines of several ranks do not mix. False: it failed, with errno. */
static bool print_line(FILE *to, const char *prefix, const char *format, va_list list)
{
    char line[LINE];
    make_line(line, prefix, format, list);
    if (speaker.shown) {
        fputs(begin_again, speaker.shown);
        fflush(speaker.shown);
        speaker.shown = NULL;
    }
    if (launcher_unread(fileno(to))) {
        errno = EPIPE;
        return false;
    }
    return fputs(line, to) >= 0 && fflush(to) == 0;
}

static void print_log(const char *prefix, const char *format, va_list list)
{
    char line[LINE];
    if (speaker.log < 0 || speaker.log_failed)
        return;
    const size_t length = make_line(line, prefix, format, list);
    if (file_write_at(speaker.log, line, length, speaker.log_end) == 0) {
        speaker.log_end += (off_t)length;
        return;
    }
    const int reason = errno;
    const bool cut =
        ftruncate(speaker.log, speaker.log_end) != 0; /* half a line would look like a whole one */
    speaker.log_failed = true;
    fail_machine("cannot write the log%s: %s", cut ? " (its last line is cut)" : "",
                 strerror(reason));
}

static void keep_error(const char *format, va_list list)
{
    const size_t length = make_line(speaker.error, "", format, list);
    speaker.error[length - 1] = '\0';
}

const char *message_error(void)
{
    return *speaker.error ? speaker.error : NULL;
}

enum status fail_user(const char *format, ...)
{
    va_list list;
    if (first()) {
        pthread_mutex_lock(&speaking);
        va_start(list, format);
        keep_error(format, list);
        va_end(list);
        va_start(list, format);
        print_line(stderr, "tagflow: ", format, list);
        va_end(list);
        va_start(list, format);
        print_log("error: ", format, list);
        va_end(list);
        pthread_mutex_unlock(&speaking);
    }
    return STATUS_USAGE;
}

enum status fail_machine(const char *format, ...)
{
    char prefix[320] = "tagflow: ";
    char host[256] = "?";
    va_list list;
    pthread_mutex_lock(&speaking);
    va_start(list, format);
    keep_error(format, list);
    va_end(list);
    gethostname(host, sizeof host - 1);
    if (speaker.ranks > 1)
        snprintf(prefix, sizeof prefix, "tagflow: rank %d on %s: ", speaker.rank, host);
    va_start(list, format);
    print_line(stderr, prefix, format, list);
    va_end(list);
    if (!speaker.log_failed) {
        va_start(list, format);
        print_log("error: ", format, list);
        va_end(list);
    }
    pthread_mutex_unlock(&speaking);
    return STATUS_MACHINE;
}

static void keep_warning(const char *format, va_list list)
{
    char line[LINE];
    int number = 0;
    while (number < WARNINGS && speaker.warning[number])
        number++;
    const size_t length = make_line(line, "", format, list);
    line[length - 1] = '\0';
    if (number < WARNINGS)
        speaker.warning[number] = strdup(line); /* without memory it is left out */
}

const char *message_warning(int number)
{
    return number < WARNINGS ? speaker.warning[number] : NULL;
}

void warn(const char *format, ...)
{
    va_list list;
    if (!first())
        return;
    pthread_mutex_lock(&speaking);
    va_start(list, format);
    keep_warning(format, list);
    va_end(list);
    va_start(list, format);
    print_line(stderr, "tagflow: warning: ", format, list);
    va_end(list);
    va_start(list, format);
    print_log("warning: ", format, list);
    va_end(list);
    pthread_mutex_unlock(&speaking);
}

void say(const char *format, ...)
{
    va_list list;
    if (!first())
        return;
    pthread_mutex_lock(&speaking);
    va_start(list, format);
    const bool said = print_line(stdout, "", format, list);
    const int reason = errno;
    va_end(list);
    va_start(list, format);
    print_log("", format, list);
    va_end(list);
    if (!said && !speaker.out_failed && speaker.log >= 0) {
        speaker.out_failed = true;
        warn("cannot write to standard output (%s): the run goes on, and says all in its log",
             strerror(reason));
    }
    pthread_mutex_unlock(&speaking);
}

void message_show(FILE *to, const char *text)
{
    pthread_mutex_lock(&speaking);
    fprintf(to, "%s%s", begin_again, text);
    fflush(to);
    speaker.shown = to;
    pthread_mutex_unlock(&speaking);
}

enum status message_log_state(void)
{
    return speaker.log_failed ? STATUS_MACHINE : STATUS_OK;
}
