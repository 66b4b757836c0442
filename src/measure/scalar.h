/* Sums and extremes of a scalar over the cells of all ranks that hold it, bit-identical for every
 * decomposition. */
#ifndef TAGFLOW_MEASURE_SCALAR_H
#define TAGFLOW_MEASURE_SCALAR_H

#include "solver/levels.h"

/* Values are relative to the scalar's reference. NaN without cells, and if a value is not sane. */
struct scalar_values {
    double cells; /* in cells of level 0 */
    double least, most;
    double mean, variance; /* over the cells, by their volume */
};

/* A cell, in global coordinates of its level. */
struct level_cell {
    int level, cell[3];
};

/* Lattice units of level 0; of the state before the next step. */
struct scalar_found {
    struct scalar_values fluid, solid; /* solid: bodies that conduct */
    double enthalpy; /* sum of the populations, in the unit in which the fluid's capacity is 1: of
                      * value times capacity, less half a step of sources */
    double least, most;                  /* over fluid and solid; NaN if not finite */
    struct level_cell least_at, most_at; /* the first cells with them */
    double size;                         /* the largest |value| */
    struct level_cell size_at;           /* the first cell with it */
    bool finite;                         /* false: the value at bad_at is NaN or out of bounds */
    struct level_cell bad_at;            /* the first such cell */
};

/* First cells are of the coarsest level that has one. Steps of sources are those of each level. The
 * extremes alone; mean, variance and enthalpy are NaN. Collective, as scalar_measure: one status on
 * all ranks. STATUS_MACHINE, reported, when the backend failed. */
enum status scalar_extremes(const struct levels *all, int set, struct scalar_found *found);
enum status scalar_measure(const struct levels *all, int set, struct scalar_found *found);

/* A power of two whose product with `most` is at most 1: for sums of values of this size. */
double scalar_scale_of(double most);

#endif
