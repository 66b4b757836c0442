/* How something varies in time: the keys ramp, sine and table of a map that has a value. */
#include <stdlib.h>
#include <string.h>

#include "case/sections.h"

/* "<path>.<key>" */
static const char *row_below(const char *path, const char *key, char row[static KEYS_PATH])
{
    snprintf(row, KEYS_PATH, "%.400s.%s", path, key);
    return row;
}

static enum status read_sine(const struct reader *r, const struct node *map, const char *path,
                             struct case_signal *s)
{
    char row[KEYS_PATH], below[KEYS_PATH];
    const struct node *const sine = value_find(map, row_below(path, "sine", row));
    const struct {
        const char *key;
        double *value;
    } keys[] = {
        {"period", &s->period},
        {"phase", &s->phase},
        {"mean", &s->mean},
        {"amplitude", &s->amplitude},
    };
    s->kind = SIGNAL_sine;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const enum status status =
            value_number(r, sine, row_below(row, keys[i].key, below), keys[i].value);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status read_table(const struct reader *r, const struct node *map, const char *row,
                              struct case_signal *s)
{
    char path[NODE_PATH];
    s->kind = SIGNAL_table;
    const enum status status = value_table(r, map, row, &s->points, &s->times, &s->values);
    if (status)
        return status;
    for (int k = 1; k < s->points; k++)
        if (!(s->times[k] > s->times[k - 1])) {
            const struct node *const n = value_find(map, row);
            node_path(n, path, sizeof path);
            return fail_at(r->document, n->at,
                           "%s: time %g after time %g (points must be in order of time)", path,
                           s->times[k], s->times[k - 1]);
        }
    return STATUS_OK;
}

enum status signal_read(const struct reader *r, const struct node *map, const char *path,
                        struct case_signal *s)
{
    static const char *const kinds[] = {"ramp", "sine", "table"};
    char row[KEYS_PATH], other[KEYS_PATH], why[64];
    const char *kind = NULL;
    *s = (struct case_signal){.kind = SIGNAL_constant};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!value_find(map, row_below(path, kinds[i], other)))
            continue;
        if (kind) {
            snprintf(why, sizeof why, "with %s", kind);
            return value_refuse(r, map, other, why);
        }
        kind = kinds[i];
        memcpy(row, other, sizeof row);
    }
    if (!kind)
        return STATUS_OK;
    if (kind == kinds[1])
        return read_sine(r, map, path, s);
    if (kind == kinds[2])
        return read_table(r, map, row, s);
    s->kind = SIGNAL_ramp;
    return value_number(r, map, row, &s->duration);
}

void signal_destroy(struct case_signal *s)
{
    free(s->times);
    free(s->values);
    *s = (struct case_signal){.kind = SIGNAL_constant};
}
