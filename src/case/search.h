/* Search for keys by their names, meanings and synonyms: tagflow keys --search. */
#ifndef TAGFLOW_SEARCH_H
#define TAGFLOW_SEARCH_H

#include <stdio.h>

#include "base/status.h"

struct key;

enum { SEARCH_SHOWN = 12 /* most keys that are printed */ };

struct search_hit {
    const struct key *key;
    const char *choice; /* of the key, which the words name; or NULL */
    int score;
};

/* Finds the keys that match all words, the best first, those that are alike once; of more than
 * SEARCH_SHOWN only so many. Returns how many there are. */
int search_keys(int count, char *const *words, struct search_hit hit[static SEARCH_SHOWN]);

/* Prints them, a line each. Reports words that match no key. */
enum status search_print(FILE *to, int count, char *const *words);

#endif
