/* Exchange of velocities between ranks for the kernels curl and enstrophy. */
#ifndef TAGFLOW_CURL_H
#define TAGFLOW_CURL_H

#include "solver/solver.h"

/* Exchanges the velocities of the outermost layers with the neighbours. After that curl and
 * enstrophy of the present step may be launched for any boxes. Collective: one status on all ranks,
 * failures reported. */
enum status curl_prepare(struct solver *s);

#endif
