/* What every kernel is to do, cell by cell, with the functions of include/. Compiled once per
 * precision with TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set, with little optimisation: no row
 * loops, no vectors. */
#include "parity.h"

#define JOIN(storage, arithmetic) JOIN_(storage, arithmetic)
#define JOIN_(storage, arithmetic) expectation_##storage##_##arithmetic

#define EACH_CELL(b)                                                                               \
    for (int z = (b)->lo[2]; z < (b)->hi[2]; z++)                                                  \
        for (int y = (b)->lo[1]; y < (b)->hi[1]; y++)                                              \
            for (int x = (b)->lo[0]; x < (b)->hi[0]; x++)

static void expect_step(const struct view *v, const struct work *w)
{
    const struct slots slots = slots_at(v, w->task.odd, sizeof(stored));
    EACH_CELL(&w->box)
    cell_step(v, &slots, NULL, w->task.odd, x, y, z,
              step_any(1, v->place != NULL, v->scalars.row != NULL));
}

#define EXPECT_step(name, result) /* above */
#define EXPECT_cells(name, result)                                                                 \
    static void expect_##name(const struct view *v, const struct work *w)                          \
    {                                                                                              \
        const size_t cells = box_cells(&w->box);                                                   \
        size_t cell = 0;                                                                           \
        EACH_CELL(&w->box) cell_##name(v, w->task, cell++, cells, x, y, z);                        \
    }
#define EXPECT_values(name, result) EXPECT_cells(name, result)
#define EXPECT_list(name, result)                                                                  \
    static void expect_##name(const struct view *v, const struct work *w)                          \
    {                                                                                              \
        for (int k = w->box.lo[0]; k < w->box.hi[0]; k++)                                          \
            entry_##name(v, w->task, (size_t)k);                                                   \
    }
/* One worker does it all. */
#define SUMS(name, result, ADD)                                                                    \
    static void expect_##name(const struct view *v, const struct work *w)                          \
    {                                                                                              \
        struct result *const partial = (struct result *)w->task.buffer;                            \
        struct result sum = result##_none();                                                       \
        const size_t cells = box_cells(&w->box);                                                   \
        size_t cell = 0;                                                                           \
        EACH_CELL(&w->box)                                                                         \
        {                                                                                          \
            ADD;                                                                                   \
            cell++;                                                                                \
        }                                                                                          \
        (void)cells;                                                                               \
        for (int k = 0; k < w->task.workers; k++)                                                  \
            partial[k] = k == 0 ? sum : result##_none();                                           \
    }
#define EXPECT_sums(name, result)                                                                  \
    SUMS(name, result, cell_##name(v, w->task, cell, cells, x, y, z, &sum))
#define EXPECT_list_sums(name, result) SUMS(name, result, entry_##name(v, w->task, (size_t)x, &sum))
#define X(name, loop, open, result) EXPECT_##loop(name, result)
KERNEL_LIST(X)
#undef X

extern const struct expectation JOIN(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC);
const struct expectation JOIN(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC) = {
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .kernel =
        {
#define X(name, ...) [KERNEL_##name] = expect_##name,
            KERNEL_LIST(X)
#undef X
        },
};
