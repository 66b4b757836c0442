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

enum { LINE = 2048, WARNINGS = 128 };
/* To a terminal: to the beginning of the line, and clear it. */
static const char begin_again[] = "\r\033[K";
static const char warning_prefix[] = "tagflow: warning: ";

static struct {
    int rank, ranks;
    int log;       /* file descriptor, -1: none */
    off_t log_end; /* end of its last whole line */
    bool log_failed, out_failed;
    FILE *shown;                      /* where message_show() left text; NULL: nowhere */
    char error[LINE];                 /* the last error, without a line feed; "": none */
    struct warning warning[WARNINGS]; /* the first ones, likewise */
    int warnings;                     /* all */
    FILE *held; /* message_hold(): gets the log's lines; NULL: they are printed */
    char *lines;
    size_t length;
    bool kept_back; /* warnings, too */
    bool muted, silent;
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
    if (speaker.silent)
        return true;
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

void message_forget_error(void)
{
    *speaker.error = '\0';
}

void message_begin(void)
{
    pthread_mutex_lock(&speaking);
    message_forget_error();
    for (int k = 0; k < WARNINGS; k++) {
        free((char *)speaker.warning[k].text);
        speaker.warning[k] = (struct warning){NULL, NULL, -1};
    }
    speaker.warnings = 0;
    speaker.out_failed = false;
    pthread_mutex_unlock(&speaking);
}

void message_silent(bool silent)
{
    speaker.silent = silent;
}

const char *message_error(void)
{
    return *speaker.error ? speaker.error : NULL;
}

enum status fail_user(const char *format, ...)
{
    va_list list;
    if (!speaker.muted) {
        pthread_mutex_lock(&speaking);
        va_start(list, format);
        keep_error(format, list);
        va_end(list);
        pthread_mutex_unlock(&speaking);
    }
    if (first() && !speaker.muted) {
        pthread_mutex_lock(&speaking);
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

static void keep_warning(int64_t step, const char *name, const char *text)
{
    char *const copy = speaker.warnings < WARNINGS ? strdup(text) : NULL;
    if (copy)
        speaker.warning[speaker.warnings] = (struct warning){name, copy, step};
    speaker.warnings++; /* without memory it is left out */
}

const struct warning *message_warning(int number)
{
    return number < WARNINGS && speaker.warning[number].text ? &speaker.warning[number] : NULL;
}

int message_warnings(void)
{
    return speaker.warnings;
}

static void warn_of(int64_t step, const char *name, const char *format, va_list list)
{
    va_list again;
    char line[LINE];
    pthread_mutex_lock(&speaking);
    va_copy(again, list);
    line[make_line(line, "", format, again) - 1] = '\0';
    va_end(again);
    keep_warning(step, name, line);
    va_copy(again, list);
    if (!speaker.kept_back)
        print_line(stderr, warning_prefix, format, again);
    va_end(again);
    print_log("warning: ", format, list);
    pthread_mutex_unlock(&speaking);
}

void warn(const char *name, const char *format, ...)
{
    va_list list;
    if (!first() || speaker.muted)
        return;
    va_start(list, format);
    warn_of(-1, name, format, list);
    va_end(list);
}

void warn_at(int64_t step, const char *name, const char *format, ...)
{
    va_list list;
    if (!first() || speaker.muted)
        return;
    va_start(list, format);
    warn_of(step, name, format, list);
    va_end(list);
}

/* Are both names of one file, terminal or pipe? */
static bool one_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Does one reader get stdout and stderr? mpirun gives a rank two pipes, and forwards both. */
static bool one_reader(void)
{
    char out[64], err[64];
    if (!launcher_is_openmpi())
        return one_file("/proc/self/fd/1", "/proc/self/fd/2");
    snprintf(out, sizeof out, "/proc/%ld/fd/1", (long)getppid());
    snprintf(err, sizeof err, "/proc/%ld/fd/2", (long)getppid());
    return one_file(out, err);
}

void message_mute(bool mute)
{
    speaker.muted = mute;
}

void message_hold(void)
{
    if (!first())
        return;
    pthread_mutex_lock(&speaking);
    speaker.held = open_memstream(&speaker.lines, &speaker.length);
    speaker.kept_back = speaker.held && one_reader();
    pthread_mutex_unlock(&speaking);
}

char *message_release(bool warnings)
{
    char *lines = NULL;
    pthread_mutex_lock(&speaking);
    const bool kept_back = speaker.kept_back;
    if (speaker.held && fclose(speaker.held) == 0)
        lines = speaker.lines;
    speaker.held = NULL;
    speaker.kept_back = false;
    for (int k = 0; kept_back && warnings && k < WARNINGS; k++)
        if (speaker.warning[k].text)
            fprintf(stderr, "%s%s\n", warning_prefix, speaker.warning[k].text);
    pthread_mutex_unlock(&speaking);
    return lines;
}

static bool hold_line(const char *format, va_list list)
{
    char line[LINE];
    make_line(line, "", format, list);
    return fputs(line, speaker.held) >= 0;
}

void say(const char *format, ...)
{
    va_list list;
    if (!first())
        return;
    pthread_mutex_lock(&speaking);
    va_start(list, format);
    const bool said = speaker.held ? hold_line(format, list) : print_line(stdout, "", format, list);
    const int reason = errno;
    va_end(list);
    va_start(list, format);
    print_log("", format, list);
    va_end(list);
    if (!said && !speaker.out_failed && speaker.log >= 0) {
        speaker.out_failed = true;
        warn("stdout_unwritten",
             "cannot write to standard output (%s): the run goes on, and says all in its log",
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
