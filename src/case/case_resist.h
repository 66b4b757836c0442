/* What is known of the flow through porous regions and screens, and in a rotating frame, before a
 * run. */
#ifndef TAGFLOW_CASE_RESIST_H
#define TAGFLOW_CASE_RESIST_H

#include "case/case.h"

/* Has a region a resistance? */
bool zone_resists(const struct case_zone *zone);

/* Does all that flows along the axis cross the region? */
bool zone_spans(const struct flow_case *c, const struct case_zone *zone, int axis);

/* Resistances D, F of a region along an axis, accelerations D u + F u^2 in lattice units, as used:
 * above RESIST_MOST there is no difference. A screen has F on its axis alone. */
void zone_resistance(const struct case_zone *zone, int axis, double *d, double *f);
#define RESIST_MOST 1e6

/* Log each region with a resistance: its cells, and the pressure that the fastest velocity of the
 * case would lose along each axis. */
void resist_say(const struct flow_case *c);

/* The largest velocity along an axis that an acceleration drives through the regions that all of
 * the flow must cross; INFINITY without one. */
double resisted_velocity(const struct flow_case *c, int axis, double acceleration);

/* The velocity at which the Coriolis acceleration balances one along the axis; INFINITY if nothing
 * turns about another axis. */
double turned_velocity(const struct flow_case *c, int axis, double acceleration);

#endif
