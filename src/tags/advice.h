/* Warnings about openings and bodies that depend on the cells which bodies leave. */
#ifndef TAGFLOW_ADVICE_H
#define TAGFLOW_ADVICE_H

#include "domain/domain.h"

/* After domain_create. */
void advice_say(const struct domain *d, const struct flow_case *c);

#endif
