/* Connected parts of the fluid: what they connect, and which are isolated.
 *
 * Two fluid cells are joined if a population streams from one to the other, along one of the 18
 * links, also through periodic faces; where a scalar has a mean gradient, along one of the 6 links
 * of its lattice. A part is a set of all cells that are joined to each other,
 * directly or through others. The result is exact and the same for every decomposition. */
#ifndef TAGFLOW_PORES_H
#define TAGFLOW_PORES_H

#include "domain/domain.h"

/* Results for the fluid within a region of the box. */
struct pores {
    int64_t cells, fluid; /* of the region */
    int64_t parts;
    int64_t largest; /* cells of the largest part */
    /* Does a part join the two ends of the region along this axis? If the region is all of a
     * periodic axis: does a part join itself through that axis, so that the flow goes round? */
    bool through[3];
    /* Cells of the parts that do so; of the other parts that have cells in the first or the last
     * plane of the region along the axis; of the parts that reach neither. Their sum is `fluid`. */
    int64_t connected[3], dead_end[3], closed[3];
    /* Parts without flow: neither beside an open face nor joined to themselves through a periodic
     * axis. If all parts are so, as in a closed box, the largest one is not counted as isolated. */
    int64_t isolated_parts, isolated_cells;
    int64_t *plane[3]; /* [region's cells along the axis] fluid cells of each plane */
};

/* Analyses the region with its present tags. Collective. STATUS_MACHINE, reported, the same on all
 * ranks: no memory, or the runs of fluid cells of a block or the number of parts exceed 2^32. */
enum status pores_find(const struct domain *d, const struct flow_case *c,
                       const struct case_region *region, struct pores *p);
void pores_destroy(struct pores *p);
/* The same results again, of a region. Collective, errors as above. */
enum status pores_copy(const struct domain *d, const struct pores *from, struct pores *p,
                       const struct case_region *region);

/* Gives cell type `row` to the cells of the region that are in isolated parts of the whole box's
 * fluid, in the block and its ghost cells; *filled: their number on all ranks. Collective, errors
 * as above. */
enum status pores_fill(struct domain *d, const struct flow_case *c,
                       const struct case_region *region, uint8_t row, int64_t *filled);

#endif
