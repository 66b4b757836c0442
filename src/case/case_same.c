/* Compares two resolved cases key by key: may a run continue with this case? See case_same_flow()
 * in case.h. Resolved numbers have all their digits, so equal texts mean equal bits. */
#include <math.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

enum { SHOWN = 160 }; /* bytes of a value in a message */

struct comparison {
    const char *whose; /* names the earlier run in messages */
    bool older;        /* the earlier case has an older physics version */
};

struct text {
    char bytes[SHOWN];
    size_t length;
};

static void append(struct text *t, const char *more)
{
    for (; *more && t->length < SHOWN - 4; more++)
        t->bytes[t->length++] = *more < 32 || *more > 126 ? '?' : *more;
    strcpy(t->bytes + t->length, *more ? "..." : "");
}

/* A value on one line, as in the case file. */
static void append_value(struct text *t, const struct node *n)
{
    if (n->kind == NODE_SCALAR) {
        append(t, n->text);
        return;
    }
    append(t, n->kind == NODE_MAPPING ? "{" : "[");
    for (const struct node *c = n->first; c; c = c->next) {
        if (c->key) {
            append(t, c->key);
            append(t, ": ");
        }
        append_value(t, c);
        append(t, c->next ? ", " : "");
    }
    append(t, n->kind == NODE_MAPPING ? "}" : "]");
}

static bool same_value(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == NODE_SCALAR)
        return !strcmp(a->text, b->text);
    const struct node *other = b->first;
    for (const struct node *c = a->first; c; c = c->next, other = other->next)
        if (!same_value(c, other) || (c->key && strcmp(c->key, other->key) != 0))
            return false;
    return true;
}

/* `now` or `before` may be NULL, not both. */
static enum status report(const struct node *now, const struct node *before, const char *whose)
{
    char path[NODE_PATH];
    struct text new = {.length = 0}, old = {.length = 0};
    node_path(now ? now : before, path, sizeof path);
    if (now)
        append_value(&new, now);
    if (before)
        append_value(&old, before);
    if (!before)
        return fail_user("%s is %s, but %s was made without it " UNCHANGED, path, new.bytes, whose);
    if (!now)
        return fail_user("%s is not given, but %s was made with %s " UNCHANGED, path, whose,
                         old.bytes);
    return fail_user("%s is %s, but %s was made with %s " UNCHANGED, path, new.bytes, whose,
                     old.bytes);
}

static enum status compare(const struct node *now, const struct node *before, const char *pattern,
                           const struct comparison *with);

/* The order matters: later entries override earlier ones where they overlap, and the first part of
 * a difference is the one that the others are subtracted from. Both maps have the same keys. */
static enum status same_order(const struct node *now, const struct node *before, const char *whose)
{
    const struct node *a = now->first, *b = before->first;
    for (; a && b; a = a->next, b = b->next)
        if (strcmp(a->key, b->key) != 0)
            return fail_user(
                "%s: %s comes before %s, but %s was made with another order " UNCHANGED, now->key,
                a->key, b->key, whose);
    return STATUS_OK;
}

/* Compares one key; `now` or `before` may be NULL, not both. */
static enum status compare_key(const struct node *now, const struct node *before,
                               const char *pattern, const struct comparison *with)
{
    char child[KEYS_PATH] = "";
    const bool known = keys_step(pattern, now ? now->key : before->key, child);
    const struct key *const key = known ? keys_row(child) : NULL;
    if (known && keys_inner(child) && (!now || now->kind == NODE_MAPPING) &&
        (!before || before->kind == NODE_MAPPING)) {
        enum status s = key->same ? key->same(now, before, with->whose) : STATUS_OK;
        if (!s)
            s = compare(now, before, child, with);
        if (!s && now && before && key->ordered)
            s = same_order(now, before, with->whose);
        return s;
    }
    const enum restart_rule rule = key ? keys_restart(key) : RESTART_SAME;
    if (rule == RESTART_FREE || rule == RESTART_TOGETHER ||
        (rule == RESTART_VERSION && with->older))
        return STATUS_OK;
    return now && before && same_value(now, before) ? STATUS_OK : report(now, before, with->whose);
}

/* Compares every key of two maps; NULL is a map without keys. */
static enum status compare(const struct node *now, const struct node *before, const char *pattern,
                           const struct comparison *with)
{
    enum status s = STATUS_OK;
    for (const struct node *n = now ? now->first : NULL; n && !s; n = n->next)
        s = compare_key(n, node_get(before, n->key), pattern, with);
    for (const struct node *n = before ? before->first : NULL; n && !s; n = n->next)
        if (!node_get(now, n->key))
            s = compare_key(NULL, n, pattern, with);
    return s;
}

static enum status same_flow(const char *before, const char *now, const char *whose)
{
    struct document old, new;
    enum status s = document_read(&old, whose, before, strlen(before));
    if (s)
        return s;
    s = document_read(&new, "the case", now, strlen(now));
    if (!s) {
        const struct comparison with = {whose, case_physics(before) < case_physics(now)};
        s = compare(new.root, old.root, "", &with);
        document_destroy(&new);
    }
    document_destroy(&old);
    return s;
}

enum status case_same_flow(const char *before, const char *now, const char *whose)
{
    struct plain_locale locale;
    enum status s = plain_locale_enter(&locale);
    if (s)
        return s;
    s = same_flow(before, now, whose);
    plain_locale_leave(&locale);
    return s;
}
