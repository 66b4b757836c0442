/* The ceiling of a device: how fast it copies its own memory. */
#ifndef TAGFLOW_BENCH_COPY_H
#define TAGFLOW_BENCH_COPY_H

#include "solver/backend.h"

/* Copies between two pieces of the device's memory, one after the other, for about so many seconds,
 * and sets *bytes to what was read and written a second, of all ranks: the median of five lots. The
 * pieces are far larger than its caches, as far as there is memory; `sharing`: at most so many
 * ranks share a device. Collective; STATUS_MACHINE, reported, on all ranks when memory or the
 * device failed. */
enum status copy_measure(struct backend *b, MPI_Comm comm, int sharing, double seconds,
                         double *bytes);

#endif
