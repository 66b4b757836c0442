/* Where the fluid is in a box that has too many cells to tag them all: one cell in step^3 is looked
 * at, in a regular grid. For `check`. */
#ifndef TAGFLOW_SAMPLING_H
#define TAGFLOW_SAMPLING_H

#include "domain/balance.h"

struct sampling {
    int step;       /* odd; the samples along an axis are the cells step / 2 + i step */
    int cells[3];   /* of the box */
    int n[3];       /* samples along each axis */
    uint8_t *solid; /* [n[2]][n[1]][n[0]]: 1 if a body holds the cell's centre */
    double share;   /* of the samples that are fluid */
};

/* Looks at the bodies of the case, at most `most` samples. Isolated pores count as fluid. The
 * processes share the work; all get all samples. Collective. STATUS_MACHINE or STATUS_USAGE,
 * reported. */
enum status sampling_create(struct sampling *s, const struct flow_case *c, double most,
                            MPI_Comm comm);
void sampling_destroy(struct sampling *s);

/* Estimates the share of fluid in the cells lo <= cell < hi. */
double sampling_share(const struct sampling *s, const int lo[3], const int hi[3]);

/* Cuts the box as balance_create would, by the samples. STATUS_MACHINE, reported. */
enum status sampling_balance(const struct sampling *s, struct balance *b, const int cuts[3]);

#endif
