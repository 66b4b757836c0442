/* Limits up to which operators and walls were tested: defaults and advice follow them. */
#ifndef TAGFLOW_LIMITS_H
#define TAGFLOW_LIMITS_H

#include "case/case.h"

/* Cell Reynolds number up to which regularised operators were tested with open faces. */
#define LIMIT_OPEN 100.0

/* The same with walls that move in a closed box: 40; 25 in three dimensions. */
double limits_moving(const struct flow_case *c);

/* Kinds of boundary. */
struct met {
    bool wall, moving, open;
};

/* A level, and the kinds of boundary on it. */
struct level_met {
    int level;
    struct met met;
};
struct level_met limits_met(const struct flow_case *c, int level);

/* Cell Reynolds number up to which TRT is right with such boundaries. */
double limits_cell(const struct met *met);

/* Cell Reynolds numbers up to which the wake of a body left the box without divergence, with
 * regularised operators: through `outflow`, which no subgrid model helps, and other outlets.
 * INFINITY: up to LIMIT_OPEN, and with a subgrid model to 1000 (docs/boundaries.md, "Limits").
 * where: in words. */
struct wake_limit {
    const char *where;
    double outflow, others;
};
const struct wake_limit *limits_wake(const struct flow_case *c, const struct case_body *body);

/* Does the wake of a body pass its limit for outlets other than `outflow`, on the body's level? */
bool limits_wake_passed(const struct flow_case *c);

/* The level of a body's surface, as far as regions tell. */
int limits_level(const struct flow_case *c, int body);

/* Relative excess of the flow rate of a plane channel of so many cells; only the walls cause it. */
#define LIMITS_CHANNEL 16
double limits_channel_error(const struct flow_case *c, double tau, double cells);

/* Does the error of walls grow with tau? */
bool limits_walls_fault(const struct flow_case *c);

/* Steps after which little of the initial flow is left. */
double limits_settling(double tau);

#endif
