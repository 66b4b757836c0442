/* Numbers in a text, and texts in messages; see text.h. */
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The end of a decimal number at `text`, or NULL when there is none. */
static const char *decimal_end(const char *text)
{
    const char *c = text;
    int digits = 0;
    if (*c == '+' || *c == '-')
        c++;
    for (; is_digit(*c); c++)
        digits++;
    if (*c == '.')
        for (c++; is_digit(*c); c++)
            digits++;
    if (!digits)
        return NULL;
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1;
        if (*exponent == '+' || *exponent == '-')
            exponent++;
        if (is_digit(*exponent)) {
            for (c = exponent; is_digit(*c); c++)
                ;
        }
    }
    return c;
}

const char *number_parse(const char *text, const char **end, double *value)
{
    const char *stop = decimal_end(text);
    char *stopped;
    if (!stop || (stop[-1] == '0' && (*stop == 'x' || *stop == 'X')))
        return "is not a number";
    *value = strtod(text, &stopped);
    if (stopped != stop)
        return "is not a number";
    if (!isfinite(*value))
        return "is too large for a number";
    *end = stop;
    return NULL;
}

const char *quote_text(const char *text, char quoted[static TEXT_QUOTE])
{
    size_t n = 0;
    quoted[n++] = '\'';
    for (; *text && n < TEXT_QUOTE - 6; text++)
        quoted[n++] = *text < 32 || *text > 126 ? '?' : *text;
    strcpy(quoted + n, *text ? "...'" : "'");
    return quoted;
}

const char *quote_word(const char *word, size_t length, char quoted[static TEXT_QUOTE])
{
    enum { SHOWN = 5 };
    char text[SHOWN + 1];
    if (length > SHOWN)
        return "the word here";
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    return quote_text(text, quoted);
}

/* Bytes of the UTF-8 character at `c`, without control characters; 0: it is none. */
static size_t character(const unsigned char *c, size_t left)
{
    const size_t length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
    if (!length || length > left || *c > 0xf4 || *c < ' ' || *c == 127)
        return 0;
    for (size_t k = 1; k < length; k++)
        if ((c[k] & 0xc0) != 0x80)
            return 0;
    return *c == 0xc2 && c[1] < 0xa0 ? 0 : length; /* those of C1 */
}

void text_harmless(char *text, size_t length)
{
    for (size_t i = 0, n; i < length; i += n) {
        n = character((const unsigned char *)text + i, length - i);
        if (n)
            continue;
        text[i] = '?';
        n = 1;
    }
}
