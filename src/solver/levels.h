/* Measurements over all levels of a grid. */
#ifndef TAGFLOW_LEVELS_H
#define TAGFLOW_LEVELS_H

#include "domain/refined.h"
#include "exact.h"
#include "solver/solver.h"

/* Solvers of the levels, the coarsest first. */
struct levels {
    int count;
    struct solver *solver[LEVELS];
    const struct refined *refined; /* which cells are of which level; NULL: one level */
};
/* One solver alone. */
#define ONE_LEVEL(s) (&(struct levels){.count = 1, .solver = {s}})

/* The sum over l of sum[l] / 2^(bits l), rounded once: the same for every decomposition. A cell of
 * level l has 2^-(3 l) of the volume of a cell of level 0, its side 2^-(2 l) of the area. At most
 * LEVELS levels, bits 0 to 3. One level: exact_value. */
double levels_sum(const struct exact_sum *sum, int count, int bits);

#endif
