/* The kernels of include/kernel.h for the CPU: one table per variant (instruction set x storage x
 * arithmetic). */
#ifndef TAGFLOW_CPU_KERNELS_H
#define TAGFLOW_CPU_KERNELS_H

#include "cpu/runs.h"
#include "kernel.h"

typedef void cpu_kernel(const struct view *, const struct runs *, const struct box *, struct task);

struct cpu_variant {
    const char *isa; /* as isa_name() has it */
    int storage, arithmetic;
    cpu_kernel *kernel[KERNELS];
};

/* name -> name_<isa>_<storage>_<arithmetic>, for the variant being compiled. */
#define VARIANT(name) VARIANT_(name, TAGFLOW_ISA, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)
#define VARIANT_(name, isa, storage, arithmetic) VARIANT__(name, isa, storage, arithmetic)
#define VARIANT__(name, isa, storage, arithmetic) name##_##isa##_##storage##_##arithmetic

#endif
