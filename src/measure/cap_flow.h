/* Flow out of a mesh through its caps. */
#ifndef TAGFLOW_MEASURE_CAP_FLOW_H
#define TAGFLOW_MEASURE_CAP_FLOW_H

#include "solver/levels.h"
#include "solver/outflow.h"

/* Measures all caps: to[case_caps(c)], by the links that cross them, in the coming step.
 * Collective, the same on all ranks, bit-identical for every decomposition. STATUS_MACHINE,
 * reported, when the backend failed. */
enum status cap_flow_measure(const struct levels *all, const struct flow_case *c,
                             struct outflow *to);

#endif
