/* The seal of a file: a first block of plain text that says what the file is and how long, which of
 * its bytes are large data with checksums of their own, and the checksum of all the rest. A reader
 * that breaks the seal of a damaged file never gets to see what is damaged; HDF5 does not survive
 * every wrong byte, and skips the block (a "user block").
 *
 *     tagflow checkpoint
 *     format 1
 *     bytes 319013888
 *     apart 12288 318767104        large data: offset and length, in order; any number
 *     rest 0123456789abcdef        XXH3 of all other bytes behind the block
 *     seal 0123456789abcdef        XXH3 of the lines above
 *
 * and zeros up to SEAL_BLOCK bytes. */
#ifndef TAGFLOW_SEAL_H
#define TAGFLOW_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEAL_BLOCK = 4096, SEAL_SPANS = 64, SEAL_REASON = 192 };

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

/* Fill the block. */
void seal_print(const struct seal *s, const char *kind, char block[SEAL_BLOCK]);

/* Read a block that may hold anything. True, and *s, if it is what seal_print makes for this kind
 * and format, and spans lie in order within the file; else the reason in words. */
bool seal_parse(const char block[SEAL_BLOCK], const char *kind, int format, struct seal *s,
                char reason[SEAL_REASON]);

/* Checksum of the bytes behind the block that are in no span, of the open file. 0 or errno; EIO if
 * the file is shorter than s->bytes. */
int seal_digest(int fd, const struct seal *s, uint64_t *digest);

/* All of the above for the open file: length, block, digest. */
bool seal_check(int fd, const char *kind, int format, struct seal *s, char reason[SEAL_REASON]);

#endif
