/* The kernels of a variant, translated from PTX to C by tests/gpu/ptx.py. */
#ifndef TAGFLOW_TEST_PTX_MODULE_H
#define TAGFLOW_TEST_PTX_MODULE_H

#include "standin.h"

struct ptx_kernel {
    const char *name; /* in the PTX */
    standin_kernel *function;
    size_t argument; /* bytes */
};

struct ptx_module {
    struct cuda_variant (*variant)(void);
    const struct ptx_kernel *kernels; /* name NULL at the end */
};

/* Number of the mutant that runs (tests/gpu/ptx_mutants.py); 0: none. */
extern int ptx_mutant;

/* For what a GPU would not do either: one line, abort. */
#define ptx_die standin_die

#endif
