/* Signals: how a value of a case varies in time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/bare.h"
#include "case/input.h"
#include "case/level.h"
#include "case/sections.h"

static double largest(const struct case_numbers *n)
{
    double most = 0;
    for (size_t i = 0; i < n->size[0]; i++)
        most = fmax(most, fabs(n->value[2 * i + 1]));
    return most;
}

/* A table has two columns, times and factors; times must increase. */
static enum status take_table(struct map m, const struct case_numbers *n, struct case_signal *s)
{
    const size_t count = n->size[0];
    if (n->size[1] != 2)
        return input_wrong(m, " has %zu numbers in a line, not 2: a time and a factor", n->size[1]);
    for (size_t i = 0; i < count; i++) {
        const double time = n->value[2 * i] * s->unit;
        if (!isfinite(time))
            return input_wrong(m, ": time %g is too large", n->value[2 * i]);
        if (i && !(time > n->value[2 * i - 2] * s->unit))
            return input_wrong(m, ": time %g is not after the one before, %g (they must rise)",
                               n->value[2 * i], n->value[2 * i - 2]);
    }
    if (count > INT32_MAX)
        return input_wrong(m, " has too many lines");
    if (count > 1 && n->value[2 * count - 2] * s->unit < 1)
        return input_wrong(
            m, " ends within the first step, at %.4g steps (time: 1 s if its times are in s)",
            n->value[2 * count - 2] * s->unit);
    if (s->repeat &&
        (count < 2 || !(fabs(n->value[1] - n->value[2 * count - 1]) <= 1e-3 * largest(n))))
        return input_wrong(
            m,
            " is to repeat, but ends with %.6g and begins with %.6g (add the time at which it "
            "begins again, with its first factor)",
            n->value[2 * count - 1], n->value[1]);
    s->times = malloc(count * sizeof *s->times);
    s->values = malloc(count * sizeof *s->values);
    if (!s->times || !s->values)
        return fail_machine("no memory for a table of %zu times", count);
    s->points = (int)count;
    for (size_t i = 0; i < count; i++) {
        s->times[i] = n->value[2 * i] * s->unit;
        s->values[i] = n->value[2 * i + 1];
    }
    return STATUS_OK;
}

static enum status read_table(struct map m, struct case_signal *s)
{
    char *dataset = NULL;
    struct case_numbers n = {0};
    enum status status = record_read(m, 0, s);
    if (!status && !map_get(m, "time")) /* the file's times are steps */
        bare_note(m.r, m.node, UNIT_TIME, &s->unit, &(bool){true}, 1);
    if (!status && m.r->origin)
        return level_table(m, s);
    if (!status)
        status = input_numbers(m, false, &n, &s->file, &dataset, &s->checksum);
    if (!status)
        status = take_table(m, &n, s);
    free(n.value);
    return status;
}

static enum status read_ramp(struct map m, struct case_signal *s)
{
    const enum status status = value_read(m, "ramp", &s->duration);
    const struct node *const n = map_get(m, "ramp");
    if (status || s->duration >= 1)
        return status;
    return fail_value(
        m.r, n, ": the ramp ends within the first step, at %.3g steps (%s)", s->duration,
        m.r->c->units.given ? "longer; with a unit if it has none, such as 1 s" : "a longer one");
}

enum status signal_read(struct map m, struct case_signal *s)
{
    static const char *const kinds[] = {"ramp", "sine", "table", "steer", NULL};
    struct map found;
    int kind = 0;
    *s = (struct case_signal){.kind = SIGNAL_constant};
    const enum status status = value_kind(m, kinds, "has both", "", &found, &kind);
    if (status || !found.node)
        return status;
    s->kind = (enum signal_kind)(SIGNAL_ramp + kind);
    switch (s->kind) {
    case SIGNAL_constant:
        return STATUS_OK;
    case SIGNAL_ramp:
        return read_ramp(m, s);
    case SIGNAL_sine:
        return record_read(found, 0, s);
    case SIGNAL_table:
        return read_table(found, s);
    case SIGNAL_steer:
        return steer_read(found, s);
    }
    return STATUS_OK;
}

/* Integral of a ramp, s^2 (3 - 2 s) and then 1, from 0 to s; s in durations. */
static double ramp_area(double s)
{
    return s < 1 ? s * s * s * (1 - 0.5 * s) : s - 0.5;
}

/* Integral of a table from time 0 to `end`; it is constant before its first and after its last
 * time. */
static double table_area(const struct case_signal *s, double end)
{
    double sum = 0, before = 0;
    for (int i = 0; i <= s->points; i++) {
        const double low = i ? s->times[i - 1] : 0, high = i < s->points ? s->times[i] : end;
        const double first = s->values[i ? i - 1 : 0],
                     last = s->values[i < s->points ? i : s->points - 1];
        const double from = fmax(low, before), to = fmin(high, end);
        const double slope = i && i < s->points && high > low ? (last - first) / (high - low) : 0;
        if (to > from)
            sum += (to - from) * (first + slope * (0.5 * (from + to) - low));
        before = fmax(before, to);
    }
    return sum;
}

static double mean_of_period(const struct case_signal *s)
{
    double sum = 0;
    for (int i = 1; i < s->points; i++)
        sum += 0.5 * (s->values[i] + s->values[i - 1]) * (s->times[i] - s->times[i - 1]);
    return sum / (s->times[s->points - 1] - s->times[0]);
}

double signal_mean(const struct case_signal *s, int64_t steps)
{
    const double end = steps > 0 ? (double)steps : 1;
    switch (s->kind) {
    case SIGNAL_constant:
        return 1;
    case SIGNAL_ramp:
        return ramp_area(end / s->duration) * s->duration / end;
    case SIGNAL_sine:
        return s->mean;
    case SIGNAL_table:
        return s->repeat ? mean_of_period(s) : table_area(s, end) / end;
    case SIGNAL_steer:
        return s->first;
    }
    return 1;
}

double signal_peak(const struct case_signal *s)
{
    double peak = 0;
    switch (s->kind) {
    case SIGNAL_constant:
    case SIGNAL_ramp:
        return 1;
    case SIGNAL_sine:
        return fabs(s->mean) + fabs(s->amplitude);
    case SIGNAL_table:
        for (int i = 0; i < s->points; i++)
            peak = fmax(peak, fabs(s->values[i]));
        return peak;
    case SIGNAL_steer:
        return fmax(fabs(s->least), fabs(s->most));
    }
    return peak;
}

void signal_range(const struct case_signal *s, double range[2])
{
    range[0] = s->kind == SIGNAL_sine ? s->mean - fabs(s->amplitude) : 1;
    range[1] = s->kind == SIGNAL_sine ? s->mean + fabs(s->amplitude) : 1;
    if (s->kind == SIGNAL_steer) {
        range[0] = s->least;
        range[1] = s->most;
    }
    for (int i = 0; s->kind == SIGNAL_table && i < s->points; i++) {
        range[0] = i ? fmin(range[0], s->values[i]) : s->values[i];
        range[1] = i ? fmax(range[1], s->values[i]) : s->values[i];
    }
}

bool signal_changes_sign(const struct case_signal *s)
{
    double range[2];
    signal_range(s, range);
    return range[0] < 0 && range[1] > 0;
}

/* Only true is written. */
void repeat_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_signal *const s = from;
    (void)key;
    if (s->repeat)
        write_word(w, "repeat", "true");
}

/* Writes the key that is given, ramp, sine, table or steer, at the position of ramp. */
void signal_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_signal *const s =
        (const struct case_signal *)(const void *)((const char *)from + key->at);
    switch (s->kind) {
    case SIGNAL_constant:
        break;
    case SIGNAL_ramp:
        write_key(w, "ramp");
        write_number(w, s->duration);
        break;
    case SIGNAL_sine:
        write_open(w, "sine");
        record_write(w, "force.sine", 0, s); /* these rows are the same everywhere */
        write_close(w);
        break;
    case SIGNAL_table:
        write_open(w, "table");
        record_write(w, "force.table", 0, s);
        write_close(w);
        break;
    case SIGNAL_steer:
        write_open(w, "steer");
        record_write(w, "force.steer", 0, s);
        write_close(w);
        break;
    }
}

void signal_destroy(struct case_signal *s)
{
    free(s->times);
    free(s->values);
    free(s->file);
    free(s->name);
    free(s->factor);
    *s = (struct case_signal){0};
}
