/* Damerau-Levenshtein distance, restricted to one edit of each substring (Damerau, Commun. ACM 7,
 * 171, 1964), and the search with it. */
#include "case/nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "case/keys.h"
#include "case/words.h"

enum { WORD = 64, EDITS = 3 /* most that is_near() allows */ };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

int edit_distance(const char *a, const char *b)
{
    int cost[WORD + 1][WORD + 1];
    const int n = (int)strnlen(a, WORD), m = (int)strnlen(b, WORD);
    if (n == WORD || m == WORD || n - m > EDITS || m - n > EDITS)
        return INT_MAX;
    for (int i = 0; i <= n; i++)
        cost[i][0] = i;
    for (int j = 0; j <= m; j++)
        cost[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            const int edits = smaller(cost[i - 1][j], cost[i][j - 1]) + 1;
            cost[i][j] = smaller(edits, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = smaller(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[n][m];
}

/* Two words are near if at most this many letters are wrong: 1, or 2 or 3 if the shorter one has at
 * least 6 or 9 letters. */
static bool is_near(int distance, const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
    if (least < 3) /* "x" is not a misspelt "y" */
        return distance == 0 || (distance == 1 && n != m);
    return distance <= (least < 6 ? 1 : least < 9 ? 2 : EDITS);
}

const char *nearest_choice(const char *const *choices, const char *text)
{
    const char *best = NULL;
    int least = INT_MAX;
    for (int i = 0; choices[i]; i++) {
        const int distance = edit_distance(text, choices[i]);
        if (distance < least && is_near(distance, text, choices[i])) {
            least = distance;
            best = choices[i];
        }
    }
    return best;
}

enum { TIES = 2 /* most keys that are offered */ };

struct search {
    const char *known, *wrong; /* concrete path that is known, first segment that is not */
    int least, ties;           /* ties: keys that are as near */
    char best[TIES][KEYS_PATH];
};

static void offer(struct search *s, int distance, const char *a, const char *b, const char *parent,
                  const char *name)
{
    char path[KEYS_PATH];
    if (distance > s->least || distance == INT_MAX || !is_near(distance, a, b))
        return;
    snprintf(path, sizeof path, "%s%s%s", parent, *parent ? "." : "", name);
    if (distance < s->least)
        s->ties = 0;
    s->least = distance;
    for (int k = 0; k < s->ties && k < TIES; k++)
        if (!strcmp(s->best[k], path))
            return;
    if (s->ties < TIES)
        strcpy(s->best[s->ties], path);
    s->ties++;
}

/* The segment of `path` below `pattern`, copied; false if it is not one level below. */
static bool child_of(const char *path, const char *pattern, char name[static WORD])
{
    const size_t length = strlen(pattern);
    if (length && (strncmp(path, pattern, length) != 0 || path[length] != '.'))
        return false;
    const char *rest = path + length + (length > 0);
    if (strchr(rest, '.') || *rest == '*')
        return false;
    snprintf(name, WORD, "%s", rest);
    return true;
}

static void offer_siblings(struct search *s, const char *pattern)
{
    char name[WORD];
    for (const struct key *k = key_table; k->path; k++) {
        if (!child_of(k->path, pattern, name))
            continue;
        if (strcmp(name, "<face>") != 0) {
            offer(s, edit_distance(s->wrong, name), s->wrong, name, s->known, name);
            continue;
        }
        for (int f = 0; key_faces[f]; f++)
            offer(s, edit_distance(s->wrong, key_faces[f]), s->wrong, key_faces[f], s->known,
                  key_faces[f]);
    }
}

static void list_siblings(const char *pattern, const char *known, char *advice, size_t size)
{
    char name[WORD], faces[WORD];
    size_t length = 0;
    choice_text(key_faces, faces, sizeof faces);
    for (const struct key *k = key_table; k->path && length < size; k++) {
        if (!child_of(k->path, pattern, name))
            continue;
        if (!length)
            length =
                (size_t)snprintf(advice, size, *known ? "known in %.100s: " : "known%s: ", known);
        else
            length += (size_t)snprintf(advice + length, size - length, ", ");
        if (length < size)
            length += (size_t)snprintf(advice + length, size - length, "%s",
                                       strcmp(name, "<face>") ? name : faces);
    }
    if (!length && keys_also(pattern))
        list_siblings(keys_also(pattern), known, advice, size);
    else if (!length)
        snprintf(advice, size, "%.100s has no keys below it", known);
}

/* The keys of a body, an opening or another thing with a name stay inside of it: copies the pattern
 * and the path of that thing; "" if there is none. */
static void thing_of(const char *pattern, const char *known, char thing[static KEYS_PATH],
                     char named[static KEYS_PATH])
{
    const char *const last = strrchr(pattern, '*'), *const face = strstr(pattern, "<face>");
    const char *const end = last ? last + 1 : face ? face + strlen("<face>") : pattern;
    int dots = 0;
    for (const char *c = pattern; c < end; c++)
        dots += *c == '.';
    snprintf(thing, KEYS_PATH, "%.*s", (int)(end - pattern), pattern);
    const char *stop = known;
    while (end > pattern && *stop && (*stop != '.' || dots-- > 0))
        stop++;
    snprintf(named, KEYS_PATH, "%.*s", (int)(stop - known), known);
}

/* Offers keys with that name at other places: below `pattern`, whose path is `known`. */
static void offer_below(struct search *s, const char *pattern, const char *known)
{
    const size_t length = strlen(pattern);
    for (const struct key *k = key_table; k->path; k++) {
        const char *const rest = k->path + length + 1, *const dot = strrchr(k->path, '.');
        if (strncmp(k->path, pattern, length) != 0 || k->path[length] != '.' || strpbrk(rest, "*<"))
            continue;
        /* moved + 1: a sibling with as many wrong letters is preferred */
        const int moved = edit_distance(s->wrong, dot + 1);
        if (moved < INT_MAX)
            offer(s, moved + 1, s->wrong, dot + 1, known, rest);
    }
}

/* Offers keys with that name in other sections. */
static void offer_sections(struct search *s)
{
    for (const struct key *k = key_table; k->path; k++) {
        const char *const dot = strchr(k->path, '.');
        if (!dot || strchr(dot + 1, '.') || strpbrk(k->path, "*<"))
            continue;
        const int moved = edit_distance(s->wrong, dot + 1);
        if (moved < INT_MAX)
            offer(s, moved + 1, s->wrong, dot + 1, "", k->path);
    }
}

void nearest_key(const char *path, char *advice, size_t size)
{
    char copy[KEYS_PATH], pattern[KEYS_PATH] = "", child[KEYS_PATH], known[KEYS_PATH] = "";
    char thing[KEYS_PATH], named[KEYS_PATH];
    struct search s = {.known = known, .least = INT_MAX};
    snprintf(copy, sizeof copy, "%s", path);
    char *rest = copy, *segment;
    while ((segment = strsep(&rest, ".")) && keys_step(pattern, segment, child)) {
        strcpy(pattern, child);
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", length ? "." : "", segment);
    }
    s.wrong = segment ? segment : "";
    thing_of(pattern, known, thing, named);
    offer_siblings(&s, pattern);
    if (keys_also(pattern))
        offer_siblings(&s, keys_also(pattern));
    if (strlen(s.wrong) > 2) {
        if (*pattern)
            offer_below(&s, pattern, known);
        if (*thing && strcmp(thing, pattern))
            offer_below(&s, thing, named);
        if (!*thing)
            offer_sections(&s);
    }
    /* a word of the field goes before a misspelt one, and a name that another place has before a
     * word without a hint */
    if (word_for_key(pattern, known, s.wrong, s.least == 1, advice, size))
        return;
    if (s.ties == 1)
        snprintf(advice, size, "did you mean %s?", s.best[0]);
    else if (s.ties == TIES)
        snprintf(advice, size, "did you mean %.200s or %.200s?", s.best[0], s.best[1]);
    else
        list_siblings(pattern, known, advice, size);
    const char *const parent = s.ties == 1 ? strrchr(s.best[0], '.') : NULL;
    const size_t above = parent ? (size_t)(parent - s.best[0]) : 0;
    const bool beside = parent && strlen(known) == above && !strncmp(known, s.best[0], above);
    const size_t length = strlen(advice);
    if (*thing && s.ties > 0 && s.ties <= TIES && !beside && length + 1 < size) {
        advice[length] = ' ';
        list_siblings(pattern, known, advice + length + 1, size - length - 1);
    }
}
