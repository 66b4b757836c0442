/* Flow out of the box through its openings: open faces and patches, and walls that let fluid
 * through. */
#ifndef TAGFLOW_OUTFLOW_H
#define TAGFLOW_OUTFLOW_H

#include "solver/solver.h"

enum { OUTFLOW_OPENINGS = 6 + CASE_PATCHES };

/* Of the fluid cells beside an opening; lattice units of level 0, of the state before the next
 * step, half of a step's force included. An opening that nothing can pass has zeros. */
struct outflow {
    double volume;   /* sum of the velocity out of the box; NaN if a value in these cells is NaN or
                      * out of bounds */
    double mass;     /* sum of density times this velocity; likewise */
    double pressure; /* mean of (rho - 1) / 3; NaN also without cells */
    double area;     /* number of cells */
};

/* Measures all openings: to[case_openings(c)]. s, c: of level 0, which alone has openings.
 * Collective, the same on all ranks, bit-identical for every decomposition. STATUS_MACHINE,
 * reported, when the backend failed. */
enum status outflow_measure(struct solver *s, const struct flow_case *c, struct outflow *to);

/* Mass flow out through all openings where fluid leaves, each as a whole. */
double outflow_leaves(const struct flow_case *c, const struct outflow *all);

/* Mass flow out through an opening over that through all openings where fluid leaves, each as a
 * whole: 0 where fluid enters; NaN if it leaves nowhere. */
double outflow_share(const struct flow_case *c, const struct outflow *all, int opening);

#endif
