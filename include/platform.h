/* What differs between gcc (CPU) and nvcc (GPU), and between the precisions of a variant.
 *
 * A variant is compiled with TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set to 16 (storage alone), 32
 * or 64: the bits of a stored population and of the numbers the physics computes with. What is
 * stored becomes a number, and a number is stored, by value_of and stored_of alone (stored.h). */
#ifndef TAGFLOW_PLATFORM_H
#define TAGFLOW_PLATFORM_H

#include <stdint.h>

#ifdef __CUDACC__
#define TAGFLOW_FN static __host__ __device__ __forceinline__
#elif defined __OPTIMIZE__
#define TAGFLOW_FN static inline __attribute__((always_inline))
#else /* for sanitizers: everything in one function would take them minutes */
#define TAGFLOW_FN static inline __attribute__((unused))
#endif

/* Before a loop over directions whose number is then a constant in each copy of its body, and with
 * it the velocity, the weight and what follows from them. */
#ifdef __CUDACC__
#define TAGFLOW_UNROLL _Pragma("unroll")
#else
#define TAGFLOW_UNROLL _Pragma("GCC unroll 19")
#endif

/* What few cells need is a call, so that the others do not keep registers for it. */
#ifdef __CUDACC__
#define TAGFLOW_RARE static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define TAGFLOW_RARE static __attribute__((noinline, unused))
#endif

#ifdef __cplusplus
#define TAGFLOW_RESTRICT __restrict__
#else
#define TAGFLOW_RESTRICT restrict
#endif

/* An IEEE half by its bits: nothing computes with it. */
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
typedef double scalar;
#elif TAGFLOW_ARITHMETIC == 32
typedef float scalar;
#else
#error "TAGFLOW_ARITHMETIC is 32 or 64"
#endif

#ifdef __CUDACC__
#define TAGFLOW_SQRT(x) sqrt(x)
#elif TAGFLOW_ARITHMETIC == 64
#define TAGFLOW_SQRT(x) __builtin_sqrt(x)
#else
#define TAGFLOW_SQRT(x) __builtin_sqrtf(x)
#endif

/* real is a number of one cell; scalar is one that all cells share. With TAGFLOW_LANES set (the
 * CPU's row loops) a real is a vector of that many neighbouring cells, and the same formulas do
 * them all at once: + - * / of two reals, or of a scalar and a real, is all they may use. */
#ifdef TAGFLOW_LANES
typedef scalar real __attribute__((vector_size(TAGFLOW_LANES * sizeof(scalar))));
#else
typedef scalar real;
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

/* Let the compiler not know any more where a value came from: it has to be kept, or what follows
 * from it computed anew, instead of all that might be needed again waiting in registers. */
#ifdef __CUDA_ARCH__
#define TAGFLOW_FORGET(n) asm volatile("" : "+r"(n))
#if TAGFLOW_ARITHMETIC == 64
#define TAGFLOW_FORGET_REAL(x) asm volatile("" : "+d"(x))
#else
#define TAGFLOW_FORGET_REAL(x) asm volatile("" : "+f"(x))
#endif
#else
#define TAGFLOW_FORGET(n) (void)(n)
#define TAGFLOW_FORGET_REAL(x) (void)(x)
#endif

#endif
