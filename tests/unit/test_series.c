/* Series: what a row looks like, and what a restart leaves of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>

#include "base/file.h"
#include "io/series.h"
#include "scratch.h"

static const char *const columns[] = {"step", "time", "mass"};

static char *content(const char *path)
{
    char *text = NULL;
    assert_int_equal(file_read(path, 1 << 20, &text, NULL), STATUS_OK);
    return text;
}

static void assert_file(const char *path, const char *expected)
{
    char *text = content(path);
    assert_string_equal(text, expected);
    free(text);
}

static struct series *started(const char *path)
{
    struct series *series = NULL;
    assert_int_equal(series_create(&series, path, 3, columns), STATUS_OK);
    return series;
}

static void append(struct series *series, int64_t step, double time, double mass)
{
    assert_int_equal(series_append(series, step, 1, (double[]){time, mass}), STATUS_OK);
}

static void a_row_is_there_as_soon_as_it_is_added(void **state)
{
    (void)state;
    const char *path = scratch_path("flow.csv");
    struct series *series = started(path);
    assert_file(path, "step,time,mass\n");
    append(series, 0, 0, 64);
    append(series, 10000000000, 0.1, 1e-300);
    assert_file(path, "step,time,mass\n0,0,64\n10000000000,0.1,1e-300\n");
    append(series, 10000000001, -NAN, -INFINITY);
    assert_int_equal(series_close(series), STATUS_OK);
    assert_file(path, "step,time,mass\n0,0,64\n10000000000,0.1,1e-300\n10000000001,nan,-inf\n");
}

/* splitmix64, for bit patterns of all kinds */
static uint64_t next_bits(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void every_double_reads_back_the_same(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    static double value[ROWS];
    const char *path = scratch_path("flow.csv");
    struct series *series = started(path);
    uint64_t seed = 1;
    for (int i = 0; i < ROWS; ++i) {
        do {
            uint64_t bits = next_bits(&seed);
            memcpy(&value[i], &bits, sizeof bits);
        } while (!isfinite(value[i]));
        append(series, i, i / 10.0, value[i]);
    }
    assert_int_equal(series_close(series), STATUS_OK);
    char *text = NULL;
    assert_int_equal(file_read(path, 1 << 20, &text, NULL), STATUS_OK);
    char *row = text + strlen("step,time,mass\n");
    for (int i = 0; i < ROWS; ++i) {
        assert_int_equal(strtoll(row, &row, 10), i);
        double time = strtod(row + 1, &row), mass = strtod(row + 1, &row);
        assert_true(time == i / 10.0);
        assert_memory_equal(&mass, &value[i], sizeof mass);
        assert_int_equal(*row++, '\n');
    }
    free(text);
}

static const char header[] = "step,time,mass\n";

/* A series whose file holds `length` bytes of text is resumed at last_step, and gets a row. */
static void resume(const char *path, const char *text, size_t length, int64_t last_step)
{
    struct series *series = NULL;
    assert_int_equal(file_replace(path, text, length), STATUS_OK);
    assert_int_equal(series_resume(&series, path, 3, columns, last_step, NULL), STATUS_OK);
    append(series, 99, 1, 2);
    assert_int_equal(series_close(series), STATUS_OK);
}

static void a_restart_drops_later_rows_and_a_row_cut_short(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        int64_t last_step;
        const char *after;
    } cases[] = {
        {"0,0,1\n5,1,2\n10,2,3\n", 5, "0,0,1\n5,1,2\n"},
        {"0,0,1\n5,1,2\n10,2,3\n", 9, "0,0,1\n5,1,2\n"},
        {"0,0,1\n5,1,2\n10,2,3\n", 10, "0,0,1\n5,1,2\n10,2,3\n"},
        {"0,0,1\n5,1,2\n10,2,3\n", -1, ""},
        {"0,0,1\n5,1,2\n10,2", 10, "0,0,1\n5,1,2\n"}, /* could be the beginning of 10,2.5 */
        {"0,0,1\n5,1,2\n1", 10, "0,0,1\n5,1,2\n"},
        {"", 10, ""},
        /* a line: several rows of a step */
        {"0,0,1\n0,0,2\n5,1,2\n5,1,3\n10,2,3\n10,2,4\n", 5, "0,0,1\n0,0,2\n5,1,2\n5,1,3\n"},
        {"0,0,1\n0,0,2\n5,1,2\n5,1,3\n10,2,3\n10,2", 5, "0,0,1\n0,0,2\n5,1,2\n5,1,3\n"},
        {"0,0,1\n0,0,2\n5,1,2\n5,1,3\n", 5, "0,0,1\n0,0,2\n5,1,2\n5,1,3\n"},
        {"0,nan,-inf\n5,1,2\n", 10, "0,nan,-inf\n5,1,2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *path = scratch_path("flow.csv");
        char before[256], after[256];
        snprintf(before, sizeof before, "%s%s", header, cases[i].before);
        snprintf(after, sizeof after, "%s%s99,1,2\n", header, cases[i].after);
        resume(path, before, strlen(before), cases[i].last_step);
        assert_file(path, after);
    }
}

/* Damage in the midst of a file takes no good row along, is told by the number of its line, and the
 * file as it was stays. */
static void damaged_lines_are_left_out_and_told(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        int first, lines;
    } cases[] = {
        {"0,0,1\n5,1\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n5,1,2,3\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\nx,1,2\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n5,1,x\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n5,,2\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n5, 1,2\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n5.5,1,2\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n-5,1,2\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n99999999999999999999,1,2\n6,1,2\n", "0,0,1\n6,1,2\n", 3, 1},
        {"0,0,1\n5,1,"
         "0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "0000000000000000000000\n6,1,2\n",
         "0,0,1\n6,1,2\n", 3, 1},
        /* at the start, at the end, several, and rows to be dropped as well */
        {"x\n5,1,2\n6,1,2\n", "5,1,2\n6,1,2\n", 2, 1},
        {"0,0,1\n5,1,2\nx\n", "0,0,1\n5,1,2\n", 4, 1},
        {"x\n0,0,1\ny\n5,1,2\nz\n11,1,2\n12,1", "0,0,1\n5,1,2\n", 2, 3},
        {"x\ny\n", "", 2, 2},
        /* wrong steps: too large, or larger than those of good rows behind it, too small */
        {"0,0,1\n1,0,1\n500,0,1\n3,0,1\n4,0,1\n", "0,0,1\n1,0,1\n3,0,1\n4,0,1\n", 4, 1},
        {"0,0,1\n1,0,1\n9,0,1\n3,0,1\n4,0,1\n", "0,0,1\n1,0,1\n3,0,1\n4,0,1\n", 4, 1},
        {"0,0,1\n1,0,1\n2,0,1\n3,0,1\n0,0,1\n5,0,1\n", "0,0,1\n1,0,1\n2,0,1\n3,0,1\n5,0,1\n", 6, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *path = scratch_path("flow.csv"), *aside = scratch_path("flow.csv.aside");
        char before[256], after[256], line[64];
        snprintf(before, sizeof before, "%s%s", header, cases[i].before);
        snprintf(after, sizeof after, "%s%s99,1,2\n", header, cases[i].after);
        if (cases[i].lines == 1)
            snprintf(line, sizeof line, "flow.csv: line %d is damaged;", cases[i].first);
        else
            snprintf(line, sizeof line, "flow.csv: line %d and %d more are damaged;",
                     cases[i].first, cases[i].lines - 1);
        scratch_listen();
        resume(path, before, strlen(before), 10);
        assert_one_line(scratch_heard(), line);
        assert_file(path, after);
        assert_file(aside, before);
        assert_int_equal(scratch_files(1), 2);
    }
}

static void every_damaged_file_is_kept(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "step,time,mass\nx\n5,1,2\n", "step,time,mass\ny\n5,1,2\n", "step,time,mass\nz\n5,1,2\n"};
    const char *path = scratch_path("flow.csv");
    for (int k = 0; k < 3; k++) {
        scratch_listen();
        resume(path, damaged[k], strlen(damaged[k]), 10);
        assert_one_line(scratch_heard(), k == 0   ? "flow.csv.aside\n"
                                         : k == 1 ? "flow.csv.2.aside\n"
                                                  : "flow.csv.3.aside\n");
    }
    assert_file(scratch_path("flow.csv.aside"), damaged[0]);
    assert_file(scratch_path("flow.csv.2.aside"), damaged[1]);
    assert_file(scratch_path("flow.csv.3.aside"), damaged[2]);
}

static void a_file_that_cannot_be_mended_stays_as_it_was(void **state)
{
    (void)state;
    static const char damaged[] = "step,time,mass\n0,0,1\nx\n5,1,2\n";
    const char *path = scratch_path("flow.csv");
    struct series *series = NULL;
    assert_int_equal(file_replace(path, damaged, strlen(damaged)), STATUS_OK);
    scratch_listen();
    scratch_limit(20);
    const enum status status = series_resume(&series, path, 3, columns, 10, NULL);
    scratch_limit(RLIM_INFINITY);
    assert_one_line(scratch_heard(), "cannot mend");
    assert_int_equal(status, STATUS_MACHINE);
    assert_file(path, damaged);
    assert_int_equal(scratch_files(0), 1);
}

/* A mark knows what no look at the rows can tell. `after` is what is left of `text`, when the mark
 * was made of `then`. */
static void what_the_checkpoint_remembers_is_looked_for(void **state)
{
    (void)state;
    static const char then[] = "step,time,mass\n0,0,1\n5,1,2\n10,2,3\n";
    static const struct {
        const char *text, *after, *says; /* text NULL: no file; says NULL: nothing */
    } cases[] = {
        {then, then, NULL},
        {"step,time,mass\n0,0,1\n5,1,2\n10,2,3\n15,2,3\n20,2", then, NULL},
        {"step,time,mass\n0,0,1\n5,1,2\n10,2,3\nx\n", then, NULL},
        {"step,time,mass\n0,0,1\n10,2,3\n15,2,3\n", "step,time,mass\n0,0,1\n10,2,3\n",
         "flow.csv has 2 rows up to step 10, and had 3 when"},
        {"step,time,mass\n0,0,1\n5,1,2\n10,2", "step,time,mass\n0,0,1\n5,1,2\n",
         "flow.csv has 2 rows up to step 10, and had 3 when"},
        {"step,time,mass\n0,0,1\n5,1,7\n10,2,3\n", "step,time,mass\n0,0,1\n5,1,7\n10,2,3\n",
         "flow.csv is not as it was when the checkpoint was written: values up to step 10"},
        {"step,time,mass\n0,0,1\n5;1,2\n10,2,3\n", "step,time,mass\n0,0,1\n10,2,3\n",
         "flow.csv: line 3 is damaged; 2 of 3 rows up to step 10 stay"},
        {"step,ti", "step,time,mass\n",
         "flow.csv has not even its header: its 3 rows up to step 10"},
        {NULL, "step,time,mass\n", "flow.csv is not there: its 3 rows up to step 10 are missing"},
    };
    struct series_mark mark, now;
    const char *path = scratch_path("flow.csv");
    struct series *series = started(path);
    append(series, 0, 0, 1);
    append(series, 5, 1, 2);
    append(series, 10, 2, 3);
    series_mark(series, &mark);
    assert_int_equal(series_close(series), STATUS_OK);
    assert_int_equal(mark.rows, 3);
    assert_int_equal(mark.bytes, strlen(then));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (cases[i].text)
            assert_int_equal(file_replace(path, cases[i].text, strlen(cases[i].text)), STATUS_OK);
        else
            unlink(path);
        scratch_listen();
        const enum status status = series_resume(&series, path, 3, columns, 10, &mark);
        const char *const heard = scratch_heard();
        assert_int_equal(status, STATUS_OK);
        if (cases[i].says)
            assert_one_line(heard, cases[i].says);
        else
            assert_string_equal(heard, "");
        assert_file(path, cases[i].after);
        /* and it goes on from what is there, counted and summed up anew */
        series_mark(series, &now);
        assert_int_equal(now.bytes, strlen(cases[i].after));
        assert_true((memcmp(&now, &mark, sizeof now) == 0) == (strcmp(cases[i].after, then) == 0));
        append(series, 15, 1, 1);
        series_mark(series, &mark);
        assert_int_equal(mark.rows, now.rows + 1);
        assert_int_equal(series_close(series), STATUS_OK);
        assert_int_equal(series_resume(&series, path, 3, columns, 15, &mark), STATUS_OK);
        assert_int_equal(series_close(series), STATUS_OK);
        assert_int_equal(file_replace(path, then, strlen(then)), STATUS_OK);
        assert_int_equal(series_resume(&series, path, 3, columns, 10, NULL), STATUS_OK);
        series_mark(series, &mark);
        assert_int_equal(series_close(series), STATUS_OK);
    }
}

/* Killed at any instant: the file ends after any of its bytes. */
static void a_file_cut_anywhere_is_gone_on_with(void **state)
{
    (void)state;
    static const char rows[] = "step,time,mass\n0,0,1\n0,0,2.5\n5,1,2\n5,1,1e-300\n";
    const char *path = scratch_path("flow.csv");
    for (size_t length = 0; length < sizeof rows; ++length) {
        char expected[sizeof rows + sizeof header + 16];
        size_t whole = length; /* rows that are */
        while (whole > 0 && rows[whole - 1] != '\n')
            --whole;
        snprintf(expected, sizeof expected, "%.*s99,1,2\n",
                 (int)(whole > 0 ? whole : strlen(header)), rows);
        resume(path, rows, length, 5);
        assert_file(path, expected);
    }
}

/* A file may have its length but not its last blocks. */
static void a_file_that_ends_in_zeros_is_gone_on_with(void **state)
{
    (void)state;
    static const char start[] = "step,time,mass\n0,0,1\n5,1,2";
    const char *path = scratch_path("flow.csv");
    for (size_t length = 0; length < sizeof start; ++length) {
        char text[4096] = "";
        memcpy(text, start, length);
        resume(path, text, sizeof text, 5);
        assert_file(path,
                    length > 20 ? "step,time,mass\n0,0,1\n99,1,2\n" : "step,time,mass\n99,1,2\n");
    }
}

/* Longer than what is read at a time, with rows across its ends. */
static void a_long_file_is_cut_at_the_right_row(void **state)
{
    (void)state;
    enum { STEPS = 5000, POINTS = 7 };
    const char *path = scratch_path("line.csv");
    struct series *series = started(path);
    double values[2 * POINTS];
    for (int64_t step = 0; step < STEPS; ++step) {
        for (int k = 0; k < POINTS; ++k) {
            values[2 * k] = (double)step / 3;
            values[2 * k + 1] = k + 1.0 / 7;
        }
        assert_int_equal(series_append(series, step, POINTS, values), STATUS_OK);
    }
    assert_int_equal(series_close(series), STATUS_OK);
    char *whole = NULL, *left = NULL;
    size_t length;
    assert_int_equal(file_read(path, 1 << 24, &whole, NULL), STATUS_OK);
    static const int64_t lasts[] = {4998, 4097, 3000, 1234, 17, 0};
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; ++i) {
        char next[32];
        snprintf(next, sizeof next, "\n%d,", (int)lasts[i] + 1);
        assert_int_equal(series_resume(&series, path, 3, columns, lasts[i], NULL), STATUS_OK);
        assert_int_equal(series_close(series), STATUS_OK);
        assert_int_equal(file_read(path, 1 << 24, &left, &length), STATUS_OK);
        assert_ptr_equal(strstr(whole, next) + 1, whole + length);
        assert_memory_equal(left, whole, length);
        free(left);
    }
    free(whole);
}

static void a_file_whose_rows_all_stay_is_not_touched(void **state)
{
    (void)state;
    static const char text[] = "step,time,mass\n0,0,1\n5,1,2\n";
    const char *path = scratch_path("flow.csv");
    struct stat before, after;
    struct series *series = NULL;
    assert_int_equal(file_replace(path, text, strlen(text)), STATUS_OK);
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(series_resume(&series, path, 3, columns, 5, NULL), STATUS_OK);
    assert_int_equal(series_close(series), STATUS_OK);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_mtime == after.st_mtime);
    assert_file(path, text);
    assert_int_equal(scratch_files(0), 1);
}

/* Cutting needs no room: a full disk is where a job most likely died. */
static void rows_are_dropped_on_a_full_disk(void **state)
{
    (void)state;
    const char *path = scratch_path("flow.csv");
    struct series *series = started(path);
    append(series, 1, 0.5, 2);
    append(series, 2, 0.5, 2);
    assert_int_equal(series_close(series), STATUS_OK);
    scratch_limit(0);
    const enum status status = series_resume(&series, path, 3, columns, 1, NULL);
    scratch_limit(RLIM_INFINITY);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(series_close(series), STATUS_OK);
    assert_file(path, "step,time,mass\n1,0.5,2\n");
}

static void what_is_no_file_is_not_gone_on_with(void **state)
{
    (void)state;
    struct series *series = NULL;
    const char *folder = scratch_path("folder.csv"), *pipe_path = scratch_path("pipe.csv");
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mkfifo(pipe_path, 0666), 0);
    scratch_listen();
    const enum status status = series_resume(&series, folder, 3, columns, 1, NULL);
    assert_one_line(scratch_heard(), "folder.csv: Is a directory");
    scratch_listen();
    const enum status other = series_resume(&series, pipe_path, 3, columns, 1, NULL);
    assert_one_line(scratch_heard(), "pipe.csv: it is not a file");
    assert_int_equal(status, STATUS_MACHINE);
    assert_int_equal(other, STATUS_MACHINE);
    assert_null(series);
}

static void a_restart_without_the_file_starts_it(void **state)
{
    (void)state;
    const char *path = scratch_path("flow.csv");
    struct series *series = NULL;
    assert_int_equal(series_resume(&series, path, 3, columns, 100, NULL), STATUS_OK);
    assert_int_equal(series_close(series), STATUS_OK);
    assert_file(path, "step,time,mass\n");
}

static void a_restart_with_other_columns_touches_nothing(void **state)
{
    (void)state;
    static const char old[] = "step,time,enstrophy\n0,0,1\n5,1,2\n";
    const char *path = scratch_path("flow.csv");
    struct series *series = NULL;
    assert_int_equal(file_replace(path, old, strlen(old)), STATUS_OK);
    scratch_listen();
    enum status status = series_resume(&series, path, 3, columns, 0, NULL);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_USAGE);
    assert_one_line(heard, "columns are 'step,time,enstrophy', this case's are step,time,mass");
    assert_null(series);
    assert_file(path, old);
}

/* Some rows of a step would be taken for all of them. */
static void a_full_disk_leaves_whole_steps(void **state)
{
    (void)state;
    enum { POINTS = 2000 };
    static double values[2 * POINTS];
    const char *path = scratch_path("line.csv");
    struct series *series = started(path);
    append(series, 1, 0.5, 2);
    scratch_listen();
    scratch_limit(POINTS * 5);
    const enum status status = series_append(series, 2, POINTS, values);
    scratch_limit(RLIM_INFINITY);
    const enum status closed = series_close(series);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_int_equal(closed, STATUS_MACHINE);
    assert_one_line(heard, "line.csv: File too large");
    assert_file(path, "step,time,mass\n1,0.5,2\n");
}

static void a_full_disk_leaves_whole_rows(void **state)
{
    (void)state;
    const char *path = scratch_path("flow.csv");
    struct series *series = started(path);
    append(series, 1, 0.5, 2);
    scratch_listen();
    scratch_limit(30); /* the row before ends at 23 */
    enum status first = series_append(series, 2, 1, (double[]){0.25, 1.0 / 3});
    scratch_limit(RLIM_INFINITY);
    enum status second = series_append(series, 3, 1, (double[]){0.25, 2});
    enum status closed = series_close(series);
    const char *heard = scratch_heard();
    assert_int_equal(first, STATUS_MACHINE);
    assert_int_equal(second, STATUS_MACHINE);
    assert_int_equal(closed, STATUS_MACHINE);
    assert_one_line(heard, "flow.csv: File too large");
    assert_file(path, "step,time,mass\n1,0.5,2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_row_is_there_as_soon_as_it_is_added),
        SCRATCH_TEST(every_double_reads_back_the_same),
        SCRATCH_TEST(a_restart_drops_later_rows_and_a_row_cut_short),
        SCRATCH_TEST(damaged_lines_are_left_out_and_told),
        SCRATCH_TEST(every_damaged_file_is_kept),
        SCRATCH_TEST(a_file_that_cannot_be_mended_stays_as_it_was),
        SCRATCH_TEST(what_the_checkpoint_remembers_is_looked_for),
        SCRATCH_TEST(a_file_cut_anywhere_is_gone_on_with),
        SCRATCH_TEST(a_file_that_ends_in_zeros_is_gone_on_with),
        SCRATCH_TEST(a_long_file_is_cut_at_the_right_row),
        SCRATCH_TEST(a_file_whose_rows_all_stay_is_not_touched),
        SCRATCH_TEST(rows_are_dropped_on_a_full_disk),
        SCRATCH_TEST(what_is_no_file_is_not_gone_on_with),
        SCRATCH_TEST(a_restart_without_the_file_starts_it),
        SCRATCH_TEST(a_restart_with_other_columns_touches_nothing),
        SCRATCH_TEST(a_full_disk_leaves_whole_rows),
        SCRATCH_TEST(a_full_disk_leaves_whole_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
