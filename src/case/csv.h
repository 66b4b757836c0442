/* A table of numbers as text. */
#ifndef TAGFLOW_CSV_H
#define TAGFLOW_CSV_H

#include "case/case.h"

/* Lines of numbers parted by commas, blanks or both, every line with as many; empty lines and what
 * follows a `#` do not count. `text` ends with a NUL at text[length]. True: *n has two axes, lines
 * and numbers in each, and its values are to be freed. False: the reason, in words that follow the
 * file's name (":3:7: 'x' is not a number"), or "" without memory. */
bool csv_read(const char *text, size_t length, struct case_numbers *n, char reason[CASE_REASON]);

#endif
