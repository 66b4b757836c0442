/* The types of keys: the table of KEY_TYPE_LIST (keys.h), and the two functions of each type, one
 * that reads a value of the tree and one that writes it into a resolved case. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/given.h"
#include "case/record.h"
#include "case/wall.h"

/* ---- whole numbers ---- */

/* Load a whole number, choice or bool from its member, whose size the row gives; store it. */
static int64_t load(const struct key *key, const void *member)
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

static void write_whole(struct writer *w, struct held v)
{
    fprintf(w->to, " %" PRId64, load(v.key, v.member));
}

static enum status read_integers(struct given g, void *to)
{
    int *value = to;
    enum status s = STATUS_OK;
    if (g.n->kind != NODE_SEQUENCE || g.n->count != 3)
        return given_wrong(g);
    for (const struct node *c = g.n->first; c && !s; c = c->next) {
        int64_t wide = 0;
        s = given_whole(given_item(g, c), &wide);
        *value++ = (int)wide;
    }
    return s;
}

static void write_list(struct writer *w, const int *value, int count)
{
    for (int k = 0; k < count; k++)
        fprintf(w->to, "%s%d", k ? ", " : " [", value[k]);
    fputc(']', w->to);
}

static void write_integers(struct writer *w, struct held v)
{
    write_list(w, v.member, (int)(v.key->size / sizeof(int)));
}

static enum status read_labels(struct given g, void *to)
{
    int *const value = to, *const count = g.beside;
    const int most = (int)(g.key->size / sizeof *value);
    const bool list = g.n->kind == NODE_SEQUENCE;
    if (g.n->kind == NODE_MAPPING || (list && !g.n->count))
        return given_wrong(g);
    if (list && g.n->count > most)
        return fail_value(g.r, g.n, " is a list of %d (at most %d)", g.n->count, most);
    *count = 0;
    for (const struct node *c = list ? g.n->first : g.n; c; c = list ? c->next : NULL) {
        int64_t wide = 0;
        const enum status s = given_whole(given_item(g, c), &wide);
        if (s)
            return s;
        for (int k = 0; k < *count; k++)
            if (value[k] == wide)
                return fail_value(g.r, c, ": %d is named twice (keep one)", value[k]);
        value[(*count)++] = (int)wide;
    }
    return STATUS_OK;
}

static void write_labels(struct writer *w, struct held v)
{
    write_list(w, v.member, *(const int *)v.beside);
}

/* ---- numbers ---- */

static void write_double(struct writer *w, struct held v)
{
    write_number(w, *(const double *)v.member);
}

static void write_physical(struct writer *w, struct held v)
{
    write_double(w, v);
    fprintf(w->to, " %s", unit_info(v.key->unit)->symbol);
}

static enum status read_vector(struct given g, void *to)
{
    return given_numbers(g, given_unit(g), 3, to);
}

static void write_vector(struct writer *w, struct held v)
{
    write_numbers(w, v.member, (int)(v.key->size / sizeof(double)));
}

/* One number counts for all axes. */
static enum status read_each(struct given g, void *to)
{
    double *const value = to;
    if (g.n->kind == NODE_SEQUENCE)
        return given_numbers(g, given_unit(g), 3, value);
    const enum status s = given_checked(g, value);
    for (int a = 1; a < 3; a++)
        value[a] = value[0];
    return s;
}

static void write_each(struct writer *w, struct held v)
{
    const double *const value = v.member;
    if (value[0] == value[1] && value[0] == value[2])
        write_number(w, value[0]);
    else
        write_numbers(w, value, 3);
}

static enum status read_position(struct given g, void *to)
{
    static const int axes[3] = {0, 1, 2};
    return given_positions(g, axes, 3, to);
}

static enum status read_point(struct given g, void *to)
{
    return given_positions(g, g.r->axes, 2, to);
}

/* ---- times ---- */

/* A time is rounded to whole steps. */
static enum status read_interval(struct given g, void *to)
{
    double steps = 0;
    bool converted = false;
    if (!node_is_single(g.n) || node_is_bare(g.n))
        return given_whole(g, to);
    const enum status s = given_number(g, g.key->unit, &steps, &converted);
    if (s)
        return s;
    const double whole = round(steps);
    const bool vanished = g.key->type == KEY_INTERVAL && whole < 1 && steps != 0;
    if (vanished || !given_allowed(g, whole))
        return given_out_of_range(g, steps, true);
    *(int64_t *)to = (int64_t)whole;
    return STATUS_OK;
}

/* `none` gives 0. A number without a unit is an error. */
static enum status read_wall(struct given g, void *to)
{
    char quoted[TEXT_QUOTE];
    double *const seconds = to;
    struct wall w;
    if (!node_is_single(g.n))
        return given_wrong(g);
    if (g.key->type == KEY_WALL && !strcmp(g.n->text, "none")) {
        *seconds = 0;
        return STATUS_OK;
    }
    const char *problem = wall_parse(g.n->text, &w);
    quote_text(g.n->text, quoted);
    if (problem && !strchr("+-.0123456789", *g.n->text))
        return given_wrong(g);
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

static void write_wall(struct writer *w, struct held v)
{
    const double seconds = *(const double *)v.member;
    if (seconds > 0)
        write_number(w, seconds);
    fputs(seconds > 0 ? " s" : " none", w->to);
}

/* Steps or seconds; the other one is 0. */
static enum status read_due(struct given g, void *to)
{
    struct wall w;
    *(int64_t *)to = 0;
    *(double *)g.beside = 0;
    return node_is_single(g.n) && !wall_parse(g.n->text, &w) && w.bare ? given_whole(g, to)
                                                                       : read_wall(g, g.beside);
}

static void write_due(struct writer *w, struct held v)
{
    if (*(const double *)v.beside > 0)
        write_wall(w, (struct held){v.key, v.beside, NULL});
    else
        write_whole(w, v);
}

/* ---- choices ---- */

static enum status choice_of(struct given g, int *value)
{
    if (!node_is_single(g.n))
        return given_wrong(g);
    *value = choice_index(g.key->choices, g.n->text);
    return *value >= 0 ? STATUS_OK : value_no_choice(g.r, g.n, g.key);
}

static enum status read_choice(struct given g, void *to)
{
    int index = 0;
    const enum status s = choice_of(g, &index);
    *(int64_t *)to = g.key->first + index;
    return s;
}

static void write_choice(struct writer *w, struct held v)
{
    fprintf(w->to, " %s", v.key->choices[load(v.key, v.member) - v.key->first]);
}

/* A bit for each choice that is named; in the second member for each scalar. */
static enum status read_choices(struct given g, void *to)
{
    unsigned *const value = to, *const scalars = type_is(g.key, TYPE_SCALARS) ? g.beside : NULL;
    const bool list = g.n->kind == NODE_SEQUENCE;
    *value = 0;
    if (scalars)
        *scalars = 0;
    if (list && !g.n->count)
        return given_wrong(g);
    for (const struct node *c = list ? g.n->first : g.n; c; c = list ? c->next : NULL) {
        char quoted[TEXT_QUOTE];
        const int scalar = scalars && node_is_word(c) ? scalar_index(g.r->c, c->text) : -1;
        unsigned *const bits = scalar < 0 ? value : scalars;
        int index = scalar;
        const enum status s = scalar < 0 ? choice_of(given_item(g, c), &index) : STATUS_OK;
        if (s)
            return s;
        if (*bits & (1u << index))
            return fail_value(g.r, c, ": %s is named twice (keep one)",
                              quote_text(c->text, quoted));
        *bits |= 1u << index;
    }
    return STATUS_OK;
}

static void write_choices(struct writer *w, struct held v)
{
    const char *before = " [";
    const bool scalars = type_is(v.key, TYPE_SCALARS);
    for (int i = 0; v.key->choices[i]; i++)
        if (*(const unsigned *)v.member & (1u << i)) {
            fprintf(w->to, "%s%s", before, v.key->choices[i]);
            before = ", ";
        }
    for (int k = 0; scalars && k < w->c->scalar_count; k++)
        if (*(const unsigned *)v.beside & (1u << k)) {
            fprintf(w->to, "%s%s", before, w->c->scalars[k].name);
            before = ", ";
        }
    fputc(']', w->to);
}

/* A choice, or the number of choices and a scalar. */
static enum status read_shown(struct given g, void *to)
{
    int *const value = to;
    const int found = node_is_word(g.n) ? scalar_index(g.r->c, g.n->text) : -1;
    if (found < 0)
        return choice_of(g, value);
    *(int *)g.beside = found;
    for (*value = 0; g.key->choices[*value]; ++*value)
        continue;
    return STATUS_OK;
}

static void write_shown(struct writer *w, struct held v)
{
    const char *const choice = v.key->choices[load(v.key, v.member)];
    fprintf(w->to, " %s", choice ? choice : w->c->scalars[*(const int *)v.beside].name);
}

/* A bit for each choice; or, in the second member, the index of a word that stands alone (else -1).
 */
static enum status read_columns(struct given g, void *to)
{
    char quoted[TEXT_QUOTE];
    const char *const name = keys_name(g.key);
    int *const word = g.beside;
    *word = -1;
    *(unsigned *)to = 0;
    if (g.n->kind == NODE_SCALAR && (*word = choice_index(g.key->alone, g.n->text)) >= 0)
        return STATUS_OK;
    for (const struct node *c = g.n->kind == NODE_SEQUENCE ? g.n->first : NULL; c; c = c->next)
        if (c->kind == NODE_SCALAR && choice_index(g.key->alone, c->text) >= 0)
            return fail_value(g.r, c, ": %s stands alone, it is no column (%s: %s)",
                              quote_text(c->text, quoted), name, c->text);
    return read_choices(g, to);
}

/* The name of an axis gives a vector of length 1. */
static enum status read_axis(struct given g, void *to)
{
    double *const value = to;
    if (g.n->kind == NODE_MAPPING || node_is_null(g.n))
        return given_wrong(g);
    if (g.n->kind == NODE_SCALAR) {
        int axis = 0;
        const enum status s = choice_of(g, &axis);
        for (int a = 0; a < 3; a++)
            value[a] = a == axis;
        return s;
    }
    const enum status s = given_numbers(g, UNIT_NONE, 3, value);
    if (s || value[0] != 0 || value[1] != 0 || value[2] != 0)
        return s;
    return fail_value(g.r, g.n, ": all three are 0, which is no direction");
}

static void write_axis(struct writer *w, struct held v)
{
    const double *const axis = v.member;
    for (int a = 0; a < 3; a++)
        if (axis[a] == 1 && axis[(a + 1) % 3] == 0 && axis[(a + 2) % 3] == 0) {
            fprintf(w->to, " %s", key_axes[a]);
            return;
        }
    write_vector(w, v);
}

/* ---- text and names ---- */

static enum status read_text(struct given g, void *to)
{
    char **const text = to;
    if (!node_is_word(g.n))
        return given_wrong(g);
    *text = strdup(g.n->text);
    return *text ? STATUS_OK : fail_machine("no memory for the value of %s", g.key->path);
}

/* Writes characters that are not plain ASCII by their number, so that every YAML reader accepts the
 * text. */
static void write_text(struct writer *w, struct held v)
{
    fputs(" \"", w->to);
    for (const unsigned char *c = *(unsigned char *const *)v.member; *c;) {
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

static void write_checksum(struct writer *w, struct held v)
{
    fprintf(w->to, " %016" PRIx64, *(const uint64_t *)v.member);
}

static enum status read_body(struct given g, void *to)
{
    char quoted[TEXT_QUOTE];
    const struct flow_case *const c = g.r->c;
    if (!node_is_word(g.n))
        return given_wrong(g);
    for (int k = 0; k < c->body_count; k++)
        if (!strcmp(c->bodies[k].name, g.n->text)) {
            *(int *)to = k;
            return STATUS_OK;
        }
    return fail_value(g.r, g.n, ": there is no body %s (%s%s)", quote_text(g.n->text, quoted),
                      c->body_count ? "for example " : "bodies is empty",
                      c->body_count ? c->bodies[0].name : "");
}

static void write_body(struct writer *w, struct held v)
{
    fprintf(w->to, " %s", w->c->bodies[*(const int *)v.member].name);
}

static enum status read_scalar(struct given g, void *to)
{
    int *const scalar = to;
    if (!node_is_word(g.n))
        return given_wrong(g);
    *scalar = scalar_index(g.r->c, g.n->text);
    return *scalar < 0 ? value_no_scalar(g.r, g.n, g.n->text) : STATUS_OK;
}

static void write_scalar(struct writer *w, struct held v)
{
    fprintf(w->to, " %s", w->c->scalars[*(const int *)v.member].name);
}

/* ---- maps ---- */

static enum status read_empty(struct given g, void *to)
{
    (void)to;
    return g.n->kind == NODE_MAPPING && !g.n->count ? STATUS_OK : given_wrong(g);
}

/* Takes the cells whose centres lie between two corners, or on the region's faces. */
static enum status read_region(struct given g, void *to)
{
    struct case_region *const region = to;
    const int *const cells = g.r->c->cells;
    double lower[3] = {0, 0, 0}, upper[3] = {cells[0], cells[1], cells[2]};
    struct map inner;
    enum status s = given_or_map(g, &inner);
    if (s || (s = value_read(inner, "from", lower)) || (s = value_read(inner, "to", upper)))
        return s;
    for (int a = 0; a < 3 && !s; a++) {
        int span[2] = {0, 0};
        s = value_span(inner, lower[a], upper[a], a, span);
        region->lo[a] = span[0];
        region->hi[a] = span[1];
    }
    return s;
}

/* Writes the corners of the region's cells, from which the same cells follow; `all` for the whole
 * box. */
static void write_region(struct writer *w, struct held v)
{
    const struct case_region *const region = v.member;
    const int *const lo = region->lo, *const hi = region->hi;
    bool all = true;
    for (int a = 0; a < 3; a++)
        all = all && lo[a] == 0 && hi[a] == w->c->cells[a];
    if (all) {
        fputs(" all", w->to);
        return;
    }
    fputs(" {from:", w->to);
    write_list(w, lo, 3);
    fputs(", to:", w->to);
    write_list(w, hi, 3);
    fputc('}', w->to);
}

/* ---- the table ---- */

/* Types that the code of a section reads or writes. */
static enum status read_code(struct given g, void *to)
{
    (void)g, (void)to;
    assert(!"a value of this type is read by code");
    return STATUS_OK;
}

static void write_code(struct writer *w, struct held v)
{
    (void)w, (void)v;
    assert(!"a value of this type is written by code");
}

#define X(name, read, write, properties, takes, after) {takes, after, properties, read, write},
const struct key_type_info type_table[] = {KEY_TYPE_LIST(X)};
#undef X

enum status type_read(struct given g, void *to)
{
    int64_t whole = 0;
    if (type_is(g.key, TYPE_AUTO) && g.n->kind == NODE_SCALAR && !strcmp(g.n->text, "auto")) {
        memset(to, 0, g.key->size);
        return STATUS_OK;
    }
    if (!type_is(g.key, TYPE_WHOLE))
        return type_table[g.key->type].read(g, to);
    const enum status s = type_table[g.key->type].read(g, &whole);
    if (!s)
        store(g.key, to, whole);
    return s;
}

void type_write(struct writer *w, struct held v)
{
    static const double zeros[3];
    double absolute[2];
    if (type_is(v.key, TYPE_AUTO) && !memcmp(v.member, zeros, v.key->size)) {
        fputs(" auto", w->to);
        return;
    }
    if (w->scalar && (v.key->unit == UNIT_TEMPERATURE || v.key->unit == UNIT_SHOWN)) {
        for (int k = 0; k < (v.key->type == KEY_RANGE ? 2 : 1); k++)
            absolute[k] = scalar_absolute(w->scalar, ((const double *)v.member)[k]);
        v.member = absolute;
    }
    type_table[v.key->type].write(w, v);
}

bool type_absent(const struct key *key, const void *member)
{
    switch (key->type) {
    case KEY_NUMBER:
    case KEY_PHYSICAL:
        return isinf(*(const double *)member) || (key->optional && *(const double *)member == 0);
    case KEY_EACH:
        return key->optional && !((const double *)member)[0] && !((const double *)member)[1] &&
               !((const double *)member)[2];
    case KEY_CHOICES:
        return !*(const unsigned *)member;
    case KEY_TEXT:
        return !*(char *const *)member;
    case KEY_SCALAR:
        return *(const int *)member < 0;
    case KEY_NAMES: /* without a function for the key the section's code writes the things */
        return !key->write;
    default:
        return false;
    }
}
