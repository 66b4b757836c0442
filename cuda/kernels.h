/* The kernels of include/kernel.h for GPUs: one table per variant (storage x arithmetic). All take
 * one argument by value, struct cuda_call; backend.c launches them. */
#ifndef TAGFLOW_CUDA_KERNELS_H
#define TAGFLOW_CUDA_KERNELS_H

/* Views of this backend may have lifted rows: slot.h. */
#define TAGFLOW_LIFTED

#include "collision.h"
#include "kernel.h"
#include "kinds.h"

enum {
    CUDA_BLOCK = 128,         /* threads of a block */
    CUDA_WORKERS = 32 * 1024, /* workers of sums: enough to keep a whole GPU busy */
};

/* Steps for cells of one operator. The first three can do what the ones before them can. `sparse`
 * is for blocks in which some cells have no place (view_place), and the others are not. */
enum cuda_step {
    CUDA_plain,   /* neither force nor subgrid model nor sponge */
    CUDA_forced,  /* forces */
    CUDA_full,    /* and subgrid models and sponges */
    CUDA_sparse,  /* as CUDA_full */
    CUDA_scalars, /* as CUDA_full, and scalars */
    CUDA_one,     /* as CUDA_full, and one scalar, SCALARS_one */
    CUDA_STEPS
};

/* Minimum number of blocks of a step per multiprocessor. It leaves each thread 65536 / 128 / blocks
 * registers, in steps of 8. Operators on pairs get 56 in fp32 and 96 in fp64; operators in moment
 * space, and steps that do more, get what they need without spilling. `mixed` is the step for cells
 * of several operators, which contains them all.
 *
 * X(class, in fp32: blocks of the steps plain, forced, full, sparse, scalars, one; the same in
 * fp64; in fp16, where the first three and the last do two cells a thread). A line of
 * COLLISION_LIST names its class. tests/gpu/registers.py reads both lists. */
/* clang-format off */
#define CUDA_STEP_LIST(X)                                                                          \
    X(pairs,    8, 8, 8, 5, 6, 6,  5, 5, 4, 4, 4, 4,  5, 5, 4, 6, 6, 4)                            \
    X(moments,  8, 5, 5, 5, 4, 5,  4, 2, 2, 2, 2, 2,  4, 4, 3, 5, 4, 4)                            \
    X(central,  6, 5, 5, 4, 4, 4,  3, 2, 2, 2, 2, 2,  4, 3, 3, 4, 4, 3)                            \
    X(mixed,    4, 4, 4, 4, 4, 4,  2, 2, 2, 2, 2, 2,  4, 4, 4, 4, 4, 4)
/* clang-format on */

/* Places begin <= place < end of a block where only fluid cells have places; none if both are 0. */
struct cuda_places {
    unsigned begin, end;
};

/* The place of the first thread: with a multiple of 32 the accesses of a warp are whole lines. */
TAGFLOW_FN unsigned cuda_first_place(struct cuda_places p)
{
    return p.begin / 32 * 32;
}

/* Jobs of a launch of values. A block that is cut along two axes has so many: 5 for each of 4
 * faces, 1 for each of 4 edges. A larger number would lengthen every kernel's argument. */
enum { VALUES_MOST = 24 };

/* Not a cell of the block: what `cells` has for a ghost cell. */
#define CUDA_GHOST UINT32_MAX

/* Argument of one launch. Blocks are in one dimension: box k begins with block first[k], and each
 * thread does one cell by its number in the box. A step of one box has a grid of blocks in three
 * dimensions, which saves divisions. A sparse step has one thread for each of the `places`, if
 * there are any, and does those whose cells are in the box. In kernels of sums each thread is a
 * worker, and there is one box. In kernels of values the grid of blocks has three dimensions,
 * within a row, rows and jobs. */
struct cuda_call {
    struct view view;
    struct slots slots;
    const uint32_t *cells; /* [place] number of the fluid cell with this place: (z ny + y) nx + x */
    struct line_steps along; /* of a step: of all its cells */
    int count;
    int odd; /* parity of a step */
    unsigned first[WORK_MOST];
    struct cuda_places places[WORK_MOST];
    union {
        struct work work[WORK_MOST];
        struct {
            struct box box[WORK_MOST];
            struct cell_kinds kinds;
        } step;
        struct value_job job[VALUES_MOST];
    };
};

/* Kernels as arguments of cudaLaunchKernel. */
struct cuda_variant {
    int storage, arithmetic;
    int step_cells; /* cells along x that a thread does in step[] plain, forced, full and one */
    /* Step kernels. step[operator]: all fluid cells have this operator. mixed: several operators,
     * or scalars in sparse blocks; [1]: with scalars; [][1]: for sparse blocks. open: for cells
     * beside open boundaries; [1]: with scalars. */
    const void *step[COLLISIONS][CUDA_STEPS], *mixed[2][2], *open[2];
    const void *kernel[2][KERNELS]; /* all but the step; [1]: for cases with open boundaries or
                                     * scalars */
};

/* name -> name_<storage>_<arithmetic>, for the variant being compiled. */
#define CUDA_VARIANT(name) CUDA_VARIANT_(name, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)
#define CUDA_VARIANT_(name, storage, arithmetic) CUDA_VARIANT__(name, storage, arithmetic)
#define CUDA_VARIANT__(name, storage, arithmetic) name##_##storage##_##arithmetic

#endif
