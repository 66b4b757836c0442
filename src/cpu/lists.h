/* Memory of the lists of runs.h, before they are made. */
#ifndef TAGFLOW_CPU_LISTS_H
#define TAGFLOW_CPU_LISTS_H

#include "cpu/runs.h"

/* Bytes that runs_create will allocate for the view and keep; fewer if the process is asked to stop
 * meanwhile. STATUS_MACHINE, reported, when memory runs out. */
enum status runs_bytes(const struct view *v, int threads, double *bytes);

/* Bytes of the lists of a view. */
double runs_held(const struct runs *runs, const struct view *v);

#endif
