/* Damerau-Levenshtein distance, restricted to one edit of each substring (Damerau, Commun. ACM 7,
 * 171, 1964), and the search with it. */
#include "case/nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "case/keys.h"

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

struct search {
    const char *known, *wrong; /* concrete path that is known, first segment that is not */
    int least;
    char best[KEYS_PATH];
};

static void offer(struct search *s, int distance, const char *a, const char *b, const char *parent,
                  const char *name)
{
    if (distance >= s->least || !is_near(distance, a, b))
        return;
    s->least = distance;
    snprintf(s->best, sizeof s->best, "%s%s%s", parent, *parent ? "." : "", name);
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
    for (const struct key *k = key_table; k->path && length < size; k++) {
        if (!child_of(k->path, pattern, name))
            continue;
        choice_text(key_faces, faces, sizeof faces);
        length += (size_t)snprintf(advice + length, size - length, "%s%s",
                                   length ? ", " : (*known ? "known there: " : "known: "),
                                   strcmp(name, "<face>") ? name : faces);
    }
    if (!length)
        snprintf(advice, size, "%.100s has no keys below it", known);
}

void nearest_key(const char *path, char *advice, size_t size)
{
    char copy[KEYS_PATH], pattern[KEYS_PATH] = "", child[KEYS_PATH], known[KEYS_PATH] = "";
    struct search s = {.known = known, .least = INT_MAX};
    snprintf(copy, sizeof copy, "%s", path);
    char *rest = copy, *segment;
    while ((segment = strsep(&rest, ".")) && keys_step(pattern, segment, child)) {
        strcpy(pattern, child);
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", length ? "." : "", segment);
    }
    s.wrong = segment ? segment : "";
    offer_siblings(&s, pattern);
    for (const struct key *k = key_table; k->path; k++) {
        const char *dot = strrchr(k->path, '.'), *last = dot ? dot + 1 : k->path;
        /* moved + 1: a sibling with as many wrong letters is preferred */
        const int moved = edit_distance(s.wrong, last), whole = edit_distance(path, k->path);
        if (moved < INT_MAX && strlen(s.wrong) > 2 && *last != '<')
            offer(&s, moved + 1, s.wrong, last, "", k->path);
        if (!strpbrk(k->path, "*<"))
            offer(&s, whole, path, k->path, "", k->path);
    }
    if (s.least < INT_MAX)
        snprintf(advice, size, "did you mean %s?", s.best);
    else
        list_siblings(pattern, known, advice, size);
}
