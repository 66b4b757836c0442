/* Several steps in one sweep over memory (temporal blocking); see sweep.c. */
#ifndef TAGFLOW_CPU_SWEEP_H
#define TAGFLOW_CPU_SWEEP_H

#include "base/precision.h"
#include "cpu/kernels.h"

/* How a block is swept. */
struct sweep {
    int steps; /* most steps of a sweep; 1: it does not pay, or is not possible */
    int along; /* axis of the sweep: 2, or 1 where the block is thin along z */
    int rows;  /* rows of a tile, along the other axis of the two */
};

/* Chooses how to sweep the view's block. threads: of this rank; ranks: of this run on this host;
 * cache: bytes of the last-level cache for this rank, 0: not known; wanted: steps, 0: as many as
 * pay. */
struct sweep sweep_choose(const struct view *v, int threads, int ranks, double cache, int wanted);

/* Are there enough planes and rows for sweep->steps steps? */
bool sweep_possible(const struct sweep *sweep, const struct view *v, int threads);

/* Makes `steps` steps, at most sweep->steps. step: the kernel of a step; called by a thread it must
 * run on this thread alone. v: [steps] views that differ in their signals only. cells:
 * [steps], as solver/backend.h has it. odd: parity of the first step. */
void sweep_steps(const struct sweep *sweep, cpu_kernel *step, const struct view *v,
                 const struct box *cells, const struct runs *runs, int odd, int steps);

#endif
