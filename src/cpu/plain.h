/* Plain cells: fluid with nothing special around. Stretches of them in a row have consecutive
 * addresses, so that kernels do them population by population. */
#ifndef TAGFLOW_CPU_PLAIN_H
#define TAGFLOW_CPU_PLAIN_H

#include <string.h>

#include "cpu/kernels.h"

/* Addresses of the populations that a stretch of plain cells loads or stores: at[i][x] is
 * population i of cell x. */
struct addresses {
    stored *at[Q];
};

static inline struct addresses row_loads(const struct view *v, struct task t, int x, int y, int z)
{
    struct addresses r;
    for (int i = 0; i < Q; i++)
        r.at[i] = (stored *)v->set[SET_flow].populations +
                  load_address(v, SET_flow, t.odd, i, x, y, z, 0) - x;
    return r;
}

/* The first cell in x <= cell < end whose tag differs from `row` in the bits of `mask`, else `end`.
 * Eight cells at a time, so that halos are packed as fast as they can be copied. */
static inline int alike_end(const uint8_t *tags, int x, int end, uint8_t mask, uint8_t row)
{
    const uint64_t each = 0x0101010101010101, masks = each * mask, rows = each * row;
    for (uint64_t eight; x + 8 <= end; x += 8) {
        memcpy(&eight, tags + x, 8);
        if ((eight & masks) != rows)
            break;
    }
    while (x < end && (tags[x] & mask) == row)
        x++;
    return x;
}

/* Which cells are plain? */
enum plain { PLAIN_inner, PLAIN_any, PLAIN_all, PLAIN_none };

/* End of the stretch of plain cells that begins at x; x if cell x is not plain. Plain cells are
 * fluid, have one cell type, are not the last of a row that wraps, and, for PLAIN_inner, have only
 * fluid neighbours. PLAIN_all: cells of any type. */
static inline int plain_end(const struct view *v, int x, int end, int y, int z, enum plain plain)
{
    const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
    if (!v->ghost[0] && end == v->n[0])
        end--;
    if (plain == PLAIN_all)
        return end;
    const uint8_t row = tags[x] & TAG_ROW;
    if (!v->rows[row].fluid || plain == PLAIN_none)
        return x;
    return alike_end(tags, x, end, plain == PLAIN_any ? TAG_ROW : TAG_ROW | TAG_BESIDE, row);
}

/* A kernel: in each row of the box, stretches of plain cells and the single cells between them. */
#define KERNEL(name, ROW, WHICH, PLAIN, SINGLE)                                                    \
    void kernel_##name(const struct view *v, const struct runs *runs, const struct box *b,         \
                       struct task t)                                                              \
    {                                                                                              \
        const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);       \
        const size_t cells = box_cells(b);                                                         \
        (void)runs;                                                                                \
        _Pragma("omp parallel for collapse(2) schedule(static)") for (int z = b->lo[2];            \
                                                                      z < b->hi[2];                \
                                                                      z++) for (int y = b->lo[1];  \
                                                                                y < b->hi[1]; y++) \
        {                                                                                          \
            size_t cell = ((size_t)(z - b->lo[2]) * ny + (size_t)(y - b->lo[1])) * nx;             \
            for (int x = b->lo[0], end; x < b->hi[0]; cell += (size_t)(end - x), x = end) {        \
                end = plain_end(v, x, b->hi[0], y, z, WHICH);                                      \
                if (end > x) {                                                                     \
                    const struct addresses row = ROW(v, t, x, y, z);                               \
                    PLAIN;                                                                         \
                } else {                                                                           \
                    SINGLE(v, t, cell, cells, x, y, z);                                            \
                    end = x + 1;                                                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* The cell functions of kernel.h for cells between stretches of plain ones (cells.c). */
#define flow_alone PRECISION(flow_alone)
#define average_alone PRECISION(average_alone)
#define sums_alone PRECISION(sums_alone)
#define drift_alone PRECISION(drift_alone)
#define change_alone PRECISION(change_alone)
#define curl_alone PRECISION(curl_alone)
void flow_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                int z);
void average_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                   int z);
void sums_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y, int z,
                struct sums *sum);
void drift_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                 int z, struct drift *sum);
void change_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                  int z, struct change *sum);
void curl_alone(const struct view *v, struct task t, int x, int y, int z, double w[3]);

#endif
