/* Cuts the file of a series for a restart; see series_cut.h. */
#include "io/series_cut.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/message.h"
#include "base/text.h"

/* A line after the header, line feed included. */
struct series_line {
    off_t at;
    int64_t step; /* -1: not a row in the format of series_append */
};

/* The lines of a file, and which of them stay. */
struct series_survey {
    struct series_line *line; /* [count + 1]; the last one is the end of the whole lines */
    size_t count;
    bool *stays;     /* [count] */
    int64_t rows;    /* number of rows that stay */
    int64_t damaged; /* number of damaged lines, see count_damage() */
    size_t first;    /* the first damaged line */
    off_t end;       /* end of the last row that stays */
};

static void survey_destroy(struct series_survey *s)
{
    free(s->line);
    free(s->stays);
}

/* ---- reading lines ---- */

/* The step of a row; -1: the text is not a row. text[length] is a NUL. */
static int64_t step_of(const char *text, size_t length, int columns)
{
    char *end;
    if (memchr(text, '\0', length) || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    const int64_t step = strtoll(text, &end, 10);
    if (errno)
        return -1;
    for (int c = 1; c < columns; c++) {
        const char *const number = end + 1;
        if (*end != ',' || *number == ' ' || *number == '\0')
            return -1;
        strtod(number, &end);
        if (end == number)
            return -1;
    }
    return *end == '\0' ? step : -1;
}

/* Reads all whole lines from `at` on. Returns 0 or errno. */
static int read_lines(int fd, off_t at, int columns, struct series_survey *s)
{
    char chunk[SERIES_CHUNK];
    const size_t most = (size_t)columns * SERIES_NUMBER; /* of a row */
    char *const text = malloc(most + 1);
    size_t length = 0;
    int failed = text && ARRAY_ROOM(s->line, s->count) ? 0 : ENOMEM;
    if (!failed)
        s->line[0].at = at;
    while (!failed) {
        const ssize_t got = pread(fd, chunk, sizeof chunk, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            failed = got < 0 ? errno : 0;
            break;
        }
        for (const char *c = chunk; c < chunk + got && !failed; c++) {
            at++;
            if (*c != '\n') {
                if (length <= most)
                    text[length] = *c;
                length++;
                continue;
            }
            if (length <= most)
                text[length] = '\0';
            s->line[s->count++].step = length <= most ? step_of(text, length, columns) : -1;
            failed = ARRAY_ROOM(s->line, s->count) ? 0 : ENOMEM;
            if (!failed)
                s->line[s->count].at = at;
            length = 0;
        }
    }
    free(text);
    return failed;
}

/* ---- which lines stay ---- */

/* Keeps the longest subsequence of rows up to last_step whose steps do not decrease. So a row with
 * a wrong step does not remove the rows after it. last[k]: last row of the subsequence of k + 1
 * rows that ends with the lowest step. False: out of memory. */
static bool choose(struct series_survey *s, int64_t last_step)
{
    size_t *const last = malloc((s->count + 1) * sizeof *last),
                  *const before = malloc((s->count + 1) * sizeof *before), longest = 0;
    s->stays = calloc(s->count + 1, sizeof *s->stays);
    const bool room = last && before && s->stays;
    for (size_t i = 0; room && i < s->count; i++) {
        const int64_t step = s->line[i].step;
        size_t low = 0, high = longest;
        if (step < 0 || step > last_step)
            continue;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (s->line[last[middle]].step <= step)
                low = middle + 1;
            else
                high = middle;
        }
        before[i] = low ? last[low - 1] : i;
        last[low] = i;
        longest += low == longest;
    }
    for (size_t i = longest ? last[longest - 1] : 0, k = longest; room && k > 0; k--) {
        s->stays[i] = true;
        i = before[i];
    }
    s->rows = (int64_t)longest;
    free(last);
    free(before);
    return room;
}

/* Counts as damaged all lines that do not stay, except those after the last row that stays, from
 * the first row of a later step on. */
static void count_damage(struct series_survey *s, int64_t last_step)
{
    size_t behind = s->count;
    while (behind > 0 && !s->stays[behind - 1])
        behind--;
    s->end = s->line[behind].at;
    for (size_t i = 0; i < s->count; i++) {
        if (i >= behind && s->line[i].step > last_step)
            break;
        if (s->stays[i])
            continue;
        if (!s->damaged)
            s->first = i;
        s->damaged++;
    }
}

/* ---- changing the file ---- */

/* Reads the first `length` bytes, fewer if the file is shorter, and appends a NUL. Returns their
 * number; -1: failed, see errno. */
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

int series_take_in(int fd, off_t bytes, XXH3_state_t *sum, int64_t *rows)
{
    char chunk[SERIES_CHUNK];
    *rows = -1; /* the header */
    for (off_t at = 0; at < bytes;) {
        const size_t length =
            bytes - at < (off_t)sizeof chunk ? (size_t)(bytes - at) : sizeof chunk;
        if (file_read_at(fd, chunk, length, at) != 0)
            return errno;
        for (const char *c = chunk; (c = memchr(c, '\n', length - (size_t)(c - chunk))); c++)
            ++*rows;
        XXH3_64bits_update(sum, chunk, length);
        at += (off_t)length;
    }
    return 0;
}

/* *same: does the start of the file match the mark? Returns 0 or errno. */
static int is_as_marked(int fd, off_t size, const struct series_mark *mark, bool *same)
{
    int64_t rows;
    *same = mark->bytes <= size;
    if (!*same)
        return 0;
    XXH3_state_t *const sum = XXH3_createState();
    if (!sum)
        return ENOMEM;
    XXH3_64bits_reset(sum);
    const int failed = series_take_in(fd, mark->bytes, sum, &rows);
    *same = !failed && (int64_t)XXH3_64bits_digest(sum) == mark->sum;
    XXH3_freeState(sum);
    return failed;
}

/* Appends bytes `at` to `end` - 1 of one file to another, which has *written bytes so far. Returns
 * 0 or errno. */
static int copy(int from, off_t at, off_t end, int to, off_t *written)
{
    char chunk[SERIES_CHUNK];
    while (at < end) {
        const size_t length = end - at < (off_t)sizeof chunk ? (size_t)(end - at) : sizeof chunk;
        if (file_read_at(from, chunk, length, at) != 0 ||
            file_write_at(to, chunk, length, *written) != 0)
            return errno;
        at += (off_t)length;
        *written += (off_t)length;
    }
    return 0;
}

/* Writes the header and the rows that stay to disk under another name. Returns 0 or errno. */
static int write_rows(int fd, const struct series_survey *s, const char *temporary)
{
    const int to = file_create_new(temporary);
    off_t written = 0;
    int failed = to < 0 ? errno : copy(fd, 0, s->line[0].at, to, &written);
    for (size_t i = 0, next; i < s->count && !failed; i = next) {
        for (next = i + 1; next < s->count && s->stays[next] == s->stays[i];)
            next++;
        if (s->stays[i])
            failed = copy(fd, s->line[i].at, s->line[next].at, to, &written);
    }
    if (!failed && fsync(to) != 0)
        failed = errno;
    if (to >= 0 && close(to) != 0 && !failed)
        failed = errno;
    return failed;
}

/* Gives the file a second, unused name (a hard link): *aside, allocated. On a file system without
 * hard links it renames the file instead. Returns 0 or errno. */
static int set_aside(const char *path, char **aside)
{
    const size_t room = strlen(path) + 32;
    char *const name = malloc(room);
    int failed = name ? EEXIST : ENOMEM;
    for (int k = 1; failed == EEXIST; k++) {
        if (k == 1)
            snprintf(name, room, "%s.aside", path);
        else
            snprintf(name, room, "%s.%d.aside", path, k);
        failed = link(path, name) == 0 ? 0 : errno;
        if (failed && failed != EEXIST && access(name, F_OK) != 0)
            failed = rename(path, name) == 0 ? 0 : errno;
    }
    *aside = name;
    return failed;
}

/* Has the file a row up to last_step? Its first one decides. */
static bool has_rows(const char *path, int64_t last_step)
{
    char text[SERIES_CHUNK + 1];
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    const bool regular = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const ssize_t length = regular ? read_start(fd, text, SERIES_CHUNK) : 0;
    const char *const row = length > 0 ? strchr(text, '\n') : NULL;
    if (fd >= 0)
        close(fd);
    return row && row[1] && strtoll(row + 1, NULL, 10) <= last_step;
}

enum status series_put_aside(const char *path, int64_t last_step, const char *was, int was_length,
                             const char *is, int is_length, bool *anew)
{
    char *aside = NULL;
    *anew = has_rows(path, last_step);
    if (!*anew)
        return STATUS_OK;
    const int failed = set_aside(path, &aside);
    if (failed)
        fail_machine("cannot rename %s: %s", path, strerror(failed));
    else if (was)
        warn("series_replaced",
             "%s has rows up to step %" PRId64 " of another series (%.*s; now %.*s): it is kept as "
             "%s, and a new file begins",
             path, last_step, was_length, was, is_length, is, aside);
    else
        warn("series_unknown",
             "%s has rows up to step %" PRId64 ", but the checkpoint's case has no such series: it "
             "is kept as %s, and a new file begins",
             path, last_step, aside);
    free(aside);
    return failed ? STATUS_MACHINE : STATUS_OK;
}

/* Replaces a damaged file by one with the rows that stay; the original is kept under another name.
 */
static enum status replace(const char *path, int fd, const struct series_survey *s,
                           const struct series_mark *mark, int64_t last_step)
{
    char *const temporary = file_temporary(path), *aside = NULL, had[40] = "", more[48] = " is";
    if (!temporary)
        return fail_machine("no memory to mend %s", path);
    int failed = write_rows(fd, s, temporary);
    if (!failed)
        failed = set_aside(path, &aside);
    enum status status = STATUS_OK;
    if (failed) {
        unlink(temporary);
        status = fail_machine("cannot mend %s: %s", path, strerror(failed));
    } else {
        status = file_rename(temporary, path);
    }
    if (mark)
        snprintf(had, sizeof had, " of %" PRId64, mark->rows);
    if (s->damaged > 1)
        snprintf(more, sizeof more, " and %" PRId64 " more are", s->damaged - 1);
    if (!status)
        warn("series_damaged",
             "%s: line %zu%s damaged; %" PRId64 "%s rows up to step %" PRId64
             " stay, and the file as it was is kept as %s",
             path, s->first + 2, more, s->rows, had, last_step, aside);
    free(aside);
    free(temporary);
    return status;
}

/* Cuts later rows off a file without damage. */
static enum status shorten(const char *path, int fd, const struct series_survey *s, off_t size,
                           const struct series_mark *mark, int64_t last_step)
{
    /* ftruncate is one step: the file can be resumed before and after it. */
    if (s->end < size && (ftruncate(fd, s->end) != 0 || fsync(fd) != 0))
        return fail_machine("cannot cut rows off %s: %s", path, strerror(errno));
    if (mark && mark->rows != s->rows)
        warn("series_shorter",
             "%s has %" PRId64 " rows up to step %" PRId64 ", and had %" PRId64
             " when the checkpoint was written",
             path, s->rows, last_step, mark->rows);
    else if (mark)
        warn("series_changed",
             "%s is not as it was when the checkpoint was written: values up to step %" PRId64
             " were changed",
             path, last_step);
    return STATUS_OK;
}

/* Cuts a file that begins with its header of `header` bytes. */
static enum status cut(const char *path, int fd, off_t header, off_t size, int columns,
                       int64_t last_step, const struct series_mark *mark)
{
    struct series_survey s = {0};
    bool same = false;
    int failed = mark ? is_as_marked(fd, size, mark, &same) : 0;
    if (!failed) /* a matching file, too: a run that continues must drop its extra last row */
        failed = read_lines(fd, header, columns, &s);
    if (!failed && !choose(&s, last_step))
        failed = ENOMEM;
    enum status status = STATUS_OK;
    if (!failed)
        count_damage(&s, last_step);
    if (failed) {
        status = fail_machine("cannot read %s: %s", path, strerror(failed));
    } else if (same) {
        status = shorten(path, fd, &s, size, NULL, last_step);
    } else {
        status = s.damaged ? replace(path, fd, &s, mark, last_step)
                           : shorten(path, fd, &s, size, mark, last_step);
    }
    survey_destroy(&s);
    return status;
}

enum status series_cut(const char *path, const char *header, int columns, int64_t last_step,
                       const struct series_mark *mark, bool *anew)
{
    const size_t length = strlen(header),
                 most = length + 512; /* + other columns, for the message */
    enum status status = STATUS_OK;
    struct stat info;
    char *const start = malloc(most + 1);
    if (!start)
        return fail_machine("no memory for %s", path);
    const int fd = file_open_own(path, O_RDWR);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = errno == EINVAL  ? fail_machine("cannot go on with %s: it is not a file", path)
                 : errno == ELOOP ? fail_machine("cannot go on with %s: it is a link", path)
                                  : fail_machine("cannot open %s: %s", path, strerror(errno));
        goto done;
    }
    if (read_start(fd, start, most) < 0) {
        status = fail_machine("cannot read %s: %s", path, strerror(errno));
        goto done;
    }
    const size_t there = strlen(start);
    *anew = there < length && strncmp(start, header, there) == 0;
    if (*anew && mark && mark->rows > 0)
        warn("series_empty",
             "%s has not even its header: its %" PRId64 " rows up to step %" PRId64
             " are missing, and it begins anew",
             path, mark->rows, last_step);
    if (*anew)
        goto done;
    if (strncmp(start, header, length) != 0) {
        char columns_there[TEXT_QUOTE];
        start[strcspn(start, "\n")] = '\0';
        status = fail_user("%s: its columns are %s, this case's are %.*s "
                           "(rename the series, or move the file away)",
                           path, quote_text(start, columns_there), (int)length - 1, header);
    } else {
        status = cut(path, fd, (off_t)length, info.st_size, columns, last_step, mark);
    }

done:
    if (fd >= 0 && close(fd) != 0 && status == STATUS_OK)
        status = fail_machine("cannot write %s: %s", path, strerror(errno));
    free(start);
    return status;
}
