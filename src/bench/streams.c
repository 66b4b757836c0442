/* The orders of a sweep, for one instruction set (TAGFLOW_ISA); see streams.h. */
#include "bench/streams.h"

#include <stdbool.h>
#include <stdint.h>

#define UNROLL _Pragma("GCC unroll 19")

typedef uint64_t line_t __attribute__((vector_size(STREAMS_LINE), may_alias));

/* A sweep takes the streams of a block `group` at a time, `lines` cache lines of each. All of these
 * are loaded before any is stored: they fit the registers, and few open streams suit the hardware's
 * prefetcher. by_rows: a group goes through the whole block before the next group starts; else all
 * groups take their lines of the same cells in turn. ahead > 0: prefetch so many lines ahead into
 * the first-level cache; far > 0: so many lines ahead into the second level, which some processors
 * need to have enough accesses under way.
 *
 * The change is an integer + 1: no rounding, no denormals, and the data show how often it ran. */
#define SWEEP(order, group, lines, by_rows, ahead, far)                                            \
    static void sweep_##order(char *base, size_t stride, size_t lo, size_t hi, size_t block)       \
    {                                                                                              \
        for (size_t b = lo; b < hi; b += block) {                                                  \
            const size_t end = hi - b > block ? b + block : hi;                                    \
            const size_t span = by_rows ? end - b : (lines)*STREAMS_LINE;                          \
            for (size_t s = b; s < end; s += span) {                                               \
                UNROLL for (size_t g = 0; g < STREAMS; g += group)                                 \
                {                                                                                  \
                    const size_t count = g + group < STREAMS ? group : STREAMS - g;                \
                    for (size_t n = s; n < s + span; n += (lines)*STREAMS_LINE) {                  \
                        line_t kept[group][lines];                                                 \
                        UNROLL for (size_t k = 0; k < group; k++)                                  \
                        {                                                                          \
                            const line_t *p = (const line_t *)(base + (g + k) * stride + n);       \
                            for (size_t l = 0; k < count && l < lines; l++) {                      \
                                if (far)                                                           \
                                    __builtin_prefetch(p + l + (far), 1, 2);                       \
                                if (ahead)                                                         \
                                    __builtin_prefetch(p + l + (ahead));                           \
                                kept[k][l] = p[l];                                                 \
                            }                                                                      \
                        }                                                                          \
                        UNROLL for (size_t k = 0; k < group; k++)                                  \
                        {                                                                          \
                            line_t *p = (line_t *)(base + (g + k) * stride + n);                   \
                            for (size_t l = 0; k < count && l < lines; l++)                        \
                                p[l] = kept[k][l] + 1;                                             \
                        }                                                                          \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The fastest of some fifty orders tried, and the plain one, a stream at a time, to compare with;
 * each also with both prefetches.
 *    order, group, lines, by_rows, ahead, far */
/* clang-format off */
#define ORDER_LIST(ORDER)                                                                          \
    ORDER(row,                  1, 2, true,  0,  0)                                                \
    ORDER(row_ahead4_far16,     1, 2, true,  4, 16)                                                \
    ORDER(5x1,                  5, 1, false, 0,  0)                                                \
    ORDER(5x1_ahead4,           5, 1, false, 4,  0)                                                \
    ORDER(5x1_far16,            5, 1, false, 0, 16)                                                \
    ORDER(5x1_ahead4_far16,     5, 1, false, 4, 16)                                                \
    ORDER(5x2,                  5, 2, false, 0,  0)                                                \
    ORDER(5x2_ahead4_far16,     5, 2, false, 4, 16)                                                \
    ORDER(10x1_rows_ahead4,    10, 1, true,  4,  0)                                                \
    ORDER(10x1_rows_ahead4_far16, 10, 1, true, 4, 16)                                              \
    ORDER(10x1_rows_ahead8,    10, 1, true,  8,  0)
/* clang-format on */

ORDER_LIST(SWEEP)

#define STREAMS_ORDERS_OF(isa) STREAMS_ORDERS(isa)
#define ORDER_ROW(order, ...) {#order, sweep_##order},
const struct streams_order STREAMS_ORDERS_OF(TAGFLOW_ISA)[] = {ORDER_LIST(ORDER_ROW){NULL, NULL}};
