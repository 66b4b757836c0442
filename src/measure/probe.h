/* The flow or a scalar at positions between cells, by trilinear interpolation; for probes and
 * lines. */
#ifndef TAGFLOW_PROBE_H
#define TAGFLOW_PROBE_H

#include "solver/levels.h"

/* A box of the block that is fetched at once, and its needed cells. */
struct probe_box {
    struct box box;
    int first, count; /* in probe.place */
};

/* Rank 0: the interpolation for one position, a weighted mean over cells. */
struct probe_point {
    int first, corners; /* in probe.corner; corners 0: none of the cells around has a value */
    double sum;         /* of the weights; 1 if all corners are fluid */
};
struct probe_corner {
    int cell;      /* in probe.all */
    double weight; /* > 0 */
};

/* The cells of one level that positions need. */
struct probe_level {
    int boxes;
    struct probe_box *box;
    int cells;     /* number of this rank's cells that hold the set and that a position needs */
    size_t *place; /* [cells] index of the cell in its box */
    double *mine;  /* [cells][components] */
    /* Rank 0: */
    int *counts, *starts; /* [ranks] values from each rank, and their offset in `all` */
};

struct probe {
    int points;
    int set;        /* SET_flow, or a scalar's set */
    int components; /* values of a cell: density - 1 and velocity, or a scalar */
    int levels;
    struct probe_level level[LEVELS];
    /* Rank 0: */
    double *all;               /* [cells of all levels and ranks][components] */
    struct probe_point *point; /* [points] */
    struct probe_corner *corner;
};

/* Prepares a probe of a set at positions at[points][3] in the whole box, in cells of level 0 (cell
 * i spans i to i + 1, its centre is at i + 1/2). Decides which cells each rank sends, so tags must
 * be final. Collective, as probe_measure: one status on all ranks, failures reported. */
enum status probe_create(struct probe *p, const struct levels *all, int set, int points,
                         const double *at);
void probe_destroy(struct probe *p);

/* The level between whose cells a position is interpolated. */
int probe_level(const struct levels *all, const double at[3]);

/* Density - 1 and velocity of the state before the next step, half of a step's force included, or a
 * scalar's value relative to its reference, at all positions: values[points][components] on rank 0
 * (NULL on others).
 *
 * Interpolates trilinearly between the centres of up to 8 cells. Periodic axes wrap; along other
 * axes the value is constant beyond the outermost centres. Corners that do not hold the set
 * are left out, and the weights of the others are scaled up; NaN if none holds it. Bit-identical
 * for every decomposition.
 *
 * On a refined grid the cells around are those of the level that has the position, or of the level
 * before if one of them is not of that level. A cell that a finer level covers has the mean of its
 * eight parts. */
enum status probe_measure(struct probe *p, const struct levels *all, double *values);

#endif
