/* Remedies that several warnings name. */
#ifndef TAGFLOW_REMEDY_H
#define TAGFLOW_REMEDY_H

#include "case/case.h"

#define SUBGRID_MODEL "solver.subgrid {smagorinsky: {constant: 0.1}}"
enum { REMEDY = 192 };

/* Remedy for a grid that is so many times too coarse: a finer one, or a subgrid model where that
 * would cost far too much. At the same Mach number tau - 1/2 is proportional to the
 * number of cells along a length. */
const char *finer_text(const struct flow_case *c, double times, char text[REMEDY]);

/* The same as the last remedy of a list, and a subgrid model in any case. */
const char *model_text(const struct flow_case *c, double times, char text[REMEDY]);

/* With units: the time step at which lattice velocities are `times` as large, and tau with it; else
 * the empty string. */
const char *slower_text(const struct flow_case *c, double times, char text[REMEDY]);

#endif
