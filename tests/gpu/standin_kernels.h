/* Kernels to try the stand-in with, and their parameters, which are at the front of the argument.
 */
#ifndef TAGFLOW_TEST_STANDIN_KERNELS_H
#define TAGFLOW_TEST_STANDIN_KERNELS_H

#include <stddef.h>

#include "kernels.h"

/* By every thread, n its number in the grid, x fastest: visits[n]++, ticket[n] = how many threads
 * there were before it, latest = the largest n. */
struct visit {
    unsigned long long *visits, *ticket, *tickets, *latest;
};

/* By every thread: *to = 10 *from + value, so that digits tell what ran in which order. */
struct digit {
    unsigned long long *to;
    const unsigned long long *from;
    unsigned long long value;
};

/* By every thread: *at = 1. */
struct touch {
    unsigned char *at;
};

#ifdef __cplusplus
extern "C" {
#endif
void standin_visit(struct cuda_call call);
void standin_digit(struct cuda_call call);
void standin_touch(struct cuda_call call);
#ifdef __cplusplus
}
#endif
#endif
