/* Cuts of the box, planes through all of it, that give blocks about equal numbers of fluid cells
 * where solids are unevenly distributed. */
#ifndef TAGFLOW_BALANCE_H
#define TAGFLOW_BALANCE_H

#include "domain/domain.h"

/* Positions of cuts: part k along axis a has the planes at[a][k] <= g < at[a][k + 1]. */
struct balance {
    int *at[3];       /* [cuts[a] + 1] */
    int64_t most;     /* fluid cells of the block with the most */
    bool even;        /* the cuts are even */
    double imbalance; /* `most` over the mean of all blocks: 1 is perfect */
};

/* Cuts the box into cuts[0] x cuts[1] x cuts[2] blocks; d, with its tags, is this rank's part of an
 * earlier decomposition. Takes the cuts of cut_fairly, from the fluid cells in each plane, if they
 * make the largest block smaller; else even cuts. Collective, the same on all ranks.
 * STATUS_MACHINE, reported. */
enum status balance_create(struct balance *b, const struct domain *d, const int cuts[3]);
/* The same for fluid that is known otherwise; on this process alone. */
struct balance_source {
    const void *context;
    const int *cells; /* of the box */
    int64_t fluid;    /* cells of the box */
    int grain;        /* cuts are at multiples of so many cells */
    /* Fluid cells of each plane normal to each axis, count[a]: [cells[a]]. */
    void (*planes)(const void *context, int64_t *const count[3]);
    /* The largest number of fluid cells in a block with these cuts. */
    int64_t (*largest)(const void *context, const int cuts[3], int *const at[3]);
};
enum status balance_by(struct balance *b, const struct balance_source *from, const int cuts[3]);
void balance_destroy(struct balance *b);

#endif
