/* Which fluid cells are joined: parts of the fluid, what they connect, and what is cut off.
 *
 * Two fluid cells are joined when a population streams from one to the other, by one of the 18
 * links; periodic axes go on at the other end. A part is all that is joined. The answer is exact
 * and the same for every cut of the box. */
#ifndef TAGFLOW_PORES_H
#define TAGFLOW_PORES_H

#include "domain/domain.h"

/* What is said of the fluid within a region of the box. */
struct pores {
    int64_t cells, fluid; /* of the region */
    int64_t parts;
    int64_t largest; /* cells of the largest part */
    /* Does a part join the two ends of the region along this axis? Where the region is all of a
     * periodic axis: does it join itself through that axis, so that flow goes round? */
    bool through[3];
    /* Parts that no flow goes through: neither beside an open face nor joined to themselves through
     * a periodic axis. Where all are so, as in a closed box, the largest is none. */
    int64_t isolated_parts, isolated_cells;
    int64_t *plane[3]; /* [region's cells along the axis] fluid cells of each plane */
};

/* Of the cells of the region as they are now. Collective. STATUS_MACHINE, reported: no memory, or a
 * block or the number of parts is beyond 2^32; the same on all ranks. */
enum status pores_find(const struct domain *d, const struct flow_case *c,
                       const struct case_region *region, struct pores *p);
void pores_destroy(struct pores *p);

/* Give the cells of the region that are in isolated parts of the fluid of the whole box this row,
 * in the block and its ghost cells; *filled of them in all. Collective, likewise. */
enum status pores_fill(struct domain *d, const struct flow_case *c,
                       const struct case_region *region, uint8_t row, int64_t *filled);

#endif
