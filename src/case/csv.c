/* Tables of numbers as text; see csv.h. */
#include "case/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "case/document.h"
#include "case/quantity.h"

struct csv_table {
    double *value;
    size_t count;
};

static bool append(struct csv_table *t, double value)
{
    return ARRAY_ADD(t->value, t->count, value);
}

static const char *skip_blanks(const char *c)
{
    while (*c == ' ' || *c == '\t' || *c == '\r')
        c++;
    return c;
}

static bool ends_line(char c)
{
    return c == '\n' || c == '#' || c == '\0';
}

/* The word at `c`, up to the next separator, for a message. */
static const char *word_at(const char *c, char quoted[static TEXT_QUOTE])
{
    return quote_word(c, strcspn(c, ", \t\r\n#"), quoted);
}

/* Reads the numbers of one line and moves *text to its end. Returns their number, or -1 and the
 * reason. */
static int read_line(const char **text, int line, struct csv_table *t, char reason[CASE_REASON])
{
    const char *start = *text, *c = skip_blanks(start);
    char quoted[TEXT_QUOTE];
    int count = 0;
    bool comma = false; /* a comma was read last */
    *reason = '\0';
    while (!ends_line(*c)) {
        double value = 0;
        const char *end = c;
        const char *problem = *c == ',' ? "" : number_parse(c, &end, &value);
        if (!problem && !ends_line(*end) && !strchr(", \t\r", *end))
            problem = "is not a number";
        if (problem) {
            snprintf(reason, CASE_REASON,
                     *c == ',' ? ":%d:%d: a comma and no number before it" : ":%d:%d: %s %s", line,
                     (int)(c - start) + 1, word_at(c, quoted), problem);
            return -1;
        }
        if (!append(t, value))
            return -1;
        count++;
        c = skip_blanks(end);
        comma = *c == ',';
        if (comma)
            c = skip_blanks(c + 1);
    }
    if (comma) {
        snprintf(reason, CASE_REASON, ":%d:%d: no number after the last comma", line,
                 (int)(c - start) + 1);
        return -1;
    }
    *text = c + strcspn(c, "\n");
    return count;
}

bool csv_read(const char *text, size_t length, struct case_numbers *n, char reason[CASE_REASON])
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8 byte order mark */
    struct csv_table t = {0};
    int columns = 0, line = 1;
    size_t rows = 0;
    const char *c = text;
    *reason = '\0';
    if (strlen(text) < length) {
        snprintf(reason, CASE_REASON, " holds a NUL byte (is this a text file?)");
        return false;
    }
    if (!strncmp(c, mark, sizeof mark - 1))
        c += sizeof mark - 1;
    for (;; line++) {
        const int count = read_line(&c, line, &t, reason);
        if (count < 0)
            goto failed;
        if (count && rows && count != columns) {
            snprintf(reason, CASE_REASON, ":%d:1: a line of %d numbers after lines of %d", line,
                     count, columns);
            goto failed;
        }
        if (count) {
            columns = count;
            rows++;
        }
        if (!*c)
            break;
        c++;
    }
    if (!rows) {
        snprintf(reason, CASE_REASON, " holds no numbers");
        goto failed;
    }
    *n = (struct case_numbers){2, {rows, (size_t)columns}, t.value};
    return true;

failed:
    free(t.value);
    return false;
}
