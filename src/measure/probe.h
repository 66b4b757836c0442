/* The flow at positions between cells, by trilinear interpolation; for probes and lines. */
#ifndef TAGFLOW_PROBE_H
#define TAGFLOW_PROBE_H

#include "solver/solver.h"

/* A box of the block that is fetched at once, and its needed cells. */
struct probe_box {
    struct box box;
    int first, count; /* in probe.place */
};

/* Rank 0: the interpolation for one position, a weighted mean over up to 8 cells. */
struct probe_point {
    int corners;      /* 0: no fluid around */
    int cell[8];      /* in probe.all */
    double weight[8]; /* > 0 */
    double sum;       /* of the weights; 1 if all corners are fluid */
};

struct probe {
    int points;
    int boxes;
    struct probe_box *box;
    int cells;     /* number of this rank's fluid cells that a position needs */
    size_t *place; /* [cells] index of the cell in its box */
    double *mine;  /* [cells][4] density - 1 and velocity */
    /* Rank 0: */
    int *counts, *starts;      /* [ranks] values from each rank, and their offset in `all` */
    double *all;               /* [cells of all ranks][4] */
    struct probe_point *point; /* [points] */
};

/* Prepares a probe at positions at[points][3] in the whole box, in lattice units (cell i spans i to
 * i + 1, its centre is at i + 1/2). Decides which cells each rank sends, so tags must be final.
 * Collective, as probe_measure: one status on all ranks, failures reported. */
enum status probe_create(struct probe *p, const struct solver *s, int points, const double *at);
void probe_destroy(struct probe *p);

/* Density - 1 and velocity of the state before the next step, half of a step's force included, at
 * all positions: values[points][4] on rank 0 (NULL on others).
 *
 * Interpolates trilinearly between the centres of up to 8 cells. Periodic axes wrap; along other
 * axes the value is constant beyond the outermost centres. Corners that are not fluid are left out,
 * and the weights of the others are scaled up; NaN if none is fluid. Bit-identical for every
 * decomposition. */
enum status probe_measure(struct probe *p, struct solver *s, double *values);

#endif
