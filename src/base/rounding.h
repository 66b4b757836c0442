/* The mode in which this thread computes: rounding, and small numbers. Every result of the kernels
 * needs rounding to nearest and denormal numbers that are not flushed to zero. */
#ifndef TAGFLOW_ROUNDING_H
#define TAGFLOW_ROUNDING_H

#include <stdint.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#elif !defined __aarch64__
#include <fenv.h>
#endif

static inline uint64_t rounding_mode(void)
{
#ifdef __x86_64__
    return _mm_getcsr();
#elif defined __aarch64__
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return (uint64_t)fegetround();
#endif
}

static inline void rounding_set(uint64_t mode)
{
#ifdef __x86_64__
    _mm_setcsr((unsigned)mode);
#elif defined __aarch64__
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
    fesetround((int)mode);
#endif
}

/* Sets what the kernels need, which start-up code of a library may have changed. Returns the mode
 * before. */
static inline uint64_t rounding_exact(void)
{
    const uint64_t before = rounding_mode();
#ifdef __x86_64__
    const uint64_t flush_to_zero = 0x8000, denormals_are_zero = 0x0040, direction = 0x6000;
    rounding_set(before & ~(flush_to_zero | denormals_are_zero | direction));
#elif defined __aarch64__
    /* Bits of FPCR: 0 FIZ, 1 AH, 2 NEP, 19 FZ16, 22 and 23 RMode, 24 FZ, 25 DN, 26 AHP (halves
     * without infinity). */
    const uint64_t others = 0x7 | 1 << 19 | 3 << 22 | 1 << 24 | 1 << 25 | 1 << 26;
    rounding_set(before & ~others);
#else
    rounding_set(
        FE_TONEAREST); /* whether numbers are flushed is the compiler's default: they are not */
#endif
    return before;
}

#endif
