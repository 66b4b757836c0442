/* The ceiling of a device: how fast it copies its own memory. */
#ifndef TAGFLOW_BENCH_COPY_H
#define TAGFLOW_BENCH_COPY_H

#include "solver/backend.h"

/* Copies between two pieces of the device's memory for about `seconds`, and sets *bytes to the
 * bytes read and written a second by all ranks: the median of five measurements. The pieces are far
 * larger than the caches if there is enough memory. sharing: most ranks that share a device.
 * Collective; STATUS_MACHINE, reported, on all ranks when memory or the device failed. */
enum status copy_measure(struct backend *b, MPI_Comm comm, int sharing, double seconds,
                         double *bytes);

#endif
