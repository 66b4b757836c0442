/* Numbers whose unit is not known here or measures something else: what to write instead. */
#ifndef TAGFLOW_UNIT_WORDS_H
#define TAGFLOW_UNIT_WORDS_H

#include <stdbool.h>

#include "case/keys.h"

enum { UNIT_REASON = 256 };

/* For a text such as "2 Hz" where a number of the kind `unit` is expected: "is a
 * frequency (its period is 0.5 s)". `density` of the fluid, kg/m3; 1 if it is not known. False:
 * there is nothing better to say. */
bool unit_words(const char *text, enum key_unit unit, double density, char reason[UNIT_REASON]);

#endif
