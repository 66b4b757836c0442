/* A table of numbers as text. */
#ifndef TAGFLOW_CSV_H
#define TAGFLOW_CSV_H

#include "case/case.h"

/* Reads lines of numbers separated by commas, blanks or both; all lines have the same number of
 * them. Empty lines and text after `#` are skipped. `text` ends with a NUL at text[length]. True:
 * *n has two axes, [lines][numbers in each]; its values are to be freed. False: the reason, in
 * words that follow the file's name (":3:7: 'x' is not a number"), or "" without memory. */
bool csv_read(const char *text, size_t length, struct case_numbers *n, char reason[CASE_REASON]);

#endif
