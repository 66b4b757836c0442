/* The narrowest section of the flow: there it is faster than at the inlets. */
#ifndef TAGFLOW_NARROW_H
#define TAGFLOW_NARROW_H

#include "tags/level_parts.h"

/* The section with the largest mean velocity along its normal: a plane of cells of level 0, or an
 * opening. Only those count through which the flow is given: by the velocities on one side, or by
 * force.flow_rate. */
struct narrow {
    double velocity; /* 0: there is none */
    double open;     /* share of the plane that is fluid */
    int axis, at;    /* the plane */
    int level;       /* the coarsest one with fluid in the plane */
    int gate;        /* the only one that lets out what the others give; -1: a plane */
};

/* Collective. STATUS_MACHINE, reported. */
enum status narrow_find(struct narrow *n, const struct paths_level *level, int levels);

/* Warns if that velocity is too large, and the velocities that the case gives are not. */
void narrow_warn(const struct narrow *n, const struct flow_case *c);

#endif
