/* All keys of a map at once: read from the tree into a struct, and written from it.
 *
 * The row of a key says which member of the struct holds its value (.at). A key that is no plain
 * value, or needs another value first, is read by the code of its section (.late); it may have a
 * function that writes it (.write). */
#ifndef TAGFLOW_RECORD_H
#define TAGFLOW_RECORD_H

#include <stdint.h>
#include <stdio.h>

#include "case/value.h"

/* Read the keys of a map into *to. A key that is not given gets its default; without a default its
 * member stays as it is. `kind`: bits of what is read; keys of other kinds get their defaults. */
enum status record_read(struct map m, unsigned kind, void *to);

/* Report a key in the map that only other kinds have: "... has no effect WHY (remove it)". */
enum status record_refuse(struct map m, unsigned kind, const char *why);

/* Read a map from names to things (struct key.read) into an array that *to gets. The caller frees
 * the array, also after an error. */
enum status things_read(struct map m, void *to);

/* The things of the row of such a map in *from: thing k is at first + k * size. */
struct things {
    int count;
    size_t size;
    char *first;
};
struct things things_of(const struct key *key, const void *from);

/* Where the resolved case is written: one key a line, or several keys in braces. */
struct writer {
    FILE *to;
    const struct flow_case *c;
    const struct case_scalar *scalar; /* whose values are written, with its reference */
    int indent;                       /* of keys on lines */
    int depth;                        /* of braces */
    bool first;                       /* no key is in these braces yet */
};

/* Write the keys whose rows are directly below `row` from their struct. */
void record_write(struct writer *w, const char *row, unsigned kind, const void *from);

/* Write the things of such a row, each in braces. `write` writes the keys of a thing, whose row is
 * `row`; NULL: as record_write does. */
typedef void thing_writer(struct writer *w, const char *row, const void *thing);
void things_write(struct writer *w, const struct key *key, const void *from, thing_writer *write);

/* Begin a key ("key:") and end it after its value; the same for a map in braces. */
void write_key(struct writer *w, const char *key);
void write_end(struct writer *w);
void write_open(struct writer *w, const char *key);
void write_close(struct writer *w);

/* A key whose value is a word. */
void write_word(struct writer *w, const char *key, const char *word);

/* A value of a scalar, which is relative to its reference, as in a case file: it reads back to the
 * same bits. */
double scalar_absolute(const struct case_scalar *scalar, double value);

/* Shortest text of 15 to 17 digits that reads back to the same double. */
const char *number_text(double value, char text[static 32]);

/* Write a value after a blank: a number that reads back to the same bits, or a list of them. */
void write_number(struct writer *w, double value);
void write_numbers(struct writer *w, const double *value, int count);

/* A value in its struct, its second member, and the row of its key. */
struct held {
    const struct key *key;
    const void *member, *beside;
};

/* Write it after a blank, as its type says. */
void type_write(struct writer *w, struct held v);

/* Is there no value to write? */
bool type_absent(const struct key *key, const void *member);

#endif
