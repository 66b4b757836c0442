/* How long a step takes on many ranks: the model of docs/scaling.md.
 *
 *     step = launches + shell + packing + max(interior, bandwidth + latency)
 *
 * of the rank that takes longest. Times in seconds. */
#ifndef TAGFLOW_MODEL_H
#define TAGFLOW_MODEL_H

#include "predict/cluster.h"
#include "predict/load.h"

/* Limit of a step: its part that would shorten it most if it took no time. */
#define LIMIT_LIST(X) X(interior) X(shell) X(packing) X(launches) X(network) X(latency)
enum limit {
#define X(name) LIMIT_##name,
    LIMIT_LIST(X)
#undef X
};

struct model_step {
    double interior, shell, packing, launches; /* of the rank's device */
    double bandwidth, latency;                 /* of its messages */
    double seam; /* refined grids: messages between levels, in `step`; 0 from model_step() */
    double step;
};

/* Lattice updates a second of one device that exchanges nothing. populations: their bytes
 * in a cell. */
double model_rate(const struct cluster *c, double populations);

/* A step of a rank. */
struct model_step model_step(const struct cluster *c, double populations, const struct load *l);

/* Messages between levels, for which the device waits `waits` times: nothing hides them. l: bytes
 * and numbers of messages, of the rank. */
double model_seam(const struct cluster *c, const struct load *l, int waits);

/* The interior limits a step where it takes 0.9 of it or more, without the shell's loss. */
enum limit model_limit(const struct cluster *c, double populations, const struct load *l,
                       const struct model_step *s);
const char *model_limit_name(enum limit limit);

#endif
