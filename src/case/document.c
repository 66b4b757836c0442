/* YAML text to a tree, by libyaml's events; see document.h. */
#include "case/document.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/message.h"

struct yaml_block {
    struct yaml_block *next;
    max_align_t data[];
};

/* The tree under construction. */
struct builder {
    struct document *document;
    const char *set;
    struct node *root, *open; /* `open`: the innermost map or list that has not ended */
    const char *key;          /* read, but not yet its value */
    struct place key_at;
    int depth, nodes, documents;
};

static void *allocate(struct document *d, size_t size)
{
    struct yaml_block *b = calloc(1, sizeof *b + size);
    if (!b) {
        fail_machine("no memory to read %s", d->path);
        return NULL;
    }
    b->next = d->memory;
    d->memory = b;
    return b->data;
}

static char *copy_text(struct document *d, const char *text, size_t length)
{
    char *copy = allocate(d, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

static struct node *new_node(struct document *d, enum node_kind kind, struct place at)
{
    struct node *n = allocate(d, sizeof *n);
    if (n) {
        n->kind = kind;
        n->at = at;
    }
    return n;
}

static void append(struct node *parent, struct node *child)
{
    child->parent = parent;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

/* Give a finished or just opened node its place in the tree. */
static enum status attach(struct builder *b, struct node *n)
{
    struct node *parent = b->open;
    if (++b->nodes > DOCUMENT_NODES)
        return fail_at(b->document, n->at, "more than %d values", DOCUMENT_NODES);
    if (!parent) {
        b->root = n;
        return STATUS_OK;
    }
    if (parent->count == DOCUMENT_ENTRIES)
        return fail_at(b->document, n->at, "more than %d entries in one map or list",
                       DOCUMENT_ENTRIES);
    if (parent->kind == NODE_MAPPING) {
        n->key = b->key;
        n->key_at = b->key_at;
        b->key = NULL;
    }
    append(parent, n);
    return STATUS_OK;
}

static enum status take_key(struct builder *b, const char *key, struct place at)
{
    char quoted[TEXT_QUOTE];
    const struct node *twin = node_get(b->open, key);
    if (twin && !at.set)
        return fail_at(b->document, at, "key %s is given twice (first in line %d; keep one)",
                       quote_text(key, quoted), twin->key_at.line);
    if (twin)
        return fail_at(b->document, at, "key %s is given twice (keep one)",
                       quote_text(key, quoted));
    b->key = key;
    b->key_at = at;
    return STATUS_OK;
}

static enum status take_scalar(struct builder *b, const yaml_event_t *e, struct place at)
{
    const char *value = (const char *)e->data.scalar.value;
    const size_t length = e->data.scalar.length;
    if (e->data.scalar.anchor || e->data.scalar.tag)
        return fail_at(b->document, at,
                       "anchors and tags (& and !) are not known here (remove it)");
    if (length > DOCUMENT_SCALAR)
        return fail_at(b->document, at, "a text of %zu bytes is too long (at most %d)", length,
                       DOCUMENT_SCALAR);
    if (memchr(value, '\0', length))
        return fail_at(b->document, at, "a text holds a NUL byte");
    char *text = copy_text(b->document, value, length);
    if (!text)
        return STATUS_MACHINE;
    if (b->open && b->open->kind == NODE_MAPPING && !b->key)
        return take_key(b, text, at);
    struct node *n = new_node(b->document, NODE_SCALAR, at);
    if (!n)
        return STATUS_MACHINE;
    n->text = text;
    n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return attach(b, n);
}

static enum status open_collection(struct builder *b, enum node_kind kind, bool decorated,
                                   struct place at)
{
    if (decorated)
        return fail_at(b->document, at,
                       "anchors and tags (& and !) are not known here (remove it)");
    if (b->open && b->open->kind == NODE_MAPPING && !b->key)
        return fail_at(b->document, at, "a key must be plain text, not a map or list");
    if (++b->depth > DOCUMENT_DEPTH)
        return fail_at(b->document, at, "maps and lists are nested more than %d deep",
                       DOCUMENT_DEPTH);
    struct node *n = new_node(b->document, kind, at);
    if (!n)
        return STATUS_MACHINE;
    const enum status s = attach(b, n);
    b->open = n;
    return s;
}

static enum status take_event(struct builder *b, const yaml_event_t *e)
{
    const struct place at = {b->set, (int)e->start_mark.line + 1, (int)e->start_mark.column + 1};
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++)
            return fail_at(b->document, at, "a second document begins (a case is one document)");
        return STATUS_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(b->document, at, "aliases (*) are not known here (write the value)");
    case YAML_SCALAR_EVENT:
        return take_scalar(b, e, at);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(b, NODE_SEQUENCE,
                               e->data.sequence_start.anchor || e->data.sequence_start.tag, at);
    case YAML_MAPPING_START_EVENT:
        return open_collection(b, NODE_MAPPING,
                               e->data.mapping_start.anchor || e->data.mapping_start.tag, at);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        assert(b->open && !b->key);
        b->open = b->open->parent;
        b->depth--;
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

/* The place `offset` bytes behind the start of a text. */
static struct place place_in(const char *set, const char *text, size_t offset)
{
    struct place at = {set, 1, 1};
    for (const char *c = text; c < text + offset; c++) {
        at.line += *c == '\n';
        at.column = *c == '\n' ? 1 : at.column + 1;
    }
    return at;
}

/* Reports libyaml's own message. An error of its reader has only a byte offset, those of its
 * scanner and parser have a line and a column. */
static enum status fail_yaml(const struct builder *b, const yaml_parser_t *parser, const char *text)
{
    struct place at = {b->set, (int)parser->problem_mark.line + 1,
                       (int)parser->problem_mark.column + 1};
    /* libyaml sets no error when it has no memory for a tag */
    if (parser->error == YAML_MEMORY_ERROR || parser->error == YAML_NO_ERROR)
        return fail_machine("no memory to read %s", b->document->path);
    if (parser->error == YAML_READER_ERROR)
        at = place_in(b->set, text, parser->problem_offset);
    return fail_at(b->document, at, "not YAML: %s%s%s",
                   parser->problem ? parser->problem : "unknown problem",
                   parser->context ? ", " : "", parser->context ? parser->context : "");
}

/* A line that begins with %TAG, or NULL. */
static const char *find_tag(const char *text, size_t length)
{
    const char *t = text;
    while ((t = memmem(t, (size_t)(text + length - t), "%TAG", 4))) {
        /* libyaml also breaks lines at CR, NEL, LS and PS; these are their last bytes */
        if (t == text || strchr("\n\r\x85\xa8\xa9", t[-1]))
            return t;
        t++;
    }
    return NULL;
}

static enum status parse(struct builder *b, const char *text, size_t length)
{
    yaml_parser_t parser;
    enum status s = STATUS_OK;
    bool done = false;
    /* tags are refused anyway; and libyaml compares each %TAG line with all before, so that a file
     * full of them would take many seconds */
    const char *tag = find_tag(text, length);
    if (tag)
        return fail_at(b->document, place_in(b->set, text, (size_t)(tag - text)),
                       "%%TAG is not known here (remove it)");
    if (!yaml_parser_initialize(&parser))
        return fail_machine("no memory to read %s", b->document->path);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (!s && !done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            s = fail_yaml(b, &parser, text);
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        s = take_event(b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return s;
}

/* No document at all, or one without content. */
static bool is_empty(const struct node *root)
{
    return !root || (root->kind == NODE_SCALAR && root->plain && !*root->text);
}

static enum status read_root(struct document *d, const struct document_kind *kind, const char *text,
                             size_t length)
{
    const struct place start = {NULL, 1, 1};
    struct builder b = {.document = d};
    if (length > DOCUMENT_BYTES)
        return fail_at(d, start, "the file has %zu bytes (a %s has at most %d)", length, kind->name,
                       DOCUMENT_BYTES);
    const char *nul = memchr(text, '\0', length);
    if (nul)
        return fail_at(d, place_in(NULL, text, (size_t)(nul - text)),
                       "not YAML: a NUL byte (is this a text file?)");
    /* UTF-8 byte order mark */
    const size_t mark = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    const enum status s = parse(&b, text + mark, length - mark);
    if (s)
        return s;
    if (is_empty(b.root))
        return fail_at(d, start, "the file is empty (a %s is a map of keys: %s, ...)", kind->name,
                       kind->keys);
    if (b.root->kind != NODE_MAPPING)
        return fail_at(d, b.root->at, "not a %s (expected a map of keys such as %s)", kind->name,
                       kind->example);
    d->root = b.root;
    return STATUS_OK;
}

enum status document_read_as(struct document *d, const struct document_kind *kind, const char *path,
                             const char *text, size_t length)
{
    *d = (struct document){.path = path};
    const enum status s = read_root(d, kind, length ? text : "", length);
    if (s)
        document_destroy(d);
    return s;
}

enum status document_read(struct document *d, const char *path, const char *text, size_t length)
{
    static const struct document_kind a_case = {"case", "domain, fluid",
                                                "domain: {cells: [64, 64, 64]}"};
    return document_read_as(d, &a_case, path, text, length);
}

enum status document_value(struct document *d, const char *set, const char *text,
                           struct node **value)
{
    const struct place at = {set, 1, 1};
    struct builder b = {.document = d, .set = set};
    if (strlen(text) > DOCUMENT_BYTES)
        return fail_at(d, at, "the value is too long (at most %d bytes)", DOCUMENT_BYTES);
    const enum status s = parse(&b, text, strlen(text));
    if (s)
        return s;
    if (is_empty(b.root))
        return fail_at(d, at, "has no value (expected PATH=VALUE)");
    *value = b.root;
    return STATUS_OK;
}

struct node *document_map(struct document *d, struct place at)
{
    return new_node(d, NODE_MAPPING, at);
}

enum status document_put(struct document *d, struct node *map, const char *key, struct place key_at,
                         struct node *value)
{
    assert(map->kind == NODE_MAPPING && !value->parent);
    struct node *old = node_get(map, key);
    value->key_at = key_at;
    if (old) { /* replace it at the same position of the list */
        struct node *previous = NULL;
        for (struct node *n = map->first; n != old; n = n->next)
            previous = n;
        value->key = old->key;
        value->parent = map;
        value->next = old->next;
        *(previous ? &previous->next : &map->first) = value;
        if (map->last == old)
            map->last = value;
        return STATUS_OK;
    }
    value->key = copy_text(d, key, strlen(key));
    if (!value->key)
        return STATUS_MACHINE;
    append(map, value);
    return STATUS_OK;
}

void document_remove(struct node *map, const char *key)
{
    struct node *const old = node_get(map, key), *previous = NULL;
    if (!old)
        return;
    for (struct node *n = map->first; n != old; n = n->next)
        previous = n;
    *(previous ? &previous->next : &map->first) = old->next;
    if (map->last == old)
        map->last = previous;
    map->count--;
}

enum status document_change(struct document *d, struct node *n, const char *text)
{
    assert(n->kind == NODE_SCALAR);
    const char *const copy = copy_text(d, text, strlen(text));
    if (!copy)
        return STATUS_MACHINE;
    n->text = copy;
    return STATUS_OK;
}

void document_destroy(struct document *d)
{
    while (d->memory) {
        struct yaml_block *next = d->memory->next;
        free(d->memory);
        d->memory = next;
    }
    *d = (struct document){0};
}

struct node *node_get(const struct node *map, const char *key)
{
    if (!map || map->kind != NODE_MAPPING)
        return NULL;
    for (struct node *n = map->first; n; n = n->next)
        if (!strcmp(n->key, key))
            return n;
    return NULL;
}

void node_path(const struct node *n, char *path, size_t size)
{
    if (!n || !n->parent) {
        *path = '\0';
        return;
    }
    node_path(n->parent, path, size);
    if (!n->key) /* an entry of a list has the list's path */
        return;
    const size_t length = strlen(path);
    snprintf(path + length, size - length, "%s%.80s", length ? "." : "", n->key);
}

/* Replaces bytes that are not printable; see quote_text(). */
static void printable(char *text)
{
    for (char *c = text; *c; c++)
        *c = *c < 32 || *c > 126 ? '?' : *c;
}

enum status fail_at(const struct document *d, struct place at, const char *format, ...)
{
    char message[1024], quoted[TEXT_QUOTE];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    printable(message);
    if (at.set)
        return fail_user("--set %s: %s", quote_text(at.set, quoted), message);
    return fail_user("%s:%d:%d: %s", d->path, at.line, at.column, message);
}

char *place_text(const struct document *d, struct place at)
{
    char quoted[TEXT_QUOTE];
    const size_t size = strlen(d->path) + TEXT_QUOTE + 32;
    char *const text = malloc(size);
    if (!text) {
        fail_machine("no memory for the place of a key");
        return NULL;
    }
    if (at.set)
        snprintf(text, size, "--set %s", quote_text(at.set, quoted));
    else
        snprintf(text, size, "%s:%d:%d", d->path, at.line, at.column);
    printable(text);
    return text;
}
