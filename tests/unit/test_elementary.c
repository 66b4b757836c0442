/* Elementary functions made of + - * /: within a few units in the last place of the C library's in
 * long double, and exactly symmetric where the functions are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "elementary.h"
#include "reference.h"

/* Distance in units of the last place of the expected value. */
static double ulps(double got, long double expected)
{
    const double near = fabs((double)expected);
    const double ulp = nextafter(near, INFINITY) - near;
    return (double)(fabsl(got - expected) / ulp);
}

static const int64_t parts[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 64, 100, 127, 360, 1000};
enum { PARTS = sizeof parts / sizeof *parts };

static void sine_and_cosine_of_turns(void **state)
{
    double worst = 0;
    (void)state;
    for (int k = 0; k < PARTS; k++)
        for (int64_t t = -parts[k]; t <= 2 * parts[k]; t++) {
            const int64_t of = parts[k];
            const long double angle = 2 * acosl(-1.0L) * (long double)(t % of) / (long double)of;
            const double s = sin_turns(t, of), c = cos_turns(t, of);
            const int exact_sine = 2 * t % of == 0, exact_cosine = (4 * t + of) % (2 * of) == 0;
            if (exact_sine)
                assert_true(s == 0);
            else
                worst = fmax(worst, ulps(s, sinl(angle)));
            if (exact_cosine)
                assert_true(c == 0);
            else
                worst = fmax(worst, ulps(c, cosl(angle)));
            if (exact_sine)
                assert_true(fabs(c) == 1);
            if (exact_cosine)
                assert_true(fabs(s) == 1);
        }
    print_message("sine and cosine are off by at most %.2f ulp\n", worst);
    assert_true(worst < 3);
}

static void sine_and_cosine_are_symmetric_to_the_bit(void **state)
{
    (void)state;
    for (int k = 0; k < PARTS; k++)
        for (int64_t t = 0; t <= parts[k]; t++) {
            const int64_t of = parts[k];
            const double s = sin_turns(t, of), c = cos_turns(t, of);
            assert_true(sin_turns(-t, of) == -s);
            assert_true(cos_turns(-t, of) == c);
            assert_true(sin_turns(t + of, of) == s);
            assert_true(cos_turns(t - 3 * of, of) == c);
            assert_true(sin_turns(of - 2 * t, 2 * of) == s);  /* sin(pi - x) */
            assert_true(sin_turns(2 * t + of, 2 * of) == -s); /* sin(x + pi) */
            assert_true(cos_turns(2 * t + of, 2 * of) == -c); /* cos(x + pi) */
            assert_true(sin_turns(of - 4 * t, 4 * of) == c);  /* sin(pi/2 - x) */
            assert_true(cos_turns(of - 4 * t, 4 * of) == s);  /* cos(pi/2 - x) */
            assert_true(sin_turns(3 * t, 3 * of) == s);       /* the same fraction */
        }
}

static void turns_as_large_as_promised(void **state)
{
    const int64_t large = INT64_C(1) << 56;
    (void)state;
    assert_true(sin_turns(large, large) == 0);
    assert_true(sin_turns(large / 4, large) == 1);
    assert_true(cos_turns(large / 4, large) == 0);
    assert_true(cos_turns(large / 2, large) == -1);
    assert_true(cos_turns(large - 1, large) == 1);
    assert_true(sin_turns(-(large / 4) + large, large) == -1);
}

static void exponential(void **state)
{
    uint64_t random = 1;
    double worst = 0;
    (void)state;
    assert_true(exact_exp(0) == 1);
    for (int k = 0; k < 200000; k++) {
        const double x = (k % 3 ? k % 3 == 1 ? 1 : 40 : 700) * reference_uniform(&random);
        worst = fmax(worst, ulps(exact_exp(x), expl((long double)x)));
    }
    worst = fmax(worst, ulps(exact_exp(700), expl(700.0L)));
    worst = fmax(worst, ulps(exact_exp(-700), expl(-700.0L)));
    print_message("exp is off by at most %.2f ulp\n", worst);
    assert_true(worst < 4);
}

static void hyperbolic_tangent(void **state)
{
    uint64_t random = 2;
    double worst = 0;
    (void)state;
    assert_true(exact_tanh(0) == 0);
    assert_true(exact_tanh(1e300) == 1);
    assert_true(exact_tanh(-1e300) == -1);
    assert_true(exact_tanh(INFINITY) == 1);
    for (int k = 0; k < 400000; k++) {
        const double x = (k % 4 == 0   ? 1e-3
                          : k % 4 == 1 ? 0.1
                          : k % 4 == 2 ? 2
                                       : 25) *
                         reference_uniform(&random);
        const double t = exact_tanh(x);
        assert_true(exact_tanh(-x) == -t);
        assert_true(fabs(t) <= 1);
        worst = fmax(worst, ulps(t, tanhl((long double)x)));
    }
    for (double x = 1e-300; x < 1e-5; x *= 10)
        worst = fmax(worst, ulps(exact_tanh(x), tanhl((long double)x)));
    print_message("tanh is off by at most %.2f ulp\n", worst);
    assert_true(worst < 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sine_and_cosine_of_turns),
        cmocka_unit_test(sine_and_cosine_are_symmetric_to_the_bit),
        cmocka_unit_test(turns_as_large_as_promised),
        cmocka_unit_test(exponential),
        cmocka_unit_test(hyperbolic_tangent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
