/* How fast this machine's memory lets anybody update 19 streams in place: the ceiling that the
 * rates of the CPU's kernels are set against. Every way of doing it loads, changes and stores each
 * number once; ways differ in pages, distance of streams, size of blocks and order of accesses
 * (streams.h). Memory of a shared machine may change its speed by 2x within a minute: measure the
 * ceiling in turn with what it is compared to. */
#ifndef TAGFLOW_BENCH_CEILING_H
#define TAGFLOW_BENCH_CEILING_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct ceiling;

/* Streams for so many cells of this rank (rounded up to a multiple of 64), `bytes` (2, 4 or 8) a
 * number, swept by `threads` threads. Takes twice the memory of the populations, but for what
 * ceiling.c says of large ones. Collective; STATUS_MACHINE on all ranks, reported, when there is
 * not so much memory; *c is then NULL. */
enum status ceiling_create(struct ceiling **c, MPI_Comm comm, size_t cells, size_t bytes,
                           int threads);

/* Tries all ways in turn for about so many seconds, each at least 3 times, and keeps the best few
 * for ceiling_measure. Collective. */
void ceiling_choose(struct ceiling *c, double seconds);

/* Updates (cells of all ranks) a second: the ways that were kept in turn for about so many seconds,
 * each at least 5 times, the best median of theirs. Below 0 when the data are wrong afterwards.
 * Chooses before, as briefly as may be, if nobody has. Collective. */
double ceiling_measure(struct ceiling *c, double seconds);

/* The way of the last measure in words, "huge padded 512 5x1_ahead4": pages, distance of streams,
 * cells of a block, order; "" before the first. */
const char *ceiling_way(const struct ceiling *c);

/* Has every number been changed exactly as often as it was swept, on all ranks? Collective. */
bool ceiling_right(struct ceiling *c);

/* The n-th word of this rank's streams, counted modulo their size: for tests that damage it. */
uint64_t *ceiling_word(struct ceiling *c, size_t n);

/* Takes NULL. */
void ceiling_destroy(struct ceiling *c);

#endif
