/* What walls at faces of the box give at positions within half a cell of them: probes and lines end
 * there with the value at the wall. */
#ifndef TAGFLOW_AT_WALL_H
#define TAGFLOW_AT_WALL_H

#include "solver/levels.h"

/* A position between a wall and the centres of the cells beside it. */
struct wall_share {
    int point, opening, face;
    double at[2]; /* on the face, along its axes */
    double share; /* of the wall's value: 1 at the wall, > 0; the rest is that of the centres */
};

struct at_wall {
    size_t count;
    struct wall_share *shares; /* by position; where walls meet, the slower one comes last */
};

/* Finds the walls for positions at[points][3] as for probe_create(). c: of level 0. STATUS_MACHINE,
 * reported, without memory. */
enum status at_wall_create(struct at_wall *w, const struct levels *all, const struct flow_case *c,
                           int points, const double *at);
void at_wall_destroy(struct at_wall *w);

/* Changes values[points][4] of probe_measure() for the flow: the velocity is linear to the wall's,
 * the density stays. */
void at_wall_flow(const struct at_wall *w, const struct flow_case *c, double *values);

/* Changes values[points] of a scalar at this step where the wall has a given value. */
void at_wall_scalar(const struct at_wall *w, const struct flow_case *c, int scalar, int64_t step,
                    double *values);

#endif
