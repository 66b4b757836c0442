/* The kernels of include/kernel.h for the CPU. Those with loops of vectors are compiled once per
 * variant (instruction set x storage x arithmetic), all others once per precision (storage x
 * arithmetic). */
#ifndef TAGFLOW_CPU_KERNELS_H
#define TAGFLOW_CPU_KERNELS_H

#include "cpu/runs.h"
#include "kernel.h"

typedef void cpu_kernel(const struct view *, const struct runs *, const struct box *, struct task);

struct cpu_variant {
    const char *isa; /* as isa_name() has it */
    int storage, arithmetic;
    cpu_kernel *kernel[KERNELS]; /* NULL: see below */
    cpu_kernel *const *others;   /* of the precision */
};

/* The kernels of each variant: in rows.c, near.c, blocks.c. */
#define CPU_VARIANT_LIST(X)                                                                        \
    X(step) X(near) X(flow) X(average) X(curl) X(enstrophy) X(sums) X(drift) X(change)

/* name -> name_<isa>_<storage>_<arithmetic>, for the variant being compiled;
 * name_<storage>_<arithmetic>. */
#define PRECISION(name) PRECISION_(name, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)
#define PRECISION_(name, storage, arithmetic) PRECISION__(name, storage, arithmetic)
#define PRECISION__(name, storage, arithmetic) name##_##storage##_##arithmetic
#define VARIANT(name) VARIANT_(name, TAGFLOW_ISA, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)
#define VARIANT_(name, isa, storage, arithmetic) VARIANT__(name, isa, storage, arithmetic)
#define VARIANT__(name, isa, storage, arithmetic) name##_##isa##_##storage##_##arithmetic

#endif
