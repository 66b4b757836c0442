/* The state hash of a line of cells, for one instruction set (TAGFLOW_ISA); see row_hash.h. */
#include "solver/row_hash.h"

#include "tag.h"

static inline uint64_t mix(uint64_t x) /* the finaliser of splitmix64 */
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#define ROW_HASH(name, type)                                                                       \
    static uint64_t name(const void *row, const uint8_t *tags, const uint8_t *fluid, int n,        \
                         uint64_t q, uint64_t first)                                               \
    {                                                                                              \
        const type *const value = row;                                                             \
        uint64_t sum = 0;                                                                          \
        for (int x = 0; x < n; x++)                                                                \
            sum += fluid[tags[x] & TAG_ROW] ? mix(value[x] ^ mix(first + q * (uint64_t)x)) : 0;    \
        return sum;                                                                                \
    }
ROW_HASH(row_hash_16, uint16_t)
ROW_HASH(row_hash_32, uint32_t)
ROW_HASH(row_hash_64, uint64_t)

#define ROW_HASHES_OF(isa) ROW_HASHES(isa)
row_hash *const ROW_HASHES_OF(TAGFLOW_ISA)[3] = {row_hash_16, row_hash_32, row_hash_64};
