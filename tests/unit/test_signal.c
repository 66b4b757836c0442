/* Signals: their values, and that sines stay exact however many periods have passed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "domain/domain.h"
#include "case/signal.h"

static void a_ramp_is_smooth(void **state)
{
    const struct case_signal s = {.kind = SIGNAL_ramp, .duration = 64};
    (void)state;
    assert_true(signal_at(&s, 0) == 0);
    assert_true(signal_at(&s, 32) == 0.5);
    assert_true(signal_at(&s, 64) == 1 && signal_at(&s, 65) == 1 && signal_at(&s, 1 << 30) == 1);
    for (int t = 0; t < 64; t++) { /* grows, and the same from both ends */
        assert_true(signal_at(&s, t) < signal_at(&s, t + 1));
        assert_true(signal_at(&s, t) + signal_at(&s, 64 - t) == 1);
    }
    assert_true(signal_at(&s, 1) < 4.0 / 64 / 64); /* 3 s^2: no corner where it begins */
}

static void a_sine_has_its_values(void **state)
{
    struct case_signal s = {
        .kind = SIGNAL_sine, .period = 12, .phase = 0, .mean = 0.5, .amplitude = 2};
    (void)state;
    for (int turns = 0; turns < 3; turns++) {
        assert_true(signal_at(&s, 12 * turns) == 0.5);
        assert_true(signal_at(&s, 12 * turns + 3) == 2.5);
        assert_true(signal_at(&s, 12 * turns + 6) == 0.5);
        assert_true(signal_at(&s, 12 * turns + 9) == -1.5);
    }
    s.phase = 0.25;
    assert_true(signal_at(&s, 0) == 2.5);
    s.phase = -0.25;
    assert_true(signal_at(&s, 0) == -1.5);
    s.phase = -1e-20; /* a part of a turn that rounds to a whole one */
    assert_true(fabs(signal_at(&s, 0) - 0.5) < 1e-15);
}

/* Against long double, where the argument is reduced without error too. */
static void any_period_is_exact(void **state)
{
    static const double periods[] = {1.5, 13.37, 1000.1, 7e-3, 3.3e7, 0x1.fffffffffffffp9};
    double worst = 0;
    (void)state;
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        const struct case_signal s = {.kind = SIGNAL_sine, .period = periods[p], .amplitude = 1};
        for (int64_t t = 0, step = 1; t < 9999999999; t += step, step += step / 3 + 1) {
            const long double turn = fmodl((long double)t, (long double)periods[p]) / periods[p];
            const double expected = (double)sinl(2 * acosl(-1.0L) * turn);
            worst = fmax(worst, fabs(signal_at(&s, t) - expected));
        }
    }
    /* A turn is a double of up to 1: 2 pi 2^-54, and a few roundings of a result of up to 1. */
    assert_true(worst < 8e-16);
    assert_true(worst > 0);
}

static void a_table_is_linear(void **state)
{
    double times[] = {2, 4, 5, 105}, values[] = {1, 0, -3, 97};
    const struct case_signal s = {
        .kind = SIGNAL_table, .points = 4, .times = times, .values = values};
    (void)state;
    assert_true(signal_at(&s, 0) == 1 && signal_at(&s, 2) == 1);
    assert_true(signal_at(&s, 3) == 0.5);
    assert_true(signal_at(&s, 4) == 0 && signal_at(&s, 5) == -3);
    for (int t = 5; t <= 105; t++)
        assert_true(fabs(signal_at(&s, t) - (t - 8)) < 1e-13);
    assert_true(signal_at(&s, 1000000) == 97);
    const struct case_signal one = {
        .kind = SIGNAL_table, .points = 1, .times = times, .values = values};
    assert_true(signal_at(&one, 0) == 1 && signal_at(&one, 3) == 1);
    double beat[] = {1, 0, -3, 1};
    const struct case_signal again = {
        .kind = SIGNAL_table, .points = 4, .times = times, .values = beat, .repeat = true};
    for (int t = 0; t <= 105; t++) {
        const double begins = t < 2 ? 1 : signal_at(&again, t);
        assert_true(signal_at(&again, t) == begins);
        assert_true(t < 2 || signal_at(&again, t + 103) == begins);
        assert_true(t < 2 || signal_at(&again, t + 103 * (int64_t)1000000000) == begins);
    }
}

static int number_of(struct domain *d, const struct case_signal *s)
{
    uint8_t number = 99;
    return domain_signal(d, s, &number) ? -1 : number;
}

static void a_domain_counts_signals(void **state)
{
    static struct domain d = {.signals = 1};
    struct case_signal ramps[SIGNALS] = {0};
    const struct case_signal constant = {.kind = SIGNAL_constant};
    (void)state;
    assert_int_equal(number_of(&d, &constant), SIGNAL_one);
    assert_int_equal(d.signals, 1);
    for (int k = 0; k < SIGNALS; k++) {
        ramps[k] = (struct case_signal){.kind = SIGNAL_ramp, .duration = 1 + k};
        const struct case_signal same = ramps[k / 2];
        if (k < SIGNALS - 1)
            assert_int_equal(number_of(&d, &ramps[k]), 1 + k);
        assert_int_equal(number_of(&d, &same), 1 + k / 2);
    }
    assert_int_equal(d.signals, SIGNALS);
    assert_int_equal(number_of(&d, &ramps[SIGNALS - 1]), -1);
    assert_int_equal(number_of(&d, NULL), -1);
    assert_int_equal(number_of(&d, &ramps[0]), 1);
}

/* Against the sum over the steps, which differs by half of the first and last value at most. */
static void means_are_those_of_the_steps(void **state)
{
    static double times[] = {-5, 10, 30, 31}, values[] = {2, -1, 3, 0.5};
    const struct case_signal signals[] = {
        {.kind = SIGNAL_constant},
        {.kind = SIGNAL_ramp, .duration = 64},
        {.kind = SIGNAL_table, .points = 4, .times = times, .values = values},
        {.kind = SIGNAL_table, .points = 1, .times = times + 2, .values = values + 2},
    };
    static const int64_t steps[] = {1, 7, 20, 31, 64, 500};
    (void)state;
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
            double sum = 0.5 * (signal_at(&signals[k], 0) + signal_at(&signals[k], steps[n]));
            for (int64_t t = 1; t < steps[n]; t++)
                sum += signal_at(&signals[k], t);
            const double mean = sum / (double)steps[n];
            if (fabs(signal_mean(&signals[k], steps[n]) - mean) > 1e-3)
                fail_msg("signal %zu, %d steps: %.6g, not %.6g", k, (int)steps[n],
                         signal_mean(&signals[k], steps[n]), mean);
        }
    static double beat[] = {2, -1, 3, 2};
    const struct case_signal again = {
        .kind = SIGNAL_table, .points = 4, .times = times, .values = beat, .repeat = true};
    double sum = 0; /* of a period of 36 steps */
    for (int t = 100; t < 136; t++)
        sum += signal_at(&again, t);
    assert_true(fabs(signal_mean(&again, 100) - sum / 36) < 1e-12);
    const struct case_signal sine = {
        .kind = SIGNAL_sine, .period = 12, .mean = 0.25, .amplitude = 2};
    assert_true(signal_mean(&sine, 1000) == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ramp_is_smooth),        cmocka_unit_test(a_sine_has_its_values),
        cmocka_unit_test(any_period_is_exact),     cmocka_unit_test(a_table_is_linear),
        cmocka_unit_test(a_domain_counts_signals), cmocka_unit_test(means_are_those_of_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
