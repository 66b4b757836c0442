/* Ceilings of rates. On the CPU: the fastest in-place update of 19 streams. Each update loads,
 * changes and stores every number once; updates differ in the size of blocks and the order of
 * accesses (streams.h). The speed of a shared machine's memory may change by 2x within a minute:
 * measure ceiling and rate in turn. On a device: the fastest copy within its memory. */
#ifndef TAGFLOW_BENCH_CEILING_H
#define TAGFLOW_BENCH_CEILING_H

#include "solver/backend.h"

struct ceiling;

/* Create streams for `cells` cells of this rank (rounded up to a multiple of 64), `bytes` (2, 4 or
 * 8) a number, swept by `threads` threads, and find the fastest ways in about `seconds`, each timed
 * at least 3 times. Takes the memory of the populations; large streams are limited, see ceiling.c.
 * Collective; STATUS_MACHINE on all ranks, reported, without enough memory; *c is then NULL. */
enum status ceiling_create(struct ceiling **c, MPI_Comm comm, size_t cells, size_t bytes,
                           int threads, double seconds);

/* Updates (cells of all ranks) a second: times the fastest ways in turn for about `seconds`, each
 * at least 5 times, and returns the best median. Below 0 when the data are wrong afterwards.
 * Collective. */
double ceiling_measure(struct ceiling *c, double seconds);

/* The best way of the last measurement in words, "512 5x1_ahead4": cells of a block, order; ""
 * before the first. */
const char *ceiling_way(const struct ceiling *c);

/* Has every number been changed exactly as often as it was swept, on all ranks? Collective. */
bool ceiling_right(struct ceiling *c);

/* Word n, modulo their number, of this rank's streams: for tests that damage it. */
uint64_t *ceiling_word(struct ceiling *c, size_t n);

/* `c` may be NULL. */
void ceiling_destroy(struct ceiling *c);

/* Copies between two pieces of the device's memory for about `seconds`, and sets *bytes to the
 * bytes read and written a second by all ranks: the median of five measurements. The pieces are far
 * larger than the caches if there is enough memory. sharing: most ranks that share a device.
 * Collective; STATUS_MACHINE, reported, on all ranks when memory or the device failed. */
enum status copy_measure(struct backend *b, MPI_Comm comm, int sharing, double seconds,
                         double *bytes);

/* Sorts numbers and returns their median. */
double ceiling_median(double *values, int count);

#endif
