/* The list of cells beside bodies with interpolated or rotating walls, or whose force or heat is
 * asked for: which cells, where their links meet the surface, and its normal there. */
#ifndef TAGFLOW_NEAR_LIST_H
#define TAGFLOW_NEAR_LIST_H

#include "tags/bodies.h"

/* Makes the list of this rank's cells, those of the shells first, and changes the types of the
 * cells that the list's kernel steps. After all tags are final. Collective; STATUS_USAGE or
 * STATUS_MACHINE, reported. */
enum status near_list_make(const struct bodies *b, struct domain *d);

#endif
