/* Numbers in a text, and texts in messages. */
#ifndef TAGFLOW_TEXT_H
#define TAGFLOW_TEXT_H

#include <stddef.h>

enum { TEXT_QUOTE = 80 }; /* buffer of quote_text() */

/* Read the decimal number at `text`, which may be followed by anything; *end: behind it. Only
 * digits, '.', exponent and sign: no hexadecimal, nan or infinity. The caller's locale must have a
 * decimal point (case_read sets the C locale of its thread). Returns NULL, or what is wrong in
 * words that follow the quoted text ("is not a number"). */
const char *number_parse(const char *text, const char **end, double *value);

/* The text in quotes for a message: one line, printable, cut when long. Returns `quoted`. */
const char *quote_text(const char *text, char quoted[static TEXT_QUOTE]);

/* The same for a word of a file that a case names. Only a short one is shown: it may be any file,
 * with a secret in it. */
const char *quote_word(const char *word, size_t length, char quoted[static TEXT_QUOTE]);

/* Replaces what a terminal would obey, and what is no UTF-8, by '?'. */
void text_harmless(char *text, size_t length);

#endif
