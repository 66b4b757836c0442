/* Typed values out of the tree; see value.h. */
#include "case/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/nearest.h"
#include "case/wall.h"

static const char *last_segment(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

struct node *value_find(const struct node *map, const char *row)
{
    return node_get(map, last_segment(row));
}

static struct node *take(const struct node *map, const char *row)
{
    struct node *n = value_find(map, row);
    if (n)
        n->used = true;
    return n;
}

enum status value_refuse(const struct reader *r, const struct node *map, const char *row,
                         const char *why)
{
    char path[NODE_PATH];
    const struct node *n = value_find(map, row);
    if (!n)
        return STATUS_OK;
    node_path(n, path, sizeof path);
    return fail_at(r->document, n->key_at, "%s has no effect %s (remove it)", path, why);
}

enum status value_missing(const struct reader *r, const struct node *map, const char *row,
                          const char *instead)
{
    char path[NODE_PATH];
    const struct node *root = r->document->root;
    node_path(map, path, sizeof path);
    if (!map)
        snprintf(path, sizeof path, "%.*s", (int)strcspn(row, "."), row);
    const struct place at = !map ? root->at : map->key ? map->key_at : map->at;
    if (!strchr(row, '.')) /* a section */
        return fail_at(r->document, at, "%s%s is missing (for example %s: %s)", row, instead, row,
                       keys_row(row)->example);
    return fail_at(r->document, at, "%s.%s%s is missing (for example %s: {%s: %s})", path,
                   last_segment(row), instead, last_segment(path), last_segment(row),
                   keys_row(row)->example);
}

enum status value_one_of(const struct reader *r, const struct node *map, const char *a,
                         const char *b)
{
    char path[NODE_PATH], other[NODE_PATH], instead[NODE_PATH + 8];
    const struct node *first = value_find(map, a), *second = value_find(map, b);
    if (!first && !second) {
        node_path(map, path, sizeof path);
        snprintf(instead, sizeof instead, " or %s.%s", path, last_segment(b));
        return value_missing(r, map, a, instead);
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
    return fail_at(r->document, later->key_at, "both %s and %s are given (keep one)", path, other);
}

static bool is_null(const struct node *n)
{
    return n->kind == NODE_SCALAR && n->plain &&
           (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

enum status value_wrong(const struct reader *r, const struct node *n, const char *row)
{
    char path[NODE_PATH], type[KEYS_TYPE], quoted[DOCUMENT_QUOTE], list[32];
    const struct key *key = keys_row(row);
    snprintf(list, sizeof list, "a list of %d", n->count);
    node_path(n, path, sizeof path);
    type_text(key, type, sizeof type);
    const char *got = n->kind == NODE_MAPPING    ? "a map"
                      : n->kind == NODE_SEQUENCE ? list
                      : is_null(n)               ? "nothing"
                                                 : quote_text(n->text, quoted);
    return fail_at(r->document, n->at, "%s is %s; expected %s (for example %s: %s)", path, got,
                   type, last_segment(path), key->example);
}

/* `value`: what was compared, in lattice units, steps or SI units; `computed`: the text does not
 * show it. */
static enum status out_of_range(const struct reader *r, const struct node *n, const struct key *key,
                                double value, bool computed)
{
    char path[NODE_PATH], range[128], quoted[DOCUMENT_QUOTE], also[64] = "";
    const bool steps = key->type == KEY_INTERVAL || key->type == KEY_STEP || key->type == KEY_DUE;
    const char *unit = steps                                     ? " steps"
                       : key->type == KEY_PHYSICAL || !key->unit ? ""
                                                                 : " in lattice units";
    node_path(n, path, sizeof path);
    range_text(key, range, sizeof range);
    if (n->kind != NODE_SCALAR)
        return fail_at(r->document, n->at, "%s: magnitude %g is out of range (%s%s)", path, value,
                       range, unit);
    if (computed)
        snprintf(also, sizeof also, ", %g%s,", value, unit);
    return fail_at(r->document, n->at, "%s: %s%s is out of range (%s%s)", path,
                   quote_text(n->text, quoted), also, range, unit);
}

static bool in_range(const struct key_range *range, double value)
{
    return (range->low_open ? value > range->low : value >= range->low) &&
           (range->high_open ? value < range->high : value <= range->high);
}

/* A quantity in lattice units, or in SI units if the row must have a unit; range not yet checked.
 */
static enum status number_of(const struct reader *r, const struct node *n, const struct key *key,
                             enum key_unit unit, double *value, bool *converted)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE];
    struct quantity q;
    const struct unit_info *info = unit_info(unit);
    const bool physical = key->type == KEY_PHYSICAL || key->type == KEY_SIZE;
    const char *end;
    if (n->kind != NODE_SCALAR || is_null(n))
        return value_wrong(r, n, key->path);
    const char *problem = quantity_parse(n->text, &q);
    const bool starts = !number_parse(n->text, &end, value);
    node_path(n, path, sizeof path);
    quote_text(n->text, quoted);
    if (problem && !starts && !strstr(problem, "large"))
        return value_wrong(r, n, key->path);
    if (problem)
        return fail_at(r->document, n->at, "%s: %s %s", path, quoted, problem);
    if (q.bare && physical)
        return fail_at(r->document, n->at, "%s: %s has no unit (for example %s)", path, quoted,
                       info->example);
    *converted = !q.bare && !physical;
    if (!q.bare && !dimension_equal(q.dimension, info->dimension))
        return fail_at(r->document, n->at, "%s: %s is not %s (for example %s)", path, quoted,
                       info->noun, info->example);
    const bool length = q.dimension.s == 0 && q.dimension.kg == 0 && r->units.cell > 0;
    if (*converted && !r->units.given && !length)
        return fail_at(r->document, n->at,
                       "%s: %s has a unit, which needs units (units: {dx: 5 mm, dt: 1 ms}, or a "
                       "number in lattice units)",
                       path, quoted);
    const struct quantity_scale scale = {length ? r->units.cell : r->units.dx, r->units.dt,
                                         r->units.density};
    *value = *converted ? q.value / quantity_unit(q.dimension, &scale) : q.value;
    if (!isfinite(*value))
        return fail_at(r->document, n->at, "%s: %s is too large in lattice units", path, quoted);
    return STATUS_OK;
}

/* The node to read, or a scalar made of the row's default; NULL if there is neither. */
static struct node *take_or_default(const struct node *map, const char *row, struct node *spare)
{
    struct node *n = take(map, row);
    const struct key *key = keys_row(row);
    if (n || !key->fallback)
        return n;
    *spare = (struct node){.text = key->fallback, .plain = true};
    return spare;
}

static enum status required(const struct reader *r, const struct node *map, const char *row)
{
    return keys_row(row)->required ? value_missing(r, map, row, "") : STATUS_OK;
}

static enum status integer_of(const struct reader *r, const struct node *n, const char *row,
                              int64_t *value)
{
    const struct key *key = keys_row(row);
    char *end;
    if (n->kind != NODE_SCALAR || is_null(n))
        return value_wrong(r, n, row);
    errno = 0;
    const long long parsed = strtoll(n->text, &end, 10);
    if (end == n->text || *end || isspace((unsigned char)*n->text))
        return value_wrong(r, n, row);
    if (errno || !in_range(&key->range, (double)parsed))
        return out_of_range(r, n, key, 0, false);
    *value = parsed;
    return STATUS_OK;
}

enum status value_integer(const struct reader *r, const struct node *map, const char *row,
                          int64_t *value)
{
    struct node spare;
    const struct node *n = take_or_default(map, row, &spare);
    return n ? integer_of(r, n, row, value) : required(r, map, row);
}

enum status value_integers(const struct reader *r, const struct node *map, const char *row,
                           int value[3])
{
    const struct node *n = take(map, row);
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SEQUENCE || n->count != 3)
        return value_wrong(r, n, row);
    int i = 0;
    for (const struct node *c = n->first; c; c = c->next, i++) {
        int64_t wide = 0;
        const enum status s = integer_of(r, c, row, &wide);
        if (s)
            return s;
        value[i] = (int)wide;
    }
    return STATUS_OK;
}

enum status value_labels(const struct reader *r, const struct node *map, const char *row, int most,
                         int *value, int *count)
{
    char path[NODE_PATH];
    const struct node *const n = take(map, row);
    if (!n)
        return required(r, map, row);
    const bool list = n->kind == NODE_SEQUENCE;
    node_path(n, path, sizeof path);
    if (n->kind == NODE_MAPPING || (list && !n->count))
        return value_wrong(r, n, row);
    if (list && n->count > most)
        return fail_at(r->document, n->at, "%s is a list of %d (at most %d)", path, n->count, most);
    *count = 0;
    for (const struct node *c = list ? n->first : n; c; c = list ? c->next : NULL) {
        int64_t wide = 0;
        const enum status s = integer_of(r, c, row, &wide);
        if (s)
            return s;
        for (int k = 0; k < *count; k++)
            if (value[k] == wide)
                return fail_at(r->document, c->at, "%s: %d is named twice (keep one)", path,
                               value[k]);
        value[(*count)++] = (int)wide;
    }
    return STATUS_OK;
}

enum status value_ranks(const struct reader *r, const struct node *map, const char *row,
                        int value[3])
{
    struct node *n = take(map, row);
    if (!n || (n->kind == NODE_SCALAR && !strcmp(n->text, "auto"))) {
        value[0] = value[1] = value[2] = 0;
        return STATUS_OK;
    }
    return value_integers(r, map, row, value);
}

enum status value_number(const struct reader *r, const struct node *map, const char *row,
                         double *value)
{
    struct node spare;
    const struct key *key = keys_row(row);
    const struct node *n = take_or_default(map, row, &spare);
    double number = 0;
    bool converted = false;
    if (!n)
        return required(r, map, row);
    const enum status s = number_of(r, n, key, key->unit, &number, &converted);
    if (s)
        return s;
    if (!in_range(&key->range, number))
        return out_of_range(r, n, key, number, converted);
    *value = number;
    return STATUS_OK;
}

enum status value_numbers(const struct reader *r, const struct node *map, const char *row,
                          enum key_unit unit, int count, double *value)
{
    const struct key *key = keys_row(row);
    const struct node *n = take(map, row);
    double square = 0;
    int i = 0;
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SEQUENCE || n->count != count)
        return value_wrong(r, n, row);
    for (const struct node *c = n->first; c; c = c->next, i++) {
        bool converted = false;
        const enum status s = number_of(r, c, key, unit, &value[i], &converted);
        if (s)
            return s;
        square += value[i] * value[i];
        if (key->type != KEY_VECTOR && !in_range(&key->range, value[i]))
            return out_of_range(r, c, key, value[i], converted);
    }
    if (key->type == KEY_VECTOR && !in_range(&key->range, sqrt(square)))
        return out_of_range(r, n, key, sqrt(square), true);
    return STATUS_OK;
}

/* The word is none of the row's. */
static enum status no_choice(const struct reader *r, const struct node *n, const struct key *key)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE], known[256], alone[128] = "";
    const char *near = nearest_choice(key->choices, n->text);
    if (!near && key->alone)
        near = nearest_choice(key->alone, n->text);
    node_path(n, path, sizeof path);
    choice_text(key->choices, known, sizeof known);
    if (key->alone)
        choice_text(key->alone, alone, sizeof alone);
    return fail_at(r->document, n->at, "%s: %s is none of %s%s%s%s%s%s", path,
                   quote_text(n->text, quoted), known, *alone ? ", " : "", alone,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static enum status choice_of(const struct reader *r, const struct node *n, const char *row,
                             int *value)
{
    const struct key *key = keys_row(row);
    if (n->kind != NODE_SCALAR || is_null(n))
        return value_wrong(r, n, row);
    *value = choice_index(key->choices, n->text);
    return *value >= 0 ? STATUS_OK : no_choice(r, n, key);
}

enum status value_choice(const struct reader *r, const struct node *map, const char *row,
                         int *value)
{
    struct node spare;
    const struct node *n = take_or_default(map, row, &spare);
    return n ? choice_of(r, n, row, value) : required(r, map, row);
}

enum status value_axis(const struct reader *r, const struct node *map, const char *row,
                       double value[3])
{
    char path[NODE_PATH];
    struct node spare;
    const struct node *n = take_or_default(map, row, &spare);
    if (!n)
        return required(r, map, row);
    if (n->kind == NODE_MAPPING || is_null(n))
        return value_wrong(r, n, row);
    if (n->kind == NODE_SCALAR) {
        int axis = 0;
        const enum status s = choice_of(r, n, row, &axis);
        for (int a = 0; a < 3; a++)
            value[a] = a == axis;
        return s;
    }
    const enum status s = value_numbers(r, map, row, UNIT_NONE, 3, value);
    if (s || value[0] != 0 || value[1] != 0 || value[2] != 0)
        return s;
    node_path(n, path, sizeof path);
    return fail_at(r->document, n->at, "%s: all three are 0, which is no direction", path);
}

enum status value_choices(const struct reader *r, const struct node *map, const char *row,
                          unsigned *value)
{
    const struct node *n = take(map, row);
    int index = 0;
    if (!n)
        return required(r, map, row);
    *value = 0;
    if (n->kind != NODE_SEQUENCE) {
        const enum status s = choice_of(r, n, row, &index);
        *value = 1u << (s ? 0 : index);
        return s;
    }
    if (!n->count)
        return value_wrong(r, n, row);
    for (const struct node *c = n->first; c; c = c->next) {
        char path[NODE_PATH], quoted[DOCUMENT_QUOTE];
        const enum status s = choice_of(r, c, row, &index);
        if (s)
            return s;
        node_path(c, path, sizeof path);
        if (*value & (1u << index))
            return fail_at(r->document, c->at, "%s: %s is named twice (keep one)", path,
                           quote_text(c->text, quoted));
        *value |= 1u << index;
    }
    return STATUS_OK;
}

enum status value_columns(const struct reader *r, const struct node *map, const char *row,
                          unsigned *value, int *word)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE];
    const struct key *key = keys_row(row);
    const struct node *n = value_find(map, row);
    *word = -1;
    if (n && n->kind == NODE_SCALAR) {
        *word = choice_index(key->alone, n->text);
        if (*word >= 0) {
            take(map, row);
            *value = 0;
            return STATUS_OK;
        }
    }
    for (const struct node *c = n && n->kind == NODE_SEQUENCE ? n->first : NULL; c; c = c->next) {
        if (c->kind != NODE_SCALAR || choice_index(key->alone, c->text) < 0)
            continue;
        node_path(n, path, sizeof path);
        return fail_at(r->document, c->at, "%s: %s stands alone, it is no column (%s: %s)", path,
                       quote_text(c->text, quoted), last_segment(row), c->text);
    }
    return value_choices(r, map, row, value);
}

/* Conversion leaves 82.000000000000014 where the user means the face of a cell. */
static double snap_to_half(double position)
{
    const double half = round(2 * position) / 2;
    return fabs(position - half) <= 1e-9 * fmax(1, fabs(position)) ? half : position;
}

/* `count` positions, along axes of the box. */
static enum status positions(const struct reader *r, const struct node *map, const char *row,
                             const int cells[3], const int *axes, int count, double *value)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE], also[64] = "";
    const struct key *key = keys_row(row);
    const struct node *n = take(map, row);
    int i = 0;
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SEQUENCE || n->count != count)
        return value_wrong(r, n, row);
    for (const struct node *c = n->first; c; c = c->next, i++) {
        const int a = axes[i];
        double position = 0;
        bool converted = false;
        const enum status s = number_of(r, c, key, key->unit, &position, &converted);
        if (s)
            return s;
        if (converted)
            position = snap_to_half(position);
        if (!(position >= 0 && position <= cells[a])) {
            if (converted)
                snprintf(also, sizeof also, ", %g cells,", position);
            node_path(c, path, sizeof path);
            return fail_at(r->document, c->at, "%s: %s%s is outside the box (0 to %d%s along %s)",
                           path, quote_text(c->text, quoted), also, cells[a],
                           converted ? " cells" : "", key_axes[a]);
        }
        value[i] = position + 0.0; /* no -0 */
    }
    return STATUS_OK;
}

enum status value_position(const struct reader *r, const struct node *map, const char *row,
                           const int cells[3], double value[3])
{
    static const int axes[3] = {0, 1, 2};
    return positions(r, map, row, cells, axes, 3, value);
}

enum status value_point(const struct reader *r, const struct node *map, const char *row,
                        const int cells[3], const int axes[2], double value[2])
{
    return positions(r, map, row, cells, axes, 2, value);
}

enum status value_text(const struct reader *r, const struct node *map, const char *row,
                       const char **text)
{
    const struct node *n = take(map, row);
    *text = NULL;
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SCALAR || is_null(n) || !*n->text)
        return value_wrong(r, n, row);
    *text = n->text;
    return STATUS_OK;
}

enum status value_empty(const struct reader *r, const struct node *map, const char *row)
{
    const struct node *n = take(map, row);
    if (!n)
        return required(r, map, row);
    return n->kind == NODE_MAPPING && !n->count ? STATUS_OK : value_wrong(r, n, row);
}

/* What is wrong with a scalar as a wall time; bare numbers have no unit. */
static enum status wall_of(const struct reader *r, const struct node *n, const char *row,
                           double *seconds)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE];
    struct wall w;
    const char *problem = wall_parse(n->text, &w);
    node_path(n, path, sizeof path);
    quote_text(n->text, quoted);
    if (problem && !strchr("+-.0123456789", *n->text))
        return value_wrong(r, n, row);
    if (problem)
        return fail_at(r->document, n->at, "%s: %s %s", path, quoted, problem);
    if (w.bare)
        return fail_at(r->document, n->at,
                       "%s: %s has no unit (a wall time is 11h50m, 90 s or 11:50:00%s)", path,
                       quoted, keys_row(row)->type == KEY_WALL ? "; or none" : "");
    if (!(w.seconds > 0 && w.seconds <= WALL_MAX))
        return fail_at(r->document, n->at, "%s: %s is out of range (above 0, at most %.0f s)", path,
                       quoted, WALL_MAX);
    *seconds = w.seconds;
    return STATUS_OK;
}

enum status value_wall(const struct reader *r, const struct node *map, const char *row,
                       double *seconds)
{
    struct node spare;
    const struct node *n = take_or_default(map, row, &spare);
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SCALAR || is_null(n))
        return value_wrong(r, n, row);
    if (strcmp(n->text, "none") != 0)
        return wall_of(r, n, row, seconds);
    *seconds = 0;
    return STATUS_OK;
}

enum status value_due(const struct reader *r, const struct node *map, const char *row,
                      int64_t *steps, double *seconds)
{
    struct node spare;
    struct wall w;
    const struct node *n = take_or_default(map, row, &spare);
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SCALAR || is_null(n))
        return value_wrong(r, n, row);
    *steps = 0;
    *seconds = 0;
    return !wall_parse(n->text, &w) && w.bare ? integer_of(r, n, row, steps)
                                              : wall_of(r, n, row, seconds);
}

enum status value_or_map(const struct reader *r, const struct node *map, const char *row,
                         const struct node **inner)
{
    const struct node *n = take(map, row);
    *inner = NULL;
    if (n && n->kind == NODE_MAPPING && n->count) {
        *inner = n;
        return STATUS_OK;
    }
    if (n && n->kind == NODE_MAPPING) {
        char path[NODE_PATH];
        node_path(n, path, sizeof path);
        return fail_at(r->document, n->at, "%s is an empty map (%s, or a map such as %s)", path,
                       keys_row(row)->choices[0], keys_row(row)->example);
    }
    if (n && (n->kind != NODE_SCALAR || choice_index(keys_row(row)->choices, n->text) < 0))
        return value_wrong(r, n, row);
    return STATUS_OK;
}

enum status value_interval(const struct reader *r, const struct node *map, const char *row,
                           int64_t *value)
{
    struct node spare;
    struct quantity q;
    const struct key *key = keys_row(row);
    const struct node *n = take_or_default(map, row, &spare);
    double steps = 0;
    bool converted = false;
    if (!n)
        return required(r, map, row);
    if (n->kind != NODE_SCALAR || is_null(n) || (!quantity_parse(n->text, &q) && q.bare))
        return integer_of(r, n, row, value);
    const enum status s = number_of(r, n, key, key->unit, &steps, &converted);
    if (s)
        return s;
    const double whole = round(steps);
    const bool vanished = key->type == KEY_INTERVAL && whole < 1 && steps != 0;
    if (vanished || !in_range(&key->range, whole))
        return out_of_range(r, n, key, steps, true);
    *value = (int64_t)whole;
    return STATUS_OK;
}
