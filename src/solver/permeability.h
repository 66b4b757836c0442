/* Permeability of what is in the box, by Darcy's law along an axis. */
#ifndef TAGFLOW_PERMEABILITY_H
#define TAGFLOW_PERMEABILITY_H

#include "solver/solver.h"

/* Lattice units; of the state before the next step. */
struct permeability {
    double velocity; /* superficial: the mean over all cells of the box, 0 in solids */
    double gradient; /* what drives it: acceleration - (1 / density) dp/dx */
    double value;    /* k = viscosity velocity / gradient, in squares of a cell's edge; NaN when
                      * nothing drives the flow */
};

/* A darcy in square metres. */
#define PERMEABILITY_DARCY 9.869233e-13

/* What it is computed by, in words for reports. */
#define PERMEABILITY_FORMULA                                                                       \
    "k = nu <u> / (a - dp/dx / rho): kinematic viscosity, mean velocity over all cells, "          \
    "acceleration, pressure between the outermost planes of cells"

/* Along `axis`. `length`: of the sample, in cells, over which all that drives the flow is spent; 0:
 * the box has no more than it. Pressures are means over the fluid cells of the first and the last
 * plane of cells, whose centres are one cell less apart than the box is long; along a periodic axis
 * there is no difference. Collective, the same on all ranks and to the bit for every cut.
 * STATUS_MACHINE when the backend failed. */
enum status permeability_measure(struct solver *s, double viscosity, int axis, double length,
                                 struct permeability *k);

#endif
