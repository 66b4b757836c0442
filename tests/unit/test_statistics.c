/* Statistics of series: means, the dominant frequency, and which rows count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>

#include "base/file.h"
#include "io/statistics.h"
#include "scratch.h"

enum { MOST = 5000 };

static const double pi = 3.141592653589793;

static struct column_statistics of(const double *value, size_t count)
{
    struct column_statistics s;
    assert_int_equal(statistics_make(value, count, &s), STATUS_OK);
    return s;
}

static bool near(double a, double b, double tolerance)
{
    if (fabs(a - b) <= tolerance)
        return true;
    print_error("%.12g is not %.12g within %g\n", a, b, tolerance);
    return false;
}

static void few_values(void **state)
{
    static const double value[] = {3, -1, 4, -2};
    struct column_statistics s = of(value, 4);
    (void)state;
    assert_true(s.mean == 1 && s.min == -2 && s.max == 4);
    assert_true(near(s.rms, sqrt(30.0 / 4), 1e-15) && near(s.deviation, sqrt(26.0 / 4), 1e-15));
    assert_true(isnan(s.frequency) && isnan(s.amplitude));
    s = of(value, 1);
    assert_true(s.mean == 3 && s.deviation == 0 && isnan(s.frequency));
    s = of(value, 0);
    assert_true(isnan(s.mean) && isnan(s.rms) && isnan(s.frequency));
}

/* A sine on a mean, of any number of periods and phase. The negative frequency lies twice as many
 * bins away as there are periods, p; through the window it turns the top of the spectrum by
 * (1 / 8 p^3) / 1.29 bins, which is 0.1 / p^4 of the frequency. A mean of periods that are not
 * whole does as much. */
static void a_sine_has_its_frequency(void **state)
{
    static double value[MOST];
    static const int counts[] = {64, 100, 777, MOST};
    (void)state;
    for (int c = 0; c < 4; c++)
        for (double periods = 3; periods < counts[c] / 4.0; periods *= 1.37)
            for (double phase = 0; phase < 1; phase += 0.3) {
                const int count = counts[c];
                for (int k = 0; k < count; k++)
                    value[k] = 7 + 0.3 * sin(2 * pi * (periods * k / count + phase));
                const struct column_statistics s = of(value, (size_t)count);
                const double cube = periods * periods * periods;
                assert_true(near(s.frequency * count / periods, 1, 0.3 / (cube * periods) + 3e-5));
                assert_true(near(s.amplitude / 0.3, 1, 0.3 / cube + 1e-4));
                assert_true(s.min >= 6.7 && s.max <= 7.3 && near(s.mean, 7, 0.3 / periods));
            }
    /* whole periods: the sums are known */
    for (int k = 0; k < 1000; k++)
        value[k] = 7 + 0.3 * sin(2 * pi * 20 * k / 1000);
    const struct column_statistics s = of(value, 1000);
    assert_true(near(s.mean, 7, 1e-12) && near(s.deviation, 0.3 / sqrt(2), 1e-12));
    assert_true(near(s.rms, sqrt(49 + 0.045), 1e-12) && near(s.frequency, 0.02, 1e-7));
}

static void the_strongest_counts(void **state)
{
    static double value[MOST];
    (void)state;
    for (int k = 0; k < MOST; k++)
        value[k] = sin(0.31 * k) + 0.7 * sin(0.62 * k) + 0.4 * sin(0.017 * k);
    assert_true(near(of(value, MOST).frequency, 0.31 / (2 * pi), 1e-6));
    for (int k = 0; k < MOST; k++)
        value[k] = 0.3 * sin(0.31 * k) + 0.7 * sin(0.62 * k + 1);
    assert_true(near(of(value, MOST).frequency, 0.62 / (2 * pi), 1e-6));
}

static void what_does_not_oscillate_has_none(void **state)
{
    static double value[1000];
    (void)state;
    for (int k = 0; k < 1000; k++)
        value[k] = 0.1;
    assert_true(isnan(of(value, 1000).frequency) && of(value, 1000).deviation < 1e-15);
    for (int k = 0; k < 1000; k++) /* a drift */
        value[k] = exp(-k / 300.0) + 1e-4 * sin(0.5 * k);
    assert_true(isnan(of(value, 1000).frequency));
    for (int k = 0; k < 1000; k++) /* one period and a half */
        value[k] = sin(2 * pi * 1.5 * k / 1000);
    assert_true(isnan(of(value, 1000).frequency));
    value[500] = NAN;
    const struct column_statistics s = of(value, 1000);
    assert_true(isnan(s.mean) && isnan(s.min) && isnan(s.frequency));
    value[500] = INFINITY;
    assert_true(isnan(of(value, 1000).max));
}

static void put(const char *path, const char *text)
{
    assert_int_equal(file_replace(path, text, strlen(text)), STATUS_OK);
}

static void rows_are_chosen(void **state)
{
    const char *const path = scratch_path("a.csv");
    struct series_rows rows;
    (void)state;
    put(path, "step,time,a\n0,0,1\n5,0.5,2\n10,1,3\n15,1.5,nan\n17,1.7,5\n");
    assert_int_equal(series_rows_read(&rows, path, 3, 5, 5), STATUS_OK);
    assert_true(rows.count == 3 && rows.first == 5 && rows.last == 15);
    assert_true(rows.value[0] == 0.5 && rows.value[1] == 2 && isnan(rows.value[5]));
    series_rows_free(&rows);
    assert_int_equal(series_rows_read(&rows, path, 3, 16, 5), STATUS_OK);
    assert_true(rows.count == 0);
    series_rows_free(&rows);
    /* `every` was 6 until step 6, or a job had no such series for a while */
    put(path, "step,time,a\n0,0,1\n6,6,2\n8,8,3\n10,10,4\n12,12,5\n");
    assert_int_equal(series_rows_read(&rows, path, 3, 0, 2), STATUS_OK);
    assert_true(rows.count == 4 && rows.first == 6 && rows.value[1] == 2 && rows.value[7] == 5);
    series_rows_free(&rows);
}

static void other_files_are_refused(void **state)
{
    static const char *const texts[] = {"step,time,a\n0,0\n", "step,time,a\n0,0,x\n",
                                        "step,time,a\n0,0,1,2\n", "step,time,a\nx\n",
                                        "step,time,a\n0,0,1"};
    const char *const path = scratch_path("a.csv");
    struct series_rows rows;
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        put(path, texts[k]);
        scratch_listen();
        const enum status status = series_rows_read(&rows, path, 3, 0, 1);
        assert_one_line(scratch_heard(), "is no row");
        assert_int_equal(status, STATUS_MACHINE);
        assert_null(rows.value);
    }
    scratch_listen();
    assert_int_equal(series_rows_read(&rows, scratch_path("b.csv"), 3, 0, 1), STATUS_MACHINE);
    assert_one_line(scratch_heard(), "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values),           cmocka_unit_test(a_sine_has_its_frequency),
        cmocka_unit_test(the_strongest_counts), cmocka_unit_test(what_does_not_oscillate_has_none),
        SCRATCH_TEST(rows_are_chosen),          SCRATCH_TEST(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
