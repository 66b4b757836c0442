/* What tagflow says; see message.h. */
#include "base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    int rank, ranks;
    FILE *log;
    bool log_failed;
} speaker = {.rank = 0, .ranks = 1};

void message_set_rank(int rank, int ranks)
{
    speaker.rank = rank;
    speaker.ranks = ranks;
}

enum status message_log_to(const char *path, int append)
{
    if (speaker.log) {
        fclose(speaker.log);
        speaker.log = NULL;
    }
    speaker.log_failed = false;
    if (!path || speaker.rank != 0)
        return STATUS_OK;
    speaker.log = fopen(path, append ? "a" : "w");
    if (!speaker.log)
        return fail_machine("cannot write the log %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* One write per line, so that lines of several ranks do not mix. */
static void print_line(FILE *to, const char *prefix, const char *format, va_list list)
{
    char line[2048];
    int length = snprintf(line, sizeof line - 1, "%s", prefix);
    length += vsnprintf(line + length, sizeof line - 1 - (size_t)length, format, list);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length] = '\n';
    line[length + 1] = '\0';
    fputs(line, to);
    fflush(to);
}

static void print_log(const char *prefix, const char *format, va_list list)
{
    if (!speaker.log || speaker.log_failed)
        return;
    print_line(speaker.log, prefix, format, list);
    if (ferror(speaker.log)) {
        speaker.log_failed = true;
        fail_machine("cannot write the log: %s (is the disk full?)", strerror(errno));
    }
}

enum status fail_user(const char *format, ...)
{
    va_list list;
    if (speaker.rank == 0) {
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
    if (speaker.rank != 0)
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
    if (speaker.rank != 0)
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
