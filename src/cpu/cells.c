/* The CPU's kernels but for the step's row loops (rows.c), and the table of a variant. Compiled
 * once per variant with TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC and TAGFLOW_ISA set (see meson.build).
 *
 * Each kernel is the cell function of kernel.h; stretches of plain cells in a row, for which
 * addresses are consecutive, are done population by population instead. */
#include "cpu/kernels.h"

#include <string.h>

#define NAME(token) NAME_(token)
#define NAME_(token) #token

/* Addresses at x = 0 of the populations of a row, those loaded or those stored; plain cells of the
 * row follow. */
struct row {
    stored *at[Q];
};

static struct row row_loads(const struct view *v, int odd, int y, int z)
{
    struct row r;
    for (int i = 0; i < Q; i++)
        r.at[i] = (stored *)v->populations + load_address(v, odd, i, 0, y, z, 0);
    return r;
}

static struct row row_stores(const struct view *v, int odd, int y, int z)
{
    struct row r;
    for (int i = 0; i < Q; i++)
        r.at[i] = (stored *)v->populations + store_address(v, odd, i, 0, y, z);
    return r;
}

/* End of the stretch of plain cells that begins at x; x if that cell is not plain. Plain: fluid,
 * not the last of a row that wraps, and, unless links may be of any kind, beside fluid only. */
static int plain_end(const struct view *v, int x, int end, int y, int z, int any_link)
{
    const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
    if (!v->ghost[0] && end == v->n[0])
        end--;
    while (x < end && v->rows[tags[x] & TAG_ROW].fluid && (any_link || !(tags[x] & TAG_BESIDE)))
        x++;
    return x;
}

/* The work of kernel.h's cell functions on plain cells x0 <= x < x1; `cell` is the first of them.
 */

static void plain_pack(const struct row *r, struct task t, size_t cell, size_t cells, int x0,
                       int x1)
{
    stored *to = (stored *)t.buffer + cell;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            memcpy(to, r->at[i] + x0, (size_t)(x1 - x0) * sizeof *to);
            to += cells;
        }
}

static void plain_unpack(const struct row *r, struct task t, size_t cell, size_t cells, int x0,
                         int x1)
{
    const stored *from = (const stored *)t.buffer + cell;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            memcpy(r->at[i] + x0, from, (size_t)(x1 - x0) * sizeof *from);
            from += cells;
        }
}

static void plain_get(const struct row *r, struct task t, size_t cell, size_t cells, int x0, int x1)
{
    stored *const to = (stored *)t.buffer + cell;
    for (size_t i = 0; i < Q; i++)
        memcpy(to + i * cells, r->at[i] + x0, (size_t)(x1 - x0) * sizeof *to);
}

static void plain_put(const struct row *r, struct task t, size_t cell, size_t cells, int x0, int x1)
{
    const stored *const from = (const stored *)t.buffer + cell;
    for (size_t i = 0; i < Q; i++)
        memcpy(r->at[i] + x0, from + i * cells, (size_t)(x1 - x0) * sizeof *from);
}

/* The same sums in the same order as cell_flow, a few cells at a time. */
static void plain_flow(const struct view *v, const struct row *r, struct task t, size_t cell,
                       int x0, int x1, int y, int z)
{
    enum { BLOCK = 64 };
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
    double *flow = (double *)t.buffer + 4 * cell;
    for (int x = x0; x < x1; x += BLOCK) {
        const int count = x1 - x < BLOCK ? x1 - x : BLOCK;
        double drho[BLOCK] = {0}, j[3][BLOCK] = {{0}};
        for (int i = 0; i < Q; i++) {
            const stored *const f = r->at[i] + x;
            for (int k = 0; k < count; k++)
                drho[k] += (double)f[k];
            for (int a = 0; a < 3; a++)
                for (int k = 0; c[i][a] && k < count; k++)
                    j[a][k] = c[i][a] > 0 ? j[a][k] + (double)f[k] : j[a][k] - (double)f[k];
        }
        for (int k = 0; k < count; k++, flow += 4) {
            const double *const acceleration = v->rows[tags[x + k] & TAG_ROW].acceleration;
            flow[0] = drho[k];
            for (int a = 0; a < 3; a++)
                flow[1 + a] = j[a][k] / (1 + drho[k]) + 0.5 * acceleration[a];
        }
    }
}

/* A kernel: for each row of the box, stretches of plain cells and the cells between them. */
#define KERNEL(name, ROW, ANY_LINK, PLAIN)                                                         \
    static void kernel_##name(const struct view *v, const struct runs *runs, const struct box *b,  \
                              struct task t)                                                       \
    {                                                                                              \
        const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);       \
        const size_t cells = box_cells(b);                                                         \
        (void)runs;                                                                                \
        _Pragma("omp parallel for collapse(2) schedule(static)") for (int z = b->lo[2];            \
                                                                      z < b->hi[2];                \
                                                                      z++) for (int y = b->lo[1];  \
                                                                                y < b->hi[1]; y++) \
        {                                                                                          \
            const struct row row = ROW(v, t.odd, y, z);                                            \
            size_t cell = ((size_t)(z - b->lo[2]) * ny + (size_t)(y - b->lo[1])) * nx;             \
            for (int x = b->lo[0], end; x < b->hi[0]; cell += (size_t)(end - x), x = end) {        \
                end = plain_end(v, x, b->hi[0], y, z, ANY_LINK);                                   \
                if (end > x) {                                                                     \
                    PLAIN;                                                                         \
                } else {                                                                           \
                    cell_##name(v, t, cell, cells, x, y, z);                                       \
                    end = x + 1;                                                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
KERNEL(pack, row_stores, 1, plain_pack(&row, t, cell, cells, x, end))
KERNEL(unpack, row_stores, 1, plain_unpack(&row, t, cell, cells, x, end))
KERNEL(get, row_loads, 0, plain_get(&row, t, cell, cells, x, end))
KERNEL(put, row_loads, 0, plain_put(&row, t, cell, cells, x, end))
KERNEL(flow, row_loads, 0, plain_flow(v, &row, t, cell, x, end, y, z))

/* The run of cells that no row loop fits. */
void VARIANT(cpu_step_cells)(const struct view *v, int odd, int x0, int x1, int y, int z);
void VARIANT(cpu_step_cells)(const struct view *v, int odd, int x0, int x1, int y, int z)
{
    const struct slots slots = slots_at(v, odd, sizeof(stored));
    for (int x = x0; x < x1; x++)
        cell_step(v, &slots, x, y, z, COLLISION_mixed, FORCED_mixed);
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
