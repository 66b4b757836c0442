/* The tags of a block of another decomposition. */
#ifndef TAGFLOW_PART_H
#define TAGFLOW_PART_H

#include "domain/domain.h"

/* Fills part->tags, which are allocated, from the tags that the ranks of d have. `part`: as
 * domain_layout makes it; NULL: this rank wants none. Cells that are not fluid beyond faces of the
 * box are copied, too. Collective. STATUS_MACHINE, reported. */
enum status part_tags(struct domain *part, const struct domain *d);

/* Is this the block that d has? */
bool part_same(const struct domain *part, const struct domain *d);

#endif
