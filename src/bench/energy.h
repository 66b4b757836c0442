/* Energy used, as reported by the processor's packages (Linux powercap) or the GPU (NVML). It
 * includes all other use of the package or GPU. */
#ifndef TAGFLOW_BENCH_ENERGY_H
#define TAGFLOW_BENCH_ENERGY_H

#include "solver/backend.h"

struct energy;

/* NULL, on all ranks, when a device does not report it or may not be read, or memory is short. The
 * backend must outlive it. Collective. */
struct energy *energy_open(const struct backend *b, MPI_Comm comm);

/* Joules that all ranks' devices have used since energy_open, each device and each host's packages
 * counted once; NAN: not known (as with NULL). Call it at least every few minutes: the counter of a
 * package restarts at zero after some ten minutes. Collective. */
double energy_joules(struct energy *e);

/* `e` may be NULL. Collective. */
void energy_close(struct energy *e);

#endif
