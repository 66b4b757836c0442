/* The short form of what `check` finds: a verdict, the warnings, a table. */
#ifndef TAGFLOW_SUMMARY_H
#define TAGFLOW_SUMMARY_H

#include "cli/choices.h"

/* Files of a run's outputs, without checkpoints. */
struct volume {
    double files, bytes;
};

/* Log it. ranks: more than one, or the user asked for them. */
void summary_say(const struct scale *s, const struct choices *choices, const struct volume *v);

#endif
