/* Time functions ("signals"): their value at a step, bit-identical on every machine. */
#ifndef TAGFLOW_SIGNAL_H
#define TAGFLOW_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "case/case.h"

/* Value for step `step` >= 0. It scales what acts during that step, from time `step` to `step` + 1;
 * also the half of that step's force that the velocity before the step includes. */
double signal_at(const struct case_signal *s, int64_t step);

/* Have they the same values? Factors that are set are the same if they have one name. NULL is a
 * function of its own. */
bool signal_same(const struct case_signal *a, const struct case_signal *b);

#endif
