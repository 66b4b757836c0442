/* An opening is what a face of the box or a part of one does (struct case_face): sections `faces`
 * and `patches` give it by the same keys. */
#ifndef TAGFLOW_OPENING_H
#define TAGFLOW_OPENING_H

#include <stdio.h>

#include "case/sections.h"

/* The kind that a map names, as in {velocity: {value: ...}}, or a word, into *to, which is zeroed.
 * `base`: the pattern of the map. */
enum status opening_read(const struct reader *r, const struct node *map, const char *base, int face,
                         const int cells[3], struct case_face *to);
enum status opening_read_word(const struct reader *r, const struct node *n, struct case_face *to);

/* Does its plane lie on the outermost cells? */
bool opening_wet(const struct case_face *face);

/* Does what it gives vary with the distance from the edges? */
bool opening_has_profile(const struct case_face *face);

/* kind: {...} */
void opening_write(FILE *to, const struct case_face *face);

#endif
