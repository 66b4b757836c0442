/* Looks up words of the field; see words.h. */
#include "case/words.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "case/keys.h"

static bool ends(const char *word, size_t length, const char *end)
{
    const size_t n = strlen(end);
    return length > n && !strcmp(word + length - n, end);
}

/* Removes the ending of a plural, also from words that only look like one: all words are compared
 * so. */
static void make_singular(char word[static WORD_SIZE])
{
    const size_t length = strlen(word);
    if (length < 4 || ends(word, length, "ss") || !ends(word, length, "s"))
        return;
    if (ends(word, length, "ies"))
        strcpy(word + length - 3, "y");
    else if (ends(word, length, "sses") || ends(word, length, "xes"))
        word[length - 2] = '\0';
    else
        word[length - 1] = '\0';
}

void word_plain(const char *text, size_t length, char plain[static WORD_SIZE])
{
    size_t n = 0;
    for (size_t i = 0; i < length && n + sizeof "plus" < WORD_SIZE; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '+')
            n += (size_t)snprintf(plain + n, sizeof "plus", "plus");
        else if (isalnum(c) || c >= 0x80)
            plain[n++] = (char)tolower(c);
    }
    plain[n] = '\0';
    make_singular(plain);
}

const char *word_item(const char **list, char separator, size_t *length)
{
    const char *item = *list;
    while (*item && (*item == ' ' || *item == separator))
        item++;
    if (!*item)
        return NULL;
    const char *end = strchr(item, separator);
    end = end ? end : item + strlen(item);
    *list = end;
    *length = (size_t)(end - item);
    return item;
}

bool word_listed(const char *list, const char *plain)
{
    char word[WORD_SIZE];
    size_t length;
    for (const char *item; (item = word_item(&list, ',', &length));) {
        word_plain(item, length, word);
        if (!strcmp(word, plain))
            return true;
    }
    return false;
}

const struct key *word_key(const char *item, size_t length, const char **choice)
{
    char path[KEYS_PATH];
    snprintf(path, sizeof path, "%.*s", (int)length, item);
    char *const equals = strchr(path, '=');
    *choice = NULL;
    if (equals)
        *equals = '\0';
    const struct key *const key = keys_row(path);
    if (!key || !equals)
        return key;
    for (int list = 0; list < 2; list++) {
        const char *const *const words = list ? key->alone : key->choices;
        const int index = words ? choice_index(words, equals + 1) : -1;
        if (index >= 0)
            *choice = words[index];
    }
    return *choice ? key : NULL;
}

static bool place_listed(const char *places, const char *place)
{
    size_t length;
    if (!*place)
        place = ".";
    for (const char *item; (item = word_item(&places, ' ', &length));)
        if (strlen(place) == length && !strncmp(place, item, length))
            return true;
    return false;
}

static const struct synonym *synonym_of(const char *plain)
{
    for (const struct synonym *s = synonyms; s->words && *plain; s++)
        if (word_listed(s->words, plain))
            return s;
    return NULL;
}

static const char *hint_at(const char *place, const char *plain)
{
    for (const struct hint *h = hints; h->words && *plain; h++)
        if (place_listed(h->places, place) && word_listed(h->words, plain))
            return h->instead;
    return NULL;
}

/* Is `path` below `pattern`, which is not the top of the case? */
static bool is_below(const char *path, const char *pattern)
{
    const size_t length = strlen(pattern);
    return length && !strncmp(path, pattern, length) && path[length] == '.';
}

/* The first key of the row that is below the pattern, or else the first one. */
static const struct key *nearest_of(const struct synonym *s, const char *pattern,
                                    const char **choice)
{
    const struct key *first = NULL;
    const char *list = s->keys;
    size_t length;
    for (const char *item; (item = word_item(&list, ' ', &length));) {
        const char *of = NULL;
        const struct key *const key = word_key(item, length, &of);
        assert(key); /* test_case_words */
        if (first && !is_below(key->path, pattern))
            continue;
        *choice = of;
        if (is_below(key->path, pattern))
            return key;
        first = key;
    }
    return first;
}

bool word_for_key(const char *pattern, const char *known, const char *name, bool only_hints,
                  char *advice, size_t size)
{
    char plain[WORD_SIZE];
    const char *choice = NULL;
    word_plain(name, strlen(name), plain);
    const char *const hint = hint_at(pattern, plain);
    const struct synonym *const s = only_hints ? NULL : synonym_of(plain);
    if (!hint && !s)
        return false;
    if (hint || s->note) {
        snprintf(advice, size, "%s", hint ? hint : s->note);
        return true;
    }
    const struct key *const key = nearest_of(s, pattern, &choice);
    const bool inside = is_below(key->path, pattern);
    snprintf(advice, size, "did you mean %s%s? for example %s: %s", inside ? known : "",
             key->path + (inside ? strlen(pattern) : 0), keys_name(key),
             choice ? choice : key->example);
    return true;
}

/* The choice of `key` that an item of a row names: as "path=choice", or as a key below a key of
 * this name, such as faces.<face>.slip. */
static const char *choice_of(const struct key *key, const char *item, size_t length)
{
    const char *choice = NULL;
    const struct key *const named = word_key(item, length, &choice);
    if (!choice && keys_map(named) && keys_map(named)->choices == key->choices)
        choice = keys_name(named);
    else if (!choice || strcmp(keys_name(named), keys_name(key)) != 0)
        return NULL;
    const bool has = choice_index(key->choices, choice) >= 0 ||
                     (key->alone && choice_index(key->alone, choice) >= 0);
    return has ? choice : NULL;
}

/* The choice that is written with other letters, such as MRT. */
static const char *choice_spelt(const char *const *choices, const char *plain)
{
    char known[WORD_SIZE];
    for (int i = 0; choices && choices[i]; i++) {
        word_plain(choices[i], strlen(choices[i]), known);
        if (*plain && !strcmp(known, plain))
            return choices[i];
    }
    return NULL;
}

bool word_for_choice(const struct key *key, const char *text, char *advice, size_t size)
{
    char plain[WORD_SIZE];
    size_t length;
    word_plain(text, strlen(text), plain);
    const char *const hint = hint_at(key->path, plain);
    const struct synonym *const s = synonym_of(plain);
    const char *list = s ? s->keys : "";
    const char *choice = choice_spelt(key->choices, plain);
    if (!choice)
        choice = choice_spelt(key->alone, plain);
    for (const char *item; !choice && !hint && (item = word_item(&list, ' ', &length));)
        choice = choice_of(key, item, length);
    if (choice)
        snprintf(advice, size, "did you mean %s?", choice);
    else if (hint)
        snprintf(advice, size, "%s", hint);
    return choice || hint;
}
