/* An opening is the boundary condition of a face of the box or of a part of one (struct case_face):
 * sections `faces` and `patches` have the same keys for it. */
#ifndef TAGFLOW_OPENING_H
#define TAGFLOW_OPENING_H

#include <stdio.h>

#include "case/sections.h"

#define REFLECTION_AUTO (-1.0) /* not given: section_choices() chooses it */

/* Read an opening into *to, which is zeroed, from a map that names its kind, as in {velocity:
 * {value: ...}}, or from a word. */
enum status opening_read(struct map m, int face, struct case_face *to);
enum status opening_read_word(const struct reader *r, const struct node *n, struct case_face *to);

/* Has it a profile that varies with the distance from the edges? */
bool opening_has_profile(const struct case_face *face);

/* kind: {...} */
void opening_write(struct writer *w, const struct case_face *face);

#endif
