/* Signals: how a value of a case varies in time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
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
    static const char *const kinds[] = {"ramp", "sine", "table", NULL};
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
    }
    return peak;
}

void signal_range(const struct case_signal *s, double range[2])
{
    range[0] = s->kind == SIGNAL_sine ? s->mean - fabs(s->amplitude) : 1;
    range[1] = s->kind == SIGNAL_sine ? s->mean + fabs(s->amplitude) : 1;
    for (int i = 0; s->kind == SIGNAL_table && i < s->points; i++) {
        range[0] = i ? fmin(range[0], s->values[i]) : s->values[i];
        range[1] = i ? fmax(range[1], s->values[i]) : s->values[i];
    }
}

static bool changes_sign(const struct case_signal *s)
{
    double range[2];
    signal_range(s, range);
    return range[0] < 0 && range[1] > 0;
}

/* A table that ends flat, and not where it began, is meant to stay there. */
static void warn_end(const struct flow_case *c, const struct case_signal *s, const char *of,
                     const char *name)
{
    const int last = s->points - 1;
    char time[64] = "";
    if (s->kind != SIGNAL_table || s->repeat || last < 1 ||
        s->times[last] >= (double)c->run.steps ||
        (s->values[last] == s->values[last - 1] && s->values[last] != s->values[0]))
        return;
    if (c->units.given)
        snprintf(time, sizeof time, " (%.4g s)", s->times[last] * c->units.dt);
    warn("%s%s: its table ends at step %.6g%s, and the run has %lld steps: the last factor, %.4g, "
         "stays (repeat: true in table for a pulse; a further line at the end of the run if it is "
         "meant)",
         of, name, s->times[last], time, (long long)c->run.steps, s->values[last]);
}

/* Does the opening draw fluid out of the box (-1), let it in (1), or both (0)? */
static int direction_of(const struct flow_case *c, int k)
{
    const struct case_face *const what = case_opening(c, k);
    const int side = case_opening_side(c, k);
    const double in = (side % 2 ? -1 : 1) * what->velocity[side / 2];
    double range[2];
    signal_range(&what->signal, range);
    return changes_sign(&what->signal) || what->profile == PROFILE_table ? 0
           : in * (range[0] + range[1]) < 0                              ? -1
                                                                         : 1;
}

struct opening_name {
    char text[CASE_NAME + 16];
};

static struct opening_name opening_name(const struct flow_case *c, int k)
{
    struct opening_name name;
    snprintf(name.text, sizeof name.text, "%s.%s", k < 6 ? "faces" : "patches",
             k < 6 ? face_name(k) : c->patches[k - 6].name);
    return name;
}

/* Does the opening make the flow turn round? Only a pressure or a velocity across the face does. */
static bool turns_flow(const struct flow_case *c, int k)
{
    const struct case_face *const what = case_opening(c, k);
    const bool drives = what->kind == FACE_velocity
                            ? what->velocity[case_opening_side(c, k) / 2] != 0
                            : what->kind == FACE_pressure && what->density != 1;
    return drives && changes_sign(&what->signal);
}

/* Fluid that comes in through `outflow` diverges: where a flow reverses, or is only drawn out. */
static void warn_backflow(const struct flow_case *c)
{
    const bool pushed = magnitude(c->acceleration) > 0;
    int outflow = -1, turns = -1, draws = -1;
    bool comes = pushed;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        const bool given =
            what->kind == FACE_velocity && what->velocity[case_opening_side(c, k) / 2] != 0;
        outflow = what->kind == FACE_outflow ? k : outflow;
        turns = turns_flow(c, k) ? k : turns;
        draws = given && direction_of(c, k) < 0 ? k : draws;
        comes = comes || (given && direction_of(c, k) >= 0) || what->kind == FACE_pressure;
    }
    const bool force = pushed && changes_sign(&c->force_signal);
    if (outflow < 0)
        return;
    if (turns >= 0 || force)
        warn("%s: the flow reverses, and %s is outflow: that is for fluid that leaves, and becomes "
             "unstable where fluid comes in (take pressure or nonreflecting there)",
             force ? "force" : opening_name(c, turns).text, opening_name(c, outflow).text);
    else if (draws >= 0 && !comes)
        warn("%s draws fluid out of the box, so that it comes in through %s: outflow is for fluid "
             "that leaves (take pressure there, or turn the velocity)",
             opening_name(c, draws).text, opening_name(c, outflow).text);
}

void signals_warn(const struct flow_case *c)
{
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        const struct opening_name name = opening_name(c, k);
        warn_end(c, &what->signal, "", name.text);
        for (int i = 0; i < c->scalar_count; i++)
            warn_end(c, &what->scalar[i].signal, "", name.text);
    }
    for (int k = 0; k < c->body_count; k++)
        for (int i = 0; i < c->scalar_count; i++)
            warn_end(c, &c->bodies[k].scalar[i].signal, "bodies.", c->bodies[k].name);
    warn_end(c, &c->force_signal, "force", "");
    warn_backflow(c);
}

/* Only true is written. */
void repeat_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_signal *const s = from;
    (void)key;
    if (s->repeat)
        write_word(w, "repeat", "true");
}

/* Writes the key that is given, ramp, sine or table, at the position of ramp. */
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
    }
}

void signal_destroy(struct case_signal *s)
{
    free(s->times);
    free(s->values);
    free(s->file);
    *s = (struct case_signal){0};
}
