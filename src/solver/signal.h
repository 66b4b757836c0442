/* What varies in time: the value of a signal at a step, the same bits on every machine. */
#ifndef TAGFLOW_SIGNAL_H
#define TAGFLOW_SIGNAL_H

#include <stdint.h>

#include "case/case.h"

/* The signal of step `step` >= 0: it scales what acts during that step, from time `step` to
 * `step` + 1, and so the half of its force that belongs to the velocity before it. */
double signal_at(const struct case_signal *s, int64_t step);

#endif
