/* What tagflow says; see message.h. */
#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static struct {
    int rank, ranks;
    int log;       /* file descriptor, -1: none */
    off_t log_end; /* of its last whole line */
    bool log_failed;
} speaker = {.rank = -1, .ranks = 1, .log = -1};

/* Is this rank 0? As long as MPI is not up, as the launcher says. */
static bool first(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names && speaker.rank < 0; i++)
        if (getenv(names[i]))
            speaker.rank = atoi(getenv(names[i]));
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
    if (before >= 0 && close(before) != 0) /* network file systems may tell only now */
        return fail_machine("cannot write the log: %s", strerror(errno));
    if (!path || !first())
        return STATUS_OK;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? 0 : O_TRUNC), 0666);
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

enum { LINE = 2048 };

/* Prefix, text and line feed in line; returns their length. */
static size_t make_line(char line[LINE], const char *prefix, const char *format, va_list list)
{
    int length = snprintf(line, LINE - 1, "%s", prefix);
    length += vsnprintf(line + length, LINE - 1 - (size_t)length, format, list);
    if (length > LINE - 2)
        length = LINE - 2;
    for (char *c = line; c < line + length; c++)
        if ((unsigned char)*c < ' ' || *c == 127) /* of a file's name, say: a message is one line */
            *c = '?';
    line[length] = '\n';
    line[length + 1] = '\0';
    return (size_t)length + 1;
}

/* One write per line, so that lines of several ranks do not mix. */
static void print_line(FILE *to, const char *prefix, const char *format, va_list list)
{
    char line[LINE];
    make_line(line, prefix, format, list);
    fputs(line, to);
    fflush(to);
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
        ftruncate(speaker.log, speaker.log_end) != 0; /* half a line would be read as one */
    speaker.log_failed = true;
    fail_machine("cannot write the log%s: %s", cut ? " (its last line is cut)" : "",
                 strerror(reason));
}

enum status fail_user(const char *format, ...)
{
    va_list list;
    if (first()) {
        va_start(list, format);
        print_line(stderr, "tagflow: ", format, list);
        va_end(list);
        va_start(list, format);
        print_log("error: ", format, list);
        va_end(list);
    }
    return STATUS_USAGE;
}

enum status fail_machine(const char *format, ...)
{
    char prefix[320] = "tagflow: ";
    char host[256] = "?";
    va_list list;
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
    return STATUS_MACHINE;
}

void warn(const char *format, ...)
{
    va_list list;
    if (!first())
        return;
    va_start(list, format);
    print_line(stderr, "tagflow: warning: ", format, list);
    va_end(list);
    va_start(list, format);
    print_log("warning: ", format, list);
    va_end(list);
}

void say(const char *format, ...)
{
    va_list list;
    if (!first())
        return;
    va_start(list, format);
    print_line(stdout, "", format, list);
    va_end(list);
    va_start(list, format);
    print_log("", format, list);
    va_end(list);
}

enum status message_log_state(void)
{
    return speaker.log_failed ? STATUS_MACHINE : STATUS_OK;
}
