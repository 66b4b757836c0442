/* A YAML text as a tree of nodes that know where they came from.
 *
 * Only what a case needs: one document, maps with plain text as keys, lists, scalars. Anchors,
 * aliases and tags are refused, and sizes are bounded, so that no input makes the reader large
 * or slow. Scalars stay text; value.h gives them a type. */
#ifndef TAGFLOW_DOCUMENT_H
#define TAGFLOW_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

enum {
    DOCUMENT_BYTES = 1 << 20, /* of the file and of each --set argument */
    DOCUMENT_DEPTH = 16,      /* maps and lists inside one another */
    DOCUMENT_ENTRIES = 4096,  /* of one map or list */
    DOCUMENT_NODES = 65536,   /* in all, in a file or a --set value */
    DOCUMENT_SCALAR = 4096    /* bytes of one key or value */
};

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

/* Where a node was written: in the file, or in the --set argument `set`. */
struct place {
    const char *set; /* NULL: in the file */
    int line, column;
};

struct node {
    enum node_kind kind;
    struct place at;
    const char *key; /* in a map: its key, else NULL */
    struct place key_at;
    const char *text; /* of a scalar */
    bool plain;       /* a scalar without quotes */
    bool used;        /* a value was taken from it (value.c) */
    int count;        /* children of a map or list */
    struct node *parent, *first, *last, *next;
};

struct document {
    const char *path; /* of the file, for messages; not owned */
    struct node *root;
    struct yaml_block *memory; /* everything the nodes point to */
};

/* Read a file's content; its root is a map. Returns STATUS_OK, or reports one line and returns
 * STATUS_USAGE (STATUS_MACHINE without memory) with *d zeroed. */
enum status document_read(struct document *d, const char *path, const char *text, size_t length);

/* The same for a file that is no case. Words for messages: the kind of file, two of its keys, a key
 * with a value. */
struct document_kind {
    const char *name, *keys, *example;
};
enum status document_read_as(struct document *d, const struct document_kind *kind, const char *path,
                             const char *text, size_t length);

/* Read `text` as a value given by the --set argument `set`, which must outlive the document. */
enum status document_value(struct document *d, const char *set, const char *text,
                           struct node **value);

/* A new empty map, or NULL, reported, without memory. */
struct node *document_map(struct document *d, struct place at);

/* Put `value` into `map` under `key`, which is copied, in place of what was there. */
enum status document_put(struct document *d, struct node *map, const char *key, struct place key_at,
                         struct node *value);

/* Remove the key from `map`, if it is there. */
void document_remove(struct node *map, const char *key);

/* Give a scalar another text, which is copied. */
enum status document_change(struct document *d, struct node *n, const char *text);

void document_destroy(struct document *d);

/* The child under `key`; NULL when there is none or `map` is NULL or no map. */
struct node *node_get(const struct node *map, const char *key);

/* The node's key path, such as "output.series.flow.every"; the root's is "". */
void node_path(const struct node *n, char *path, size_t size);

/* Report a mistake made at a place: file:line:column, or the --set argument quoted. */
enum status fail_at(const struct document *d, struct place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A place as at the start of a message, "case.yaml:12:3" or "--set 'a=b'", to be freed; NULL,
 * reported, without memory. */
char *place_text(const struct document *d, struct place at);

#endif
