/* Reading and writing structs by the rows of their keys; see record.h. */
#include "case/record.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

const char *number_text(double value, char text[static 32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

static bool has(const struct key *key, unsigned kind)
{
    return !key->where || key->where & kind;
}

/* Does a bool beside the value say whether the key was given? */
static bool tells_given(const struct key *key)
{
    return key->beside && !type_is(key, TYPE_PAIR);
}

enum status things_read(struct map m, void *to)
{
    const struct key *const key = keys_row(m.row);
    const struct key_path row = keys_below(m.row, "*");
    int *const count = (int *)((char *)to + key->beside);
    enum status s = STATUS_OK;
    if (!m.node || !m.node->count)
        return STATUS_OK;
    if (m.node->count > key->most)
        return fail_at(m.r->document, m.node->key_at, "%s has %d entries (at most %d)", m.node->key,
                       m.node->count, key->most);
    char *const first = calloc((size_t)m.node->count, key->size);
    if (!first)
        return fail_machine("no memory for %s", key->path);
    memcpy((char *)to + key->at, &first, sizeof first);
    for (const struct node *n = m.node->first; n && !s; n = n->next) {
        const struct map one = {m.r, n, row.text};
        char *const thing = first + (size_t)(*count)++ * key->size;
        snprintf(thing, CASE_NAME, "%s", n->key); /* outline_check() bounds the length */
        s = key->read ? key->read(one, thing) : record_read(one, 0, thing);
    }
    return s;
}

struct things things_of(const struct key *key, const void *from)
{
    const char *const base = from;
    struct things t = {.count = *(const int *)(base + key->beside), .size = key->size};
    memcpy(&t.first, base + key->at, sizeof t.first);
    return t;
}

/* Reads a map whose keys belong to the same struct; with `beside` the map is optional. */
static enum status read_within(struct map m, const struct key *key, unsigned kind, char *to)
{
    struct map inner = map_below(m, keys_name(key));
    if (key->type == KEY_OR_MAP) {
        const enum status s = value_or_map(m, keys_name(key), &inner);
        if (s)
            return s;
    }
    if (key->beside)
        *(bool *)(to + key->beside) = inner.node;
    return key->beside && !inner.node ? STATUS_OK : record_read(inner, kind, to);
}

enum status record_read(struct map m, unsigned kind, void *to)
{
    char *const base = to;
    enum status s = STATUS_OK;
    for (const struct key *k = keys_child(m.row, NULL); k && !s; k = keys_child(m.row, k)) {
        const struct map from = {m.r, has(k, kind) ? m.node : NULL, m.row};
        if (k->within)
            s = read_within(from, k, kind, base);
        if (k->within || !k->size || k->late)
            continue;
        if (tells_given(k))
            *(bool *)(base + k->beside) = map_get(from, keys_name(k));
        s = k->type == KEY_NAMES ? things_read(map_below(from, keys_name(k)), base)
                                 : value_read_beside(from, k, base + k->at, base + k->beside);
    }
    return s;
}

enum status record_refuse(struct map m, unsigned kind, const char *why)
{
    enum status s = STATUS_OK;
    for (const struct key *k = keys_child(m.row, NULL); k && !s; k = keys_child(m.row, k)) {
        if (!has(k, kind))
            s = value_refuse(m, keys_name(k), why);
        else if (k->within)
            s = record_refuse(map_below(m, keys_name(k)), kind, why);
    }
    return s;
}

void write_key(struct writer *w, const char *key)
{
    if (w->depth)
        fprintf(w->to, "%s%s:", w->first ? "" : ", ", key);
    else
        fprintf(w->to, "%*s%s:", w->indent, "", key);
    w->first = false;
}

void write_end(struct writer *w)
{
    if (!w->depth)
        fputc('\n', w->to);
}

void write_open(struct writer *w, const char *key)
{
    write_key(w, key);
    fputs(" {", w->to);
    w->depth++;
    w->first = true;
}

void write_close(struct writer *w)
{
    fputc('}', w->to);
    w->depth--;
    w->first = false;
    write_end(w);
}

void things_write(struct writer *w, const struct key *key, const void *from, thing_writer *write)
{
    const struct things t = things_of(key, from);
    const struct key_path row = keys_below(key->path, "*");
    for (int k = 0; k < t.count; k++) {
        const char *const thing = t.first + (size_t)k * t.size;
        write_open(w, thing);
        if (write)
            write(w, row.text, thing);
        else
            record_write(w, row.text, 0, thing);
        write_close(w);
    }
}

void write_word(struct writer *w, const char *key, const char *word)
{
    write_key(w, key);
    fprintf(w->to, " %s", word);
    write_end(w);
}

void write_number(struct writer *w, double value)
{
    char text[32];
    fprintf(w->to, " %s", number_text(value, text));
}

/* " [1, 2, 3]" */
void write_numbers(struct writer *w, const double *value, int count)
{
    char text[32];
    for (int k = 0; k < count; k++)
        fprintf(w->to, "%s%s", k ? ", " : " [", number_text(value[k], text));
    fputc(']', w->to);
}

double scalar_absolute(const struct case_scalar *scalar, double value)
{
    const double reference = scalar->reference, sum = value + reference;
    double low = sum, high = sum;
    if (sum - reference == value)
        return sum;
    /* the number in the case file was rounded once when the reference was subtracted */
    for (int k = 0; k < 4; k++) {
        low = nextafter(low, -INFINITY);
        high = nextafter(high, INFINITY);
        if (low - reference == value)
            return low;
        if (high - reference == value)
            return high;
    }
    assert(!"a value of a scalar is a difference from its reference");
    return sum;
}

/* Is there no value to write? */
static bool is_absent(const struct key *key, const char *from)
{
    if (tells_given(key))
        return !*(const bool *)(from + key->beside);
    return type_absent(key, from + key->at);
}

void record_write(struct writer *w, const char *row, unsigned kind, const void *from)
{
    const char *const base = from;
    for (const struct key *k = keys_child(row, NULL); k; k = keys_child(row, k)) {
        if (!has(k, kind) || (!k->within && !k->size) || is_absent(k, base))
            continue;
        if (k->write) {
            k->write(w, k, from);
            continue;
        }
        if (k->within) {
            write_open(w, keys_name(k));
            record_write(w, k->path, kind, from);
            write_close(w);
            continue;
        }
        write_key(w, keys_name(k));
        type_write(w, (struct held){k, base + k->at, base + k->beside});
        write_end(w);
    }
}
