/* The seal of a file: what is printed is parsed, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "io/seal.h"
#include "scratch.h"

static const struct seal one = {.format = 3,
                                .bytes = 70000,
                                .spans = 2,
                                .span = {{5000, 10000}, {20000, 50000}},
                                .rest = UINT64_C(0x0123456789abcdef)};

static void assert_same(const struct seal *a, const struct seal *b)
{
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->spans, b->spans);
    for (int i = 0; i < a->spans; i++) {
        assert_int_equal(a->span[i].offset, b->span[i].offset);
        assert_int_equal(a->span[i].bytes, b->span[i].bytes);
    }
    assert_true(a->rest == b->rest);
}

static void assert_round_trip(const struct seal *s)
{
    char block[SEAL_BLOCK], reason[SEAL_REASON];
    struct seal read;
    memset(&read, 0xa5, sizeof read);
    seal_print(s, "checkpoint", block);
    assert_true(seal_parse(block, "checkpoint", s->format, &read, reason));
    assert_same(s, &read);
}

/* The block of these lines, with a seal that fits them. */
static void seal_lines(const char *lines, char block[SEAL_BLOCK])
{
    memset(block, 0, SEAL_BLOCK);
    const size_t length = strlen(lines);
    assert_true(length + 32 < SEAL_BLOCK);
    memcpy(block, lines, length);
    snprintf(block + length, SEAL_BLOCK - length, "seal %016llx\n",
             (unsigned long long)XXH3_64bits(block, length));
}

static void assert_refused(const char block[SEAL_BLOCK], const char *says)
{
    char reason[SEAL_REASON] = "";
    struct seal read = {.format = -7};
    if (seal_parse(block, "checkpoint", 3, &read, reason))
        fail_msg("taken: %.200s", block);
    assert_int_equal(read.format, -7); /* untouched */
    assert_true(strlen(reason) > 0 && strlen(reason) < SEAL_REASON);
    if (!strstr(reason, says))
        fail_msg("expected '%s', heard '%s'", says, reason);
}

static void what_is_printed_is_parsed(void **state)
{
    (void)state;
    struct seal s = one;
    assert_round_trip(&s);
    s.spans = 0;
    assert_round_trip(&s);
    s = (struct seal){.format = 0, .bytes = SEAL_BLOCK};
    assert_round_trip(&s);
    s = (struct seal){.format = INT_MAX, .bytes = INT64_C(1) << 60, .rest = UINT64_MAX};
    s.spans = 1; /* the largest file, all of it apart */
    s.span[0] = (struct seal_span){SEAL_BLOCK, s.bytes - SEAL_BLOCK};
    assert_round_trip(&s);
    s = (struct seal){.format = 1, .bytes = INT64_C(400000000000000000), .spans = SEAL_SPANS};
    for (int i = 0; i < SEAL_SPANS; i++) /* as long as the lines can be; the first one touches */
        s.span[i] = (struct seal_span){INT64_C(100000000000000000) + i * INT64_C(1000000000000000),
                                       INT64_C(1000000000000000)};
    assert_round_trip(&s);
}

static void every_wrong_bit_is_found(void **state)
{
    (void)state;
    char block[SEAL_BLOCK];
    seal_print(&one, "checkpoint", block);
    for (int i = 0; i < SEAL_BLOCK; i++)
        for (int bit = 0; bit < 8; bit++) {
            block[i] = (char)(block[i] ^ 1 << bit);
            assert_refused(block, "it ");
            block[i] = (char)(block[i] ^ 1 << bit);
        }
    struct seal read;
    char reason[SEAL_REASON];
    assert_true(seal_parse(block, "checkpoint", 3, &read, reason));
}

/* Lines that seal_print would not make, under a seal that fits them. */
static void nothing_else_is_parsed(void **state)
{
    (void)state;
#define HEAD "tagflow checkpoint\nformat 3\n"
#define REST "rest 0123456789abcdef\n"
    static const char *const damaged[] = {
        HEAD "bytes 70000\napart 20000 50000\napart 5000 10000\n" REST, /* out of order */
        HEAD "bytes 70000\napart 5000 10000\napart 14999 10\n" REST,    /* they overlap */
        HEAD "bytes 70000\napart 5000 10000\napart 5000 10000\n" REST,  /* twice */
        HEAD "bytes 70000\napart 4095 10\n" REST,                       /* within the block */
        HEAD "bytes 70000\napart 0 70000\n" REST,
        HEAD "bytes 70000\napart 5000 65001\n" REST, /* beyond the end */
        HEAD "bytes 70000\napart 70001 0\n" REST,
        HEAD "bytes 70000\napart -5000 10000\n" REST,
        HEAD "bytes 70000\napart 5000 -1\n" REST,
        HEAD "bytes -70000\n" REST,
        HEAD "bytes 4095\n" REST, /* less than the block */
        HEAD "bytes 0\n" REST,
        /* 2^63 and 2^64, and what wraps around to something small */
        HEAD "bytes 9223372036854775808\n" REST,
        HEAD "bytes 18446744073709621616\n" REST,
        HEAD "bytes 70000\napart 18446744073709556616 100\n" REST,
        HEAD "bytes 70000\napart 5000 18446744073709551626\n" REST,
        HEAD "bytes 70000\napart 5000 9223372036854775807\n" REST,
        HEAD "bytes 9223372036854775807\napart 9223372036854775800 9223372036854775807\n" REST,
        HEAD "bytes 99999999999999999999999999999999999999999999\n" REST,
        /* other spellings of the same numbers */
        HEAD "bytes 070000\n" REST,
        HEAD "bytes +70000\n" REST,
        HEAD "bytes  70000\n" REST,
        HEAD "bytes 70000 \n" REST,
        HEAD "bytes 7e4\n" REST,
        HEAD "bytes 70000\r\n" REST,
        HEAD "bytes \n" REST,
        HEAD "bytes 70000\napart 5000\n" REST,
        HEAD "bytes 70000\napart 5000 10 10\n" REST,
        HEAD "bytes 70000\nrest 0123456789ABCDEF\n",
        HEAD "bytes 70000\nrest 123456789abcdef\n",
        HEAD "bytes 70000\nrest 00123456789abcdef\n",
        HEAD "bytes 70000\nrest 0123456789abcdeg\n",
        /* lines missing, twice, unknown, in another order */
        HEAD "bytes 70000\n",
        HEAD REST,
        HEAD "bytes 70000\n" REST REST,
        HEAD "bytes 70000\nbytes 70000\n" REST,
        HEAD "bytes 70000\n" REST "apart 5000 10000\n",
        HEAD "bytes 70000\nother 1\n" REST,
        HEAD "\nbytes 70000\n" REST,
        ("tagflow checkpoint\nformat 03\nbytes 70000\n" REST),
    };
    static const char *const foreign[] = {
        "",
        "tagflow snapshot\nformat 3\nbytes 70000\n" REST,
        "tagflow checkpoints\nformat 3\nbytes 70000\n" REST,
        "tagflow check\nformat 3\nbytes 70000\n" REST,
        "Tagflow checkpoint\nformat 3\nbytes 70000\n" REST,
        "tagflow checkpoint\nformat \nbytes 70000\n" REST,
        "tagflow checkpoint\nformat -3\nbytes 70000\n" REST,
        "tagflow checkpoint\nformat 3 \nbytes 70000\n" REST,
        "tagflow checkpoint\nformat 18446744073709551619\nbytes 70000\n" REST,
        "\211HDF\r\n\032\n",
    };
    char block[SEAL_BLOCK];
    struct seal read;
    char reason[SEAL_REASON];
    seal_lines(HEAD "bytes 70000\napart 5000 10000\napart 20000 50000\n" REST, block);
    assert_true(seal_parse(block, "checkpoint", 3, &read, reason)); /* the helper seals */
    assert_same(&read, &one);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        seal_lines(damaged[i], block);
        assert_refused(block, "it is damaged: its first 4096 bytes are not as written");
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        seal_lines(foreign[i], block);
        assert_refused(block, "it is no checkpoint of tagflow");
    }
    seal_lines("tagflow checkpoint\nformat 4\nbytes 70000\n" REST, block);
    assert_refused(block, "it has format 4, and this program reads format 3");
    seal_lines("tagflow checkpoint\nformat 4294967299\nbytes 70000\n" REST, block); /* 2^32 + 3 */
    assert_refused(block, "it has format 4294967299, and this program reads format 3");
    memset(block, 0xff, sizeof block);
    assert_refused(block, "it is no checkpoint of tagflow");
    memset(block, '9', sizeof block); /* no end of a number in the block */
    memcpy(block, "tagflow checkpoint\nformat ", 26);
    assert_refused(block, "it is no checkpoint of tagflow");
}

static void no_more_spans_than_fit(void **state)
{
    (void)state;
    char lines[SEAL_BLOCK] = HEAD "bytes 70000\n", block[SEAL_BLOCK];
    for (int i = 0; i <= SEAL_SPANS; i++)
        sprintf(lines + strlen(lines), "apart %d 1\n", SEAL_BLOCK + i);
    strcat(lines, REST);
    seal_lines(lines, block);
    assert_refused(block, "it is damaged");
}

/* ---- files ---- */

enum { FILE_BYTES = 70000 };

/* A sealed file of FILE_BYTES with the spans of `one`; the descriptor. */
static int sealed_file(char data[FILE_BYTES])
{
    struct seal s = one;
    const int fd = open(scratch_path("a"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    for (int i = 0; i < FILE_BYTES; i++)
        data[i] = (char)(i * 31 % 251);
    assert_int_equal(file_write_at(fd, data, FILE_BYTES, 0), 0);
    assert_int_equal(seal_digest(fd, &s, &s.rest), 0);
    seal_print(&s, "checkpoint", data);
    assert_int_equal(file_write_at(fd, data, SEAL_BLOCK, 0), 0);
    return fd;
}

static void the_digest_is_of_all_that_is_not_apart(void **state)
{
    (void)state;
    static char data[FILE_BYTES], rest[FILE_BYTES];
    struct seal s = one;
    uint64_t digest;
    const int fd = sealed_file(data);
    memcpy(rest, data + SEAL_BLOCK, 5000 - SEAL_BLOCK);
    memcpy(rest + 5000 - SEAL_BLOCK, data + 15000, 5000);
    assert_int_equal(seal_digest(fd, &s, &digest), 0);
    assert_true(digest == XXH3_64bits(rest, 5000 - SEAL_BLOCK + 5000));
    s.bytes++; /* a file that is shorter than it should be */
    s.span[1].bytes = 49999;
    assert_int_equal(seal_digest(fd, &s, &digest), EIO);
    assert_int_equal(seal_digest(-1, &s, &digest), EBADF);
    close(fd);
}

static void assert_file_refused(int fd, const char *says)
{
    char reason[SEAL_REASON] = "";
    struct seal s;
    assert_false(seal_check(fd, "checkpoint", 3, &s, reason));
    if (!strstr(reason, says))
        fail_msg("expected '%s', heard '%s'", says, reason);
}

static void wrong_bytes_outside_of_spans_are_found(void **state)
{
    (void)state;
    static char data[FILE_BYTES];
    char reason[SEAL_REASON];
    struct seal s;
    const int fd = sealed_file(data);
    assert_true(seal_check(fd, "checkpoint", 3, &s, reason));
    for (int at = SEAL_BLOCK; at < FILE_BYTES; at += at % 7 ? 1 : 997) {
        const bool apart = (at >= 5000 && at < 15000) || at >= 20000;
        const char byte = (char)(data[at] ^ 1 << at % 8);
        assert_int_equal(file_write_at(fd, &byte, 1, at), 0);
        if (apart)
            assert_true(seal_check(fd, "checkpoint", 3, &s, reason));
        else
            assert_file_refused(fd, "what describes its data is not as written");
        assert_int_equal(file_write_at(fd, data + at, 1, at), 0);
    }
    assert_true(seal_check(fd, "checkpoint", 3, &s, reason));
    close(fd);
}

static void every_wrong_length_is_found(void **state)
{
    (void)state;
    static char data[FILE_BYTES];
    static const int lengths[] = {0,    1,    18,   19,    20,    100,   4095,
                                  4096, 4097, 5000, 15000, 69999, 70001, 140000};
    const int fd = sealed_file(data);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_int_equal(ftruncate(fd, lengths[i]), 0);
        assert_file_refused(fd, "it is ");
        assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
        assert_int_equal(file_write_at(fd, data, FILE_BYTES, 0), 0);
    }
    struct seal s;
    char reason[SEAL_REASON];
    assert_true(seal_check(fd, "checkpoint", 3, &s, reason));
    close(fd);
    assert_file_refused(-1, "it cannot be read");
    const int folder = open(scratch, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    assert_file_refused(folder, "it is no file");
    close(folder);
    const int only_written = open(scratch_path("a"), O_WRONLY);
    assert_true(only_written >= 0);
    assert_file_refused(only_written, "it cannot be read: Bad file descriptor");
    close(only_written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_parsed),
        cmocka_unit_test(every_wrong_bit_is_found),
        cmocka_unit_test(nothing_else_is_parsed),
        cmocka_unit_test(no_more_spans_than_fit),
        SCRATCH_TEST(the_digest_is_of_all_that_is_not_apart),
        SCRATCH_TEST(wrong_bytes_outside_of_spans_are_found),
        SCRATCH_TEST(every_wrong_length_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
