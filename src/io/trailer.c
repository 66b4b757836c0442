/* The trailer of a file; see trailer.h. */
#include "io/trailer.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const char mark[] = "\ntagflow ";

enum { HEAD = 48 }; /* bytes of HDF5's superblock up to the file's length */

/* The finaliser of splitmix64, made odd. */
static uint64_t factor(uint64_t word)
{
    uint64_t z = word + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) | 1;
}

uint64_t trailer_sum(const void *bytes, size_t count, int64_t place)
{
    const unsigned char *const from = bytes;
    uint64_t at = (uint64_t)place, sum = 0;
    size_t n = 0;
    for (; n < count && at % 4; n++, at++)
        sum += ((uint64_t)from[n] << 8 * (at % 4)) * factor(at / 4);
    for (; n + 4 <= count; n += 4, at += 4) {
        uint32_t word;
        memcpy(&word, from + n, sizeof word);
        sum += le32toh(word) * factor(at / 4);
    }
    for (; n < count; n++, at++)
        sum += ((uint64_t)from[n] << 8 * (at % 4)) * factor(at / 4);
    return sum;
}

void trailer_print(const struct trailer *t, char text[TRAILER_BYTES + 1])
{
    snprintf(text, TRAILER_BYTES + 1, "%s%021" PRId64 " %016" PRIx64 "\n", mark, t->bytes, t->sum);
}

/* The end of the file as HDF5 knows it; INT64_MAX: it is not a file as HDF5 makes it by default. */
static int64_t hdf5_end(const unsigned char head[HEAD])
{
    static const char begin[] = "\x89HDF\r\n\x1a\n";
    uint64_t end;
    if (memcmp(head, begin, sizeof begin) != 0) /* with the 0 of version 0 */
        return INT64_MAX;
    memcpy(&end, head + HEAD - sizeof end, sizeof end);
    end = le64toh(end);
    return end >= HEAD && end < INT64_MAX ? (int64_t)end : INT64_MAX;
}

int trailer_read(int fd, int64_t size, struct trailer *t)
{
    char text[TRAILER_BYTES + 1] = "";
    unsigned char head[HEAD] = {0};
    *t = (struct trailer){0};
    if (size < HEAD || size < TRAILER_BYTES)
        return 0;
    if (file_read_at(fd, head, HEAD, 0) != 0 ||
        file_read_at(fd, text, TRAILER_BYTES, size - TRAILER_BYTES) != 0)
        return -1;
    if (strncmp(text, mark, sizeof mark - 1) != 0)
        return size > hdf5_end(head);
    char *end;
    t->bytes = strtoll(text + sizeof mark - 1, &end, 10);
    t->sum = strtoull(end, NULL, 16);
    return 1;
}
