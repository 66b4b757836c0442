/* Typed values out of the tree; see value.h. */
#include "case/value.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/bare.h"
#include "case/nearest.h"
#include "case/wall.h"

static const char *last_segment(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

struct node *map_get(struct map m, const char *key)
{
    return node_get(m.node, key);
}

const struct key *map_row(struct map m, const char *key)
{
    return keys_row(*m.row ? keys_below(m.row, key).text : key);
}

struct map map_below(struct map m, const char *key)
{
    return (struct map){m.r, map_get(m, key), map_row(m, key)->path};
}

static struct node *take(struct map m, const char *key)
{
    struct node *n = map_get(m, key);
    if (n)
        n->used = true;
    return n;
}

enum status value_refuse(struct map m, const char *key, const char *why)
{
    const struct node *n = map_get(m, key);
    return n ? fail_key(m.r, n, " has no effect %s (remove it)", why) : STATUS_OK;
}

enum status value_missing(struct map m, const char *key, const char *instead)
{
    char path[NODE_PATH];
    const char *const example = map_row(m, key)->example;
    const struct node *root = m.r->document->root, *const n = m.node ? m.node : root;
    const struct place at = n->key ? n->key_at : n->at;
    if (!*m.row) /* a section */
        return fail_at(m.r->document, at, "%s%s is missing (for example %s: %s)", key, instead, key,
                       example);
    node_path(m.node, path, sizeof path);
    if (!m.node)
        snprintf(path, sizeof path, "%.*s", (int)strcspn(m.row, "."), m.row);
    return fail_at(m.r->document, at, "%s.%s%s is missing (for example %s: {%s: %s})", path, key,
                   instead, last_segment(path), key, example);
}

enum status value_one_of(struct map m, const char *a, const char *b)
{
    char path[NODE_PATH], other[NODE_PATH], instead[NODE_PATH + 8];
    const struct node *first = map_get(m, a), *second = map_get(m, b);
    if (!first && !second) {
        node_path(m.node, path, sizeof path);
        snprintf(instead, sizeof instead, " or %s.%s", path, b);
        return value_missing(m, a, instead);
    }
    if (!first || !second)
        return STATUS_OK;
    const struct node *later = second; /* a --set comes after the file */
    for (const struct node *n = second->next; n; n = n->next)
        if (n == first)
            later = first;
    if (first->key_at.set || second->key_at.set)
        later = second->key_at.set ? second : first;
    node_path(first, path, sizeof path);
    node_path(second, other, sizeof other);
    return fail_at(m.r->document, later->key_at, "both %s and %s are given (keep one)", path,
                   other);
}

static enum status fail_path(const struct reader *r, const struct node *n, struct place at,
                             const char *format, va_list list)
{
    char path[NODE_PATH], message[1024];
    node_path(n, path, sizeof path);
    vsnprintf(message, sizeof message, format, list);
    return fail_at(r->document, at, "%s%s", path, message);
}

enum status fail_value(const struct reader *r, const struct node *n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const enum status s = fail_path(r, n, n->at, format, list);
    va_end(list);
    return s;
}

enum status fail_key(const struct reader *r, const struct node *n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const enum status s = fail_path(r, n, n->key_at, format, list);
    va_end(list);
    return s;
}

enum status value_kind(struct map m, const char *const *names, const char *has, const char *also,
                       struct map *found, int *kind)
{
    char path[NODE_PATH];
    *found = (struct map){.r = m.r};
    node_path(m.node, path, sizeof path);
    for (int k = 0; names[k]; k++) {
        const struct node *const n = map_get(m, names[k]);
        if (n && found->node)
            return fail_at(m.r->document, n->key_at, "%s %s %s and %s (keep one%s)", path, has,
                           found->node->key, n->key, also);
        if (n) {
            *found = map_below(m, names[k]);
            *kind = k;
        }
    }
    return STATUS_OK;
}

static bool is_null(const struct node *n)
{
    return n->kind == NODE_SCALAR && n->plain &&
           (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

/* A single value; in plain style it must not be empty or null. */
static bool is_scalar(const struct node *n)
{
    return n->kind == NODE_SCALAR && !is_null(n);
}

/* A number without a unit. */
static bool is_bare(const struct node *n)
{
    struct quantity q;
    return !quantity_parse(n->text, &q) && q.bare;
}

static bool is_word(const struct node *n)
{
    return is_scalar(n) && *n->text;
}

enum status value_wrong(const struct reader *r, const struct node *n, const struct key *key)
{
    char path[NODE_PATH], type[KEYS_TYPE], quoted[TEXT_QUOTE], list[32];
    snprintf(list, sizeof list, "a list of %d", n->count);
    node_path(n, path, sizeof path);
    type_text(key, type, sizeof type);
    const char *got = n->kind == NODE_MAPPING    ? "a map"
                      : n->kind == NODE_SEQUENCE ? list
                      : is_null(n)               ? "nothing"
                                                 : quote_text(n->text, quoted);
    return fail_value(r, n, " is %s; expected %s (for example %s: %s)", got, type,
                      last_segment(path), key->example);
}

/* A value in the tree and the row of its key. */
struct given {
    const struct reader *r;
    const struct node *n;
    const struct key *key;
};

/* An entry of a list. */
static struct given item(struct given list, const struct node *n)
{
    return (struct given){list.r, n, list.key};
}

static enum status wrong(struct given g)
{
    return value_wrong(g.r, g.n, g.key);
}

/* More about a number out of range: pressures are relative; one without a unit beside `units` may
 * be meant in that unit. */
static void advice_of(struct given g, char text[192])
{
    const bool scalar = g.n->kind == NODE_SCALAR;
    const struct node *number = scalar ? g.n : g.n->first;
    struct quantity q = {.value = 0};
    *text = '\0';
    if (g.key->unit == UNIT_PRESSURE) {
        snprintf(
            text, 192,
            "; pressures are relative to that of the fluid at rest: write 0 for it, also where it "
            "is 1 bar, or the difference%s",
            g.r->c->units.given ? "; with a smaller units.dt larger ones fit" : "");
        return;
    }
    if (g.key->type == KEY_PHYSICAL || !unit_info(g.key->unit)->dimension.s || !g.r->c->units.given)
        return;
    for (; number; number = scalar ? NULL : number->next)
        if (number->kind == NODE_SCALAR && !quantity_parse(number->text, &q) && q.bare && q.value) {
            snprintf(text, 192, "; %.40s %s has a unit", number->text,
                     unit_info(g.key->unit)->symbol);
            return;
        }
}

/* `value`: the compared number, in lattice units, steps or SI units; `computed`: it was computed,
 * the text does not show it. */
static enum status out_of_range(struct given g, double value, bool computed)
{
    char range[128], quoted[TEXT_QUOTE], advice[192], also[64] = "";
    const bool steps =
        g.key->type == KEY_INTERVAL || g.key->type == KEY_STEP || g.key->type == KEY_DUE;
    const char *unit = steps                                         ? " steps"
                       : g.key->type == KEY_PHYSICAL || !g.key->unit ? ""
                                                                     : " in lattice units";
    range_text(g.key, range, sizeof range);
    advice_of(g, advice);
    if (g.n->kind != NODE_SCALAR)
        return fail_value(g.r, g.n, ": magnitude %g is out of range (%s%s%s)", value, range, unit,
                          advice);
    if (computed)
        snprintf(also, sizeof also, ", %g%s,", value, unit);
    return fail_value(g.r, g.n, ": %s%s is out of range (%s%s%s)", quote_text(g.n->text, quoted),
                      also, range, unit, advice);
}

static bool in_range(const struct key_range *range, double value)
{
    return (range->low_open ? value > range->low : value >= range->low) &&
           (range->high_open ? value < range->high : value <= range->high);
}

/* Numbers of a level above 0 were checked as those of level 0, whose units the range has. */
static bool allowed(struct given g, double value)
{
    return g.r->origin || in_range(&g.key->range, value);
}

/* The unit of a row; other for a species. */
static enum key_unit unit_of(struct given g)
{
    const bool species = g.r->scalar && g.r->scalar->kind == SCALAR_KIND_species;
    return species ? unit_of_species(g.key->unit) : g.key->unit;
}

/* Values of a scalar are kept relative to its reference. */
static double relative(struct given g, double value)
{
    const bool is_value =
        g.r->scalar && (g.key->unit == UNIT_TEMPERATURE || g.key->unit == UNIT_SHOWN);
    return is_value ? value - g.r->scalar->reference + 0.0 : value; /* no -0 */
}

/* A number with an energy is one of the fluid's heat capacity of a volume times a number without. A
 * temperature stays: 1 K. */
double lattice_unit(const struct case_units *units, enum key_unit unit)
{
    const struct quantity_scale scale = {units->cell, units->dt, units->density};
    const struct dimension energy = {0, 0, unit_info(unit)->dimension.kg, 0};
    const enum key_unit other = unit_of_species(unit);
    const struct quantity_scale heat = {1, 1, units->density * units->heat_capacity};
    return quantity_unit(unit_info(other)->dimension, &scale) *
           (other == unit ? 1 : quantity_unit(energy, &heat));
}

/* Have the case's units what this unit needs? */
static enum status check_units(struct given g, const struct quantity *q, enum key_unit unit,
                               const char *quoted)
{
    const struct case_units *const units = &g.r->c->units;
    const struct dimension d = unit_info(unit_of_species(unit))->dimension;
    const bool heat = unit_of_species(unit) != unit, energy = heat && q->dimension.kg;
    const bool length =
        d.s == 0 && d.kg == 0 && (heat && (d.m == 0 || energy) ? !energy : units->cell > 0);
    if (!units->given && !length)
        return fail_value(g.r, g.n,
                          ": %s has a unit, which needs units (units: {dx: 5 mm, dt: 1 ms}, or a "
                          "number in lattice units)",
                          quoted);
    if (energy && !(units->heat_capacity > 0))
        return fail_value(g.r, g.n,
                          ": %s has a unit of energy, which needs units.heat_capacity of the fluid "
                          "(for example units: {density: 1000 kg/m3, heat_capacity: 4180 J/kg/K})",
                          quoted);
    return STATUS_OK;
}

/* Is any value of the tree in degC? */
static bool has_celsius(const struct node *n)
{
    struct quantity q;
    if (n->kind == NODE_SCALAR)
        return n->text && !quantity_parse(n->text, &q) && q.celsius;
    for (const struct node *c = n->first; c; c = c->next)
        if (has_celsius(c))
            return true;
    return false;
}

/* A temperature without a unit is in K, which is hardly meant where others are in degC. `path`: ""
 * of a default. */
static enum status check_bare(struct given g, const char *path, const char *quoted)
{
    if (!*path || !g.r->unitless || !has_celsius(g.r->document->root))
        return STATUS_OK;
    return fail_value(g.r, g.n,
                      ": %s has no unit, so that it is in K, and other temperatures are in degC "
                      "(write %s degC or %s K)",
                      quoted, g.n->text, g.n->text);
}

/* A quantity in lattice units, or in SI units if the row must have a unit; range not yet checked.
 */
static enum status number_of(struct given g, enum key_unit unit, double *value, bool *converted)
{
    char path[NODE_PATH], quoted[TEXT_QUOTE];
    struct quantity q;
    enum status s;
    const struct unit_info *info = unit_info(unit);
    const bool physical = g.key->type == KEY_PHYSICAL || g.key->type == KEY_SIZE;
    const char *end;
    if (!is_scalar(g.n))
        return wrong(g);
    const char *problem = quantity_parse(g.n->text, &q);
    const bool starts = !number_parse(g.n->text, &end, value);
    node_path(g.n, path, sizeof path);
    quote_text(g.n->text, quoted);
    if (problem && !starts && !strstr(problem, "large"))
        return wrong(g);
    if (problem)
        return fail_value(g.r, g.n, ": %s %s", quoted, problem);
    if (q.bare && physical)
        return fail_value(g.r, g.n, ": %s has no unit (for example %s)", quoted, info->example);
    if (q.bare && unit == UNIT_TEMPERATURE && (s = check_bare(g, path, quoted)))
        return s;
    *converted = !q.bare && !physical;
    if (g.r->unitless && !q.bare && g.key->type != KEY_PHYSICAL)
        g.r->unitless->others++;
    if (!q.bare && !dimension_equal(q.dimension, info->dimension))
        return fail_value(g.r, g.n, ": %s is not %s (for example %s)", quoted, info->noun,
                          info->example);
    if (q.celsius && unit != UNIT_TEMPERATURE)
        return fail_value(g.r, g.n, ": %s is a temperature, not %s (write K)", quoted, info->noun);
    if (!q.bare && unit == UNIT_TEMPERATURE && q.value < 0)
        return fail_value(g.r, g.n, ": %s is below the absolute zero (is it in degC?)", quoted);
    if (*converted && (s = check_units(g, &q, unit, quoted)))
        return s;
    *value = *converted ? q.value / lattice_unit(&g.r->c->units, unit) : q.value;
    if (!isfinite(*value))
        return fail_value(g.r, g.n, ": %s is too large in lattice units", quoted);
    return STATUS_OK;
}

/* Reads a number with an exponent, such as 1e6 or 2.5e3. True if it is whole; above 2^53 every
 * double counts as whole and gives LLONG_MAX. */
static bool whole_power(const char *text, long long *value)
{
    static const double most = 9007199254740992; /* 2^53 */
    const char *end;
    double number;
    if (!strpbrk(text, "eE") || number_parse(text, &end, &number) || *end)
        return false;
    const bool whole = fabs(number) > most || floor(number) == number;
    *value = fabs(number) > most ? LLONG_MAX : (long long)number;
    return whole;
}

static enum status integer_of(struct given g, int64_t *value)
{
    char *end;
    if (!is_scalar(g.n))
        return wrong(g);
    errno = 0;
    long long parsed = strtoll(g.n->text, &end, 10);
    if (end == g.n->text || isspace((unsigned char)*g.n->text))
        return wrong(g);
    if (*end && !whole_power(g.n->text, &parsed))
        return wrong(g);
    if (errno || !allowed(g, (double)parsed))
        return out_of_range(g, 0, false);
    *value = parsed;
    return STATUS_OK;
}

static enum status integers_of(struct given g, int value[3])
{
    enum status s = STATUS_OK;
    if (g.n->kind != NODE_SEQUENCE || g.n->count != 3)
        return wrong(g);
    for (const struct node *c = g.n->first; c && !s; c = c->next) {
        int64_t wide = 0;
        s = integer_of(item(g, c), &wide);
        *value++ = (int)wide;
    }
    return s;
}

/* auto gives 0. */
static enum status count_of(struct given g, int64_t *value)
{
    *value = 0;
    return g.n->kind == NODE_SCALAR && !strcmp(g.n->text, "auto") ? STATUS_OK
                                                                  : integer_of(g, value);
}

/* auto gives 0 0 0. */
static enum status ranks_of(struct given g, int value[3])
{
    if (g.n->kind != NODE_SCALAR || strcmp(g.n->text, "auto") != 0)
        return integers_of(g, value);
    value[0] = value[1] = value[2] = 0;
    return STATUS_OK;
}

static enum status labels_of(struct given g, int *value, int *count)
{
    const int most = (int)(g.key->size / sizeof *value);
    const bool list = g.n->kind == NODE_SEQUENCE;
    if (g.n->kind == NODE_MAPPING || (list && !g.n->count))
        return wrong(g);
    if (list && g.n->count > most)
        return fail_value(g.r, g.n, " is a list of %d (at most %d)", g.n->count, most);
    *count = 0;
    for (const struct node *c = list ? g.n->first : g.n; c; c = list ? c->next : NULL) {
        int64_t wide = 0;
        const enum status s = integer_of(item(g, c), &wide);
        if (s)
            return s;
        for (int k = 0; k < *count; k++)
            if (value[k] == wide)
                return fail_value(g.r, c, ": %d is named twice (keep one)", value[k]);
        value[(*count)++] = (int)wide;
    }
    return STATUS_OK;
}

static enum status checked_number(struct given g, double *value)
{
    double number = 0;
    bool converted = false, bare;
    const enum status s = number_of(g, unit_of(g), &number, &converted);
    if (s)
        return s;
    if (!allowed(g, number))
        return out_of_range(g, number, converted);
    bare = !converted && g.key->type != KEY_PHYSICAL;
    bare_note(g.r, g.n, unit_of(g), &number, &bare, 1);
    *value = relative(g, number);
    return STATUS_OK;
}

/* auto gives 0. */
static enum status number_or_auto(struct given g, double *value)
{
    *value = 0;
    return g.n->kind == NODE_SCALAR && !strcmp(g.n->text, "auto") ? STATUS_OK
                                                                  : checked_number(g, value);
}

static enum status numbers_of(struct given g, enum key_unit unit, int count, double *value)
{
    bool bare[3];
    double square = 0;
    int i = 0;
    if (g.n->kind != NODE_SEQUENCE || g.n->count != count)
        return wrong(g);
    for (const struct node *c = g.n->first; c; c = c->next, i++) {
        bool converted = false;
        const enum status s = number_of(item(g, c), unit, &value[i], &converted);
        if (s)
            return s;
        bare[i] = !converted && g.key->type != KEY_SIZE;
        square += value[i] * value[i];
        if (g.key->type != KEY_VECTOR && !allowed(g, value[i]))
            return out_of_range(item(g, c), value[i], converted);
    }
    if (g.key->type == KEY_VECTOR && !allowed(g, sqrt(square)))
        return out_of_range(g, sqrt(square), true);
    bare_note(g.r, g.n, unit, value, bare, count);
    for (i = 0; i < count; i++)
        value[i] = relative(g, value[i]);
    return STATUS_OK;
}

enum status value_range(struct map m, const char *key, enum key_unit unit, double value[2])
{
    return numbers_of((struct given){m.r, take(m, key), map_row(m, key)}, unit, 2, value);
}

enum status value_no_choice(const struct reader *r, const struct node *n, const struct key *key)
{
    char quoted[TEXT_QUOTE], known[256], alone[128] = "";
    const char *near = nearest_choice(key->choices, n->text);
    if (!near && key->alone)
        near = nearest_choice(key->alone, n->text);
    choice_text(key->choices, known, sizeof known);
    if (key->alone)
        choice_text(key->alone, alone, sizeof alone);
    if (key->type == KEY_WATCHED)
        strcpy(alone, "or a column of a series such as drag.c_x");
    const bool scalars = key->type == KEY_ARRAYS || key->type == KEY_SHOWN;
    for (int k = 0; scalars && k < r->c->scalar_count && strlen(alone) + CASE_NAME < sizeof alone;
         k++)
        snprintf(alone + strlen(alone), sizeof alone - strlen(alone), "%s%s", k ? ", " : "",
                 r->c->scalars[k].name);
    return fail_value(r, n, ": %s is none of %s%s%s%s%s%s", quote_text(n->text, quoted), known,
                      *alone ? ", " : "", alone, near ? " (did you mean " : "", near ? near : "",
                      near ? "?)" : "");
}

static enum status choice_of(struct given g, int *value)
{
    if (!is_scalar(g.n))
        return wrong(g);
    *value = choice_index(g.key->choices, g.n->text);
    return *value >= 0 ? STATUS_OK : value_no_choice(g.r, g.n, g.key);
}

/* Reads a direction; an axis' name gives a vector of length 1. */
static enum status axis_of(struct given g, double value[3])
{
    if (g.n->kind == NODE_MAPPING || is_null(g.n))
        return wrong(g);
    if (g.n->kind == NODE_SCALAR) {
        int axis = 0;
        const enum status s = choice_of(g, &axis);
        for (int a = 0; a < 3; a++)
            value[a] = a == axis;
        return s;
    }
    const enum status s = numbers_of(g, UNIT_NONE, 3, value);
    if (s || value[0] != 0 || value[1] != 0 || value[2] != 0)
        return s;
    return fail_value(g.r, g.n, ": all three are 0, which is no direction");
}

/* A bit for each choice that is named, and for each scalar if `scalars` is not NULL. */
static enum status choices_of(struct given g, unsigned *value, unsigned *scalars)
{
    const bool list = g.n->kind == NODE_SEQUENCE;
    *value = 0;
    if (scalars)
        *scalars = 0;
    if (list && !g.n->count)
        return wrong(g);
    for (const struct node *c = list ? g.n->first : g.n; c; c = list ? c->next : NULL) {
        char quoted[TEXT_QUOTE];
        const int scalar = scalars && is_word(c) ? scalar_index(g.r->c, c->text) : -1;
        unsigned *const bits = scalar < 0 ? value : scalars;
        int index = scalar;
        const enum status s = scalar < 0 ? choice_of(item(g, c), &index) : STATUS_OK;
        if (s)
            return s;
        if (*bits & (1u << index))
            return fail_value(g.r, c, ": %s is named twice (keep one)",
                              quote_text(c->text, quoted));
        *bits |= 1u << index;
    }
    return STATUS_OK;
}

/* A choice, or the number of choices and a scalar. */
static enum status shown_of(struct given g, int *value, int *scalar)
{
    const int found = is_word(g.n) ? scalar_index(g.r->c, g.n->text) : -1;
    if (found < 0)
        return choice_of(g, value);
    *scalar = found;
    for (*value = 0; g.key->choices[*value]; ++*value)
        continue;
    return STATUS_OK;
}

enum status value_columns(struct map m, const char *key, unsigned *value, int *word)
{
    char quoted[TEXT_QUOTE];
    const struct given g = {m.r, take(m, key), map_row(m, key)};
    *word = -1;
    *value = 0;
    if (!g.n)
        return value_missing(m, key, "");
    if (g.n->kind == NODE_SCALAR && (*word = choice_index(g.key->alone, g.n->text)) >= 0)
        return STATUS_OK;
    for (const struct node *c = g.n->kind == NODE_SEQUENCE ? g.n->first : NULL; c; c = c->next)
        if (c->kind == NODE_SCALAR && choice_index(g.key->alone, c->text) >= 0)
            return fail_value(m.r, c, ": %s stands alone, it is no column (%s: %s)",
                              quote_text(c->text, quoted), key, c->text);
    return choices_of(g, value, NULL);
}

/* Unit conversion gives 82.000000000000014 where the user means the face of a cell. */
static double snap_to_half(double position)
{
    const double half = round(2 * position) / 2;
    return fabs(position - half) <= 1e-9 * fmax(1, fabs(position)) ? half : position;
}

/* A position along an axis of the box. *bare: it has no unit. */
static enum status position_of(struct given g, int axis, double *value, bool *bare)
{
    char quoted[TEXT_QUOTE], also[64] = "";
    const int cells = g.r->c->cells[axis];
    double position = 0;
    bool converted = false;
    const enum status s = number_of(g, g.key->unit, &position, &converted);
    if (s)
        return s;
    if (converted) {
        position = snap_to_half(position);
        snprintf(also, sizeof also, ", %g cells,", position);
    }
    if (!(position >= 0 && position <= cells))
        return fail_value(g.r, g.n, ": %s%s is outside the box (0 to %d%s along %s)",
                          quote_text(g.n->text, quoted), also, cells, converted ? " cells" : "",
                          key_axes[axis]);
    *value = position + 0.0; /* no -0 */
    *bare = !converted;
    return STATUS_OK;
}

/* `count` positions, along axes of the box. */
static enum status positions_of(struct given g, const int *axes, int count, double *value)
{
    enum status s = STATUS_OK;
    bool bare[3];
    int i = 0;
    if (g.n->kind != NODE_SEQUENCE || g.n->count != count)
        return wrong(g);
    for (const struct node *c = g.n->first; c && !s; c = c->next, i++)
        s = position_of(item(g, c), axes[i], &value[i], &bare[i]);
    if (!s)
        bare_note(g.r, g.n, g.key->unit, value, bare, count);
    return s;
}

enum status value_plane(struct map m, const char *key, int axis, int *plane)
{
    const struct given g = {m.r, take(m, key), map_row(m, key)};
    const int cells = m.r->c->cells[axis];
    int64_t index = 0;
    double position = 0;
    bool bare = true;
    enum status s;
    *plane = cells / 2;
    if (!g.n)
        return STATUS_OK;
    if (is_scalar(g.n) && !is_bare(g.n)) {
        s = position_of(g, axis, &position, &bare);
        *plane = position < cells ? (int)position : cells - 1;
        return s;
    }
    s = integer_of(g, &index);
    if (!s && index >= cells)
        s = fail_value(m.r, g.n, ": plane %s is outside the box (0 to %d along %s)", g.n->text,
                       cells - 1, key_axes[axis]);
    position = (double)index;
    if (!s)
        bare_note(g.r, g.n, g.key->unit, &position, &bare, 1);
    *plane = (int)index;
    return s;
}

enum status value_span(struct map m, double from, double to, int axis, int cells[2])
{
    if (from > to)
        return fail_value(m.r, m.node, ": from %g is above to %g along %s (swap them)", from, to,
                          key_axes[axis]);
    cells[0] = (int)ceil(from - 0.5);
    cells[1] = (int)floor(to - 0.5) + 1;
    if (cells[0] < cells[1])
        return STATUS_OK;
    return fail_value(m.r, m.node,
                      ": no cell has its centre between %g and %g along %s (that of cell i is i + "
                      "0.5)",
                      from, to, key_axes[axis]);
}

enum status value_text(struct map m, const char *key, const char **text)
{
    const struct node *n = take(m, key);
    const struct key *const row = map_row(m, key);
    *text = NULL;
    if (!n)
        return row->required ? value_missing(m, key, "") : STATUS_OK;
    if (!is_word(n))
        return value_wrong(m.r, n, row);
    *text = n->text;
    return STATUS_OK;
}

/* Reads a wall time in seconds; `none` gives 0. A number without a unit is an error. */
static enum status wall_of(struct given g, double *seconds)
{
    char quoted[TEXT_QUOTE];
    struct wall w;
    if (!is_scalar(g.n))
        return wrong(g);
    if (g.key->type == KEY_WALL && !strcmp(g.n->text, "none")) {
        *seconds = 0;
        return STATUS_OK;
    }
    const char *problem = wall_parse(g.n->text, &w);
    quote_text(g.n->text, quoted);
    if (problem && !strchr("+-.0123456789", *g.n->text))
        return wrong(g);
    if (problem)
        return fail_value(g.r, g.n, ": %s %s", quoted, problem);
    if (w.bare)
        return fail_value(g.r, g.n, ": %s has no unit (a wall time is 11h50m, 90 s or 11:50:00%s)",
                          quoted, g.key->type == KEY_WALL ? "; or none" : "");
    if (!(w.seconds > 0 && w.seconds <= WALL_MAX))
        return fail_value(g.r, g.n, ": %s is out of range (above 0, at most %.0f s)", quoted,
                          WALL_MAX);
    *seconds = w.seconds;
    return STATUS_OK;
}

/* Steps or seconds of wall time; the other one is 0. */
static enum status due_of(struct given g, int64_t *steps, double *seconds)
{
    struct wall w;
    *steps = 0;
    *seconds = 0;
    return is_scalar(g.n) && !wall_parse(g.n->text, &w) && w.bare ? integer_of(g, steps)
                                                                  : wall_of(g, seconds);
}

enum status value_or_map(struct map m, const char *key, struct map *inner)
{
    const struct node *n = take(m, key);
    const struct key *const row = map_row(m, key);
    *inner = (struct map){m.r, NULL, row->path};
    if (n && n->kind == NODE_MAPPING && n->count)
        inner->node = n;
    else if (n && n->kind == NODE_MAPPING)
        return fail_value(m.r, n, " is an empty map (%s, or a map such as %s)", row->choices[0],
                          row->example);
    else if (n && (n->kind != NODE_SCALAR || choice_index(row->choices, n->text) < 0))
        return value_wrong(m.r, n, row);
    return STATUS_OK;
}

/* Reads a number of steps; a time is rounded to whole steps. */
static enum status interval_of(struct given g, int64_t *value)
{
    double steps = 0;
    bool converted = false;
    if (!is_scalar(g.n) || is_bare(g.n))
        return integer_of(g, value);
    const enum status s = number_of(g, g.key->unit, &steps, &converted);
    if (s)
        return s;
    const double whole = round(steps);
    const bool vanished = g.key->type == KEY_INTERVAL && whole < 1 && steps != 0;
    if (vanished || !allowed(g, whole))
        return out_of_range(g, steps, true);
    *value = (int64_t)whole;
    return STATUS_OK;
}

static enum status text_of(struct given g, char **text)
{
    if (!is_word(g.n))
        return wrong(g);
    *text = strdup(g.n->text);
    return *text ? STATUS_OK : fail_machine("no memory for the value of %s", g.key->path);
}

static enum status body_of(struct given g, int *body)
{
    char quoted[TEXT_QUOTE];
    const struct flow_case *const c = g.r->c;
    if (!is_word(g.n))
        return wrong(g);
    for (int k = 0; k < c->body_count; k++)
        if (!strcmp(c->bodies[k].name, g.n->text)) {
            *body = k;
            return STATUS_OK;
        }
    return fail_value(g.r, g.n, ": there is no body %s (%s%s)", quote_text(g.n->text, quoted),
                      c->body_count ? "for example " : "bodies is empty",
                      c->body_count ? c->bodies[0].name : "");
}

int scalar_index(const struct flow_case *c, const char *name)
{
    for (int k = 0; k < c->scalar_count; k++)
        if (!strcmp(c->scalars[k].name, name))
            return k;
    return -1;
}

enum status value_no_scalar(const struct reader *r, const struct node *n, const char *name)
{
    char quoted[TEXT_QUOTE];
    const struct flow_case *const c = r->c;
    return fail_value(r, n, ": there is no scalar %s (%s%s)", quote_text(name, quoted),
                      c->scalar_count ? "for example " : "scalars is empty",
                      c->scalar_count ? c->scalars[0].name : "");
}

static enum status scalar_of(struct given g, int *scalar)
{
    if (!is_word(g.n))
        return wrong(g);
    *scalar = scalar_index(g.r->c, g.n->text);
    return *scalar < 0 ? value_no_scalar(g.r, g.n, g.n->text) : STATUS_OK;
}

/* Takes the cells whose centres lie between two corners, or on the region's faces. */
static enum status region_of(struct map m, const char *key, struct case_region *region)
{
    const int *const cells = m.r->c->cells;
    double from[3] = {0, 0, 0}, to[3] = {cells[0], cells[1], cells[2]};
    struct map inner;
    enum status s = value_or_map(m, key, &inner);
    if (s || (s = value_read(inner, "from", from)) || (s = value_read(inner, "to", to)))
        return s;
    for (int a = 0; a < 3 && !s; a++) {
        int span[2] = {0, 0};
        s = value_span(inner, from[a], to[a], a, span);
        region->lo[a] = span[0];
        region->hi[a] = span[1];
    }
    return s;
}

/* Integers, choices and bools have members of different sizes. */
int64_t value_load(const struct key *key, const void *member)
{
    assert(key->size == sizeof(bool) || key->size == sizeof(int) || key->size == sizeof(int64_t));
    return key->size == sizeof(bool)  ? *(const bool *)member
           : key->size == sizeof(int) ? *(const int *)member
                                      : *(const int64_t *)member;
}

static void store(const struct key *key, void *member, int64_t value)
{
    assert(key->size == sizeof(bool) || key->size == sizeof(int) || key->size == sizeof(int64_t));
    if (key->size == sizeof(bool))
        *(bool *)member = value;
    else if (key->size == sizeof(int))
        *(int *)member = (int)value;
    else
        *(int64_t *)member = value;
}

static enum status whole_of(struct given g, void *to)
{
    const bool choice = g.key->type == KEY_CHOICE || g.key->type == KEY_WATCHED;
    int64_t value = 0;
    int index = 0;
    const enum status s = choice                       ? choice_of(g, &index)
                          : g.key->type == KEY_INTEGER ? integer_of(g, &value)
                          : g.key->type == KEY_COUNT   ? count_of(g, &value)
                                                       : interval_of(g, &value);
    if (!s)
        store(g.key, to, choice ? g.key->first + index : value);
    return s;
}

/* The value of a node. */
static enum status read_node(struct given g, void *to, void *beside)
{
    static const int axes[3] = {0, 1, 2};
    switch (g.key->type) {
    case KEY_CHOICE:
    case KEY_WATCHED:
    case KEY_INTEGER:
    case KEY_COUNT:
    case KEY_INTERVAL:
    case KEY_STEP:
        return whole_of(g, to);
    case KEY_NUMBER:
    case KEY_VALUE:
    case KEY_PHYSICAL:
        return checked_number(g, to);
    case KEY_AUTO:
        return number_or_auto(g, to);
    case KEY_VECTOR:
    case KEY_SIZE:
        return numbers_of(g, unit_of(g), 3, to);
    case KEY_AXIS:
        return axis_of(g, to);
    case KEY_INTEGERS:
        return integers_of(g, to);
    case KEY_RANKS:
        return ranks_of(g, to);
    case KEY_LABELS:
        return labels_of(g, to, beside);
    case KEY_CHOICES:
        return choices_of(g, to, NULL);
    case KEY_ARRAYS:
        return choices_of(g, to, beside);
    case KEY_SHOWN:
        return shown_of(g, to, beside);
    case KEY_WALL:
        return wall_of(g, to);
    case KEY_DUE:
        return due_of(g, to, beside);
    case KEY_POSITION:
        return positions_of(g, axes, 3, to);
    case KEY_POINT:
        return positions_of(g, g.r->axes, 2, to);
    case KEY_BODY:
        return body_of(g, to);
    case KEY_SCALAR:
        return scalar_of(g, to);
    case KEY_TEXT:
        return text_of(g, to);
    case KEY_EMPTY:
        return g.n->kind == NODE_MAPPING && !g.n->count ? STATUS_OK : wrong(g);
    default:
        assert(!"a value of this type is read by code");
        return STATUS_OK;
    }
}

enum status value_read_beside(struct map m, const struct key *key, void *to, void *beside)
{
    const char *const name = keys_name(key);
    const struct node *n = take(m, name);
    const struct node spare = {.text = key->fallback, .plain = true};
    if (!n && key->required)
        return value_missing(m, name, "");
    if (key->type == KEY_REGION)
        return region_of(m, name, to);
    if (!n && key->fallback && *key->fallback != '[') /* default lists are zeros already */
        n = &spare;
    return n ? read_node((struct given){m.r, n, key}, to, beside) : STATUS_OK;
}

enum status value_read(struct map m, const char *key, void *to)
{
    return value_read_beside(m, map_row(m, key), to, NULL);
}
