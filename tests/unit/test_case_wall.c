/* Wall times: which texts are one, how long it is, and what is said of the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "case/wall.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Parsed from a block of exactly its size, so that a sanitizer sees reads behind it. */
static const char *parse(const char *text, struct wall *w)
{
    char *exact = malloc(strlen(text) + 1);
    assert_non_null(exact);
    strcpy(exact, text);
    const char *problem = wall_parse(exact, w);
    free(exact);
    return problem;
}

static void times_become_seconds(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {
        {"90 s", 90},         {"90s", 90},         {"30 min", 1800},    {"30min", 1800},
        {"30 m", 1800},       {"30m", 1800},       {"2 h", 7200},       {"1.5 h", 5400},
        {"1 d", 86400},       {"11h50m", 42600},   {"11h 50m", 42600},  {"11 h 50 min", 42600},
        {"1d12h", 129600},    {"1 d 30 s", 86430}, {"1h30.5m", 5430},   {"1d1h1m1s", 90061},
        {"0.25 s", 0.25},     {"1e3 s", 1000},     {"+5 s", 5},         {"-5 s", -5},
        {"0 s", 0},           {"90 m 1 s", 5401},  {"11:50:00", 42600}, {"11:50", 42600},
        {"00:00:01", 1},      {"0:01", 60},        {"100:00", 360000},  {"23:59:59", 86399},
        {"007:08:09", 25689}, {"1h  2m", 3720},    {".5 h", 1800},      {"48:00:00", 172800},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        struct wall w;
        const char *problem = parse(good[i].text, &w);
        if (problem || w.bare || w.seconds != good[i].seconds)
            fail_msg("'%s': %s, %.17g s", good[i].text, problem ? problem : "read", w.seconds);
    }
}

static void numbers_without_unit_are_bare(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0}, {"20000", 20000}, {"-1", -1}, {"1.5", 1.5}, {"30 ", 30}, {"1e3", 1000}};
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        struct wall w;
        assert_null(parse(good[i].text, &w));
        assert_true(w.bare && w.seconds == good[i].value);
    }
}

static void anything_else_is_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "not a wall time"},       {"h", "not a wall time"},
        {"soon", "not a wall time"},   {"nan", "not a wall time"},
        {"nan s", "not a wall time"},  {"inf s", "not a wall time"},
        {"0x10 s", "not a wall time"}, {"h5", "not a wall time"},
        {"1h-5m", "not a wall time"},  {"1h+5m", "not a wall time"},
        {"5 s,", "not a wall time"},   {"5 %", "not a wall time"},
        {"5, s", "not a wall time"},   {"1 h:30", "not a wall time"},
        {"--5 s", "not a wall time"},  {"5 s\n", "not a wall time"},
        {"\t5 s", "not a wall time"},  {"1e400 s", "too large"},
        {"1e308 d", "too large"},      {"1h1e400s", "too large"},
        {"1h30", "ends in a number"},  {"1h 30 ", "ends in a number"},
        {"5 ms", "unknown unit"},      {"5 mm", "unknown unit"},
        {"5 H", "unknown unit"},       {"5 hours", "unknown unit"},
        {"1h5 x", "unknown unit"},     {"50m11h", "wrong order"},
        {"1h1h", "wrong order"},       {"1m1min", "wrong order"},
        {"1s1d", "wrong order"},       {"11:60", "HH:MM"},
        {"11:50:60", "HH:MM"},         {"11:5", "HH:MM"},
        {"11:5:00", "HH:MM"},          {"11:050", "HH:MM"},
        {"11:50:", "HH:MM"},           {"11:", "HH:MM"},
        {"11:50:0", "HH:MM"},          {"11:50:000", "HH:MM"},
        {"1:00:00:00", "HH:MM"},       {"11:50 h", "HH:MM"},
        {"11:50:00 ", "HH:MM"},        {"11:-5", "HH:MM"},
        {":50", "not a wall time"},    {"-1:00", "not a wall time"},
        {"1.5:00", "not a wall time"},
    };
    char digits[512];
    struct wall w;
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        const char *problem = parse(bad[i].text, &w);
        if (!problem || !strstr(problem, bad[i].words))
            fail_msg("'%s': %s, not '%s'", bad[i].text, problem ? problem : "read", bad[i].words);
    }
    memset(digits, '9', sizeof digits); /* 10^400 hours */
    strcpy(digits + 400, ":00");
    assert_non_null(strstr(parse(digits, &w), "too large"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_become_seconds),
        cmocka_unit_test(numbers_without_unit_are_bare),
        cmocka_unit_test(anything_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
