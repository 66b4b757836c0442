/* Bodies at rest that stand on a surface that moves: a wall of the box, or another body. */
#ifndef TAGFLOW_STANDING_H
#define TAGFLOW_STANDING_H

#include "domain/domain.h"

/* on[k]: what body k stands on; 0: nothing that moves, else a number of standing.c. Bodies that
 * touch a wall at rest, too, are taken for fixed walls, and images are not looked at. Collective.
 */
struct standing {
    int on[CASE_BODIES];
};
void standing_find(struct standing *s, const struct domain *d, const struct flow_case *c);

/* Warns of the first of them. */
void standing_warn(const struct standing *s, const struct flow_case *c);

#endif
