/* Facts about the host. Nothing here can fail; a fact that is not known is marked so. */
#ifndef TAGFLOW_BENCH_MACHINE_H
#define TAGFLOW_BENCH_MACHINE_H

#include <stdbool.h>

/* The processor's name, "AMD EPYC 9654 96-Core Processor"; "unknown processor" if not known. */
void machine_processor(char name[128]);

/* Cores (hardware threads) of the host that are online. */
int machine_cores(void);

/* The lowest and the highest clock of the host's cores now, MHz; false if not known. */
bool machine_clocks(double *least, double *most);

#endif
