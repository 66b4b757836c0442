/* An opening is the boundary condition of a face of the box or of a part of one (struct case_face):
 * sections `faces` and `patches` have the same keys for it. */
#ifndef TAGFLOW_OPENING_H
#define TAGFLOW_OPENING_H

#include <stdio.h>

#include "case/sections.h"

#define REFLECTION_AUTO (-1.0) /* not given: section_choices() chooses it */

/* The cells of an opening, lo <= cell < hi along the axes of its face, and its middle there. */
struct opening_cells {
    int face, lo[2], hi[2];
    double center[2];
};

/* Read an opening into *to, which is zeroed, from a map that names its kind, as in {velocity:
 * {value: ...}}, or from a word. */
enum status opening_read(struct map m, const struct opening_cells *cells, struct case_face *to);
enum status opening_read_word(const struct reader *r, const struct node *n, struct case_face *to);

/* Has it a profile that varies with the distance from the edges? */
bool opening_has_profile(const struct case_face *face);

/* Profiles by height or radius: the keys of their maps, from PROFILE_height on; and one of them
 * read, in whose map m is. */
extern const char *const profile_heights[];
enum status heights_read(struct map m, enum profile profile, const struct opening_cells *cells,
                         struct case_heights *to);

/* The same of a scalar's values, which become relative to its reference. unit: of the numbers in
 * the file; physical: it was given. */
enum status heights_read_values(struct map m, enum profile profile,
                                const struct opening_cells *cells, enum temperature_unit unit,
                                bool physical, struct case_heights *to);

/* The largest magnitude. */
double heights_peak(const struct case_heights *h);

/* The row whose keys the map of one has. */
const char *heights_row(const char *map);
void heights_destroy(struct case_heights *h);

/* kind: {...} */
void opening_write(struct writer *w, const struct case_face *face);

#endif
