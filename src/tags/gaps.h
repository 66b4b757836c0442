/* Gaps between walls that are too narrow to resolve a flow. */
#ifndef TAGFLOW_GAPS_H
#define TAGFLOW_GAPS_H

#include "domain/domain.h"

struct gaps {
    int64_t cells; /* fluid cells in them */
    int64_t first; /* number of the first, (z ny + y) nx + x */
};

/* Finds fluid cells in gaps of one or two cells along an axis. At least one end of a gap is a body,
 * the other one a body or a wall of the box. `shapes`: one end is a shape or mesh; `images`: the
 * others, beside voxel images, where gaps are common. Along one of the other two axes the gap must
 * go on in both directions; along the other one it must go on too, or be as narrow. So dents of a
 * staircase do not count. Axes of at most GAPS_AXIS cells are skipped.
 *
 * After domain_create. Collective, the same on all ranks and for every decomposition.
 * STATUS_MACHINE, reported, without memory. */
enum status gaps_find(const struct domain *d, const struct flow_case *c, struct gaps *shapes,
                      struct gaps *images);

enum { GAPS_AXIS = 4 };

#endif
