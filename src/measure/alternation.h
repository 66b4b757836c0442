/* Share of the velocity that alternates from step to step: it detects wrong flows that stay finite.
 *
 * Over the last three steps and a sample of cells,
 *
 *   share = rms |u(t) - 2 u(t - 1) + u(t - 2)| / (4 rms |u(t)|).
 *
 * It is 1 if u changes its sign at each step. Correct flows have less than 3e-3, wrong ones 0.15
 * and more (docs/physics.md, "When a flow is wrong"). */
#ifndef TAGFLOW_ALTERNATION_H
#define TAGFLOW_ALTERNATION_H

#include "solver/solver.h"

enum { ALTERNATION_TIMES = 3, ALTERNATION_STRIDE = 5 };

/* This rank's velocities of the sample: every 5th cell along axes of 10 cells or more, every cell
 * along shorter axes. */
struct alternation {
    size_t cells;
    float *velocity[ALTERNATION_TIMES]; /* [cells][3]; the newest first */
    double density;                     /* largest |density - 1| of the newest */
    int known;                          /* number of newest entries from successive steps */
    int64_t step;                       /* of the newest */
};

/* Collective: one status on all ranks, failures reported. */
enum status alternation_create(struct alternation *a, const struct solver *s);
void alternation_destroy(struct alternation *a);

/* Stores the velocities of this step. */
enum status alternation_sample(struct alternation *a, struct solver *s);

/* Bit-identical for every decomposition. */
struct alternation_found {
    double share;   /* NAN if the last three samples are not from successive steps */
    double rms;     /* of |u|, over the sample */
    double density; /* the largest |density - 1| of the sample */
    int cell[3];    /* the cell of the sample that alternates most */
};
enum status alternation_measure(const struct alternation *a, const struct solver *s,
                                struct alternation_found *found);

#endif
