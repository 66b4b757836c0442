/* A value in the tree and the row of its key: what the readers of types (types.c) are made of. */
#ifndef TAGFLOW_GIVEN_H
#define TAGFLOW_GIVEN_H

#include "case/value.h"

struct given {
    const struct reader *r;
    const struct node *n;
    const struct key *key;
    void *beside; /* the second member; see struct key */
};

/* The value of a key; its node is NULL if the case does not have it. */
struct given value_given(struct map m, const char *key);

/* An entry of a list. */
struct given given_item(struct given list, const struct node *n);

/* Kinds of scalars of the tree: empty or null in plain style; any other; a number without a unit;
 * any with a character. */
bool node_is_null(const struct node *n);
bool node_is_single(const struct node *n);
bool node_is_bare(const struct node *n);
bool node_is_word(const struct node *n);

/* Is any value of the tree in degC? */
bool given_celsius(const struct node *n);

/* Temperatures of a file whose map says no unit are in K: an error where others are in degC. */
enum status given_file_unit(struct map m);

/* Report that the value is not of its row's type. */
enum status given_wrong(struct given g);

/* Report a number that is not in the row's range. `value`: the compared number, in lattice units,
 * steps or SI units; `computed`: the text does not show it. */
enum status given_out_of_range(struct given g, double value, bool computed);

/* Is it in the row's range? Numbers of a level above 0 were checked as those of level 0. */
bool given_allowed(struct given g, double value);

/* The unit of the row; another one for a species. */
enum key_unit given_unit(struct given g);

/* A number in lattice units, or in SI units if the row must have a unit; the range is not checked.
 * *converted: it had a unit and is in lattice units. */
enum status given_number(struct given g, enum key_unit unit, double *value, bool *converted);

/* The same in the row's unit and range, a double. */
enum status given_checked(struct given g, void *to);

/* A list of numbers in this unit and the row's range. */
enum status given_numbers(struct given g, enum key_unit unit, int count, double *value);

/* A whole number in the row's range, an int64_t. */
enum status given_whole(struct given g, void *to);

/* A position along an axis of the box; *bare: it has no unit. A list of positions, along axes. */
enum status given_position(struct given g, int axis, double *value, bool *bare);
enum status given_positions(struct given g, const int *axes, int count, double *value);

/* A word of the row, or a map: *inner, whose node is NULL if it is a word or not given. */
enum status given_or_map(struct given g, struct map *inner);

/* The value by the row's type, into *to. */
enum status type_read(struct given g, void *to);

#endif
