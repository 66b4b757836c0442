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
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "io/series_cut.h"

enum { ROWS = 256 }; /* most rows per write */
enum { NUMBER = SERIES_NUMBER };

struct series {
    char *path;
    int fd, columns;
    off_t end;           /* end of the last whole row */
    int64_t rows;        /* so far */
    XXH3_state_t *bytes; /* checksum of the file so far, header included */
    char *text;          /* room for ROWS rows */
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

static void destroy(struct series *series)
{
    if (series->fd >= 0)
        close(series->fd);
    XXH3_freeState(series->bytes);
    free(series->text);
    free(series->path);
    free(series);
}

/* Opens an existing file to append rows. */
static enum status open_end(struct series **out, const char *path, int columns)
{
    struct series *series = calloc(1, sizeof *series);
    if (!series)
        return fail_machine("no memory for %s", path);
    *series = (struct series){.fd = -1, .columns = columns};
    series->path = strdup(path);
    series->text = malloc((size_t)ROWS * (size_t)columns * NUMBER);
    series->bytes = XXH3_createState();
    if (!series->path || !series->text || !series->bytes) {
        destroy(series);
        return fail_machine("no memory for %s", path);
    }
    XXH3_64bits_reset(series->bytes);
    series->fd = file_open_own(path, O_RDWR);
    int failed = series->fd < 0 || (series->end = lseek(series->fd, 0, SEEK_END)) < 0 ? errno : 0;
    if (!failed)
        failed = series_take_in(series->fd, series->end, series->bytes, &series->rows);
    if (failed) {
        destroy(series);
        return fail_machine("cannot open %s: %s", path, strerror(failed));
    }
    *out = series;
    return STATUS_OK;
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

enum status series_resume(struct series **out, const char *path, int columns,
                          const char *const *names, int64_t last_step,
                          const struct series_mark *mark)
{
    bool anew = access(path, F_OK) != 0 && errno == ENOENT;
    if (anew && mark && mark->rows > 0)
        warn("series_missing",
             "%s is not there: its %" PRId64 " rows up to step %" PRId64
             " are missing, and it begins anew",
             path, mark->rows, last_step);
    if (anew)
        return series_create(out, path, columns, names);
    char *const header = make_header(columns, names);
    if (!header)
        return fail_machine("no memory for %s", path);
    const enum status status = series_cut(path, header, columns, last_step, mark, &anew);
    free(header);
    if (status != STATUS_OK)
        return status;
    return anew ? series_create(out, path, columns, names) : open_end(out, path, columns);
}

/* The decimal number with the fewest digits, from 15 on, that reads back as value. */
static int format_value(char *to, double value)
{
    int length = 0;
    if (isnan(value)) /* its sign depends on the machine */
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
            /* Remove this step's rows: a part of a row would be read as a row, and a part of a
             * step's rows as all of them. */
            series->end = before;
            if (ftruncate(series->fd, before) != 0)
                fail_machine("the last row of %s is cut: %s", series->path, strerror(errno));
            return series->status;
        }
        XXH3_64bits_update(series->bytes, series->text, length);
        series->end += (off_t)length;
    }
    series->rows += rows;
    return STATUS_OK;
}

void series_mark(const struct series *series, struct series_mark *mark)
{
    *mark = (struct series_mark){.rows = series->rows,
                                 .bytes = series->end,
                                 .sum = (int64_t)XXH3_64bits_digest(series->bytes)};
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
    const int fd = series->fd;
    series->fd = -1;
    if (close(fd) != 0 && status == STATUS_OK)
        status = fail_machine("cannot write %s: %s", series->path, strerror(errno));
    destroy(series);
    return status;
}
