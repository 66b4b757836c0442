/* Foreign HDF5 files in the process that needs them; see hdf5.h. */
#include "foreign/hdf5.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/signals.h"
#include "foreign/hdf5_wire.h"

static enum status refuse(enum status status, char reason[FOREIGN_REASON], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum status refuse(enum status status, char reason[FOREIGN_REASON], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, FOREIGN_REASON, format, list);
    va_end(list);
    return status;
}

enum status foreign_explain(struct child *c, enum child_answer answer, char reason[FOREIGN_REASON])
{
    const int how = child_end(c), number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    if (answer == CHILD_STOPPED || signals_stop())
        return refuse(STATUS_STOPPED, reason, ": %s came while it was read", signals_stop());
    if (number == SIGXCPU)
        return refuse(STATUS_USAGE, reason,
                      ": HDF5 is not done with a part of it after %d s (is it damaged?)",
                      FOREIGN_SECONDS);
    if (number == SIGKILL)
        return refuse(STATUS_MACHINE, reason,
                      ": the process that reads it was killed (is there enough memory?)");
    if (number)
        return refuse(STATUS_USAGE, reason, ": HDF5 crashes on it (%s): it is damaged",
                      strsignal(number));
    return refuse(STATUS_MACHINE, reason, ": the process that reads it ended with exit status %d",
                  WEXITSTATUS(how));
}

enum status foreign_open(struct foreign *f, const char *path, const char *dataset,
                         enum foreign_as as, char reason[FOREIGN_REASON])
{
    struct foreign_header header;
    struct child child;
    const char *const arguments[] = {
        "tagflow", FOREIGN_COMMAND, as == FOREIGN_DOUBLES ? "doubles" : "numbers",
        path,      dataset,         NULL};
    *f = (struct foreign){.axes = 0};
    const int failed = child_start(&child, arguments);
    if (failed)
        return refuse(STATUS_MACHINE, reason, ": cannot start %.120s to read it: %s", child_name(),
                      strerror(failed));
    f->child = child;
    const enum child_answer answer = child_read(&f->child, &header, sizeof header);
    if (answer != CHILD_THERE)
        return foreign_explain(&f->child, answer, reason);
    if (header.answer.status) {
        foreign_close(f);
        return refuse(header.answer.status, reason, "%s", header.answer.reason);
    }
    *f = header.found;
    f->child = child;
    return STATUS_OK;
}

enum status foreign_plane(struct foreign *f, int64_t z, const int64_t lo[2], const int64_t hi[2],
                          void *out, char reason[FOREIGN_REASON])
{
    const struct foreign_request request = {.z = z, .lo = {lo[0], lo[1]}, .hi = {hi[0], hi[1]}};
    const size_t bytes = (size_t)(hi[0] - lo[0]) * (size_t)(hi[1] - lo[1]) * f->each;
    struct foreign_answer said;
    if (!f->child.pid)
        return refuse(STATUS_MACHINE, reason, ": the process that reads it has ended");
    enum child_answer answer = child_write(&f->child, &request, sizeof request);
    if (answer == CHILD_THERE)
        answer = child_read(&f->child, &said, sizeof said);
    if (answer == CHILD_THERE && said.status)
        return refuse(said.status, reason, "%s", said.reason);
    if (answer == CHILD_THERE)
        answer = child_read(&f->child, out, bytes);
    return answer == CHILD_THERE ? STATUS_OK : foreign_explain(&f->child, answer, reason);
}

void foreign_close(struct foreign *f)
{
    child_end(&f->child);
    *f = (struct foreign){.axes = 0};
}
