/* What every kernel is to do, cell by cell, with the functions of include/. Compiled once per
 * precision with TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set, with little optimisation: no row
 * loops, no vectors. A kernel that is in KERNEL_LIST and not here does not compile. */
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
    cell_step(v, &slots, x, y, z, COLLISION_mixed, SUBGRID_mixed, FORCED_mixed, 1, v->line != NULL);
}

#define CELLS(name)                                                                                \
    static void expect_##name(const struct view *v, const struct work *w)                          \
    {                                                                                              \
        const size_t cells = box_cells(&w->box);                                                   \
        size_t cell = 0;                                                                           \
        EACH_CELL(&w->box) cell_##name(v, w->task, cell++, cells, x, y, z);                        \
    }
CELLS(pack)
CELLS(unpack)
CELLS(get)
CELLS(put)
CELLS(flow)
CELLS(curl)
CELLS(near)

/* One worker does it all. */
static void expect_sums(const struct view *v, const struct work *w)
{
    struct sums *const partial = (struct sums *)w->task.buffer;
    struct sums sums = sums_none();
    size_t cell = 0;
    EACH_CELL(&w->box) cell_sums(v, w->task, cell++, x, y, z, &sums);
    for (int k = 0; k < w->task.workers; k++)
        partial[k] = k == 0 ? sums : sums_none();
}

static void expect_drift(const struct view *v, const struct work *w)
{
    struct drift *const partial = (struct drift *)w->task.buffer;
    struct drift sum = drift_none();
    size_t cell = 0;
    EACH_CELL(&w->box) cell_drift(v, w->task, cell++, x, y, z, &sum);
    for (int k = 0; k < w->task.workers; k++)
        partial[k] = k == 0 ? sum : drift_none();
}

static void expect_enstrophy(const struct view *v, const struct work *w)
{
    struct enstrophy *const partial = (struct enstrophy *)w->task.buffer;
    struct enstrophy sum = enstrophy_none();
    size_t cell = 0;
    EACH_CELL(&w->box) cell_enstrophy(v, w->task, cell++, x, y, z, &sum);
    for (int k = 0; k < w->task.workers; k++)
        partial[k] = k == 0 ? sum : enstrophy_none();
}

static void expect_forces(const struct view *v, const struct work *w)
{
    struct forces *const partial = (struct forces *)w->task.buffer;
    struct forces sum = forces_none();
    for (int k = w->box.lo[0]; k < w->box.hi[0]; k++)
        near_forces(v, w->task.odd, &v->near[k], w->task.body, &sum);
    for (int k = 0; k < w->task.workers; k++)
        partial[k] = k == 0 ? sum : forces_none();
}

extern const struct expectation JOIN(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC);
const struct expectation JOIN(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC) = {
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .kernel =
        {
#define X(name) [KERNEL_##name] = expect_##name,
            KERNEL_LIST(X)
#undef X
        },
};
