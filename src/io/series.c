/* Series: CSV files that grow; see series.h. */
#include "io/series.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"

enum { NUMBER = 32 }; /* letters of a number, with the comma */

struct series {
    char *path;
    int fd, columns;
    off_t end; /* of the last whole row */
    char *row; /* room for a row */
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
    series->row = malloc((size_t)columns * NUMBER + 1);
    if (!series->path || !series->row) {
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
    free(series->row);
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

/* How much of text, which begins with the header, to keep: whole rows up to last_step. */
static size_t rows_until(const char *text, size_t header, int64_t last_step)
{
    const char *row = text + header;
    for (;;) {
        const char *end = strchr(row, '\n');
        if (!end)
            break;
        char *after;
        errno = 0;
        int64_t step = strtoll(row, &after, 10);
        if (errno || after == row || (*after != ',' && *after != '\n') || step > last_step)
            break;
        row = end + 1;
    }
    return (size_t)(row - text);
}

enum status series_resume(struct series **out, const char *path, int columns,
                          const char *const *names, int64_t last_step)
{
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return series_create(out, path, columns, names);

    char *header = make_header(columns, names), *text = NULL;
    if (!header)
        return fail_machine("no memory for %s", path);
    size_t length = 0, first = strlen(header);
    enum status status = file_read(path, SIZE_MAX, &text, &length);
    if (status != STATUS_OK)
        goto free_header;
    if (strncmp(text, header, first) != 0) {
        int had = (int)strcspn(text, "\n");
        status = fail_user("%s: its columns are %.*s, this case's are %.*s "
                           "(rename the series, or move the file away)",
                           path, had, text, (int)first - 1, header);
    } else {
        size_t keep = rows_until(text, first, last_step);
        if (keep < length)
            status = file_replace(path, text, keep);
    }
    free(text);
free_header:
    free(header);
    return status == STATUS_OK ? open_end(out, path, columns) : status;
}

/* The shortest decimal number that reads back as value. */
static int format_value(char *to, double value)
{
    int length = 0;
    for (int digits = 15; digits <= 17; ++digits) {
        length = snprintf(to, NUMBER, "%.*g", digits, value);
        if (strtod(to, NULL) == value)
            break;
    }
    return length;
}

enum status series_append(struct series *series, int64_t step, const double *values)
{
    if (series->status != STATUS_OK)
        return series->status;
    int length = snprintf(series->row, NUMBER, "%" PRId64, step);
    for (int c = 1; c < series->columns; ++c) {
        series->row[length++] = ',';
        length += format_value(series->row + length, values[c - 1]);
    }
    series->row[length++] = '\n';
    if (file_write_at(series->fd, series->row, (size_t)length, series->end) != 0) {
        series->status = fail_machine("cannot add a row to %s: %s", series->path, strerror(errno));
        /* Half a row would be read as a row. */
        if (ftruncate(series->fd, series->end) != 0)
            fail_machine("the last row of %s is cut: %s", series->path, strerror(errno));
        return series->status;
    }
    series->end += length;
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
    free(series->row);
    free(series->path);
    free(series);
    return status;
}
