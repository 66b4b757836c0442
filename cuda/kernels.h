/* The kernels of include/kernel.h for GPUs: one table per variant (storage x arithmetic). All take
 * the same argument, by value, and are launched by backend.c. */
#ifndef TAGFLOW_CUDA_KERNELS_H
#define TAGFLOW_CUDA_KERNELS_H

#include "collision.h"
#include "kernel.h"

enum {
    CUDA_BLOCK = 128,         /* threads of a block */
    CUDA_WORKERS = 32 * 1024, /* threads that share sums: enough to keep all of a GPU busy */
};

/* What one launch does. A step has one box, a thread a cell, blocks in three dimensions as cells
 * are. The others have blocks in one dimension: box k begins with block first[k], and a thread does
 * the cell of its number in the box. Of sums a thread is a worker, and there is one box. */
struct cuda_call {
    struct view view;
    struct slots slots;
    int count;
    unsigned first[WORK_MOST];
    struct work work[WORK_MOST];
};

/* Kernels as cudaLaunchKernel takes them. */
struct cuda_variant {
    int storage, arithmetic;
    /* Where all fluid cells have one operator, that and whether none is forced, some are, or some
     * have a subgrid model; else one for cells of several operators; the same where some cells
     * alone have a place; and one that knows open boundaries, for the cells beside them. */
    const void *step[COLLISIONS][3], *mixed, *sparse, *open;
    const void *kernel[2][KERNELS]; /* but for the step; [1]: of flows with open boundaries */
};

/* name -> name_<storage>_<arithmetic>, for the variant being compiled. */
#define CUDA_VARIANT(name) CUDA_VARIANT_(name, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)
#define CUDA_VARIANT_(name, storage, arithmetic) CUDA_VARIANT__(name, storage, arithmetic)
#define CUDA_VARIANT__(name, storage, arithmetic) name##_##storage##_##arithmetic

#endif
