/* Permeability of the box's contents, by Darcy's law along an axis. */
#ifndef TAGFLOW_PERMEABILITY_H
#define TAGFLOW_PERMEABILITY_H

#include "solver/levels.h"

/* Lattice units; of the state before the next step. */
struct permeability {
    double mean[3];  /* superficial velocity: the mean over all cells of the box, 0 in solids */
    double velocity; /* its component along the axis */
    double gradient; /* driving acceleration: acceleration - (1 / density) dp/dx */
    double value;    /* k = viscosity velocity / gradient, in squares of a cell's edge; NaN if the
                      * gradient is 0 */
};

/* One darcy in square metres. */
#define PERMEABILITY_DARCY 9.869233e-13

/* The formula, in words for reports. */
#define PERMEABILITY_FORMULA                                                                       \
    "k = nu <u> / (a - dp/dx / rho): kinematic viscosity, mean velocity over all cells, "          \
    "acceleration, pressure between the outermost planes of cells"

/* Permeability along `axis`. length: cells of the sample along it; the sample is taken to cause the
 * whole resistance. 0: the sample fills the box. The pressure drop is the difference of the means
 * over the fluid cells of the first and the last plane of cells, whose centres are one cell less
 * apart than the box is long; along a periodic axis it is 0. Collective, the same on all ranks,
 * bit-identical for every decomposition. STATUS_MACHINE when the backend failed. */
enum status permeability_measure(const struct levels *all, double viscosity, int axis,
                                 double length, struct permeability *k);

#endif
