/* Rows and tags of the solids in the flow. */
#ifndef TAGFLOW_BODIES_H
#define TAGFLOW_BODIES_H

#include "domain/domain.h"

/* Gives cells whose centre is in a body its row; after the faces, before the regions. Collective.
 * STATUS_USAGE, reported: there is too much of it. */
enum status domain_bodies(struct domain *d, const struct flow_case *c);

#endif
