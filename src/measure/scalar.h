/* Sums and extremes of a scalar over the cells of all ranks that hold it, bit-identical for every
 * decomposition. */
#ifndef TAGFLOW_MEASURE_SCALAR_H
#define TAGFLOW_MEASURE_SCALAR_H

#include "solver/solver.h"

/* Values are relative to the scalar's reference. NaN without cells, and if a value is not sane. */
struct scalar_values {
    int64_t cells;
    double least, most;
    double mean, variance; /* over the cells, which all count the same */
};

/* Lattice units; of the state before the next step. */
struct scalar_found {
    struct scalar_values fluid, solid; /* solid: bodies that conduct */
    double enthalpy;  /* sum of the populations, in the unit in which the fluid's capacity is 1: of
                       * value times capacity, less half a step of sources */
    double least, most;              /* over fluid and solid; NaN if not finite */
    int least_cell[3], most_cell[3]; /* the first cells with them, global coordinates */
    double size;      /* the largest |value| */
    int size_cell[3]; /* the first cell with it, global coordinates */
    bool finite;      /* false: bad_cell has a value that is NaN or out of bounds */
    int bad_cell[3];  /* the first such cell */
};

/* The extremes alone; mean, variance and enthalpy are NaN. Collective, as scalar_measure: one
 * status on all ranks. STATUS_MACHINE, reported, when the backend failed. */
enum status scalar_extremes(struct solver *s, int set, struct scalar_found *found);
enum status scalar_measure(struct solver *s, int set, struct scalar_found *found);

#endif
