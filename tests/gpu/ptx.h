/* What the C that tests/gpu/ptx.py makes of PTX needs: memory, and instructions that are not
 * operators of C. A register is a variable: b16, b32 and b64 without sign, float, double, and bool
 * for a predicate. */
#ifndef TAGFLOW_TEST_PTX_H
#define TAGFLOW_TEST_PTX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ptx_module.h"

typedef uint8_t b8;
typedef int8_t s8;
typedef uint16_t b16;
typedef int16_t s16;
typedef uint32_t b32;
typedef int32_t s32;
typedef uint64_t b64;
typedef int64_t s64;

/* Of the thread that runs. */
extern const struct uint3 threadIdx, blockIdx;
extern const struct dim3 blockDim, gridDim;

/* The kernel that runs, for messages. */
static const char *ptx_running;
#define PTX_FAIL(format, ...) ptx_die("%s: " format, ptx_running, __VA_ARGS__)

/* A kernel was compiled for blocks of so many threads, or, for 0, of any number. */
static inline void ptx_begin(const char *name, unsigned threads)
{
    ptx_running = name;
    if (threads && blockDim.x * blockDim.y * blockDim.z > threads)
        PTX_FAIL("a block of %u x %u x %u threads, not %u", blockDim.x, blockDim.y, blockDim.z,
                 threads);
}

/* ---- memory ---- */

/* Addresses of the parameter space and of local memory are not those of generic loads and stores.
 * Here they are host addresses with a bit that no address has: an access by the wrong kind of
 * instruction ends in a fault. */
#define PTX_PARAM (UINT64_C(1) << 61)
#define PTX_LOCAL (UINT64_C(1) << 62)

#define PTX_TYPE(type, name) typedef type name __attribute__((may_alias));
PTX_TYPE(uint8_t, ptx_u8)
PTX_TYPE(int8_t, ptx_s8)
PTX_TYPE(uint16_t, ptx_u16)
PTX_TYPE(int16_t, ptx_s16)
PTX_TYPE(uint32_t, ptx_u32)
PTX_TYPE(int32_t, ptx_s32)
PTX_TYPE(uint64_t, ptx_u64)
PTX_TYPE(int64_t, ptx_s64)
PTX_TYPE(float, ptx_f32)
PTX_TYPE(double, ptx_f64)
#undef PTX_TYPE

/* Memory of a state space: the argument, or local memory of the functions that run. */
struct ptx_object {
    const void *at;
    uint64_t size;
    struct ptx_object *outer;
};
static struct ptx_object *ptx_locals;

static inline void ptx_leave(struct ptx_object *local)
{
    ptx_locals = local->outer;
}

/* Local memory begins with anything in it. */
#define PTX_DEPOT(name, bytes)                                                                     \
    __attribute__((aligned(16))) b8 name[bytes];                                                   \
    __attribute__((cleanup(ptx_leave))) struct ptx_object object_##name = {name, bytes,            \
                                                                           ptx_locals};            \
    ptx_locals = &object_##name;                                                                   \
    memset(name, 0xff, bytes);

/* A GPU refuses an access that is not aligned to its size. */
static inline void *ptx_global(uint64_t address, unsigned size)
{
    if (address % size)
        PTX_FAIL("%u bytes at %#llx, which is not aligned", size, (unsigned long long)address);
    return (void *)(uintptr_t)address;
}

static inline bool ptx_within(uint64_t address, unsigned size, const void *object, uint64_t bytes)
{
    const uint64_t at = address - (uint64_t)(uintptr_t)object;
    return at <= bytes && size <= bytes - at;
}

static inline void *ptx_param(uint64_t address, unsigned size, const void *object, uint64_t bytes)
{
    if (!ptx_within(address - PTX_PARAM, size, object, bytes))
        PTX_FAIL("%u bytes beyond the parameters", size);
    return ptx_global(address - PTX_PARAM, size);
}

static inline void *ptx_local(uint64_t address, unsigned size)
{
    const struct ptx_object *o = ptx_locals;
    while (o && !ptx_within(address - PTX_LOCAL, size, o->at, o->size))
        o = o->outer;
    if (!o)
        PTX_FAIL("%u bytes beyond the local memory", size);
    return ptx_global(address - PTX_LOCAL, size);
}

/* Of a variable of the module. */
static inline void *ptx_variable(uint64_t address, unsigned size, const void *object,
                                 uint64_t bytes)
{
    if (!ptx_within(address, size, object, bytes))
        PTX_FAIL("%u bytes beyond a variable", size);
    return ptx_global(address, size);
}

/* ---- bits ---- */

#define PTX_BITS(name, from, to)                                                                   \
    static inline to name(from x)                                                                  \
    {                                                                                              \
        to y;                                                                                      \
        memcpy(&y, &x, sizeof y);                                                                  \
        return y;                                                                                  \
    }
PTX_BITS(ptx_b32, float, b32)
PTX_BITS(ptx_b64, double, b64)
PTX_BITS(ptx_float, b32, float)
PTX_BITS(ptx_double, b64, double)
#undef PTX_BITS

/* ---- integers ---- */

/* The high half of a product. */
#define PTX_HIGH(name, type, wide, bits)                                                           \
    static inline type name(type a, type b)                                                        \
    {                                                                                              \
        return (type)(((wide)a * (wide)b) >> (bits));                                              \
    }
__extension__ typedef __int128 ptx_s128;
__extension__ typedef unsigned __int128 ptx_u128;
PTX_HIGH(ptx_high_s16, int16_t, int32_t, 16)
PTX_HIGH(ptx_high_u16, uint16_t, uint32_t, 16)
PTX_HIGH(ptx_high_s32, int32_t, int64_t, 32)
PTX_HIGH(ptx_high_u32, uint32_t, uint64_t, 32)
PTX_HIGH(ptx_high_s64, int64_t, ptx_s128, 64)
PTX_HIGH(ptx_high_u64, uint64_t, ptx_u128, 64)
#undef PTX_HIGH

/* Quotients by zero are anything on a GPU: here an error. The smallest number by -1 wraps. */
#define PTX_QUOTIENT(bits)                                                                         \
    static inline int##bits##_t ptx_div_s##bits(int##bits##_t a, int##bits##_t b)                  \
    {                                                                                              \
        if (b == 0)                                                                                \
            PTX_FAIL("%s", "a division by zero");                                                  \
        return b == -1 ? (int##bits##_t) - (uint##bits##_t)a : (int##bits##_t)(a / b);             \
    }                                                                                              \
    static inline int##bits##_t ptx_rem_s##bits(int##bits##_t a, int##bits##_t b)                  \
    {                                                                                              \
        if (b == 0)                                                                                \
            PTX_FAIL("%s", "a division by zero");                                                  \
        return b == -1 ? 0 : (int##bits##_t)(a % b);                                               \
    }                                                                                              \
    static inline uint##bits##_t ptx_div_u##bits(uint##bits##_t a, uint##bits##_t b)               \
    {                                                                                              \
        if (b == 0)                                                                                \
            PTX_FAIL("%s", "a division by zero");                                                  \
        return (uint##bits##_t)(a / b);                                                            \
    }                                                                                              \
    static inline uint##bits##_t ptx_rem_u##bits(uint##bits##_t a, uint##bits##_t b)               \
    {                                                                                              \
        if (b == 0)                                                                                \
            PTX_FAIL("%s", "a division by zero");                                                  \
        return (uint##bits##_t)(a % b);                                                            \
    }
PTX_QUOTIENT(16)
PTX_QUOTIENT(32)
PTX_QUOTIENT(64)
#undef PTX_QUOTIENT

/* A shift by more than there are bits leaves zeros, or copies of the sign. */
#define PTX_SHIFT(bits)                                                                            \
    static inline uint##bits##_t ptx_shl_b##bits(uint##bits##_t a, b32 n)                          \
    {                                                                                              \
        return n < bits ? (uint##bits##_t)(a << n) : 0;                                            \
    }                                                                                              \
    static inline uint##bits##_t ptx_shr_u##bits(uint##bits##_t a, b32 n)                          \
    {                                                                                              \
        return n < bits ? (uint##bits##_t)(a >> n) : 0;                                            \
    }                                                                                              \
    static inline int##bits##_t ptx_shr_s##bits(int##bits##_t a, b32 n)                            \
    {                                                                                              \
        return (int##bits##_t)(a >> (n < bits ? n : bits - 1));                                    \
    }
PTX_SHIFT(16)
PTX_SHIFT(32)
PTX_SHIFT(64)
#undef PTX_SHIFT

/* Funnel shifts of (high, low). */
static inline b32 ptx_shf_l(b32 low, b32 high, b32 n)
{
    return (b32)((((b64)high << 32 | low) << n) >> 32);
}

static inline b32 ptx_shf_r(b32 low, b32 high, b32 n)
{
    return (b32)(((b64)high << 32 | low) >> n);
}

/* A field of `count` bits from bit `first`; bits beyond the number are zeros, or its sign. */
#define PTX_FIELD(bits)                                                                            \
    static inline uint##bits##_t ptx_bfe_u##bits(uint##bits##_t a, b32 first, b32 count)           \
    {                                                                                              \
        first &= 255, count &= 255;                                                                \
        if (first >= bits || count == 0)                                                           \
            return 0;                                                                              \
        return (uint##bits##_t)(a >> first & (count < bits ? ((uint##bits##_t)1 << count) - 1      \
                                                           : (uint##bits##_t) - 1));               \
    }                                                                                              \
    static inline int##bits##_t ptx_bfe_s##bits(int##bits##_t a, b32 first, b32 count)             \
    {                                                                                              \
        first &= 255, count &= 255;                                                                \
        if (count == 0)                                                                            \
            return 0;                                                                              \
        if (first >= bits || first + count >= bits)                                                \
            return (int##bits##_t)(a >> (first < bits ? first : bits - 1));                        \
        return (int##bits##_t)((int##bits##_t)((uint##bits##_t)a << (bits - first - count)) >>     \
                               (bits - count));                                                    \
    }                                                                                              \
    static inline uint##bits##_t ptx_bfi_b##bits(uint##bits##_t a, uint##bits##_t b, b32 first,    \
                                                 b32 count)                                        \
    {                                                                                              \
        first &= 255, count &= 255;                                                                \
        if (first >= bits || count == 0)                                                           \
            return b;                                                                              \
        const uint##bits##_t mask =                                                                \
            (count < bits ? ((uint##bits##_t)1 << count) - 1 : (uint##bits##_t) - 1) << first;     \
        return (b & ~mask) | (a << first & mask);                                                  \
    }
PTX_FIELD(32)
PTX_FIELD(64)
#undef PTX_FIELD

/* Four of the eight bytes of (high, low); bit 3 of a selector spreads the byte's sign. */
static inline b32 ptx_prmt(b32 low, b32 high, b32 selectors)
{
    b32 result = 0;
    for (int k = 0; k < 4; k++) {
        const b32 selector = selectors >> 4 * k & 15;
        b32 byte = (b32)(((b64)high << 32 | low) >> 8 * (selector & 7)) & 255;
        if (selector & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * k;
    }
    return result;
}

static inline b32 ptx_lop3(b32 a, b32 b, b32 c, b32 table)
{
    b32 result = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return result;
}

static inline b32 ptx_brev(b32 a)
{
    b32 result = 0;
    for (int k = 0; k < 32; k++)
        result |= (a >> k & 1) << (31 - k);
    return result;
}

/* ---- floating point ---- */

/* The number of two that is one; -0 is less than 0. */
#define PTX_LEAST(name, type, sign)                                                                \
    static inline type ptx_min_##name(type a, type b)                                              \
    {                                                                                              \
        return a != a ? b : b != b ? a : a < b ? a : b < a ? b : sign(a) ? a : b;                  \
    }                                                                                              \
    static inline type ptx_max_##name(type a, type b)                                              \
    {                                                                                              \
        return a != a ? b : b != b ? a : a > b ? a : b > a ? b : sign(a) ? b : a;                  \
    }
PTX_LEAST(f32, float, __builtin_signbit)
PTX_LEAST(f64, double, __builtin_signbit)
#undef PTX_LEAST

/* Integers that a conversion cannot give become the nearest that it can. NaN becomes 0, or the
 * highest bit alone where one of the two has 64 bits. */
#define PTX_INTEGER(name, type, from, least, beyond, nan)                                          \
    static inline type name(from x)                                                                \
    {                                                                                              \
        if (x != x)                                                                                \
            return (type)(nan);                                                                    \
        if (x < (from)(least))                                                                     \
            return (type)(least);                                                                  \
        return x >= (from)(beyond) ? (type)((ptx_u128)(beyond)-1) : (type)x;                       \
    }
PTX_INTEGER(ptx_s32_f32, int32_t, float, INT32_MIN, 0x1p31, 0)
PTX_INTEGER(ptx_u32_f32, uint32_t, float, 0, 0x1p32, 0)
PTX_INTEGER(ptx_s64_f32, int64_t, float, INT64_MIN, 0x1p63, UINT64_C(1) << 63)
PTX_INTEGER(ptx_u64_f32, uint64_t, float, 0, 0x1p64, UINT64_C(1) << 63)
PTX_INTEGER(ptx_s32_f64, int32_t, double, INT32_MIN, 0x1p31, INT32_MIN)
PTX_INTEGER(ptx_u32_f64, uint32_t, double, 0, 0x1p32, UINT32_C(1) << 31)
PTX_INTEGER(ptx_s64_f64, int64_t, double, INT64_MIN, 0x1p63, UINT64_C(1) << 63)
PTX_INTEGER(ptx_u64_f64, uint64_t, double, 0, 0x1p64, UINT64_C(1) << 63)
#undef PTX_INTEGER

/* Halves, by the definition of their bits. A subnormal half is a multiple of 2^-24. */
static inline float ptx_f32_f16(b16 h)
{
    const b32 sign = (b32)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31)
        return ptx_float(sign | 0x7f800000 | fraction << 13);
    const float size =
        exponent ? ptx_float((exponent + 112) << 23 | fraction << 13) : (float)fraction * 0x1p-24f;
    return ptx_float(sign | ptx_b32(size));
}

/* To nearest, ties to even: the last bits go, and what they were decides whether one is added,
 * which may carry into the exponent. */
static inline b16 ptx_f16_f32(float x)
{
    const b32 bits = ptx_b32(x), sign = bits >> 16 & 0x8000;
    const int exponent = (int)(bits >> 23 & 255) - 112; /* that of a half */
    const b32 fraction = (bits & 0x7fffff) | 0x800000;
    if (exponent == 143)
        return (b16)(bits & 0x7fffff ? 0x7fff : sign | 0x7c00);
    if (exponent > 30)
        return (b16)(sign | 0x7c00);
    const int lost = exponent > 0 ? 13 : 14 - exponent; /* bits */
    if (lost > 25)
        return (b16)sign;
    const b32 kept = fraction >> lost, rest = fraction & ((1u << lost) - 1),
              half = 1u << (lost - 1);
    const b32 number = (exponent > 0 ? (b32)(exponent - 1) << 10 : 0) + kept;
    return (b16)(sign | (number + (rest > half || (rest == half && kept & 1))));
}

#endif
