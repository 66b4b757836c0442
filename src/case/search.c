/* Search for keys; see search.h. A word matches a key, from the best: as a synonym, as the name of
 * the key or of a choice, as a part of a name, as a name above it, in the meaning. */
#include "case/search.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/message.h"
#include "base/text.h"
#include "case/keys.h"
#include "case/nearest.h"
#include "case/words.h"

enum {
    SCORE_SYNONYM = 1000, /* less for later keys of its row */
    SCORE_NAME = 900,
    SCORE_CHOICE = 800,
    SCORE_PART = 700,  /* a part of a name between two _ */
    SCORE_BEGIN = 600, /* the beginning of a name */
    SCORE_ABOVE = 450,
    SCORE_MEANING = 400,
    SCORE_BELOW = 350,      /* below a key of a synonym; of several words alone */
    SCORE_IN_MEANING = 300, /* the beginning of a word of it */
    DEPTH = 6,              /* less for each level */
    MOST_WORDS = 8,
    MOST_HITS = 1024,
};

/* Words of a search as given and in plain form; `phrase`: all of them as one. */
struct query {
    char given[MOST_WORDS][WORD_SIZE], word[MOST_WORDS][WORD_SIZE], phrase[WORD_SIZE];
    int count;
};

static void add_word(struct query *q, const char *text, size_t length)
{
    if (q->count == MOST_WORDS)
        return;
    snprintf(q->given[q->count], WORD_SIZE, "%.*s", (int)length, text);
    word_plain(text, length, q->word[q->count]);
    q->count += *q->word[q->count] != '\0';
}

/* Removes words that say nothing, unless there are no others. */
static void remove_articles(struct query *q)
{
    static const char articles[] = "a, an, the, and, at, for, in, number, of, on, per, to, with";
    int kept = 0;
    for (int k = 0; k < q->count; k++) {
        if (word_listed(articles, q->word[k]) && (kept > 0 || k + 1 < q->count))
            continue;
        memmove(q->given[kept], q->given[k], WORD_SIZE);
        memmove(q->word[kept++], q->word[k], WORD_SIZE);
    }
    q->count = kept;
}

/* Words end at everything that is neither a letter nor a digit. */
static void split(struct query *q, const char *text)
{
    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || (unsigned char)text[length] >= 0x80 ||
               text[length] == '+')
            length++;
        if (length)
            add_word(q, text, length);
        text += length + (text[length] != '\0');
    }
}

static struct query query_of(int count, char *const *words)
{
    char all[WORD_SIZE * MOST_WORDS] = "";
    struct query q = {.count = 0};
    for (int k = 0; k < count; k++) {
        split(&q, words[k]);
        const size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s ", words[k]);
    }
    word_plain(all, strlen(all), q.phrase);
    remove_articles(&q);
    return q;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    char plain[WORD_SIZE];
    word_plain(text, length, plain);
    return !strcmp(plain, word);
}

static bool begins(const char *text, size_t length, const char *word)
{
    const size_t n = strlen(word);
    if (n < 3 || length < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)text[i]) != word[i])
            return false;
    return true;
}

/* The best score of the word among the words of a text. */
static int score_text(const char *text, const char *word, int whole, int begin)
{
    int best = 0;
    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]))
            length++;
        if (length && is_word(text, length, word))
            return whole;
        if (begins(text, length, word))
            best = begin;
        text += length + (text[length] != '\0');
    }
    return best;
}

static const char *choice_named(const struct key *key, const char *word)
{
    for (int list = 0; list < 2; list++) {
        const char *const *const words = list ? key->alone : key->choices;
        for (int i = 0; words && words[i]; i++)
            if (is_word(words[i], strlen(words[i]), word))
                return words[i];
    }
    return NULL;
}

static int depth_of(const struct key *key)
{
    int dots = 0;
    for (const char *c = key->path; *c; c++)
        dots += *c == '.';
    return dots;
}

/* A score of the word itself, without synonyms; *choice stays where it names none. */
static int score_plain(const struct key *key, const char *word, const char **choice)
{
    const char *const name = keys_name(key);
    const int less = DEPTH * depth_of(key);
    if (is_word(name, strlen(name), word))
        return SCORE_NAME - less;
    const char *const named = choice_named(key, word);
    if (named) {
        *choice = named;
        return SCORE_CHOICE - less;
    }
    const int part = score_text(name, word, SCORE_PART, SCORE_BEGIN);
    if (part)
        return part - less;
    const int above = score_text(key->path, word, SCORE_ABOVE, 0);
    const int meaning = score_text(key->meaning, word, SCORE_MEANING, SCORE_IN_MEANING);
    return above || meaning ? (above > meaning ? above : meaning) - less : 0;
}

static bool is_below(const struct key *key, const struct key *above)
{
    const size_t length = strlen(above->path);
    return !strncmp(key->path, above->path, length) && key->path[length] == '.';
}

static void raise_to(struct search_hit *hit, int score, const char *choice)
{
    if (hit->score >= score)
        return;
    hit->score = score;
    hit->choice = choice;
}

/* Gives the keys of a synonym, and if `below` those below them, their scores; `hit` has an entry
 * for each row of the table of keys. */
static void score_synonyms(const char *word, bool below, struct search_hit *hit, int count)
{
    for (const struct synonym *s = synonyms; s->words; s++) {
        const char *list = s->keys;
        size_t length;
        if (!word_listed(s->words, word))
            continue;
        for (int rank = 0;; rank++) {
            const char *choice = NULL;
            const char *const item = word_item(&list, ' ', &length);
            const struct key *const key = item ? word_key(item, length, &choice) : NULL;
            if (!key)
                break;
            for (int k = 0; k < count; k++)
                if (hit[k].key == key)
                    raise_to(&hit[k], SCORE_SYNONYM - rank, choice);
                else if (below && is_below(hit[k].key, key))
                    raise_to(&hit[k], SCORE_BELOW - DEPTH * depth_of(hit[k].key), NULL);
        }
    }
}

static int score_all(const char *word, bool below, struct search_hit *hit)
{
    int count = 0;
    for (const struct key *k = key_table; k->path && count < MOST_HITS; k++, count++) {
        hit[count] = (struct search_hit){.key = k};
        hit[count].score = score_plain(k, word, &hit[count].choice);
    }
    score_synonyms(word, below, hit, count);
    return count;
}

/* Keys that say the same at several places, such as on faces and on patches, unless the table of
 * synonyms names both. */
static bool is_alike(const struct search_hit *a, const struct search_hit *b)
{
    if (a->key != b->key && a->score > SCORE_NAME && b->score > SCORE_NAME)
        return false;
    return !strcmp(keys_name(a->key), keys_name(b->key)) &&
           !strcmp(a->key->meaning, b->key->meaning) && a->key->unit == b->key->unit;
}

static bool is_better(const struct search_hit *a, const struct search_hit *b)
{
    return a->score > b->score || (a->score == b->score && a->key < b->key);
}

/* Takes the best hits, each once. */
static int take_best(struct search_hit *from, int count, struct search_hit hit[static SEARCH_SHOWN])
{
    int found = 0;
    for (;;) {
        int best = -1;
        for (int k = 0; k < count; k++)
            if (from[k].score > 0 && (best < 0 || is_better(&from[k], &from[best])))
                best = k;
        if (best < 0)
            return found;
        const struct search_hit taken = from[best];
        for (int k = 0; k < count; k++)
            if (from[k].score > 0 && is_alike(&from[k], &taken))
                from[k].score = 0;
        if (found < SEARCH_SHOWN)
            hit[found] = taken;
        found++;
    }
}

int search_keys(int count, char *const *words, struct search_hit hit[static SEARCH_SHOWN])
{
    static struct search_hit all[MOST_HITS], one[MOST_HITS];
    const struct query q = query_of(count, words);
    int keys = 0;
    for (int w = 0; w < q.count; w++) {
        keys = score_all(q.word[w], q.count > 1, one);
        for (int k = 0; k < keys; k++) {
            const bool matched = one[k].score && (w == 0 || all[k].score);
            const int before = w > 0 ? all[k].score : 0;
            const char *const choice = w > 0 && !one[k].choice ? all[k].choice : one[k].choice;
            all[k] = one[k];
            all[k].choice = choice;
            all[k].score = matched ? one[k].score + before : 0;
        }
    }
    if (q.count > 1) { /* "time step" is one word */
        for (int k = 0; k < keys; k++)
            all[k].score /= q.count + 1;
        score_synonyms(q.phrase, false, all, keys);
    }
    return take_best(all, keys, hit);
}

/* The first clause of a meaning, at most `most` bytes. */
static void print_clause(FILE *to, const char *meaning, size_t most)
{
    static const char stop[] = ";";
    const size_t clause = strcspn(meaning, stop);
    size_t length = clause;
    if (clause > most)
        for (length = most; length > 0 && meaning[length] != ' ';)
            length--;
    fprintf(to, "%.*s%s\n", (int)length, meaning, length < clause ? " ..." : "");
}

static void path_of(const struct search_hit *hit, char text[static KEYS_PATH])
{
    snprintf(text, KEYS_PATH, "%s%s%s", hit->key->path, hit->choice ? ": " : "",
             hit->choice ? hit->choice : "");
}

static void print_hits(FILE *to, const struct search_hit *hit, int shown)
{
    enum { NARROW = 24, WIDE = 52, LINE = 118 };
    char path[KEYS_PATH];
    int width = NARROW, units = 0;
    for (int k = 0; k < shown; k++) {
        path_of(&hit[k], path);
        const int length = (int)strlen(path),
                  unit = (int)strlen(unit_info(hit[k].key->unit)->symbol);
        width = length > width && length <= WIDE ? length : width;
        units = unit > units ? unit : units;
    }
    for (int k = 0; k < shown; k++) {
        path_of(&hit[k], path);
        const char *const unit = unit_info(hit[k].key->unit)->symbol;
        fprintf(to, "%-*s  %-*s%s", width, path, units, unit, units ? "  " : "");
        print_clause(to, hit[k].key->meaning, (size_t)(LINE - width - units - 8));
    }
}

/* The nearer one of two words; text: "" for none. */
struct near_word {
    char text[WORD_SIZE];
    int distance;
};

enum { SHORT = 4 /* shorter words are near too many */ };

static void offer_word(struct near_word *near, const char *plain, const char *text, size_t length)
{
    char known[WORD_SIZE];
    const char *const one[] = {known, NULL};
    word_plain(text, length, known);
    const int distance = strlen(plain) < SHORT ? INT_MAX : edit_distance(plain, known);
    if (distance == INT_MAX || !nearest_choice(one, plain) ||
        (*near->text && distance >= near->distance))
        return;
    snprintf(near->text, sizeof near->text, "%.*s", (int)length, text);
    near->distance = distance;
}

/* The word nearest to an unknown one, among names of keys and synonyms. */
static struct near_word nearest_word(const char *plain)
{
    struct near_word near = {.distance = 0};
    size_t length;
    for (const struct key *k = key_table; k->path; k++)
        offer_word(&near, plain, keys_name(k), strlen(keys_name(k)));
    for (const struct synonym *s = synonyms; s->words; s++) {
        const char *list = s->words;
        for (const char *item; (item = word_item(&list, ',', &length));)
            offer_word(&near, plain, item, length);
    }
    return near;
}

static const char *note_of(const char *phrase)
{
    for (const struct synonym *s = synonyms; s->words; s++)
        if (s->note && word_listed(s->words, phrase))
            return s->note;
    return NULL;
}

static enum status nothing_found(int count, char *const *words)
{
    char quoted[TEXT_QUOTE];
    struct query all = query_of(count, words);
    if (note_of(all.phrase))
        return fail_user("no key is found: %s", note_of(all.phrase));
    struct search_hit hit[SEARCH_SHOWN];
    for (int k = 0; k < all.count; k++) {
        char *const one = all.given[k];
        if (search_keys(1, &one, hit))
            continue;
        const struct near_word near = nearest_word(all.word[k]);
        quote_text(one, quoted);
        if (*near.text)
            return fail_user("no key is found for %s (did you mean %s?)", quoted, near.text);
        return fail_user("no key is found for %s (try another word; `tagflow keys` lists all keys)",
                         quoted);
    }
    if (!all.count)
        return fail_user("there is no word to search for (for example tagflow keys --search "
                         "outlet)");
    return fail_user(
        "no key is found for all %d words together, but for each alone (leave one out)", all.count);
}

enum status search_print(FILE *to, int count, char *const *words)
{
    struct search_hit hit[SEARCH_SHOWN];
    const int found = search_keys(count, words, hit);
    const struct query q = query_of(count, words);
    if (!found)
        return nothing_found(count, words);
    print_hits(to, hit, found < SEARCH_SHOWN ? found : SEARCH_SHOWN);
    if (found > SEARCH_SHOWN)
        fprintf(to, "... and %d more: another word makes it fewer\n", found - SEARCH_SHOWN);
    if (note_of(q.phrase))
        fprintf(to, "\n%s\n", note_of(q.phrase));
    const char *const quote = strpbrk(hit[0].key->path, "*<") ? "'" : "";
    fprintf(to, "\nAll about a key: tagflow keys PATH, e.g. tagflow keys %s%s%s\n", quote,
            hit[0].key->path, quote);
    return STATUS_OK;
}
