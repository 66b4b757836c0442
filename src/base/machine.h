/* Facts about the host. Nothing here can fail; a fact that is not known is marked so. */
#ifndef TAGFLOW_MACHINE_H
#define TAGFLOW_MACHINE_H

#include <stdbool.h>

/* The processor's name, "AMD EPYC 9654 96-Core Processor", "Arm Neoverse V2"; else the board's
 * name; "unknown processor" if neither is known. */
void machine_processor(char name[128]);
/* The same of a text as Linux's /proc/cpuinfo; false: there is no name in it. */
bool machine_processor_in(const char *cpuinfo, char name[128]);

/* Cores (hardware threads) of the host that are online. */
int machine_cores(void);

/* The lowest and the highest clock of the host's cores now, MHz; false if not known. */
bool machine_clocks(double *least, double *most);

#endif
