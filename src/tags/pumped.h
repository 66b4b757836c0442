/* Walls that pump: what their velocity adds to the mass of the fluid in a step. */
#ifndef TAGFLOW_PUMPED_H
#define TAGFLOW_PUMPED_H

#include "domain/domain.h"
#include "exact.h"

/* Adds 6 w_i c_i.u of all links of this rank's cells into walls that move at u, time functions left
 * out, c_i into the fluid. The sum over a closed surface that slides or turns in place is 0, as w_i
 * c_i sums to 0 over a closed staircase and c_i.(w x c_i) is 0. It is not for a body that is cut by
 * a face of the box. */
void pumped_add(const struct domain *d, struct exact_sum *sum);

#endif
