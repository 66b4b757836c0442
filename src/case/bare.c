/* Numbers without a unit in a case with units; see bare.h. */
#include "case/bare.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"

/* The rule of the innermost key of this path that has one. */
static enum bare_rule rule_of(const char *path)
{
    char outer[NODE_PATH], pattern[KEYS_PATH];
    snprintf(outer, sizeof outer, "%s", path);
    for (char *dot = outer; dot; dot = strrchr(outer, '.')) {
        if (dot > outer)
            *dot = '\0';
        if (keys_match(outer, pattern) && keys_row(pattern)->bare)
            return keys_row(pattern)->bare;
    }
    return BARE_UNIT;
}

/* Could it be meant in m? It is short in cells, no multiple of half a cell, at which planes and
 * centres of cells are, and as a length in m it fits into the box. */
static bool is_small_length(const struct flow_case *c, const double *value, const bool *bare,
                            int count)
{
    static const double most = 10; /* cells */
    double largest = 0, box = 0;
    bool halves = true;
    for (int k = 0; k < count; k++) {
        if (!bare[k])
            continue;
        largest = fmax(largest, fabs(value[k]));
        halves = halves && floor(2 * value[k]) == 2 * value[k];
    }
    for (int a = 0; a < 3; a++)
        box = fmax(box, c->cells[a] * c->units.cell);
    if (count == 1 && largest <= 1) /* no radius or length is so short */
        halves = false;
    return largest > 0 && largest < most && largest <= box && !halves;
}

/* Where lattice values are usual, only improbable ones are slips. */
static bool is_slip(const struct flow_case *c, enum bare_rule rule, enum key_unit unit,
                    const double *value, const bool *bare, int count)
{
    static const double few_steps = 10, large_capacity = 1e4;
    const bool length = unit == UNIT_LENGTH || unit == UNIT_AREA;
    if (!c->units.given && !(length && c->units.cell > 0))
        return false;
    if (rule == BARE_NEVER || rule == BARE_ALWAYS)
        return rule == BARE_ALWAYS;
    switch (unit) {
    case UNIT_LENGTH:
        return is_small_length(c, value, bare, count);
    case UNIT_TIME:
        return value[0] < few_steps;
    case UNIT_RATE:
    case UNIT_ROTATION:
    case UNIT_AREA:
    case UNIT_VELOCITY:
    case UNIT_VISCOSITY:
    case UNIT_ACCELERATION:
    case UNIT_PRESSURE:
    case UNIT_STRESS:
    case UNIT_DIFFUSIVITY:
    case UNIT_SLOWNESS:
    case UNIT_HEATING:
    case UNIT_HEAT_FLUX:
    case UNIT_TRANSFER:
    case UNIT_RESISTANCE:
    case UNIT_CONDUCTIVITY:
    case UNIT_HEAT_SOURCE:
        return true;
    case UNIT_CAPACITY: /* relative to the fluid's */
        return value[0] > large_capacity;
    default:
        return false;
    }
}

/* Keys of one pair of faces are read twice. */
static void add(struct case_bare *to, const char *path, bool body, double value)
{
    char earlier[sizeof to->key] = "";
    const size_t length = strlen(to->others);
    if (!strcmp(to->key, path) || (*to->others && strstr(to->others, path)))
        return;
    const bool first = !to->count++ || (body && !to->body);
    if (first) {
        memcpy(earlier, to->key, sizeof earlier);
        snprintf(to->key, sizeof to->key, "%.127s", path);
        to->value = value;
        to->body = body;
        path = earlier;
    }
    if (!*path || length + strlen(path) + 3 > sizeof to->others)
        return;
    snprintf(to->others + length, sizeof to->others - length, "%s%s", length ? ", " : "", path);
    to->listed++;
}

void bare_note(const struct reader *r, const struct node *n, enum key_unit unit,
               const double *value, const bool *bare, int count)
{
    static const double least_viscosity = 1e-4; /* no lattice viscosity is so small */
    char path[NODE_PATH];
    double largest = 0;
    if (!r->unitless)
        return;
    for (int k = 0; k < count; k++)
        if (bare[k] && fabs(value[k]) > fabs(largest))
            largest = value[k];
    node_path(n, path, sizeof path);
    if (!*path || largest == 0) /* no path: a default */
        return;
    const enum bare_rule rule = rule_of(path);
    if (!is_slip(r->c, rule, unit, value, bare, count))
        return;
    assert(unit < CASE_UNITS);
    struct case_bare *const to = &r->unitless->bare[unit];
    to->sure = to->sure || (unit == UNIT_VISCOSITY && largest < least_viscosity);
    add(to, path, rule == BARE_BODY, largest);
}

const char *bare_length_text(const struct flow_case *c, char text[256])
{
    const struct case_bare *const b = &c->unitless.bare[UNIT_LENGTH];
    *text = '\0';
    if (b->body)
        snprintf(text, 256, "; %s is %g without a unit, so %g cells (write %g m if you mean that)",
                 b->key, b->value, b->value, b->value);
    return text;
}
