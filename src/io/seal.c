/* The seal of a file; see seal.h. */
#include "io/seal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"

static size_t add(char *block, size_t length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static size_t add(char *block, size_t length, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int added = vsnprintf(block + length, SEAL_BLOCK - length, format, list);
    va_end(list);
    assert(added >= 0 && length + (size_t)added < SEAL_BLOCK);
    return length + (size_t)added;
}

void seal_print(const struct seal *s, const char *kind, char block[SEAL_BLOCK])
{
    memset(block, 0, SEAL_BLOCK);
    size_t length =
        add(block, 0, "tagflow %s\nformat %d\nbytes %" PRId64 "\n", kind, s->format, s->bytes);
    for (int i = 0; i < s->spans; i++)
        length = add(block, length, "apart %" PRId64 " %" PRId64 "\n", s->span[i].offset,
                     s->span[i].bytes);
    length = add(block, length, "rest %016" PRIx64 "\n", s->rest);
    add(block, length, "seal %016" PRIx64 "\n", (uint64_t)XXH3_64bits(block, length));
}

/* Reads a decimal number below 2^62 and the character `end` after it, and moves *at past both.
 * False: they are not there. */
static bool take_number(const char **at, const char *last, char end, int64_t *number)
{
    int64_t n = 0;
    const char *c = *at;
    for (; c < last && *c >= '0' && *c <= '9'; c++) {
        if (n > (INT64_MAX >> 1) / 10 - 1)
            return false;
        n = 10 * n + (*c - '0');
    }
    if (c == *at || c == last || *c != end)
        return false;
    *number = n;
    *at = c + 1;
    return true;
}

static bool take_word(const char **at, const char *last, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(last - *at) < length || memcmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_hex(const char **at, const char *last, uint64_t *number)
{
    const char *c = *at;
    uint64_t n = 0;
    if (last - c < 17 || c[16] != '\n')
        return false;
    for (; c < *at + 16; c++) {
        const int digit = *c >= '0' && *c <= '9'   ? *c - '0'
                          : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10
                                                   : -1;
        if (digit < 0)
            return false;
        n = 16 * n + (uint64_t)digit;
    }
    *number = n;
    *at = c + 1;
    return true;
}

/* Reads the lines after the format line. */
static bool take_rest(const char *at, const char *last, struct seal *s)
{
    int64_t before = SEAL_BLOCK;
    if (!take_word(&at, last, "bytes ") || !take_number(&at, last, '\n', &s->bytes))
        return false;
    while (take_word(&at, last, "apart ")) {
        struct seal_span span;
        if (s->spans == SEAL_SPANS || !take_number(&at, last, ' ', &span.offset) ||
            !take_number(&at, last, '\n', &span.bytes) || span.offset < before ||
            span.bytes > s->bytes - span.offset)
            return false;
        s->span[s->spans++] = span;
        before = span.offset + span.bytes;
    }
    return take_word(&at, last, "rest ") && take_hex(&at, last, &s->rest) && s->bytes >= before;
}

bool seal_parse(const char block[SEAL_BLOCK], const char *kind, int format, struct seal *s,
                char reason[SEAL_REASON])
{
    const char *at = block, *const last = block + SEAL_BLOCK;
    struct seal read = {.format = format};
    char again[SEAL_BLOCK];
    int64_t number;
    if (!take_word(&at, last, "tagflow ") || !take_word(&at, last, kind) ||
        !take_word(&at, last, "\nformat ") || !take_number(&at, last, '\n', &number)) {
        snprintf(reason, SEAL_REASON, "it is no %s of tagflow (it does not begin like one)", kind);
        return false;
    }
    if (number != format) {
        snprintf(reason, SEAL_REASON, "it has format %" PRId64 ", and this program reads format %d",
                 number, format);
        return false;
    }
    const bool whole = take_rest(at, last, &read);
    if (whole)
        seal_print(&read, kind, again);
    if (!whole || memcmp(again, block, SEAL_BLOCK) != 0) {
        snprintf(reason, SEAL_REASON, "it is damaged: its first %d bytes are not as written",
                 SEAL_BLOCK);
        return false;
    }
    *s = read;
    return true;
}

static int digest_range(int fd, int64_t from, int64_t to, XXH3_state_t *state)
{
    char buffer[64 * 1024];
    while (from < to) {
        const size_t wanted =
            to - from < (int64_t)sizeof buffer ? (size_t)(to - from) : sizeof buffer;
        const int failed = file_read_at(fd, buffer, wanted, from) != 0 ? errno : 0;
        if (failed)
            return failed;
        XXH3_64bits_update(state, buffer, wanted);
        from += (int64_t)wanted;
    }
    return 0;
}

int seal_digest(int fd, const struct seal *s, uint64_t *digest)
{
    XXH3_state_t state;
    int64_t done = SEAL_BLOCK;
    int failed = 0;
    XXH3_64bits_reset(&state);
    for (int i = 0; i < s->spans && !failed; i++) {
        failed = digest_range(fd, done, s->span[i].offset, &state);
        done = s->span[i].offset + s->span[i].bytes;
    }
    if (!failed)
        failed = digest_range(fd, done, s->bytes, &state);
    *digest = XXH3_64bits_digest(&state);
    return failed;
}

bool seal_check(int fd, const char *kind, int format, struct seal *s, char reason[SEAL_REASON])
{
    char block[SEAL_BLOCK];
    struct stat info;
    uint64_t digest = 0;
    errno = 0;
    if (fstat(fd, &info) != 0) {
        snprintf(reason, SEAL_REASON, "it cannot be read: %s", strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        snprintf(reason, SEAL_REASON, "it is no file");
        return false;
    }
    const int64_t size = info.st_size;
    memset(block, 0, sizeof block);
    int failed =
        file_read_at(fd, block, size < SEAL_BLOCK ? (size_t)size : SEAL_BLOCK, 0) != 0 ? errno : 0;
    if (!failed && !seal_parse(block, kind, format, s, reason))
        return false;
    if (!failed && s->bytes != size) {
        snprintf(reason, SEAL_REASON,
                 "it is damaged: it has %" PRId64 " bytes, of the %" PRId64 " written", size,
                 s->bytes);
        return false;
    }
    failed = failed ? failed : seal_digest(fd, s, &digest);
    if (failed) {
        snprintf(reason, SEAL_REASON, "it cannot be read: %s", strerror(failed));
        errno = failed;
        return false;
    }
    if (digest != s->rest) {
        snprintf(reason, SEAL_REASON, "it is damaged: what describes its data is not as written");
        return false;
    }
    return true;
}
