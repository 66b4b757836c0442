/* From a scalar or list of the tree to a checked value of the type its row in the key table says.
 *
 * Each function takes the map that holds the key (NULL when the file has no such map) and the
 * key's row by its pattern. A missing key yields its default, if the table has one as text, leaves
 * the output alone, or is an error when it is required. Reported errors return STATUS_USAGE. */
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
    struct case_units units;        /* once read; until then numbers with a unit are errors */
    bool by_reynolds;               /* the case gives fluid.reynolds, not fluid.viscosity */
    const struct case_files *files; /* NULL: the case may name none */
};

/* The key's node, or NULL. */
struct node *value_find(const struct node *map, const char *row);

/* The key must not be there: "... has no effect WHY (remove it)". */
enum status value_refuse(const struct reader *r, const struct node *map, const char *row,
                         const char *why);

/* The key is missing: reports that, at the map or the start of the file. `instead` may name an
 * alternative (" or fluid.reynolds"). */
enum status value_missing(const struct reader *r, const struct node *map, const char *row,
                          const char *instead);

/* Exactly one of the keys a and b must be in the map. */
enum status value_one_of(const struct reader *r, const struct node *map, const char *a,
                         const char *b);

/* Report that a value is not of its row's type. */
enum status value_wrong(const struct reader *r, const struct node *n, const char *row);

enum status value_integer(const struct reader *r, const struct node *map, const char *row,
                          int64_t *value);
enum status value_integers(const struct reader *r, const struct node *map, const char *row,
                           int value[3]);

/* [a, b, c], or auto, which gives 0 0 0. */
enum status value_ranks(const struct reader *r, const struct node *map, const char *row,
                        int value[3]);

/* The numbers of a KEY_LABELS, at most `most`, none twice. */
enum status value_labels(const struct reader *r, const struct node *map, const char *row, int most,
                         int *value, int *count);

/* A KEY_NUMBER in lattice units or a KEY_PHYSICAL in SI units. */
enum status value_number(const struct reader *r, const struct node *map, const char *row,
                         double *value);

/* `count` numbers: a KEY_VECTOR, KEY_RANGE or KEY_SIZE. `unit` is the row's, or the shown one's. */
enum status value_numbers(const struct reader *r, const struct node *map, const char *row,
                          enum key_unit unit, int count, double *value);

/* A direction, of length 1 if it is an axis' name. */
enum status value_axis(const struct reader *r, const struct node *map, const char *row,
                       double value[3]);

/* An index into the row's choices. */
enum status value_choice(const struct reader *r, const struct node *map, const char *row,
                         int *value);

/* A bit for each of the row's choices that is named. */
enum status value_choices(const struct reader *r, const struct node *map, const char *row,
                          unsigned *value);

/* Bits as above, or one of the row's words that stand alone: *word is its index, else -1. */
enum status value_columns(const struct reader *r, const struct node *map, const char *row,
                          unsigned *value, int *word);

/* Three positions within a box of so many cells, in lattice units. One with a unit that is within
 * rounding of a cell's face or centre is that. */
enum status value_position(const struct reader *r, const struct node *map, const char *row,
                           const int cells[3], double value[3]);

/* Two positions along these axes of the box, likewise. */
enum status value_point(const struct reader *r, const struct node *map, const char *row,
                        const int cells[3], const int axes[2], double value[2]);

/* The text of a KEY_TEXT, which lives as long as the document; NULL when the key is not there. */
enum status value_text(const struct reader *r, const struct node *map, const char *row,
                       const char **text);

/* The map of a KEY_EMPTY is there, and empty. */
enum status value_empty(const struct reader *r, const struct node *map, const char *row);

/* Seconds of wall time; 0: none. */
enum status value_wall(const struct reader *r, const struct node *map, const char *row,
                       double *seconds);

/* Steps or seconds of wall time; the other one is 0. */
enum status value_due(const struct reader *r, const struct node *map, const char *row,
                      int64_t *steps, double *seconds);

/* A KEY_OR_MAP: the map, or NULL when it is one of the row's words or not there at all. */
enum status value_or_map(const struct reader *r, const struct node *map, const char *row,
                         const struct node **inner);

/* Steps, of a KEY_INTERVAL or KEY_STEP; a time becomes the nearest number of them. */
enum status value_interval(const struct reader *r, const struct node *map, const char *row,
                           int64_t *value);

#endif
