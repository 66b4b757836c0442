/* Signals: how a value of a case varies in time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/sections.h"

static enum status read_sine(const struct reader *r, const struct node *map, const char *row,
                             struct case_signal *s)
{
    const struct {
        const char *key;
        double *value;
    } keys[] = {{"period", &s->period},
                {"phase", &s->phase},
                {"mean", &s->mean},
                {"amplitude", &s->amplitude}};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < sizeof keys / sizeof *keys && !status; k++)
        status = value_number(r, map, keys_below(row, keys[k].key).text, keys[k].value);
    return status;
}

/* Two columns, times that rise. */
static enum status take_table(const struct reader *r, const struct node *map,
                              const struct case_numbers *n, struct case_signal *s)
{
    const size_t count = n->size[0];
    if (n->size[1] != 2)
        return input_wrong(r, map, " has %zu numbers in a line, not 2: a time and a factor",
                           n->size[1]);
    for (size_t i = 0; i < count; i++) {
        const double time = n->value[2 * i] * s->unit;
        if (!isfinite(time))
            return input_wrong(r, map, ": time %g is too large", n->value[2 * i]);
        if (i && !(time > n->value[2 * i - 2] * s->unit))
            return input_wrong(r, map, ": time %g is not after the one before, %g (they must rise)",
                               n->value[2 * i], n->value[2 * i - 2]);
    }
    if (count > INT32_MAX)
        return input_wrong(r, map, " has too many lines");
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

static enum status read_table(const struct reader *r, const struct node *map, const char *row,
                              struct case_signal *s)
{
    char *dataset = NULL;
    struct case_numbers n = {0};
    enum status status = value_number(r, map, keys_below(row, "time").text, &s->unit);
    if (status ||
        (status = input_numbers(r, map, row, false, &n, &s->file, &dataset, &s->checksum)))
        return status;
    status = take_table(r, map, &n, s);
    free(n.value);
    return status;
}

enum status signal_read(const struct reader *r, const struct node *map, const char *path,
                        struct case_signal *s)
{
    static const struct {
        const char *key;
        enum signal_kind kind;
    } kinds[] = {{"ramp", SIGNAL_ramp}, {"sine", SIGNAL_sine}, {"table", SIGNAL_table}};
    char where[NODE_PATH];
    const struct node *found = NULL;
    *s = (struct case_signal){.kind = SIGNAL_constant};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct node *n = node_get(map, kinds[k].key);
        if (n && found) {
            node_path(map, where, sizeof where);
            return fail_at(r->document, n->key_at, "%s has both %s and %s (keep one)", where,
                           found->key, n->key);
        }
        if (n) {
            found = n;
            s->kind = kinds[k].kind;
        }
    }
    switch (s->kind) {
    case SIGNAL_constant:
        return STATUS_OK;
    case SIGNAL_ramp:
        return value_number(r, map, keys_below(path, "ramp").text, &s->duration);
    case SIGNAL_sine:
        return read_sine(r, found, keys_below(path, "sine").text, s);
    case SIGNAL_table:
        return read_table(r, found, keys_below(path, "table").text, s);
    }
    return STATUS_OK;
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

void signal_write(FILE *to, const char *before, const struct case_signal *s)
{
    switch (s->kind) {
    case SIGNAL_constant:
        break;
    case SIGNAL_ramp:
        fprintf(to, "%s", before);
        put_number(to, "ramp: ", s->duration, "");
        break;
    case SIGNAL_sine:
        fprintf(to, "%s", before);
        put_number(to, "sine: {period: ", s->period, ", ");
        put_number(to, "phase: ", s->phase, ", ");
        put_number(to, "mean: ", s->mean, ", ");
        put_number(to, "amplitude: ", s->amplitude, "}");
        break;
    case SIGNAL_table:
        fprintf(to, "%stable: {file: ", before);
        put_text(to, s->file);
        put_number(to, ", time: ", s->unit, "");
        put_checksum(to, s->checksum);
        fputc('}', to);
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
