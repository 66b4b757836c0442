/* The CPU's kernels cell by cell, and the table of a variant. Compiled once per variant with
 * TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC and TAGFLOW_ISA set (see meson.build). */
#include "cpu/kernels.h"

#define NAME(token) NAME_(token)
#define NAME_(token) #token

/* One function of a cell, applied to a box. */
#define X(name)                                                                                    \
    static void kernel_##name(const struct view *v, const struct runs *runs, const struct box *b,  \
                              struct task t)                                                       \
    {                                                                                              \
        const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);       \
        const size_t cells = box_cells(b);                                                         \
        (void)runs;                                                                                \
        _Pragma("omp parallel for collapse(2) schedule(static)")                                   \
        for (int z = b->lo[2]; z < b->hi[2]; z++)                                                  \
            for (int y = b->lo[1]; y < b->hi[1]; y++) {                                            \
                size_t cell = ((size_t)(z - b->lo[2]) * ny + (size_t)(y - b->lo[1])) * nx;         \
                for (int x = b->lo[0]; x < b->hi[0]; x++, cell++)                                  \
                    cell_##name(v, t, cell, cells, x, y, z);                                       \
            }                                                                                      \
    }
X(pack) X(unpack) X(get) X(put) X(flow)
#undef X

/* The run of cells that no row loop fits. */
void VARIANT(cpu_step_cells)(const struct view *v, int odd, int x0, int x1, int y, int z);
void VARIANT(cpu_step_cells)(const struct view *v, int odd, int x0, int x1, int y, int z)
{
    for (int x = x0; x < x1; x++)
        cell_step(v, odd, x, y, z);
}

cpu_kernel VARIANT(cpu_step_rows); /* rows.c */

extern const struct cpu_variant VARIANT(cpu_variant);
const struct cpu_variant VARIANT(cpu_variant) = {
    .isa = NAME(TAGFLOW_ISA),
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .kernel =
        {
            [KERNEL_step] = VARIANT(cpu_step_rows),
            [KERNEL_pack] = kernel_pack,
            [KERNEL_unpack] = kernel_unpack,
            [KERNEL_get] = kernel_get,
            [KERNEL_put] = kernel_put,
            [KERNEL_flow] = kernel_flow,
        },
};
