/* What the kernels curl and enstrophy need of other ranks. */
#ifndef TAGFLOW_CURL_H
#define TAGFLOW_CURL_H

#include "solver/solver.h"

/* Exchange the velocities of outermost layers with the neighbours, for curl and enstrophy of the
 * present step: then both may be launched for any boxes. Collective; the same status on all,
 * failures reported. */
enum status curl_prepare(struct solver *s);

#endif
