/* The ceiling of this machine's memory: how fast 19 streams can be updated in place. The rates of
 * the CPU kernels are compared with it. Every way of doing it loads, changes and stores each number
 * once; ways differ in pages, distance of streams, size of blocks and order of accesses
 * (streams.h). The memory of a shared machine may change its speed by 2x within a minute: measure
 * the ceiling in turn with what it is compared to. */
#ifndef TAGFLOW_BENCH_CEILING_H
#define TAGFLOW_BENCH_CEILING_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct ceiling;

/* Create streams for `cells` cells of this rank (rounded up to a multiple of 64), `bytes` (2, 4 or
 * 8) a number, swept by `threads` threads. Takes twice the memory of the populations; large streams
 * are limited, see ceiling.c. Collective; STATUS_MACHINE on all ranks, reported, without enough
 * memory; *c is then NULL. */
enum status ceiling_create(struct ceiling **c, MPI_Comm comm, size_t cells, size_t bytes,
                           int threads);

/* Times all ways in turn for about `seconds`, each at least 3 times, and keeps the best few for
 * ceiling_measure(). Collective. */
void ceiling_choose(struct ceiling *c, double seconds);

/* Updates (cells of all ranks) a second: times the kept ways in turn for about `seconds`, each at
 * least 5 times, and returns the best median. Below 0 when the data are wrong afterwards. Calls
 * ceiling_choose() first, as briefly as possible, if that was not done. Collective. */
double ceiling_measure(struct ceiling *c, double seconds);

/* The best way of the last measurement in words, "huge padded 512 5x1_ahead4": pages, distance of
 * streams, cells of a block, order; "" before the first. */
const char *ceiling_way(const struct ceiling *c);

/* Has every number been changed exactly as often as it was swept, on all ranks? Collective. */
bool ceiling_right(struct ceiling *c);

/* Word n, modulo their number, of this rank's streams: for tests that damage it. */
uint64_t *ceiling_word(struct ceiling *c, size_t n);

/* `c` may be NULL. */
void ceiling_destroy(struct ceiling *c);

#endif
