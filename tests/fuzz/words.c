/* Fuzz target: one text as key path (`tagflow keys PREFIX`, "did you mean"), as search, as number,
 * quantity and wall time, as a table of numbers, and its two halves (cut at the first line feed) as
 * words to compare. */
#include "fuzz.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/csv.h"
#include "case/keys.h"
#include "case/nearest.h"
#include "case/quantity.h"
#include "case/search.h"
#include "case/unit_words.h"
#include "case/wall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_path(const char *path)
{
    char pattern[KEYS_PATH], advice[KEYS_PATH] = "";
    if (keys_match(path, pattern) && *pattern && !keys_row(pattern))
        fuzz_wrong("%s matches %s, which has no row", path, pattern);
    said_clear();
    if (keys_print(stdout, path) > 0) {
        said_check_lines();
        if (!*said_text())
            fuzz_wrong("keys counted, none printed");
    } else if (*said_text()) {
        fuzz_wrong("keys printed, none counted");
    }
    nearest_key(path, advice, sizeof advice);
    if (!*advice || strlen(advice) >= sizeof advice)
        fuzz_wrong("no advice");
}

static void try_search(char *text)
{
    char reason[UNIT_REASON] = "";
    struct search_hit hit[SEARCH_SHOWN];
    const int found = search_keys(1, &text, hit);
    for (int k = 0; k < found && k < SEARCH_SHOWN; k++)
        if (!hit[k].key || hit[k].score <= 0 || (k && hit[k].score > hit[k - 1].score))
            fuzz_wrong("hit %d of %d for '%s' has score %d", k, found, text, hit[k].score);
    for (int unit = UNIT_NONE; unit <= UNIT_HEAT_SOURCE; unit++)
        if (unit_words(text, (enum key_unit)unit, 1000, reason) &&
            (!*reason || strlen(reason) >= sizeof reason))
            fuzz_wrong("no reason for '%s'", text);
}

static void try_words(const char *a, const char *b)
{
    const int there = edit_distance(a, b), back = edit_distance(b, a);
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (there != back)
        fuzz_wrong("from '%s' to '%s' %d edits, back %d", a, b, there, back);
    if (there < INT_MAX && (there < abs(n - m) || there > (n > m ? n : m)))
        fuzz_wrong("from '%s' to '%s' %d edits", a, b, there);
    if (there == 0 && strcmp(a, b) != 0)
        fuzz_wrong("'%s' and '%s' are not the same", a, b);
}

static void try_number(const char *text)
{
    const char *end = NULL;
    double value = NAN;
    struct quantity q;
    struct wall w;
    if (!wall_parse(text, &w) && !isfinite(w.seconds))
        fuzz_wrong("a wall time that is none: %s", text);
    if (!number_parse(text, &end, &value) && (!isfinite(value) || end <= text))
        fuzz_wrong("a number that is none: %s", text);
    if (quantity_parse(text, &q))
        return;
    const struct quantity_scale scale = {.dx = 0.005, .dt = 0.001, .density = 1000};
    if (!isfinite(q.value) || quantity_unit(q.dimension, &scale) < 0)
        fuzz_wrong("a quantity that is none: %s", text);
    if (q.bare && (end[strspn(end, " ")] || q.value != value))
        fuzz_wrong("a bare quantity that is no number: %s", text);
}

static void try_table(const char *text, size_t length)
{
    struct case_numbers n;
    char reason[CASE_REASON] = "";
    if (!csv_read(text, length, &n, reason)) {
        if (!*reason || strlen(reason) >= sizeof reason)
            fuzz_wrong("a table is refused without a reason");
        return;
    }
    if (n.axes != 2 || !n.size[0] || !n.size[1])
        fuzz_wrong("an empty table");
    for (size_t i = 0; i < n.size[0] * n.size[1]; i++)
        if (!isfinite(n.value[i]))
            fuzz_wrong("a table holds what is no number");
    free(n.value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        fuzz_wrong("no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    try_table(text, size);
    try_path(text);
    if (size % 4 == 0) /* a search takes as long as all else */
        try_search(text);
    try_number(text);
    char *second = strchr(text, '\n');
    if (second) {
        char *first = strndup(text, (size_t)(second - text));
        if (!first)
            fuzz_wrong("no memory");
        try_words(first, second + 1);
        free(first);
    }
    free(text);
    return 0;
}
