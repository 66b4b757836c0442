/* Reads a scalar or list of the tree as a checked value; its row in the key table gives the
 * type.
 *
 * Each function takes the map that holds the key and the key's name. A missing key is an error if
 * it is required; else it yields its default if the table has one as text, and leaves the output
 * unchanged if not. Reported errors return STATUS_USAGE. */
#ifndef TAGFLOW_VALUE_H
#define TAGFLOW_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "case/case.h"
#include "case/document.h"
#include "case/keys.h"

enum { NODE_PATH = KEYS_PATH };

struct reader {
    struct document *document;
    const struct flow_case *c;        /* what has been read so far; its units convert numbers */
    int axes[2];                      /* of the face that a patch is a part of */
    const struct case_files *files;   /* NULL: the case may name none */
    const struct case_scalar *scalar; /* whose values are read: its kind decides the units, and
                                       * values become relative to its reference */
    const struct flow_case *origin;   /* while the case of a level above 0 is read: the case of
                                       * level 0, which has what was in files; else NULL. Then: */
    int level;                        /* cells are 2^level times finer */
    int shorter;                      /* steps are 2^shorter times shorter */
    bool whole;                       /* the box is that of the origin, with its open faces */
    struct case_unitless *unitless;   /* collects numbers without a unit; NULL: does not */
};

/* A map of the case while it is read. */
struct map {
    const struct reader *r;
    const struct node *node; /* NULL: the case does not have it */
    const char *row;         /* of the map in the key table; "" is the whole case */
};

/* The key's node, or NULL. */
struct node *map_get(struct map m, const char *key);

/* The map under a key. */
struct map map_below(struct map m, const char *key);

/* The row of a key; NULL: there is none. */
const struct key *map_row(struct map m, const char *key);

/* The key must not be there: "... has no effect WHY (remove it)". */
enum status value_refuse(struct map m, const char *key, const char *why);

/* Report that the key is missing, at the map or at the start of the file. `instead` may name an
 * alternative (" or fluid.reynolds"). */
enum status value_missing(struct map m, const char *key, const char *instead);

/* Exactly one of the keys a and b must be in the map. */
enum status value_one_of(struct map m, const char *a, const char *b);

/* Find the one key of a map whose name is in `names`: *found, whose node is NULL if there is none,
 * and *kind, its index. Two are an error: "PATH has both a and b (keep one)"; `has`: the words "has
 * both", `also`: words before the closing bracket. */
enum status value_kind(struct map m, const char *const *names, const char *has, const char *also,
                       struct map *found, int *kind);

/* Report "PATH" and the message, at the place of the value, or of its key (fail_key). */
enum status fail_value(const struct reader *r, const struct node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum status fail_key(const struct reader *r, const struct node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Report that a word is none of the row's choices. */
enum status value_no_choice(const struct reader *r, const struct node *n, const struct key *key);

/* Report that a value is not of its row's type. */
enum status value_wrong(const struct reader *r, const struct node *n, const struct key *key);

/* Read the value of a key into *to. The row's type decides: numbers as double, whole numbers and
 * choices in the size that the row says, several choices as bits, text allocated. */
enum status value_read(struct map m, const char *key, void *to);

/* The same by the key's row, with its second member (key.beside). */
enum status value_read_beside(struct map m, const struct key *key, void *to, void *beside);

/* Index of a scalar by its name, or -1. */
int scalar_index(const struct flow_case *c, const char *name);

/* Report that there is no scalar of the node's name, `name`. */
enum status value_no_scalar(const struct reader *r, const struct node *n, const char *name);

/* One unit in lattice units: "W/m2" of a case. */
double lattice_unit(const struct case_units *units, enum key_unit unit);

/* Read a KEY_RANGE, which must be given, in this unit. */
enum status value_range(struct map m, const char *key, enum key_unit unit, double value[2]);

/* Read a KEY_PLANE: a plane of cells along this axis, by its index or by a length. A length at
 * which two cells meet gives the upper one. Default: the middle plane. */
enum status value_plane(struct map m, const char *key, int axis, int *plane);

/* The cells from cells[0] to below cells[1] along an axis whose centres lie between two positions,
 * which the map gives. An error if there is none. */
enum status value_span(struct map m, double from, double to, int axis, int cells[2]);

/* The text of a KEY_TEXT, which lives as long as the document; NULL when the key is not there. */
enum status value_text(struct map m, const char *key, const char **text);

/* A KEY_OR_MAP: the map; its node is NULL when it is one of the row's words or not there at all. */
enum status value_or_map(struct map m, const char *key, struct map *inner);

#endif
