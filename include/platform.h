/* Differences between gcc (CPU), nvcc and hipcc (GPUs), and between the precisions of a variant.
 *
 * A variant is compiled with TAGFLOW_STORAGE, the bits of a stored population (16, 32 or 64), and
 * TAGFLOW_ARITHMETIC, the bits of the numbers in the physics (32 or 64). Only value_of and
 * stored_of (stored.h) convert between the two. */
#ifndef TAGFLOW_PLATFORM_H
#define TAGFLOW_PLATFORM_H

#include <stdint.h>

/* Compilers for GPUs: nvcc, and hipcc (cuda/hip). TAGFLOW_ON_GPU: what is compiled runs on one. */
#if defined __CUDACC__ || defined __HIPCC__
#define TAGFLOW_GPU
#endif
#if defined __CUDA_ARCH__ || (defined __HIP_DEVICE_COMPILE__ && __HIP_DEVICE_COMPILE__)
#define TAGFLOW_ON_GPU
#endif

#ifdef TAGFLOW_GPU
#define TAGFLOW_FN static __host__ __device__ __forceinline__
#elif defined __OPTIMIZE__
#define TAGFLOW_FN static inline __attribute__((always_inline))
#else /* sanitizers: inlining everything into one function would take minutes to compile */
#define TAGFLOW_FN static inline __attribute__((unused))
#endif

/* Unrolls a loop over directions: the direction, its velocity and its weight become constants in
 * each copy of the body. */
#ifdef TAGFLOW_GPU
#define TAGFLOW_UNROLL _Pragma("unroll")
#else
#define TAGFLOW_UNROLL _Pragma("GCC unroll 19")
#endif

/* Keeps a loop as a loop: its body would be large. */
#ifdef TAGFLOW_GPU
#define TAGFLOW_ROLLED _Pragma("unroll 1")
#else
#define TAGFLOW_ROLLED
#endif

/* Number of bits that are set. */
#ifdef TAGFLOW_ON_GPU
#define TAGFLOW_POPCOUNT(bits) __popc(bits)
#else
#define TAGFLOW_POPCOUNT(bits) __builtin_popcount(bits)
#endif

/* Square root of a double, correctly rounded everywhere. */
#ifdef TAGFLOW_GPU
#define TAGFLOW_SQRT_DOUBLE(x) sqrt(x)
#else
#define TAGFLOW_SQRT_DOUBLE(x) __builtin_sqrt(x)
#endif

/* For code with many callers: a call on the CPU, where its copies would take long to compile. */
#ifdef TAGFLOW_GPU
#define TAGFLOW_SHARED TAGFLOW_FN
#else
#define TAGFLOW_SHARED static __attribute__((noinline, unused))
#endif

/* For code that few cells need: a call, so that other cells keep no registers for it. */
#ifdef TAGFLOW_GPU
#define TAGFLOW_RARE static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define TAGFLOW_RARE static __attribute__((noinline, unused))
#endif

#ifdef __cplusplus
#define TAGFLOW_RESTRICT __restrict__
#define TAGFLOW_ALIGNED(bytes) alignas(bytes)
#else
#define TAGFLOW_RESTRICT restrict
#define TAGFLOW_ALIGNED(bytes) _Alignas(bytes)
#endif

/* An IEEE half as bits, without arithmetic. */
struct half {
    uint16_t bits;
};

#ifdef TAGFLOW_STORAGE
#if TAGFLOW_STORAGE > TAGFLOW_ARITHMETIC || (TAGFLOW_STORAGE == 16 && TAGFLOW_ARITHMETIC == 64)
#error "no such pair of TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC"
#endif
#if TAGFLOW_STORAGE == 64
typedef double stored;
#elif TAGFLOW_STORAGE == 32
typedef float stored;
#elif TAGFLOW_STORAGE == 16
typedef struct half stored;
#else
#error "TAGFLOW_STORAGE is 16, 32 or 64"
#endif
#if TAGFLOW_ARITHMETIC == 64
typedef double number;
#elif TAGFLOW_ARITHMETIC == 32
typedef float number;
#else
#error "TAGFLOW_ARITHMETIC is 32 or 64"
#endif

#ifdef TAGFLOW_GPU
#define TAGFLOW_SQRT(x) sqrt(x)
#elif TAGFLOW_ARITHMETIC == 64
#define TAGFLOW_SQRT(x) __builtin_sqrt(x)
#else
#define TAGFLOW_SQRT(x) __builtin_sqrtf(x)
#endif

/* real: a number of one cell; number: one that all cells share. With TAGFLOW_LANES set (the
 * CPU's step over lines of cells) a real is a vector over that many neighbouring cells, and the
 * same formulas update all of them. Formulas may use only + - * / of two reals, or of a number and
 * a real. */
#ifdef TAGFLOW_LANES
typedef number real __attribute__((vector_size(TAGFLOW_LANES * sizeof(number))));
#else
typedef number real;
#endif

/* A number that all cells share, as one of each cell. */
TAGFLOW_FN real real_of(number x)
{
#ifdef TAGFLOW_LANES
    return x - (real){0};
#else
    return x;
#endif
}

/* less where x < y, else otherwise: of each cell. */
TAGFLOW_FN real real_if_less(real x, real y, real less, real otherwise)
{
#ifdef TAGFLOW_LANES
    const __typeof__(x < y) m = x < y;
    return (real)(((__typeof__(x < y))less & m) | ((__typeof__(x < y))otherwise & ~m));
#else
    return x < y ? less : otherwise;
#endif
}

#ifndef TAGFLOW_LANES /* vectors: in lanes.h */
/* Is x above 0 in any cell? */
TAGFLOW_FN int real_any_above_0(real x)
{
    return x > 0;
}
#endif

/* Square root, correctly rounded everywhere. */
TAGFLOW_FN real real_sqrt(real x)
{
#ifdef TAGFLOW_LANES
    for (int k = 0; k < TAGFLOW_LANES; k++)
        x[k] = TAGFLOW_SQRT(x[k]);
    return x;
#else
    return TAGFLOW_SQRT(x);
#endif
}
#endif

/* TAGFLOW_FORGET hides the origin of a value (of 32 bits; LONG: of 64) from the compiler. It must
 * then keep this value or recompute what follows from it; it cannot keep derived values in
 * registers for later use, and a value that was loaded is loaded before this line. TAGFLOW_BARRIER:
 * a test behind it is not merged with one before it. */
#ifdef __CUDA_ARCH__
#define TAGFLOW_FORGET(n) asm volatile("" : "+r"(n))
#define TAGFLOW_FORGET_LONG(n) asm volatile("" : "+l"(n))
#define TAGFLOW_BARRIER asm volatile("")
#if TAGFLOW_ARITHMETIC == 64
#define TAGFLOW_FORGET_REAL(x) asm volatile("" : "+d"(x))
#else
#define TAGFLOW_FORGET_REAL(x) asm volatile("" : "+f"(x))
#endif
#elif defined TAGFLOW_ON_GPU /* v: a vector register, which has a value for each thread */
#define TAGFLOW_FORGET(n) asm volatile("" : "+v"(n))
#define TAGFLOW_FORGET_LONG(n) asm volatile("" : "+v"(n))
#define TAGFLOW_BARRIER asm volatile("")
#define TAGFLOW_FORGET_REAL(x) asm volatile("" : "+v"(x))
#else
#define TAGFLOW_FORGET(n) (void)(n)
#define TAGFLOW_FORGET_LONG(n) (void)(n)
#define TAGFLOW_BARRIER (void)0
#define TAGFLOW_FORGET_REAL(x) (void)(x)
#endif

#endif
