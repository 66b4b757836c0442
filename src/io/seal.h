/* The seal of a file: a first block of plain text. It holds the kind and the length of the file,
 * the ranges of large data that have separate checksums, and the checksum of all other bytes. A
 * reader checks the seal before it opens the file, because HDF5 may crash on wrong bytes. HDF5
 * skips the block (a "user block").
 *
 *     tagflow checkpoint
 *     format 1
 *     bytes 319013888
 *     apart 12288 318767104        large data: offset and length, in order; any number
 *     rest 0123456789abcdef        XXH3 of all other bytes after the block
 *     seal 0123456789abcdef        XXH3 of the lines above
 *
 * Zeros fill the block up to SEAL_BLOCK bytes. */
#ifndef TAGFLOW_SEAL_H
#define TAGFLOW_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEAL_BLOCK = 4096, SEAL_SPANS = 72, SEAL_REASON = 192 };

struct seal_span {
    int64_t offset, bytes;
};

struct seal {
    int format;
    int64_t bytes; /* of the whole file */
    int spans;
    struct seal_span span[SEAL_SPANS];
    uint64_t rest;
};

/* Fills the block. */
void seal_print(const struct seal *s, const char *kind, char block[SEAL_BLOCK]);

/* Reads a block that may hold anything. True, and sets *s, if it is a block of seal_print for this
 * kind and format, with spans in order and within the file. Else false, with the reason in words.
 */
bool seal_parse(const char block[SEAL_BLOCK], const char *kind, int format, struct seal *s,
                char reason[SEAL_REASON]);

/* Checksum of the open file's bytes after the block that are in no span. Returns 0 or errno; EIO if
 * the file is shorter than s->bytes. */
int seal_digest(int fd, const struct seal *s, uint64_t *digest);

/* Checks block, length and checksum of the open file. Returns and sets the same as seal_parse.
 * errno: why the file could not be read; 0: it was. */
bool seal_check(int fd, const char *kind, int format, struct seal *s, char reason[SEAL_REASON]);

#endif
