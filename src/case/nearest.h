/* "Did you mean ...?": the known word nearest to a misspelt one. */
#ifndef TAGFLOW_NEAREST_H
#define TAGFLOW_NEAREST_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap neighbours) from a to b; words of 64 bytes or more
 * are never near, nor are those whose lengths differ by more than 3: INT_MAX. */
int edit_distance(const char *a, const char *b);

/* The choice nearest to `text`, or NULL when none is near. */
const char *nearest_choice(const char *const *choices, const char *text);

/* For a path that is no key: "did you mean fluid.viscosity?", or, when none or more than two are
 * near, the keys known at the level where it goes wrong: "known in fluid: viscosity, ...". In a
 * thing with a name, such as a body or a face, only its own keys are near. */
void nearest_key(const char *path, char *advice, size_t size);

#endif
