/* Sizes of caches; see cache.h. */
#include "base/cache.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { LEVELS_MOST = 8 };

/* Bytes of cache `index` of a processor; 0: there is none. */
static double cache_bytes(int processor, int index)
{
    char path[128];
    double kib = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", processor,
             index);
    FILE *const file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &kib) != 1)
        kib = 0;
    if (file)
        fclose(file);
    return kib > 0 ? 1024 * kib : 0;
}

/* Is the processor the first one of a set that shares its cache `index`? The file has a list as
 * "0-7,64-71". */
static bool cache_first(int processor, int index, const cpu_set_t *set)
{
    char path[128], separator = ',';
    int from, to, first = processor;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
             processor, index);
    FILE *const file = fopen(path, "r");
    while (file && separator == ',' && fscanf(file, "%d", &from) == 1) {
        to = from;
        if (fscanf(file, "%c", &separator) != 1)
            separator = '\n';
        if (separator == '-' &&
            (fscanf(file, "%d", &to) != 1 || fscanf(file, "%c", &separator) != 1))
            separator = '\n';
        for (int k = from; k <= to && k < first; k++)
            if (CPU_ISSET(k, set))
                first = k;
    }
    if (file)
        fclose(file);
    return first == processor;
}

/* Bytes of the last-level caches of a set of processors, and of the largest of them. */
static double cache_of(const cpu_set_t *set, double *largest)
{
    double bytes = 0;
    *largest = 0;
    for (int k = 0; k < CPU_SETSIZE && k < sysconf(_SC_NPROCESSORS_CONF); k++) {
        int last = -1;
        for (int index = 0; index < LEVELS_MOST && cache_bytes(k, index) > 0; index++)
            last = index;
        if (last < 0 || !CPU_ISSET(k, set) || !cache_first(k, last, set))
            continue;
        const double size = cache_bytes(k, last);
        bytes += size;
        *largest = size > *largest ? size : *largest;
    }
    const long level3 = bytes > 0 ? 0 : sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (level3 > 0)
        bytes = *largest = (double)level3;
    return bytes;
}

double cache_host(void)
{
    double largest;
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int k = 0; k < CPU_SETSIZE; k++)
        CPU_SET(k, &all);
    return cache_of(&all, &largest);
}

double cache_last(int threads)
{
    double largest;
    cpu_set_t own;
    if (sched_getaffinity(0, sizeof own, &own))
        return cache_host();
    const double bytes = cache_of(&own, &largest);
    return bytes < threads * largest ? bytes : threads * largest;
}
