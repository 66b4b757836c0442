/* Precisions of storage and arithmetic: names that the case, the backends and the benchmark share.
 */
#ifndef TAGFLOW_PRECISION_H
#define TAGFLOW_PRECISION_H

#include <stdbool.h>
#include <stddef.h>

/* Precision of arithmetic and of written fields; populations may be stored in fp16, too. */
#define PRECISION_LIST(X) X(fp32) X(fp64)
#define STORAGE_LIST(X) X(fp16) PRECISION_LIST(X)
enum precision { PRECISION_fp32, PRECISION_fp64, PRECISION_fp16 };

const char *precision_name(enum precision);
/* The precision of that name; false: none. */
bool precision_find(const char *name, enum precision *p);
/* Bytes of a number, and its bits. */
size_t precision_bytes(enum precision);
int precision_bits(enum precision);
/* The default arithmetic for a storage precision; and whether a pair of both is available. */
enum precision precision_computed(enum precision storage);
bool precisions_go(enum precision storage, enum precision arithmetic);

/* Most steps in one sweep over memory. */
enum { SWEEP_STEPS = 4 };

#endif
