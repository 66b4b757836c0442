/* The trailer of a file: a line of plain text behind HDF5's last byte, which HDF5 ignores. It holds
 * the length of all before it, and the sum of these bytes.
 *
 *     tagflow 000000000000319013888 0123456789abcdef
 *
 * A program that changes the file by means of HDF5 cuts the trailer off: the file has none then.
 *
 * Ranks add up the sum while they write: it is the sum over the file's 32-bit words, little-endian,
 * of word k times an odd number made of k, modulo 2^64. Words of zeros add nothing. One wrong word
 * always changes it, several do but for one case in 2^32. */
#ifndef TAGFLOW_TRAILER_H
#define TAGFLOW_TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRAILER_BYTES = 48 };

struct trailer {
    int64_t bytes; /* before it */
    uint64_t sum;  /* of them */
};

/* The part of a sum that these bytes have, the first of them at this place in the file. */
uint64_t trailer_sum(const void *bytes, size_t count, int64_t place);

/* Fills the text: TRAILER_BYTES and the 0 at the end of a string. */
void trailer_print(const struct trailer *t, char text[TRAILER_BYTES + 1]);

/* Reads the trailer of an open file of `size` bytes. 1: there is one (all 0: other bytes are in its
 * place); 0: there is none; -1: the file cannot be read, see errno. */
int trailer_read(int fd, int64_t size, struct trailer *t);

#endif
