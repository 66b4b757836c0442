/* Keys of a map and what is wrong with them; see value.h. */
#include "case/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "case/bare.h"
#include "case/given.h"
#include "case/nearest.h"
#include "case/words.h"

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

struct given value_given(struct map m, const char *key)
{
    return (struct given){m.r, take(m, key), map_row(m, key), NULL};
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

enum status value_wrong(const struct reader *r, const struct node *n, const struct key *key)
{
    char path[NODE_PATH], type[KEYS_TYPE], quoted[TEXT_QUOTE], list[32];
    snprintf(list, sizeof list, "a list of %d", n->count);
    node_path(n, path, sizeof path);
    type_text(key, type, sizeof type);
    const char *got = n->kind == NODE_MAPPING    ? "a map"
                      : n->kind == NODE_SEQUENCE ? list
                      : node_is_null(n)          ? "nothing"
                                                 : quote_text(n->text, quoted);
    return fail_value(r, n, " is %s; expected %s (for example %s: %s)", got, type,
                      last_segment(path), key->example);
}

enum status value_no_choice(const struct reader *r, const struct node *n, const struct key *key)
{
    char quoted[TEXT_QUOTE], known[256], alone[128] = "", advice[256] = "";
    const char *near = nearest_choice(key->choices, n->text);
    if (!near && key->alone)
        near = nearest_choice(key->alone, n->text);
    if (!word_for_choice(key, n->text, advice, sizeof advice) && near)
        snprintf(advice, sizeof advice, "did you mean %s?", near);
    choice_text(key->choices, known, sizeof known);
    if (key->alone)
        choice_text(key->alone, alone, sizeof alone);
    if (key->type == KEY_WATCHED)
        strcpy(alone, "or a column of a series such as drag.c_x");
    for (int k = 0; type_is(key, TYPE_SCALARS) && k < r->c->scalar_count &&
                    strlen(alone) + CASE_NAME < sizeof alone;
         k++)
        snprintf(alone + strlen(alone), sizeof alone - strlen(alone), "%s%s", k ? ", " : "",
                 r->c->scalars[k].name);
    return fail_value(r, n, ": %s is none of %s%s%s%s%s%s", quote_text(n->text, quoted), known,
                      *alone ? ", " : "", alone, *advice ? " (" : "", advice, *advice ? ")" : "");
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

enum status value_range(struct map m, const char *key, enum key_unit unit, double value[2])
{
    return given_numbers(value_given(m, key), unit, 2, value);
}

enum status value_plane(struct map m, const char *key, int axis, int *plane)
{
    const struct given g = value_given(m, key);
    const int cells = m.r->c->cells[axis];
    int64_t index = 0;
    double position = 0;
    bool bare = true;
    enum status s;
    *plane = cells / 2;
    if (!g.n)
        return STATUS_OK;
    if (node_is_single(g.n) && !node_is_bare(g.n)) {
        s = given_position(g, axis, &position, &bare);
        *plane = position < cells ? (int)position : cells - 1;
        return s;
    }
    s = given_whole(g, &index);
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
    const struct given g = value_given(m, key);
    *text = NULL;
    if (!g.n)
        return g.key->required ? value_missing(m, key, "") : STATUS_OK;
    if (!node_is_word(g.n))
        return given_wrong(g);
    *text = g.n->text;
    return STATUS_OK;
}

enum status given_or_map(struct given g, struct map *inner)
{
    const struct node *const n = g.n;
    *inner = (struct map){g.r, NULL, g.key->path};
    if (n && n->kind == NODE_MAPPING && n->count)
        inner->node = n;
    else if (n && n->kind == NODE_MAPPING)
        return fail_value(g.r, n, " is an empty map (%s, or a map such as %s)", g.key->choices[0],
                          g.key->example);
    else if (n && (n->kind != NODE_SCALAR || choice_index(g.key->choices, n->text) < 0))
        return given_wrong(g);
    return STATUS_OK;
}

enum status value_or_map(struct map m, const char *key, struct map *inner)
{
    return given_or_map(value_given(m, key), inner);
}

enum status value_read_beside(struct map m, const struct key *key, void *to, void *beside)
{
    const char *const name = keys_name(key);
    const struct node spare = {.text = key->fallback, .plain = true};
    struct given g = {m.r, take(m, name), key, beside};
    if (!g.n && key->required)
        return value_missing(m, name, "");
    if (!g.n && key->fallback && *key->fallback != '[') /* default lists are zeros already */
        g.n = &spare;
    return g.n ? type_read(g, to) : STATUS_OK;
}

enum status value_read(struct map m, const char *key, void *to)
{
    return value_read_beside(m, map_row(m, key), to, NULL);
}
