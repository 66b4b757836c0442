/* Series: what a row looks like, and what a restart leaves of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
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
    assert_int_equal(series_append(series, step, (double[]){time, mass}), STATUS_OK);
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
    append(series, 10000000001, NAN, -INFINITY);
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *path = scratch_path("flow.csv");
        char before[256], after[256];
        snprintf(before, sizeof before, "step,time,mass\n%s", cases[i].before);
        snprintf(after, sizeof after, "step,time,mass\n%s99,1,2\n", cases[i].after);
        assert_int_equal(file_replace(path, before, strlen(before)), STATUS_OK);
        struct series *series = NULL;
        assert_int_equal(series_resume(&series, path, 3, columns, cases[i].last_step), STATUS_OK);
        append(series, 99, 1, 2);
        assert_int_equal(series_close(series), STATUS_OK);
        assert_file(path, after);
    }
}

static void a_restart_without_the_file_starts_it(void **state)
{
    (void)state;
    const char *path = scratch_path("flow.csv");
    struct series *series = NULL;
    assert_int_equal(series_resume(&series, path, 3, columns, 100), STATUS_OK);
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
    enum status status = series_resume(&series, path, 3, columns, 0);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_USAGE);
    assert_one_line(heard, "columns are step,time,enstrophy, this case's are step,time,mass");
    assert_null(series);
    assert_file(path, old);
}

static void a_full_disk_leaves_whole_rows(void **state)
{
    (void)state;
    const char *path = scratch_path("flow.csv");
    struct series *series = started(path);
    append(series, 1, 0.5, 2);
    scratch_listen();
    scratch_limit(30); /* the row before ends at 23 */
    enum status first = series_append(series, 2, (double[]){0.25, 1.0 / 3});
    scratch_limit(RLIM_INFINITY);
    enum status second = series_append(series, 3, (double[]){0.25, 2});
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
        SCRATCH_TEST(a_restart_without_the_file_starts_it),
        SCRATCH_TEST(a_restart_with_other_columns_touches_nothing),
        SCRATCH_TEST(a_full_disk_leaves_whole_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
