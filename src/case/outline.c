/* Keys of the tree against the table; see outline.h. */
#include "case/outline.h"

#include <stdio.h>
#include <string.h>

#include "case/nearest.h"

static enum status check_name(const struct reader *r, const struct node *n)
{
    char quoted[TEXT_QUOTE];
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strlen(n->key);
    if (length && length < CASE_NAME && strspn(n->key, letters) == length)
        return STATUS_OK;
    return fail_at(r->document, n->key_at,
                   "%s cannot be a name (letters, digits, _ and -, at most %d)",
                   quote_text(n->key, quoted), CASE_NAME - 1);
}

/* A combination of shapes whose parts have no names: union: {sphere: {center: ...}}. */
static bool is_part_without_name(const struct node *n)
{
    const struct node *const part = n->parent, *const parts = part ? part->parent : NULL;
    return parts && parts->key && part->key && choice_index(key_shapes, part->key) >= 0 &&
           choice_index(key_shapes, parts->key) >= 0 &&
           keys_row(keys_below("bodies.*.shape", parts->key).text)->type == KEY_NAMES;
}

static enum status unknown_key(const struct reader *r, const struct node *n)
{
    if (is_part_without_name(n))
        return fail_key(r, n->parent->parent,
                        ": each part has a name that you choose, and %s stands where the name "
                        "should (%s: {a: {%s: {...}}, b: ...})",
                        n->parent->key, n->parent->parent->key, n->parent->key);
    char path[NODE_PATH], advice[KEYS_PATH], quoted[TEXT_QUOTE];
    node_path(n, path, sizeof path);
    nearest_key(path, advice, sizeof advice);
    return fail_at(r->document, n->key_at, "unknown key %s (%s)", quote_text(path, quoted), advice);
}

static enum status check_map(const struct reader *r, const struct node *map, const char *pattern)
{
    for (const struct node *n = map->first; n; n = n->next) {
        char child[KEYS_PATH];
        enum status s = STATUS_OK;
        /* names and keys hold no dot: it separates the keys of a path */
        if (strchr(n->key, '.') || !keys_step(pattern, n->key, child))
            s = strcmp(pattern, "") && keys_row(pattern)->type == KEY_NAMES ? check_name(r, n)
                                                                            : unknown_key(r, n);
        else if (*pattern && keys_row(pattern)->type == KEY_NAMES)
            s = check_name(r, n);
        if (s)
            return s;
        if (n->kind == NODE_MAPPING && keys_inner(child))
            s = check_map(r, n, child);
        else if (keys_inner(child) && !type_is(keys_row(child), TYPE_MAP))
            s = value_wrong(r, n, keys_row(child));
        if (s)
            return s;
    }
    return STATUS_OK;
}

enum status outline_check(const struct reader *r)
{
    return check_map(r, r->document->root, "");
}

static enum status check_used(const struct reader *r, const struct node *map, const char *pattern)
{
    for (const struct node *n = map->first; n; n = n->next) {
        char child[KEYS_PATH], path[NODE_PATH];
        if (!keys_step(pattern, n->key, child))
            continue;
        if (n->kind == NODE_MAPPING && keys_inner(child)) {
            const enum status s = check_used(r, n, child);
            if (s)
                return s;
        } else if (!n->used) {
            node_path(n, path, sizeof path);
            return fail_key(r, n, " has no effect in this case (remove it)");
        }
    }
    return STATUS_OK;
}

enum status outline_check_used(const struct reader *r)
{
    return check_used(r, r->document->root, "");
}
