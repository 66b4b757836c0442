/* Time functions; see signal.h. They use only + - * /, the functions of elementary.h, and the
 * C library's fmod and floor, which are exact. */
#include "case/signal.h"

#include <math.h>
#include <string.h>

#include "case/linear.h"
#include "elementary.h"

/* sin(2 pi x), 0 <= x < 1. x is cut to units of 2^-56: exact for x >= 1/16; for smaller x the error
 * of the sine is below 2^-53. */
static double sine_of_turn(double x)
{
    const int64_t of = (int64_t)1 << 56;
    return sin_turns((int64_t)(x * 0x1p56), of);
}

/* fmod removes whole periods without rounding, however many there are. */
static double sine_at(const struct case_signal *s, double time)
{
    double turn = fmod(time, s->period) / s->period + fmod(s->phase, 1);
    turn -= floor(turn);
    return s->mean + s->amplitude * sine_of_turn(turn < 1 ? turn : 0);
}

static double ramp_at(const struct case_signal *s, double time)
{
    const double part = time / s->duration;
    return part < 1 ? part * part * (3 - 2 * part) : 1;
}

static double table_at(const struct case_signal *s, double time)
{
    const double first = s->times[0], last = s->times[s->points - 1];
    if (s->repeat && time > last)
        time = first + fmod(time - first, last - first);
    return linear_at(s->points, s->times, s->values, time);
}

double signal_at(const struct case_signal *s, int64_t step)
{
    switch (s->kind) {
    case SIGNAL_constant:
        return 1;
    case SIGNAL_ramp:
        return ramp_at(s, (double)step);
    case SIGNAL_sine:
        return sine_at(s, (double)step);
    case SIGNAL_table:
        return table_at(s, (double)step);
    case SIGNAL_steer:
        return *s->factor;
    }
    return 1;
}

bool signal_same(const struct case_signal *a, const struct case_signal *b)
{
    if (!a || !b)
        return a == b;
    const size_t bytes = (size_t)a->points * sizeof(double);
    if (a->kind == SIGNAL_steer && b->kind == SIGNAL_steer)
        return strcmp(a->name, b->name) == 0;
    return a->kind == b->kind && a->duration == b->duration && a->period == b->period &&
           a->phase == b->phase && a->mean == b->mean && a->amplitude == b->amplitude &&
           a->points == b->points && a->repeat == b->repeat &&
           (bytes == 0 ||
            (!memcmp(a->times, b->times, bytes) && !memcmp(a->values, b->values, bytes)));
}
