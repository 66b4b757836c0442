/* The CPU's kernels, compiled once per variant with TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC and
 * TAGFLOW_ISA set (see meson.build), for the instruction set of that name. */
#include "cpu/kernels.h"

#define JOIN4(a, b, c, d) a##b##_##c##_##d
#define VARIANT(isa, storage, arithmetic) JOIN4(cpu_variant_, isa, storage, arithmetic)
#define NAME(token) NAME_(token)
#define NAME_(token) #token

/* Where the populations of a row's pairs are at this step: those of direction i of the pair at
 * `own`, in the row itself, those of i + 1 at `next`, in the row at c_i. A link that comes from a
 * wall is in the other slot of the pair: `flip` further on for own, back for next. */
struct row_pointers {
    stored *rest, *own[9], *next[9];
    ptrdiff_t flip;
};

static struct row_pointers row_pointers(const struct view *v, int odd, int y, int z)
{
    stored *const f = (stored *)v->populations;
    struct row_pointers p;
    int pair = 0;
    p.rest = f + view_index(v, 0, y, z);
    p.flip = odd ? (ptrdiff_t)v->stride : -(ptrdiff_t)v->stride;
#define X(i, j, cx, cy, cz, weight)                                                                \
    p.own[pair] = f + (size_t)slot_load(odd, i) * v->stride + view_index(v, 0, y, z);              \
    p.next[pair] = f + (size_t)slot_load(odd, j) * v->stride + view_index(v, 0, y + cy, z + cz) + cx; \
    pair++;
    PAIR_LIST(X)
#undef X
    return p;
}

/* One run of cells, x0 <= x < x1 of the row; the same as cell_step for each of them.
 *
 * collision, forced, masked and boundary are constants where this is inlined. With masks, both
 * slots of a link are loaded and one chosen; the other may be in use by another thread, and is
 * then not the one chosen. */
TAGFLOW_FN void run_cells(const struct row_pointers *row, const struct link_mask *restrict mask, int x0,
                          int x1, struct collision_parameters p, struct wall_parameters w,
                          const int collision, const int forced, const int masked, const int boundary)
{
    stored *const rest = row->rest;
    uint32_t any = 0; /* directions that come from a wall anywhere in the run: spare the others' lines */
    for (int x = 0; masked && x < x1 - x0; x++)
        any |= mask[x].links;
#define X(i, j, cx, cy, cz, weight)                                                                \
    stored *const own##i = row->own[i / 2], *const next##i = row->next[i / 2];                     \
    const stored *const wall##i = own##i + (any & (1u << i) ? row->flip : 0);                      \
    const stored *const wall##j = next##i - (any & (1u << j) ? row->flip : 0);
    PAIR_LIST(X)
#undef X

#pragma GCC ivdep
    for (ptrdiff_t x = x0; x < x1; x++) {
        real f[Q], out[Q];
        const uint32_t links = masked ? mask[x - x0].links : 0;
        const uint32_t ruled = masked && boundary != BOUNDARY_halfway ? mask[x - x0].ruled : 0;
        f[0] = (real)rest[x];
#define X(i, j, cx, cy, cz, weight)                                                                \
        f[i] = (real)own##i[x];                                                                    \
        f[j] = (real)next##i[x];                                                                   \
        if (masked) {                                                                              \
            const real back_i = (real)wall##i[x], back_j = (real)wall##j[x];                       \
            f[i] = links & (1u << i) ? back_i : f[i];                                              \
            f[j] = links & (1u << j) ? back_j : f[j];                                              \
        }
        PAIR_LIST(X)
#undef X
        const struct moments m = moments(f, p, forced);
        collide(collision, f, out, m, p, forced);
        rest[x] = (stored)out[0];
#define X(i, j, cx, cy, cz, weight)                                                                \
        if (masked && boundary != BOUNDARY_halfway) {                                              \
            const real back_j = boundary_leave(boundary, cx, cy, cz, out[i], w);                   \
            const real back_i = boundary_leave(boundary, -(cx), -(cy), -(cz), out[j], w);          \
            out[i] = ruled & (1u << j) ? back_j : out[i];                                          \
            out[j] = ruled & (1u << i) ? back_i : out[j];                                          \
        }                                                                                          \
        next##i[x] = (stored)out[i];                                                               \
        own##i[x] = (stored)out[j];
        PAIR_LIST(X)
#undef X
    }
}

/* Turn what is constant over a run into compile-time constants: one loop for each combination. */
TAGFLOW_FN void run_masked(const struct row_pointers *row, const struct link_mask *mask, int x0, int x1,
                           struct collision_parameters p, struct wall_parameters w, const int collision,
                           const int forced, int boundary)
{
    switch (boundary) {
#define X(name, meaning)                                                                           \
    case BOUNDARY_##name:                                                                          \
        run_cells(row, mask, x0, x1, p, w, collision, forced, 1, BOUNDARY_##name);                 \
        break;
        BOUNDARY_LIST(X)
#undef X
    default:
        break;
    }
}

TAGFLOW_FN void run_collision(const struct row_pointers *row, const struct link_mask *mask, int x0, int x1,
                              struct collision_parameters p, struct wall_parameters w,
                              const int collision, int forced, int boundary)
{
    if (!mask && forced)
        run_cells(row, mask, x0, x1, p, w, collision, 1, 0, 0);
    else if (!mask)
        run_cells(row, mask, x0, x1, p, w, collision, 0, 0, 0);
    else if (forced)
        run_masked(row, mask, x0, x1, p, w, collision, 1, boundary);
    else
        run_masked(row, mask, x0, x1, p, w, collision, 0, boundary);
}

typedef void run_function(const struct row_pointers *, const struct link_mask *, int x0, int x1,
                          struct collision_parameters, struct wall_parameters, int forced, int boundary);

#define X(name, meaning)                                                                           \
    static void run_##name(const struct row_pointers *row, const struct link_mask *mask, int x0, int x1, \
                           struct collision_parameters p, struct wall_parameters w, int forced,    \
                           int boundary)                                                           \
    {                                                                                              \
        run_collision(row, mask, x0, x1, p, w, COLLISION_##name, forced, boundary);                \
    }
COLLISION_LIST(X)
#undef X

static run_function *const run_functions[] = {
#define X(name, meaning) [COLLISION_##name] = run_##name,
    COLLISION_LIST(X)
#undef X
};

/* One row's part of a box. */
static void step_row(const struct view *v, const struct runs *runs, const struct box *b, int odd, int y,
                     int z)
{
    const struct row_pointers here = row_pointers(v, odd, y, z);
    const uint32_t list = runs->row_list[(size_t)y + (size_t)z * (size_t)v->n[1]];
    for (uint32_t r = runs->first[list]; r < runs->first[list + 1]; r++) {
        const struct run *const run = &runs->run[r];
        const struct tag_row *const cells = &v->rows[run->row];
        const int x0 = run->x0 > b->lo[0] ? run->x0 : b->lo[0];
        const int x1 = run->x1 < b->hi[0] ? run->x1 : b->hi[0];
        if (x0 >= x1)
            continue;
        if (run->kind == RUN_CELLS) {
            for (int x = x0; x < x1; x++)
                cell_step(v, odd, x, y, z);
            continue;
        }
        struct row_pointers wrapped;
        const struct row_pointers *row = &here;
        if (run->wraps) {
            wrapped = here;
#define X(i, j, cx, cy, cz, weight) wrapped.next[i / 2] -= cx * v->n[0];
            PAIR_LIST(X)
#undef X
            row = &wrapped;
        }
        const struct tag_row *const wall = &v->rows[run->wall];
        const struct link_mask *const mask =
            run->kind == RUN_LINKS ? runs->masks + run->masks + (x0 - run->x0) : NULL;
        run_functions[cells->collision](row, mask, x0, x1, collision_parameters(cells),
                                        wall_parameters(wall), cells->forced, wall->boundary);
    }
}

static void kernel_step(const struct view *v, const struct runs *runs, const struct box *b, struct task t)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = b->lo[2]; z < b->hi[2]; z++)
        for (int y = b->lo[1]; y < b->hi[1]; y++)
            step_row(v, runs, b, t.odd, y, z);
}

/* The other kernels are one function of a cell, applied to a box. */
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

extern const struct cpu_variant VARIANT(TAGFLOW_ISA, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC);
const struct cpu_variant VARIANT(TAGFLOW_ISA, TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC) = {
    .isa = NAME(TAGFLOW_ISA),
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .kernel =
        {
#define X(name) [KERNEL_##name] = kernel_##name,
            KERNEL_LIST(X)
#undef X
        },
};
