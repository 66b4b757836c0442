/* Means of a scalar over a plane of cells: plain, and weighted by the flow through the plane. The
 * second is what a cup gets that collects and mixes the fluid, also called the bulk value. */
#ifndef TAGFLOW_MIXING_CUP_H
#define TAGFLOW_MIXING_CUP_H

#include "solver/levels.h"

/* Over the plane's fluid cells. All but the area are NaN if a value in the plane is NaN or out of
 * bounds; means also where there is nothing to divide by. */
struct mixing_cup {
    double cup;    /* sum of u T over sum of u, u along the axis; T as stored, from the reference */
    double mean;   /* of T */
    double volume; /* sum of u; lattice units of level 0 */
    double area;   /* number of cells */
};

/* The plane at coordinate `at`, as for flow_rate_measure; set: of the scalar. Collective, the same
 * on all ranks, bit-identical for every decomposition. STATUS_MACHINE, reported, when memory or the
 * backend failed. */
enum status mixing_cup_measure(const struct levels *all, int set, int axis, int at,
                               struct mixing_cup *found);

#endif
