/* Cuts for equal numbers of fluid cells: planes through the whole box, where solids leave some
 * parts of it with more to do than others. */
#ifndef TAGFLOW_BALANCE_H
#define TAGFLOW_BALANCE_H

#include "domain/domain.h"

/* Where to cut: part k along axis a has the planes at[a][k] to before at[a][k + 1]. */
struct balance {
    int *at[3];       /* [cuts[a] + 1] */
    int64_t most;     /* fluid cells of the block that has most of them */
    bool even;        /* the cuts are */
    double imbalance; /* that over the mean of all blocks: 1 is perfect */
};

/* For cuts[0] x cuts[1] x cuts[2] blocks of the box of which d, with its tags, is one rank's part:
 * the even cuts, or those that cut_fairly makes of the fluid cells in each plane if the largest
 * block is smaller with them. Collective, the same on all ranks. STATUS_MACHINE, reported. */
enum status balance_create(struct balance *b, const struct domain *d, const int cuts[3]);
/* The even cuts of a box that is all fluid; `most` and `imbalance` are not set. */
enum status balance_evenly(struct balance *b, const int cells[3], const int cuts[3]);
void balance_destroy(struct balance *b);

#endif
