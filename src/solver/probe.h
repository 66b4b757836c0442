/* The flow at positions between cells, by trilinear interpolation; for probes and lines. */
#ifndef TAGFLOW_PROBE_H
#define TAGFLOW_PROBE_H

#include "solver/solver.h"

/* A box of the block that is fetched at once, and those of its cells that are needed. */
struct probe_box {
    struct box box;
    int first, count; /* in probe.place */
};

/* Rank 0's recipe for one position: a sum over up to 8 cells. */
struct probe_point {
    int corners;      /* 0: no fluid around */
    int cell[8];      /* in probe.all */
    double weight[8]; /* > 0 */
    double sum;       /* of the weights; 1 where all corners are fluid */
};

struct probe {
    int points;
    int boxes;
    struct probe_box *box;
    int cells;     /* of this rank, each needed by a position or more, all fluid */
    size_t *place; /* [cells] in their boxes */
    double *mine;  /* [cells][4] density - 1 and velocity */
    /* Rank 0: */
    int *counts, *starts;      /* [ranks] numbers that come from each, and where they go */
    double *all;               /* [cells of all ranks][4] */
    struct probe_point *point; /* [points] */
};

/* Ready to look at positions at[points][3] in the whole box, in lattice units (cell i spans i to
 * i + 1, its centre is at i + 1/2). What each rank has to send is settled here. Tags must be final.
 * Collective, as probe_measure: one status on all ranks, failures reported. */
enum status probe_create(struct probe *p, const struct solver *s, int points, const double *at);
void probe_destroy(struct probe *p);

/* Density - 1 and velocity of the state before the next step, half of a step's force included, at
 * all positions: values[points][4] on rank 0 (NULL on others).
 *
 * Between the centres of up to 8 cells; periodic axes wrap, and beyond the outermost centres of
 * others the value is that of the outermost cells. Corners that are not fluid are left out, and the
 * weights of the others scaled up; NaN where none is fluid. The same bits for every cut. */
enum status probe_measure(struct probe *p, struct solver *s, double *values);

#endif
