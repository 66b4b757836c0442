/* Fuzz target: the seal of a file. The input is a block as it is, and the lines of a block that the
 * target itself seals, so that what lies behind the checksum is reached; and a file under a seal
 * that fits it, of which one bit is then changed. What HDF5 reads behind a whole seal is not
 * fuzzed: sealed by the target it would be libhdf5 that is fuzzed, and no other bytes get so far.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "io/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FORMAT = 1, LONGEST = 1 << 16 };

static void check_reason(const char *reason)
{
    if (!*reason || strlen(reason) >= SEAL_REASON)
        fuzz_wrong("refused without a reason");
    for (const char *c = reason; *c; c++)
        if (*c < ' ' || *c > '~')
            fuzz_wrong("a reason holds byte 0x%02x", (unsigned char)*c);
}

/* What was taken is what is printed, and its spans lie in order within the file. */
static void check_taken(const struct seal *s, const char block[SEAL_BLOCK])
{
    char again[SEAL_BLOCK];
    int64_t end = SEAL_BLOCK;
    if (s->format != FORMAT || s->bytes < SEAL_BLOCK || s->spans < 0 || s->spans > SEAL_SPANS)
        fuzz_wrong("format %d, %lld bytes, %d spans", s->format, (long long)s->bytes, s->spans);
    for (int i = 0; i < s->spans; i++) {
        if (s->span[i].offset < end || s->span[i].bytes < 0 ||
            s->span[i].bytes > s->bytes - s->span[i].offset)
            fuzz_wrong("span %d lies at %lld and has %lld bytes", i, (long long)s->span[i].offset,
                       (long long)s->span[i].bytes);
        end = s->span[i].offset + s->span[i].bytes;
    }
    seal_print(s, "checkpoint", again);
    if (memcmp(again, block, SEAL_BLOCK) != 0)
        fuzz_wrong("another block than is printed was taken:\n%.400s", again);
}

static bool parse(const char block[SEAL_BLOCK], struct seal *s)
{
    char reason[SEAL_REASON] = "";
    struct seal untouched;
    memset(s, 0xa5, sizeof *s);
    untouched = *s;
    const bool taken = seal_parse(block, "checkpoint", FORMAT, s, reason);
    if (taken) {
        check_taken(s, block);
        return true;
    }
    check_reason(reason);
    if (memcmp(s, &untouched, sizeof *s) != 0)
        fuzz_wrong("refused, but something was filled in");
    return false;
}

static bool check_file(int fd)
{
    char reason[SEAL_REASON] = "";
    struct seal s;
    const bool whole = seal_check(fd, "checkpoint", FORMAT, &s, reason);
    if (!whole)
        check_reason(reason);
    return whole;
}

static void put(int fd, const void *data, size_t length, int64_t at)
{
    if (file_write_at(fd, data, length, at) != 0)
        fuzz_wrong("no memory");
}

/* A file of the length and spans of `s`: whole under its seal; with one bit changed, not whole
 * unless that bit is apart. */
static void try_file(struct seal *s, const uint8_t *data, size_t size)
{
    char block[SEAL_BLOCK];
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    uint64_t chance = XXH3_64bits(data, size);
    if (fd < 0 || ftruncate(fd, s->bytes) != 0)
        fuzz_wrong("no memory");
    for (int64_t at = SEAL_BLOCK; at < s->bytes && size > 0; at += (int64_t)size + 4096) {
        const int64_t left = s->bytes - at;
        put(fd, data, left < (int64_t)size ? (size_t)left : size, at);
    }
    if (seal_digest(fd, s, &s->rest) != 0)
        fuzz_wrong("no digest");
    seal_print(s, "checkpoint", block);
    put(fd, block, sizeof block, 0);
    if (!check_file(fd))
        fuzz_wrong("a whole file is refused");

    const int64_t at = (int64_t)(chance % (uint64_t)s->bytes);
    bool apart = false;
    for (int i = 0; i < s->spans; i++)
        apart |= at >= s->span[i].offset && at - s->span[i].offset < s->span[i].bytes;
    char byte;
    if (file_read_at(fd, &byte, 1, at) != 0)
        fuzz_wrong("nothing at %lld", (long long)at);
    const char changed = (char)(byte ^ 1 << (chance >> 61));
    put(fd, &changed, 1, at);
    if (check_file(fd) != apart)
        fuzz_wrong("the byte at %lld is %sapart", (long long)at, apart ? "" : "not ");
    put(fd, &byte, 1, at);
    const int64_t length = (int64_t)((chance >> 20) % (uint64_t)(2 * s->bytes));
    if (length != s->bytes && (ftruncate(fd, length) != 0 || check_file(fd)))
        fuzz_wrong("a file of %lld bytes, not %lld, is whole", (long long)length,
                   (long long)s->bytes);
    close(fd);
}

/* The input as a file. */
static void try_bytes(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        fuzz_wrong("no memory");
    put(fd, data, size, 0);
    check_file(fd);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char block[SEAL_BLOCK] = "";
    struct seal s;
    memcpy(block, data, size < sizeof block ? size : sizeof block);
    parse(block, &s);
    try_bytes(data, size);

    const size_t room = sizeof block - 32, length = size < room ? size : room;
    memset(block, 0, sizeof block);
    memcpy(block, data, length);
    snprintf(block + length, sizeof block - length, "seal %016llx\n",
             (unsigned long long)XXH3_64bits(block, length));
    if (parse(block, &s) && s.bytes <= LONGEST)
        try_file(&s, data, size);
    return 0;
}
