/* The argument of the kernels in standin_kernels.cpp. They read their parameters from its first
 * bytes, so that any struct of this name will do. */
#ifndef TAGFLOW_TEST_STANDIN_CALL_H
#define TAGFLOW_TEST_STANDIN_CALL_H

struct cuda_call {
    char bytes[512];
};

#endif
