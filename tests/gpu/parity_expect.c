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
    cell_step(v, &slots, w->task.odd, x, y, z, step_any(1, v->place != NULL, v->scalar != NULL));
}

#define EXPECT_step(name) /* above */
#define EXPECT_cells(name)                                                                         \
    static void expect_##name(const struct view *v, const struct work *w)                          \
    {                                                                                              \
        const size_t cells = box_cells(&w->box);                                                   \
        size_t cell = 0;                                                                           \
        EACH_CELL(&w->box) cell_##name(v, w->task, cell++, cells, x, y, z);                        \
    }
/* One worker does it all. */
#define EXPECT_sums(name)                                                                          \
    static void expect_##name(const struct view *v, const struct work *w)                          \
    {                                                                                              \
        struct name *const partial = (struct name *)w->task.buffer;                                \
        struct name sum = name##_none();                                                           \
        const size_t cells = box_cells(&w->box);                                                   \
        size_t cell = 0;                                                                           \
        EACH_CELL(&w->box) cell_##name(v, w->task, cell++, cells, x, y, z, &sum);                  \
        for (int k = 0; k < w->task.workers; k++)                                                  \
            partial[k] = k == 0 ? sum : name##_none();                                             \
    }
#define X(name, loop, ...) EXPECT_##loop(name)
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
