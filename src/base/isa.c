/* Names and presence of instruction sets; see isa.h. */
#include "base/isa.h"

#include <stdio.h>
#include <string.h>

#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* Made by Meson from its list; isa_here.c has all of them. */
static const bool built[ISAS] = {
#define X(name) [ISA_##name] = true,
#ifdef TAGFLOW_ISAS
    TAGFLOW_ISAS
#else
#include "cpu_isas.h"
#endif
#undef X
};

const char *isa_name(enum isa isa)
{
#define X(name) #name,
    static const char *const names[] = {ISA_LIST(X)};
#undef X
    return names[isa];
}

const char *isa_title(enum isa isa)
{
    switch (isa) {
    case ISA_v3:
        return "x86-64-v3";
    case ISA_v4:
        return "x86-64-v4";
    default:
        return isa_name(isa);
    }
}

#ifdef __x86_64__
/* gcc knows the levels of x86-64 by name, clang before 17 only their parts. */
static bool has_level(int level)
{
    __builtin_cpu_init();
#ifdef __clang__
    if (level > 3 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl")))
        return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    return level > 3 ? __builtin_cpu_supports("x86-64-v4") : __builtin_cpu_supports("x86-64-v3");
#endif
}
#endif

#ifdef __aarch64__
/* SVE with vectors of so many bytes, no more and no less: code compiled for one length is wrong
 * with another. */
static bool has_sve(int bytes)
{
    if (!(getauxval(AT_HWCAP) & HWCAP_SVE))
        return false;
    const int vector = prctl(PR_SVE_GET_VL);
    return vector >= 0 && (vector & PR_SVE_VL_LEN_MASK) == bytes;
}
#endif

bool isa_runs(enum isa isa)
{
    if (!built[isa])
        return false;
    switch (isa) {
#ifdef __x86_64__
    case ISA_v3:
        return has_level(3);
    case ISA_v4:
        return has_level(4);
#endif
#ifdef __aarch64__
    case ISA_neon:
        return getauxval(AT_HWCAP) & HWCAP_ASIMD;
    case ISA_sve512:
        return has_sve(64);
#endif
    default:
        return isa == ISA_generic;
    }
}

bool isa_built(enum isa isa)
{
    return built[isa];
}

enum isa isa_best(void)
{
    enum isa best = ISA_auto;
    for (int isa = ISA_FIRST; isa < ISAS; isa++)
        best = isa_runs((enum isa)isa) ? (enum isa)isa : best;
    return best;
}

const char *isa_list(char text[static ISA_TEXT])
{
    size_t n = 0;
    for (int isa = ISA_FIRST; isa < ISAS; isa++)
        if (built[isa])
            n += (size_t)snprintf(text + n, ISA_TEXT - n, "%s%s", n ? ", " : "",
                                  isa_name((enum isa)isa));
    snprintf(text + n, ISA_TEXT - n, " (%s)", TAGFLOW_ARCHITECTURE);
    return text;
}
