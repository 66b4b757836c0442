/* Look-up in the table of keys, and its printed form; see keys.h. */
#include "case/keys.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const struct unit_info *unit_info(enum key_unit unit)
{
#define X(name, noun, symbol, example, ...) {noun, symbol, example, {__VA_ARGS__}},
    static const struct unit_info info[] = {UNIT_LIST(X)};
#undef X
    assert((size_t)unit < sizeof info / sizeof *info);
    return &info[unit];
}

const char *unit_lattice_text(enum key_unit unit)
{
    switch (unit) {
    case UNIT_LENGTH:
        return "cells";
    case UNIT_AREA:
        return "faces of cells";
    case UNIT_TIME:
        return "steps";
    case UNIT_VELOCITY:
    case UNIT_TRANSFER:
        return "cells a step";
    case UNIT_VISCOSITY:
    case UNIT_DIFFUSIVITY:
    case UNIT_CONDUCTIVITY:
        return "cells^2 a step";
    case UNIT_ACCELERATION:
        return "cells a step^2";
    case UNIT_RATE:
        return "parts a step";
    case UNIT_ROTATION:
        return "radians a step";
    case UNIT_HEATING:
    case UNIT_HEAT_SOURCE:
        return "K a step";
    case UNIT_HEAT_FLUX:
        return "K cells a step";
    case UNIT_CAPACITY:
        return "those of the fluid";
    default:
        return "lattice units";
    }
}

enum key_unit unit_of_species(enum key_unit unit)
{
    switch (unit) {
#define X(heat, species)                                                                           \
    case UNIT_##heat:                                                                              \
        return UNIT_##species;
        SPECIES_UNIT_LIST(X)
#undef X
    default:
        return unit;
    }
}

const struct key *keys_row(const char *pattern)
{
    for (const struct key *k = key_table; k->path; k++)
        if (!strcmp(k->path, pattern))
            return k;
    return NULL;
}

/* The part of `path` after `pattern` and a dot; the whole path if `pattern` is the root; NULL if
 * `path` is not below it. */
static const char *below(const char *path, const char *pattern)
{
    const size_t length = strlen(pattern);
    if (!length)
        return path;
    return !strncmp(path, pattern, length) && path[length] == '.' ? path + length + 1 : NULL;
}

static bool segment_matches(const char *segment, size_t length, const char *text)
{
    if (length == 1 && *segment == '*')
        return true;
    if (length == 6 && !strncmp(segment, "<face>", 6))
        return choice_index(key_faces, text) >= 0;
    return strlen(text) == length && !strncmp(segment, text, length);
}

const char *keys_also(const char *pattern)
{
    const struct key *const map = keys_row(pattern);
    return map ? map->also : NULL;
}

const struct key *keys_child(const char *row, const struct key *before)
{
    for (const struct key *k = before ? before + 1 : key_table; k->path; k++) {
        const char *const rest = below(k->path, row);
        if (rest && !strchr(rest, '.'))
            return k;
    }
    return NULL;
}

const char *keys_name(const struct key *key)
{
    const char *const dot = strrchr(key->path, '.');
    return dot ? dot + 1 : key->path;
}

const struct key *keys_map(const struct key *key)
{
    char map[KEYS_PATH];
    const char *const dot = strrchr(key->path, '.');
    if (!dot)
        return NULL;
    snprintf(map, sizeof map, "%.*s", (int)(dot - key->path), key->path);
    return keys_row(map);
}

enum restart_rule keys_restart(const struct key *key)
{
    for (const struct key *k = key; k; k = keys_map(k))
        if (k->restart)
            return k->restart;
    return RESTART_SAME;
}

bool keys_step(const char *pattern, const char *segment, char child[static KEYS_PATH])
{
    const struct key *const map = keys_row(pattern);
    if (map && map->each) {
        strcpy(child, map->each);
        return true;
    }
    for (const struct key *k = key_table; k->path; k++) {
        const char *rest = below(k->path, pattern);
        if (!rest)
            continue;
        const size_t length = strcspn(rest, ".");
        if (segment_matches(rest, length, segment)) {
            snprintf(child, KEYS_PATH, "%.*s", (int)(rest - k->path) + (int)length, k->path);
            return true;
        }
    }
    return keys_also(pattern) && keys_step(keys_also(pattern), segment, child);
}

bool keys_match(const char *path, char pattern[static KEYS_PATH])
{
    *pattern = '\0';
    while (*path) {
        char segment[KEYS_PATH], child[KEYS_PATH];
        const size_t length = strcspn(path, ".");
        if (!length || length >= sizeof segment)
            return false;
        snprintf(segment, sizeof segment, "%.*s", (int)length, path);
        if (!keys_step(pattern, segment, child))
            return false;
        strcpy(pattern, child);
        path += length;
        if (*path == '.' && !*++path)
            return false;
    }
    return true;
}

struct key_path keys_below(const char *row, const char *keys)
{
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%s.%s", row, keys);
    return path;
}

bool type_is(const struct key *key, unsigned property)
{
    return type_table[key->type].properties & property;
}

bool keys_inner(const char *pattern)
{
    for (const struct key *k = key_table; k->path; k++)
        if (below(k->path, pattern))
            return true;
    const struct key *const map = keys_row(pattern);
    return map && (map->each || map->also);
}

int choice_index(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i]; i++)
        if (!strcmp(choices[i], text))
            return i;
    return -1;
}

void choice_text(const char *const *choices, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int i = 0; choices[i] && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "", choices[i]);
}

void range_text(const struct key *key, char *text, size_t size)
{
    const struct key_range *r = &key->range;
    const char *what = key->type == KEY_VECTOR ? "magnitude " : "";
    const char *high = r->high_open ? "below" : "at most";
    *text = '\0';
    if (r->low == 0 && r->high == 0) /* a key without range */
        return;
    if (key->type == KEY_VECTOR)
        snprintf(text, size, "%s%s %.10g", what, high, r->high);
    else if (isinf(r->low) && isinf(r->high))
        return;
    else if (isinf(r->high))
        snprintf(text, size, "%s %.10g", r->low_open ? "above" : "at least", r->low);
    else if (r->low_open || r->high_open)
        snprintf(text, size, "%s %.10g, %s %.10g", r->low_open ? "above" : "at least", r->low, high,
                 r->high);
    else
        snprintf(text, size, "%.10g to %.10g", r->low, r->high);
}

void type_text(const struct key *key, char *text, size_t size)
{
    const struct key_type_info *const type = &type_table[key->type];
    size_t length = (size_t)snprintf(text, size, "%s", type->takes);
    if (key->choices)
        choice_text(key->choices, text + length, size - length);
    length = strlen(text);
    length += (size_t)snprintf(text + length, size - length, "%s", type->after);
    if (key->alone) {
        length += (size_t)snprintf(text + length, size - length, ", or one of ");
        choice_text(key->alone, text + length, size - length);
    }
}

static void print_row(FILE *to, const struct key *key)
{
    char type[KEYS_TYPE], range[128];
    const char *unit = key->unit ? unit_info(key->unit)->symbol : "";
    type_text(key, type, sizeof type);
    range_text(key, range, sizeof range);
    fprintf(to, "%s\n    %s", key->path, key->meaning);
    fprintf(to, "\n    type: %s", type);
    if (*unit)
        fprintf(to, "; unit: %s", unit);
    if (*range)
        fprintf(to, "; range: %s%s", range, key->type == KEY_WALL ? " s" : "");
    fprintf(to, "\n    default: %s",
            key->required   ? "required"
            : key->fallback ? key->fallback
                            : key->otherwise);
    fprintf(to, "; example: %s", key->example);
    if (keys_restart(key) == RESTART_FREE)
        fprintf(to, "; may change on restart");
    fputc('\n', to);
}

int keys_print(FILE *to, const char *prefix)
{
    char pattern[KEYS_PATH];
    int count = 0;
    if (!prefix)
        prefix = "";
    const bool known = keys_match(prefix, pattern);
    for (const struct key *k = key_table; k->path; k++) {
        if (strncmp(k->path, prefix, strlen(prefix)) != 0 &&
            !(known && (!strcmp(k->path, pattern) || below(k->path, pattern))))
            continue;
        print_row(to, k);
        count++;
    }
    return count;
}
