/* Caps of a mesh that holds the fluid, in `check` and the log. */
#ifndef TAGFLOW_ADVICE_CAPS_H
#define TAGFLOW_ADVICE_CAPS_H

#include "domain/domain.h"

/* A line for each cap. d: of level 0. */
void caps_say(const struct domain *d, const struct flow_case *c);

#endif
