/* Which instructions this processor has. */
#ifndef TAGFLOW_ISA_H
#define TAGFLOW_ISA_H

#include <stdbool.h>

/* Does it have the instructions of x86-64-v2, -v3 or -v4? gcc knows the levels by name, clang
 * before 17 only their parts. */
static inline bool processor_has(int level)
{
    __builtin_cpu_init();
#ifdef __clang__
    if (level > 3 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl")))
        return false;
    if (level > 2 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")))
        return false;
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
           __builtin_cpu_supports("popcnt");
#else
    return level > 3   ? __builtin_cpu_supports("x86-64-v4")
           : level > 2 ? __builtin_cpu_supports("x86-64-v3")
                       : __builtin_cpu_supports("x86-64-v2");
#endif
}

#endif
