/* Names and sizes of precisions; see precision.h. */
#include "base/precision.h"

#include <string.h>

const char *precision_name(enum precision p)
{
    return p == PRECISION_fp16 ? "fp16" : p == PRECISION_fp32 ? "fp32" : "fp64";
}

bool precision_find(const char *name, enum precision *p)
{
#define X(which)                                                                                   \
    if (strcmp(name, #which) == 0) {                                                               \
        *p = PRECISION_##which;                                                                    \
        return true;                                                                               \
    }
    STORAGE_LIST(X)
#undef X
    return false;
}

size_t precision_bytes(enum precision p)
{
    return p == PRECISION_fp16 ? 2 : p == PRECISION_fp32 ? 4 : 8;
}

int precision_bits(enum precision p)
{
    return 8 * (int)precision_bytes(p);
}

enum precision precision_computed(enum precision storage)
{
    return storage == PRECISION_fp16 ? PRECISION_fp32 : storage;
}

bool precisions_go(enum precision storage, enum precision arithmetic)
{
    return arithmetic == precision_computed(storage) ||
           (storage == PRECISION_fp32 && arithmetic == PRECISION_fp64);
}
