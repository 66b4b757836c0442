/* What the processor's packages say that they have used: Linux's powercap (RAPL). */
#ifndef TAGFLOW_CPU_ENERGY_H
#define TAGFLOW_CPU_ENERGY_H

#include <stdbool.h>

/* Where Linux has it. */
#define PACKAGES_FOLDER "/sys/class/powercap"

struct packages;

/* All packages of the host, cores and what else is on them; not the memory beside them, nor the
 * platform as a whole. NULL when there are none or they may not be read (many systems let only
 * root).
 */
struct packages *packages_open(const char *folder);

/* Joules that they have used since packages_open. A counter starts again at zero after ten minutes
 * or so: what went by meanwhile is counted if this is called once before the next time. False: not
 * known (any more). */
bool packages_joules(struct packages *p, double *joules);

/* Takes NULL. */
void packages_close(struct packages *p);

#endif
