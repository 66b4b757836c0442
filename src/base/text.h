/* Numbers in a text, and texts in messages. */
#ifndef TAGFLOW_TEXT_H
#define TAGFLOW_TEXT_H

enum { TEXT_QUOTE = 80 }; /* buffer of quote_text() */

/* Read the decimal number at `text`, which may be followed by anything; *end: behind it. Only
 * digits, '.', exponent and sign: no hexadecimal, nan or infinity. The caller's locale must have a
 * decimal point (case_read sets the C locale of its thread). Returns NULL, or what is wrong in
 * words that follow the quoted text ("is not a number"). */
const char *number_parse(const char *text, const char **end, double *value);

/* The text in quotes for a message: one line, printable, cut when long. Returns `quoted`. */
const char *quote_text(const char *text, char quoted[static TEXT_QUOTE]);

#endif
