/* sin, cos, exp, log and tanh made of + - * / alone: the same bits on every machine (the C
 * library's results depend on the processor). For what is set up once; accurate to a few units in
 * the last place. */
#ifndef TAGFLOW_ELEMENTARY_H
#define TAGFLOW_ELEMENTARY_H

#include <stdint.h>

#include "platform.h"

/* Taylor series in Horner form, x in [0, pi/4]. */
TAGFLOW_FN double sine_of(double x)
{
    const double s = x * x;
    double sum = 0;
    for (int k = 17; k >= 3; k -= 2)
        sum = (1 - sum) * s / (k * (k - 1));
    return x * (1 - sum);
}

TAGFLOW_FN double cosine_of(double x)
{
    const double s = x * x;
    double sum = 0;
    for (int k = 18; k >= 2; k -= 2)
        sum = (1 - sum) * s / (k * (k - 1));
    return 1 - sum;
}

/* Sine and cosine of 2 pi turns / of, exactly reduced. of > 0; of and |turns| below 2^57. */
TAGFLOW_FN double sin_turns(int64_t turns, int64_t of)
{
    const double two_pi = 6.283185307179586;
    /* In eighths of a turn: 8 turns = eighth * of + rest. */
    turns %= of;
    if (turns < 0)
        turns += of;
    const int eighth = (int)(8 * turns / of);
    const int64_t rest = 8 * turns - eighth * of;
    const double up = two_pi * ((double)rest / (double)of) / 8;
    const double down = two_pi * ((double)(of - rest) / (double)of) / 8;
    switch (eighth) {
    case 0:
        return sine_of(up);
    case 1:
        return cosine_of(down);
    case 2:
        return cosine_of(up);
    case 3: /* exactly at an eighth the series differ in the last bit: always cosine there */
        return rest ? sine_of(down) : cosine_of(down);
    case 4:
        return -sine_of(up);
    case 5:
        return -cosine_of(down);
    case 6:
        return -cosine_of(up);
    default:
        return rest ? -sine_of(down) : -cosine_of(down);
    }
}

TAGFLOW_FN double cos_turns(int64_t turns, int64_t of)
{
    return sin_turns(4 * (turns % of) + of, 4 * of);
}

/* e^x for |x| <= 700. */
TAGFLOW_FN double exact_exp(double x)
{
    /* x = n ln 2 + r, |r| <= ln 2 / 2; ln 2 in two parts so that n ln2_high is exact. */
    const double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b39p-40;
    const double t = x * 1.4426950408889634;
    const int n = (int)(t < 0 ? t - 0.5 : t + 0.5);
    const double r = (x - n * ln2_high) - n * ln2_low;
    double sum = 1;
    for (int k = 16; k >= 1; k--)
        sum = 1 + sum * r / k;
    for (int k = 0; k < n; k++)
        sum *= 2;
    for (int k = 0; k > n; k--)
        sum /= 2;
    return sum;
}

/* tanh x for any x. */
TAGFLOW_FN double exact_tanh(double x)
{
    const double a = x < 0 ? -x : x;
    double t;
    if (a > 20)
        t = 1;
    else if (a < 0.05) { /* series: e^2a - 1 would lose digits */
        const double s = a * a;
        t = a * (1 - s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315 - s * (62.0 / 2835)))));
    } else {
        const double e = exact_exp(2 * a);
        t = (e - 1) / (e + 1);
    }
    return x < 0 ? -t : t;
}

/* Natural logarithm of x > 0. Of other numbers, and infinity, it is not-a-number. */
TAGFLOW_FN double exact_log(double x)
{
    if (!(x > 0 && x <= 1.7976931348623157e308))
        return (x - x) / (x - x);
    /* x = m 2^n with m from 1/sqrt(2) to sqrt(2); log m = 2 atanh((m - 1) / (m + 1)). */
    const double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b39p-40;
    int n = 0;
    for (; x > 1.4142135623730951; n++)
        x /= 2;
    for (; x < 0.7071067811865476; n--)
        x *= 2;
    const double s = (x - 1) / (x + 1), square = s * s;
    double sum = 0;
    for (int k = 23; k >= 3; k -= 2)
        sum = (sum + 1.0 / k) * square;
    return n * ln2_high + (n * ln2_low + 2 * s * (1 + sum));
}

#endif
