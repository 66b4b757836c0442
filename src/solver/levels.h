/* All levels of a grid: initial flow, what follows a step, and sums. */
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

/* As solver_initialise, for all levels together. c, given: of each level; given: or NULL. */
enum status levels_initialise(const struct levels *all, const struct flow_case *const c[],
                              const struct given_flow given[]);

/* As solver_adjust: after a step of level 0, for all levels together. */
enum status levels_adjust(const struct levels *all);

/* The sum over l of sum[l] / 2^(bits l), rounded once: the same for every decomposition. A cell of
 * level l has 2^-(3 l) of the volume of a cell of level 0, its side 2^-(2 l) of the area; bits is
 * less by 1 for each flat axis. At most LEVELS levels, bits -3 to 4: 3 and 4 for sums of all steps
 * of a level. One level: exact_value. */
double levels_sum_bits(const struct exact_sum *sum, int count, int bits);

/* The same for sums over cells, faces or links; bits: without regard to flat axes. */
double levels_sum(const struct levels *all, const struct exact_sum *sum, int bits);

#endif
