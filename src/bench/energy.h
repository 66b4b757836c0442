/* What devices say that they have used: the processor's packages (Linux powercap) or the GPU
 * (NVML). A package's or a GPU's whole use, that of others on it as well. */
#ifndef TAGFLOW_BENCH_ENERGY_H
#define TAGFLOW_BENCH_ENERGY_H

#include "solver/backend.h"

struct energy;

/* NULL, on all ranks, when a device does not tell or may not be read, or memory is short. The
 * backend must outlive it. Collective. */
struct energy *energy_open(const struct backend *b, MPI_Comm comm);

/* Joules that all ranks' devices have used since energy_open, each device and each host's packages
 * counted once; NAN: not known (as with NULL). Ask at least every few minutes: a package's counter
 * starts again at zero after some ten. Collective. */
double energy_joules(struct energy *e);

/* Takes NULL. Collective. */
void energy_close(struct energy *e);

#endif
