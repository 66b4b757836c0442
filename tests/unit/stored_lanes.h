/* What include/stored.h and src/cpu/lanes.h make of populations, once per variant of the CPU's
 * kernels: for test_stored.c, which may run those that the processor has. */
#ifndef TAGFLOW_TEST_STORED_LANES_H
#define TAGFLOW_TEST_STORED_LANES_H

#include <stddef.h>
#include <stdint.h>

struct stored_variant {
    const char *isa;
    int storage, arithmetic, lanes;
    /* count stored populations <-> as many numbers of the arithmetic; a multiple of lanes for those
     * that take vectors */
    void (*values)(const void *stored, void *values, size_t count);
    void (*store)(void *stored, const void *values, size_t count);
    void (*lanes_values)(const void *stored, void *values, size_t count);
    void (*lanes_store)(void *stored, const void *values, size_t count);
    /* of one vector: the first `count` lanes, or those whose bit is set */
    void (*store_first)(void *stored, const void *values, int count);
    void (*store_active)(void *stored, const void *values, uint32_t active);
};

#endif
