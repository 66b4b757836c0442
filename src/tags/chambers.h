/* Chambers: the largest connected parts of the fluid (pores.h), in order of size. */
#ifndef TAGFLOW_CHAMBERS_H
#define TAGFLOW_CHAMBERS_H

#include "domain/domain.h"

enum { CHAMBERS = 16, CHAMBER_NONE = 255 };

struct chambers {
    int count;
    int64_t cells[CHAMBERS];
};

/* Finds them on one level. of_cell: [view.cells] gets each owned cell's number; CHAMBER_NONE: it is
 * not fluid, or in a smaller part. The same for every decomposition. Collective. STATUS_MACHINE,
 * reported, the same on all ranks. */
enum status chambers_find(const struct domain *d, const struct flow_case *c, struct chambers *found,
                          uint8_t *of_cell);

#endif
