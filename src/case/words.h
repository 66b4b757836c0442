/* Words of the field that are no keys here: what they are called in a case file. Two tables
 * (word_table.c) serve the search for keys and the messages about unknown keys and choices. */
#ifndef TAGFLOW_WORDS_H
#define TAGFLOW_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct key;

/* Words that mean the same, separated by commas. Case, plural, spaces, - and _ do not count, and
 * + is plus. */
struct synonym {
    const char *words;
    /* Paths of the table of keys, best first, separated by spaces; "path=choice" names a choice of
     * the key. "": the program has no such thing, as the note says. */
    const char *keys;
    const char *note; /* what the keys do not say, or how to write it; or NULL */
};

/* What to write instead of a word at some places of a case; goes before `synonyms`. */
struct hint {
    /* Patterns of maps, and of keys with choices, separated by spaces; "." is the top of the case.
     */
    const char *places;
    const char *words, *instead;
};

extern const struct synonym synonyms[]; /* both end with words NULL */
extern const struct hint hints[];

enum { WORD_SIZE = 64 };

/* The plain form in which words are compared: small letters and digits, singular, + as plus.
 * `length` bytes of text; longer words are cut. */
void word_plain(const char *text, size_t length, char plain[static WORD_SIZE]);

/* Is the plain word one of a list separated by commas? */
bool word_listed(const char *list, const char *plain);

/* The item of a list separated by `separator` at *list, without spaces around it; moves *list
 * behind it. Returns its first character and sets *length; NULL: the list has ended. */
const char *word_item(const char **list, char separator, size_t *length);

/* The row of a "path" or "path=choice" of struct synonym.keys; *choice: the choice, or NULL. */
const struct key *word_key(const char *item, size_t length, const char **choice);

/* What to write instead of the unknown key `name` in the map of this pattern, whose path is
 * `known`. False: no table has the word. */
bool word_for_key(const char *pattern, const char *known, const char *name, bool only_hints,
                  char *advice, size_t size);

/* The same for a word that is no choice of the key. */
bool word_for_choice(const struct key *key, const char *text, char *advice, size_t size);

#endif
