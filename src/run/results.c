/* Files of a run; see results.h. */
#include "run/results.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/message.h"
#include "case/case.h"

static const struct {
    const char *folder, *ending;
} parts[RESULTS_PARTS] = {
#define X(name, ending) {#name, ending},
    RESULTS_LIST(X)
#undef X
};

struct results_name {
    enum results_part part;
    char text[CASE_NAME];
    int64_t every; /* of this run's snapshots and images; 0: of an earlier job's, or only at `to` */
    int64_t to;    /* of this run's averages; -1: none */
};

const char *results_folder(enum results_part part)
{
    return parts[part].folder;
}

const char *results_ending(enum results_part part)
{
    return parts[part].ending;
}

/* The number of a key in the entry of an output; `none`: it has no such key. */
static int64_t number_of(const struct case_output *o, const char *key, int64_t none)
{
    const char *const at = memmem(o->entry, (size_t)o->entry_length, key, strlen(key));
    return at ? strtoll(at + strlen(key), NULL, 10) : none;
}

static enum status add(struct results *r, enum results_part part, const char *text, int length,
                       struct results_name **to)
{
    if (!ARRAY_ADD(r->name, r->count, (struct results_name){.part = part, .to = -1}))
        return fail_machine("out of memory for the names of outputs");
    *to = &r->name[r->count - 1];
    snprintf((*to)->text, CASE_NAME, "%.*s", length, text);
    return STATUS_OK;
}

static enum results_part part_of(const struct case_output *o)
{
#define X(name, part)                                                                              \
    if (case_output_is(o, #name))                                                                  \
        return RESULTS_##part;
    OUTPUT_KIND_LIST(X)
#undef X
    return RESULTS_fields;
}

static enum status add_output(struct results *r, const struct case_output *o, bool own)
{
    struct results_name *name = NULL;
    const bool average = case_output_is(o, "averages");
    const enum status status = add(r, part_of(o), o->name, o->name_length, &name);
    if (!status && own)
        name->every = average ? 0 : number_of(o, "{every: ", 0);
    if (!status && own && average)
        name->to = number_of(o, " to: ", -1);
    return status;
}

enum status results_add(struct results *r, const char *resolved)
{
    struct case_output o = {0};
    struct results_name *name;
    const int64_t last = case_last_step(resolved);
    const bool own = !r->count;
    enum status status = own ? add(r, RESULTS_checkpoints, "step", 4, &name) : STATUS_OK;
    for (const char *at = resolved; !status && case_output_next(&at, &o);)
        status = add_output(r, &o, own);
    r->steps = own ? last : r->steps;
    r->last = last > r->last ? last : r->last;
    return status;
}

void results_free(struct results *r)
{
    free(r->name);
    *r = (struct results){0};
}

/* Is this the end of the name? Then it is cut off. */
static bool cut(const char *file, size_t *length, const char *end)
{
    const size_t n = strlen(end);
    if (*length <= n || strncmp(file + *length - n, end, n) != 0)
        return false;
    *length -= n;
    return true;
}

/* Cuts off the number in "drag.csv.2.aside". */
static void cut_number(const char *file, size_t *length)
{
    size_t n = *length;
    while (n > 0 && isdigit((unsigned char)file[n - 1]))
        n--;
    if (n < *length && n > 0 && file[n - 1] == '.')
        *length = n - 1;
}

/* Cuts off "_0000000020". */
static bool cut_step(const char *file, size_t *length, int64_t *step)
{
    char digits[RESULTS_DIGITS + 1] = "";
    if (*length < RESULTS_DIGITS + 2)
        return false;
    memcpy(digits, file + *length - RESULTS_DIGITS, RESULTS_DIGITS);
    *length -= RESULTS_DIGITS + 1;
    *step = strtoll(digits, NULL, 10);
    return file[*length] == '_' && strspn(digits, "0123456789") == RESULTS_DIGITS;
}

static bool writes_again(const struct results *r, const struct results_name *n, int64_t step)
{
    if (n->every == 0 && n->to < 0)
        return false;
    return step == r->steps ||
           (step < r->steps && (n->every ? step % n->every == 0 : step == n->to));
}

struct results_file results_look(const struct results *r, enum results_part part, const char *file)
{
    struct results_file f = {part, RESULTS_FOREIGN, -1, false};
    enum results_kind kind = RESULTS_WHOLE;
    size_t length = strlen(file);
    if (cut(file, &length, FILE_TEMPORARY)) {
        kind = RESULTS_TEMPORARY;
    } else if (cut(file, &length, RESULTS_ASIDE)) {
        kind = RESULTS_PUT_ASIDE;
        cut_number(file, &length);
    }
    if (!cut(file, &length, parts[part].ending) ||
        (part != RESULTS_series && !cut_step(file, &length, &f.step)))
        return f;
    if (part != RESULTS_checkpoints && kind != RESULTS_PUT_ASIDE && f.step > r->last)
        return f; /* the number is no step: a date, for example */
    for (int i = 0; i < r->count; i++)
        if (r->name[i].part == part && strlen(r->name[i].text) == length &&
            strncmp(r->name[i].text, file, length) == 0) {
            f.kind = kind;
            f.again = f.again || writes_again(r, &r->name[i], f.step);
        }
    return f;
}
