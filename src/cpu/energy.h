/* Energy used by the processor's packages: Linux's powercap (RAPL). */
#ifndef TAGFLOW_CPU_ENERGY_H
#define TAGFLOW_CPU_ENERGY_H

#include <stdbool.h>

/* The folder on Linux. */
#define PACKAGES_FOLDER "/sys/class/powercap"

struct packages;

/* Opens the counters of all packages of the host: cores and all else on the package, without memory
 * modules and the rest of the platform. NULL if there are none or they may not be read (many
 * systems allow only root). */
struct packages *packages_open(const char *folder);

/* Joules used since packages_open. A counter wraps after about ten minutes, so call this at least
 * once in that time. False: not known, or no longer. */
bool packages_joules(struct packages *p, double *joules);

/* Takes NULL. */
void packages_close(struct packages *p);

#endif
