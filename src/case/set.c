/* --set PATH=VALUE; see set.h. */
#include "case/set.h"

#include <stdio.h>
#include <string.h>

#include "case/keys.h"
#include "case/nearest.h"

/* Moves *map to the map under `key`, which is created if missing. */
static enum status descend(struct document *d, struct node **map, const char *key,
                           const char *pattern, struct place at)
{
    char path[KEYS_PATH];
    struct node *child = node_get(*map, key);
    const bool may_be_word = type_is(keys_row(pattern), TYPE_MAP);
    if (child && child->kind != NODE_MAPPING && !may_be_word) {
        node_path(child, path, sizeof path);
        return fail_at(d, child->at, "%s is not a map, so --set cannot reach into it", path);
    }
    if (!child || child->kind != NODE_MAPPING) {
        struct node *made = document_map(d, at);
        const enum status s = made ? document_put(d, *map, key, at, made) : STATUS_MACHINE;
        if (s)
            return s;
        child = made;
    }
    *map = child;
    return STATUS_OK;
}

enum status set_apply(struct document *d, const char *argument)
{
    char path[KEYS_PATH], pattern[KEYS_PATH], child[KEYS_PATH], advice[KEYS_PATH];
    const struct place at = {argument, 1, 1};
    const char *equals = strchr(argument, '=');
    struct node *value, *map = d->root;
    if (!equals || equals == argument)
        return fail_at(d, at, "expected PATH=VALUE (for example --set run.steps=1000)");
    if ((size_t)(equals - argument) >= sizeof path / 2)
        return fail_at(d, at, "the path is too long to be a key");
    snprintf(path, sizeof path, "%.*s", (int)(equals - argument), argument);
    if (!keys_match(path, pattern)) {
        char quoted[TEXT_QUOTE];
        nearest_key(path, advice, sizeof advice);
        return fail_at(d, at, "unknown key %s (%s)", quote_text(path, quoted), advice);
    }
    enum status s = document_value(d, argument, equals + 1, &value);
    if (s)
        return s;
    char *rest = path, *segment = strsep(&rest, ".");
    *pattern = '\0';
    for (; rest; segment = strsep(&rest, ".")) {
        if (!keys_step(pattern, segment, child))
            break; /* cannot be: the path has matched */
        strcpy(pattern, child);
        s = descend(d, &map, segment, pattern, at);
        if (s)
            return s;
    }
    return document_put(d, map, segment, at, value);
}
