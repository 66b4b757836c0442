/* Reading and writing structs by the rows of their keys; see record.h. */
#include "case/record.h"

#include <assert.h>
#include <inttypes.h>
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
    return key->beside && key->type != KEY_DUE && key->type != KEY_LABELS &&
           key->type != KEY_NAMES && key->type != KEY_ARRAYS && key->type != KEY_SHOWN;
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

/* Writes characters that are not plain ASCII by their number, so that every YAML reader accepts the
 * text. */
static void write_text(struct writer *w, const char *utf8)
{
    fputs(" \"", w->to);
    for (const unsigned char *c = (const unsigned char *)utf8; *c;) {
        const int more = *c < 0xc0 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
        unsigned long code = more ? *c & (0x3f >> more) : *c;
        c++;
        for (int i = 0; i < more && *c; i++, c++)
            code = code << 6 | (*c & 0x3f);
        if (code >= ' ' && code <= '~' && code != '"' && code != '\\')
            fputc((int)code, w->to);
        else
            fprintf(w->to, "\\U%08lX", code);
    }
    fputc('"', w->to);
}

static void write_integers(struct writer *w, const int *value, int count)
{
    for (int k = 0; k < count; k++)
        fprintf(w->to, "%s%d", k ? ", " : " [", value[k]);
    fputc(']', w->to);
}

void write_choices(struct writer *w, const char *const *choices, unsigned bits)
{
    const char *before = " [";
    for (int i = 0; choices[i]; i++) {
        if (!(bits & (1u << i)))
            continue;
        fprintf(w->to, "%s%s", before, choices[i]);
        before = ", ";
    }
    fputc(']', w->to);
}

/* Choices, then scalars. */
static void write_arrays(struct writer *w, const char *const *choices, unsigned bits,
                         unsigned scalars)
{
    const char *before = " [";
    for (int i = 0; choices[i]; i++)
        if (bits & (1u << i)) {
            fprintf(w->to, "%s%s", before, choices[i]);
            before = ", ";
        }
    for (int k = 0; k < w->c->scalar_count; k++)
        if (scalars & (1u << k)) {
            fprintf(w->to, "%s%s", before, w->c->scalars[k].name);
            before = ", ";
        }
    fputc(']', w->to);
}

/* Writes the corners of the region's cells, from which the same cells follow; `all` for the whole
 * box. */
static void write_region(struct writer *w, const struct case_region *region)
{
    const int *const lo = region->lo, *const hi = region->hi;
    bool all = true;
    for (int a = 0; a < 3; a++)
        all = all && lo[a] == 0 && hi[a] == w->c->cells[a];
    if (all) {
        fputs(" all", w->to);
        return;
    }
    fputs(" {from:", w->to);
    write_integers(w, lo, 3);
    fputs(", to:", w->to);
    write_integers(w, hi, 3);
    fputc('}', w->to);
}

/* x, y or z, or any vector. */
static void write_axis(struct writer *w, const double axis[3])
{
    for (int a = 0; a < 3; a++)
        if (axis[a] == 1 && axis[(a + 1) % 3] == 0 && axis[(a + 2) % 3] == 0) {
            fprintf(w->to, " %s", key_axes[a]);
            return;
        }
    write_numbers(w, axis, 3);
}

/* Seconds of wall time; 0 is none. */
static void write_wall(struct writer *w, double seconds)
{
    if (seconds > 0)
        write_number(w, seconds);
    fputs(seconds > 0 ? " s" : " none", w->to);
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

static void write_value(struct writer *w, const struct key *key, const void *member,
                        const void *beside)
{
    const double *number = member;
    const int *const whole = member;
    double absolute[2];
    if (w->scalar && (key->unit == UNIT_TEMPERATURE || key->unit == UNIT_SHOWN)) {
        for (int k = 0; k < (key->type == KEY_RANGE ? 2 : 1); k++)
            absolute[k] = scalar_absolute(w->scalar, number[k]);
        number = absolute;
    }
    switch (key->type) {
    case KEY_CHOICE:
        fprintf(w->to, " %s", key->choices[value_load(key, member) - key->first]);
        break;
    case KEY_COUNT:
        if (!value_load(key, member)) {
            fputs(" auto", w->to);
            break;
        }
        /* fall through */
    case KEY_INTEGER:
    case KEY_INTERVAL:
    case KEY_STEP:
    case KEY_PLANE:
        fprintf(w->to, " %" PRId64, value_load(key, member));
        break;
    case KEY_AUTO:
        if (*number == 0) {
            fputs(" auto", w->to);
            break;
        }
        /* fall through */
    case KEY_NUMBER:
        write_number(w, *number);
        break;
    case KEY_PHYSICAL:
        write_number(w, *number);
        fprintf(w->to, " %s", unit_info(key->unit)->symbol);
        break;
    case KEY_VECTOR:
    case KEY_POSITION:
        write_numbers(w, number, 3);
        break;
    case KEY_POINT:
    case KEY_RANGE:
        write_numbers(w, number, 2);
        break;
    case KEY_AXIS:
        write_axis(w, number);
        break;
    case KEY_RANKS:
        if (!whole[0]) {
            fputs(" auto", w->to);
            break;
        }
        /* fall through */
    case KEY_INTEGERS:
        write_integers(w, whole, 3);
        break;
    case KEY_LABELS:
        write_integers(w, whole, *(const int *)beside);
        break;
    case KEY_CHOICES:
        write_choices(w, key->choices, *(const unsigned *)member);
        break;
    case KEY_ARRAYS:
        write_arrays(w, key->choices, *(const unsigned *)member, *(const unsigned *)beside);
        break;
    case KEY_SHOWN:
        fprintf(w->to, " %s",
                key->choices[value_load(key, member)] ? key->choices[value_load(key, member)]
                                                      : w->c->scalars[*(const int *)beside].name);
        break;
    case KEY_WALL:
        write_wall(w, *number);
        break;
    case KEY_DUE:
        if (*(const double *)beside > 0)
            write_wall(w, *(const double *)beside);
        else
            fprintf(w->to, " %" PRId64, value_load(key, member));
        break;
    case KEY_BODY:
        fprintf(w->to, " %s", w->c->bodies[*whole].name);
        break;
    case KEY_SCALAR:
        fprintf(w->to, " %s", w->c->scalars[*whole].name);
        break;
    case KEY_REGION:
        write_region(w, member);
        break;
    case KEY_TEXT:
        write_text(w, *(char *const *)member);
        break;
    case KEY_CHECKSUM:
        fprintf(w->to, " %016" PRIx64, *(const uint64_t *)member);
        break;
    default:
        assert(!"a value of this type is written by code");
        break;
    }
}

/* Is there no value to write? */
static bool is_absent(const struct key *key, const char *from)
{
    const void *const member = from + key->at;
    if (tells_given(key))
        return !*(const bool *)(from + key->beside);
    if (key->type == KEY_NAMES) /* without a function the section's code writes it */
        return !key->write;
    if (key->type == KEY_TEXT)
        return !*(char *const *)member;
    if (key->type == KEY_CHOICES)
        return !*(const unsigned *)member;
    if (key->type == KEY_SCALAR)
        return *(const int *)member < 0;
    return (key->type == KEY_NUMBER || key->type == KEY_PHYSICAL) &&
           (isinf(*(const double *)member) || (key->optional && *(const double *)member == 0));
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
        write_value(w, k, base + k->at, base + k->beside);
        write_end(w);
    }
}
