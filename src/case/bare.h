/* Numbers without a unit in a case with units: each is in lattice units, and may be a slip. */
#ifndef TAGFLOW_BARE_H
#define TAGFLOW_BARE_H

#include "case/value.h"

/* Notes a number, or a vector of `count` numbers, of the node in r->unitless if it may be a slip.
 * bare[k]: the k-th number has no unit. */
void bare_note(const struct reader *r, const struct node *n, enum key_unit unit,
               const double *value, const bool *bare, int count);

/* For an error of a body's place: "; KEY is 0.05 without a unit, ...", or "" if no length is noted.
 */
const char *bare_length_text(const struct flow_case *c, char text[256]);

#endif
