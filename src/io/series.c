/* Series: CSV files that grow; see series.h. */
#include "io/series.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"

enum {
    NUMBER = 32,       /* letters of a number, with the comma */
    ROWS = 256,        /* rows that are written in one go */
    CHUNK = 64 * 1024, /* bytes read at a time: a series may be larger than the memory */
};

struct series {
    char *path;
    int fd, columns;
    off_t end;  /* of the last whole row */
    char *text; /* room for ROWS rows */
    enum status status;
};

/* "step,time,mass\n", allocated; NULL without memory. */
static char *make_header(int columns, const char *const *names)
{
    size_t length = 1;
    for (int c = 0; c < columns; ++c)
        length += strlen(names[c]) + 1;
    char *header = malloc(length), *to = header;
    if (!header)
        return NULL;
    for (int c = 0; c < columns; ++c) {
        size_t letters = strlen(names[c]);
        memcpy(to, names[c], letters);
        to += letters;
        *to++ = c + 1 < columns ? ',' : '\n';
    }
    *to = '\0';
    return header;
}

/* Opens the file, which is there, to go on at its end. */
static enum status open_end(struct series **out, const char *path, int columns)
{
    struct series *series = calloc(1, sizeof *series);
    if (!series)
        return fail_machine("no memory for %s", path);
    *series = (struct series){.fd = -1, .columns = columns};
    series->path = strdup(path);
    series->text = malloc((size_t)ROWS * (size_t)columns * NUMBER);
    if (!series->path || !series->text) {
        fail_machine("no memory for %s", path);
        goto destroy;
    }
    series->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (series->fd < 0 || (series->end = lseek(series->fd, 0, SEEK_END)) < 0) {
        fail_machine("cannot open %s: %s", path, strerror(errno));
        goto destroy;
    }
    *out = series;
    return STATUS_OK;

destroy:
    if (series->fd >= 0)
        close(series->fd);
    free(series->text);
    free(series->path);
    free(series);
    return STATUS_MACHINE;
}

enum status series_create(struct series **out, const char *path, int columns,
                          const char *const *names)
{
    assert(columns >= 1);
    char *header = make_header(columns, names);
    if (!header)
        return fail_machine("no memory for %s", path);
    enum status status = file_replace(path, header, strlen(header));
    free(header);
    return status == STATUS_OK ? open_end(out, path, columns) : status;
}

/* What has been read of a row so far. */
struct row {
    char step[24]; /* its first field */
    int letters, commas;
};

/* Is it a row as series_append writes them, of a step up to last_step? */
static bool row_stays(const struct row *row, int columns, int64_t last_step)
{
    char *end;
    errno = 0;
    const int64_t step = strtoll(row->step, &end, 10);
    return row->letters > 0 && *end == '\0' && !errno && row->commas == columns - 1 &&
           step <= last_step;
}

/* Up to where the file stays: whole rows up to last_step from offset `*keep`, which is moved there.
 * Returns 0 or errno. */
static int find_end(int fd, int columns, int64_t last_step, off_t *keep)
{
    char chunk[CHUNK];
    struct row row = {.letters = 0};
    off_t at = *keep;
    for (;;) {
        const ssize_t got = pread(fd, chunk, sizeof chunk, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        for (const char *c = chunk; c < chunk + got; c++) {
            at++;
            if (*c == '\n') {
                if (!row_stays(&row, columns, last_step))
                    return 0;
                *keep = at;
                row = (struct row){.letters = 0};
            } else if (*c == ',')
                row.commas++;
            else if (*c == '\0')
                return 0; /* of a machine that lost its power */
            else if (row.commas == 0) {
                if (row.letters == sizeof row.step - 1)
                    return 0;
                row.step[row.letters++] = *c;
            }
        }
    }
}

/* As much as there is of the first `length` bytes, with a NUL behind; -1: errno says why. */
static ssize_t read_start(int fd, char *text, size_t length)
{
    size_t filled = 0;
    while (filled < length) {
        const ssize_t got = pread(fd, text + filled, length - filled, (off_t)filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    text[filled] = '\0';
    return (ssize_t)filled;
}

/* Cut off what does not stay of a file that begins with `header`. *anew: the header itself is not
 * complete, and nothing was done. */
static enum status cut(const char *path, const char *header, int columns, int64_t last_step,
                       bool *anew)
{
    const size_t length = strlen(header),
                 most = length + 512; /* of other columns, for the message */
    enum status status = STATUS_OK;
    struct stat info;
    char *const start = malloc(most + 1);
    if (!start)
        return fail_machine("no memory for %s", path);
    /* not blocking, should it be a pipe */
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = fail_machine("cannot open %s: %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(info.st_mode)) {
        status = fail_machine("cannot go on with %s: it is not a file", path);
        goto done;
    }
    if (read_start(fd, start, most) < 0) {
        status = fail_machine("cannot read %s: %s", path, strerror(errno));
        goto done;
    }
    const size_t there = strlen(start);
    *anew = there < length && strncmp(start, header, there) == 0;
    if (*anew)
        goto done;
    if (strncmp(start, header, length) != 0) {
        status = fail_user("%s: its columns are %.*s, this case's are %.*s "
                           "(rename the series, or move the file away)",
                           path, (int)strcspn(start, "\n"), start, (int)length - 1, header);
        goto done;
    }
    off_t keep = (off_t)length;
    const int failed = find_end(fd, columns, last_step, &keep);
    if (failed)
        status = fail_machine("cannot read %s: %s", path, strerror(failed));
    /* In one step: before and after, the file can be resumed. */
    else if (keep < info.st_size && (ftruncate(fd, keep) != 0 || fsync(fd) != 0))
        status = fail_machine("cannot cut rows off %s: %s", path, strerror(errno));

done:
    if (fd >= 0 && close(fd) != 0 && status == STATUS_OK)
        status = fail_machine("cannot write %s: %s", path, strerror(errno));
    free(start);
    return status;
}

enum status series_resume(struct series **out, const char *path, int columns,
                          const char *const *names, int64_t last_step)
{
    bool anew = false;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return series_create(out, path, columns, names);
    char *const header = make_header(columns, names);
    if (!header)
        return fail_machine("no memory for %s", path);
    const enum status status = cut(path, header, columns, last_step, &anew);
    free(header);
    if (status != STATUS_OK)
        return status;
    return anew ? series_create(out, path, columns, names) : open_end(out, path, columns);
}

/* The shortest decimal number that reads back as value. */
static int format_value(char *to, double value)
{
    int length = 0;
    if (isnan(value)) /* whose sign depends on the machine */
        return snprintf(to, NUMBER, "nan");
    for (int digits = 15; digits <= 17; ++digits) {
        length = snprintf(to, NUMBER, "%.*g", digits, value);
        if (strtod(to, NULL) == value)
            break;
    }
    return length;
}

enum status series_append(struct series *series, int64_t step, int rows, const double *values)
{
    const off_t before = series->end;
    if (series->status != STATUS_OK)
        return series->status;
    for (int done = 0; done < rows;) {
        size_t length = 0;
        for (const int stop = rows - done > ROWS ? done + ROWS : rows; done < stop; done++) {
            length += (size_t)snprintf(series->text + length, NUMBER, "%" PRId64, step);
            for (int c = 1; c < series->columns; ++c) {
                series->text[length++] = ',';
                length += (size_t)format_value(series->text + length, *values++);
            }
            series->text[length++] = '\n';
        }
        if (file_write_at(series->fd, series->text, length, series->end) != 0) {
            series->status =
                fail_machine("cannot add a row to %s: %s", series->path, strerror(errno));
            /* Half a row would be read as a row, and some rows of a step as all. */
            series->end = before;
            if (ftruncate(series->fd, before) != 0)
                fail_machine("the last row of %s is cut: %s", series->path, strerror(errno));
            return series->status;
        }
        series->end += (off_t)length;
    }
    return STATUS_OK;
}

enum status series_sync(struct series *series)
{
    if (series->status == STATUS_OK && fsync(series->fd) != 0)
        series->status = fail_machine("cannot write %s: %s", series->path, strerror(errno));
    return series->status;
}

enum status series_close(struct series *series)
{
    if (!series)
        return STATUS_OK;
    enum status status = series_sync(series);
    if (close(series->fd) != 0 && status == STATUS_OK)
        status = fail_machine("cannot write %s: %s", series->path, strerror(errno));
    free(series->text);
    free(series->path);
    free(series);
    return status;
}
