/* The state hash of one population in a line of cells, made once per instruction set: apart from
 * the disk it takes most of a checkpoint's time. */
#ifndef TAGFLOW_ROW_HASH_H
#define TAGFLOW_ROW_HASH_H

#include <stdint.h>

/* row: the population in n cells along x; tags: of the cells; fluid: [row of the tag] not 0: fluid;
 * first: q g + i + 1 of the first cell. */
typedef uint64_t row_hash(const void *row, const uint8_t *tags, const uint8_t *fluid, int n,
                          uint64_t q, uint64_t first);

/* For populations of 16, 32 and 64 bits. */
#define ROW_HASHES(isa) row_hashes_##isa
#define X(isa) extern row_hash *const ROW_HASHES(isa)[3];
#include "cpu_isas.h"
#undef X

#endif
