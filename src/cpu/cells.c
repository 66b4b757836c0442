/* The CPU's kernels of scalar code, and the cell functions that loops of vectors call for single
 * cells. Compiled once per precision with TAGFLOW_STORAGE and TAGFLOW_ARITHMETIC set (see
 * meson.build).
 *
 * Each kernel calls the cell function of kernel.h. Stretches of plain cells in a row have
 * consecutive addresses; they are done population by population instead. */
#include "cpu/plain.h"

/* Store addresses, only of the populations that travel. */
static struct addresses row_stores(const struct view *v, struct task t, int x, int y, int z)
{
    struct addresses r = {{NULL}};
    for (int i = 0; i < Q; i++)
        if (travels(t.direction, i))
            r.at[i] = (stored *)v->set[SET_flow].populations +
                      store_address(v, SET_flow, t.odd, i, x, y, z) - x;
    return r;
}

/* The work of kernel.h's cell functions on plain cells x0 <= x < x1; the first is number `cell`. */

static void plain_pack(const struct view *v, const struct addresses *r, struct task t, size_t cell,
                       size_t cells, int x0, int x1, int y, int z)
{
    stored *to = (stored *)t.buffer + cell;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            memcpy(to, r->at[i] + x0, (size_t)(x1 - x0) * sizeof *to);
            to += cells;
        }
    for (int set = 1; set < v->sets; set++)
        for (int x = x0; x < x1; x++)
            set_pack(v, set, t, cell + (size_t)(x - x0), cells, x, y, z);
}

static void plain_unpack(const struct view *v, const struct addresses *r, struct task t,
                         size_t cell, size_t cells, int x0, int x1, int y, int z)
{
    const stored *from = (const stored *)t.buffer + cell;
    for (int i = 1; i < Q; i++)
        if (travels(t.direction, i)) {
            memcpy(r->at[i] + x0, from, (size_t)(x1 - x0) * sizeof *from);
            from += cells;
        }
    for (int set = 1; set < v->sets; set++)
        for (int x = x0; x < x1; x++)
            set_unpack(v, set, t, cell + (size_t)(x - x0), cells, x, y, z);
}

/* Population i of a set beside the flow: its bytes, and their place in the buffer. */
struct set_stretch {
    char *at, *in_buffer;
    size_t bytes;
};

static struct set_stretch stretch_of(const struct view *v, struct task t, size_t i, size_t cell,
                                 size_t cells, int x0, int x1, int y, int z)
{
    const struct population_set *const s = &v->set[t.set];
    const size_t bytes = s->bits / 8;
    return (struct set_stretch){
        (char *)s->populations + load_address(v, t.set, t.odd, (int)i, x0, y, z, 0) * bytes,
        (char *)t.buffer + (i * cells + cell) * bytes, (size_t)(x1 - x0) * bytes};
}

static void plain_get(const struct view *v, const struct addresses *r, struct task t, size_t cell,
                      size_t cells, int x0, int x1, int y, int z)
{
    for (size_t i = 0; t.set != SET_flow && i < v->set[t.set].q; i++) {
        const struct set_stretch s = stretch_of(v, t, i, cell, cells, x0, x1, y, z);
        memcpy(s.in_buffer, s.at, s.bytes);
    }
    if (t.set != SET_flow)
        return;
    stored *const to = (stored *)t.buffer + cell;
    for (size_t i = 0; i < Q; i++)
        memcpy(to + i * cells, r->at[i] + x0, (size_t)(x1 - x0) * sizeof *to);
}

static void plain_put(const struct view *v, const struct addresses *r, struct task t, size_t cell,
                      size_t cells, int x0, int x1, int y, int z)
{
    for (size_t i = 0; t.set != SET_flow && i < v->set[t.set].q; i++) {
        const struct set_stretch s = stretch_of(v, t, i, cell, cells, x0, x1, y, z);
        memcpy(s.at, s.in_buffer, s.bytes);
    }
    if (t.set != SET_flow)
        return;
    const stored *const from = (const stored *)t.buffer + cell;
    for (size_t i = 0; i < Q; i++)
        memcpy(r->at[i] + x0, from + i * cells, (size_t)(x1 - x0) * sizeof *from);
}

/* Neighbours in a row are in one part of the fluid. */
static void plain_raise(const struct view *v, const struct addresses *r, struct task t, int x0, int x1,
                        int y, int z)
{
    if (!part_counts(v, t.mass, x0, y, z))
        return;
    for (int i = 0; i < Q; i++) {
        const number by = raise_by(t.mass.by, i);
        for (int x = x0; x < x1; x++)
            r->at[i][x] = raised(r->at[i][x], by);
    }
}

/* Where only fluid cells have places, those of links do not follow each other; ghost cells do not
 * know whether they have such links. */
/* clang-format off */
static KERNEL(pack, row_stores, v->place ? PLAIN_inner : PLAIN_all,
              plain_pack(v, &row, t, cell, cells, x, end, y, z), cell_pack)
static KERNEL(unpack, row_stores, v->place ? PLAIN_none : PLAIN_any,
              plain_unpack(v, &row, t, cell, cells, x, end, y, z), cell_unpack)
static KERNEL(get, row_loads, PLAIN_inner, plain_get(v, &row, t, cell, cells, x, end, y, z), cell_get)
static KERNEL(put, row_loads, PLAIN_inner, plain_put(v, &row, t, cell, cells, x, end, y, z), cell_put)
static KERNEL(raise, row_loads, PLAIN_inner, plain_raise(v, &row, t, x, end, y, z), cell_raise)
/* clang-format on */

/* Cells whose densities are added at a time. */
enum { MASS_BLOCK = 64 };

/* As cell_mass for plain cells x0 <= x < x1. */
static void plain_mass(const struct addresses *r, int x0, int x1, struct mass *sum)
{
    for (int x = x0; x < x1; x += MASS_BLOCK) {
        const int count = x1 - x < MASS_BLOCK ? x1 - x : MASS_BLOCK;
        double drho[MASS_BLOCK] = {0};
        struct exact_terms terms = {0, 0};
        int bad = 0;
        for (int i = 0; i < Q; i++)
            for (int k = 0; k < count; k++)
                drho[k] += (double)value_of(r->at[i][x + k]);
        for (int k = 0; k < count; k++)
            bad |= !mass_sane(drho[k]);
        for (int k = 0; k < count && bad; k++)
            mass_add(sum, drho[k]);
        for (int k = 0; k < count && !bad; k++)
            exact_gather(&terms, drho[k]);
        exact_add_terms(&sum->drho, terms);
    }
}

static void mass_row(const struct view *v, const struct box *box, struct task t, int y, int z,
                     struct mass *sum)
{
    for (int x = box->lo[0], end; x < box->hi[0]; x = end) {
        end = plain_end(v, x, box->hi[0], y, z, PLAIN_inner);
        if (end > x) {
            const struct addresses row = row_loads(v, t, x, y, z);
            if (part_counts(v, t.mass, x, y, z))
                plain_mass(&row, x, end, sum);
        } else {
            cell_mass(v, t, 0, 0, x, y, z, sum);
            end = x + 1;
        }
    }
}

static void kernel_mass(const struct view *v, const struct runs *runs, const struct box *b,
                        struct task t)
{
    const size_t ny = (size_t)(b->hi[1] - b->lo[1]), rows = ny * (size_t)(b->hi[2] - b->lo[2]);
    const size_t workers = (size_t)t.workers;
    (void)runs;
#pragma omp parallel for schedule(static)
    for (size_t worker = 0; worker < workers; worker++) {
        struct mass sum = mass_none();
        for (size_t n = rows * worker / workers; n < rows * (worker + 1) / workers; n++)
            mass_row(v, b, t, b->lo[1] + (int)(n % ny), b->lo[2] + (int)(n / ny), &sum);
        ((struct mass *)t.buffer)[worker] = sum;
    }
}

/* The work of a cell function on each cell of the box. */
#define EACH(name)                                                                                 \
    static void kernel_##name(const struct view *v, const struct runs *runs, const struct box *b,  \
                              struct task t)                                                       \
    {                                                                                              \
        const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);       \
        (void)runs;                                                                                \
        _Pragma("omp parallel for collapse(2) schedule(static)") for (int z = b->lo[2];            \
                                                                      z < b->hi[2];                \
                                                                      z++) for (int y = b->lo[1];  \
                                                                                y < b->hi[1]; y++) \
        {                                                                                          \
            const size_t row = (size_t)(z - b->lo[2]) * ny + (size_t)(y - b->lo[1]);               \
            for (int x = b->lo[0]; x < b->hi[0]; x++)                                              \
                cell_##name(v, t, row *nx + (size_t)(x - b->lo[0]), box_cells(b), x, y, z);        \
        }                                                                                          \
    }
EACH(begin)
EACH(scalar_put)
EACH(scalar)

/* Fetches a population that a list names. Most lie in cache lines of their own. */
static inline void fetch(const struct view *v, struct task t, uint64_t at)
{
    const struct population_set *const set = &v->set[t.seam.lists->set];
    __builtin_prefetch((const char *)set->populations + at * (set->bits / 8), 1);
}
enum { AHEAD = 24 }; /* entries between the one that is fetched and the one that is worked on */

/* The work on each entry of a range. soon: what to do for entry k, whose turn comes later. */
#define LISTED(name, soon)                                                                         \
    static void kernel_##name(const struct view *v, const struct runs *runs, const struct box *b,  \
                              struct task t)                                                       \
    {                                                                                              \
        (void)runs;                                                                                \
        _Pragma("omp parallel for schedule(static)") for (int n = b->lo[0]; n < b->hi[0]; n++)     \
        {                                                                                          \
            const int k = n + AHEAD < b->hi[0] ? n + AHEAD : n;                                    \
            soon;                                                                                  \
            entry_##name(v, t, (size_t)n);                                                         \
        }                                                                                          \
    }
LISTED(gather, fetch(v, t, t.seam.lists->value[k].at[t.odd]))
LISTED(slope, (void)k)
LISTED(enter, fetch(v, t, t.seam.lists->link[t.seam.substep - 1][k].at))
LISTED(share, (void)k)
LISTED(coalesce, fetch(v, t, t.seam.lists->group[k].at[t.odd]))

#define near_alone PRECISION(near_alone)
void near_alone(const struct view *v, int odd, const struct near_cell *cell);
void near_alone(const struct view *v, int odd, const struct near_cell *cell)
{
    near_step(v, odd, cell);
}

void flow_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y, int z)
{
    cell_flow(v, t, cell, cells, x, y, z);
}

void average_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                   int z)
{
    cell_average(v, t, cell, cells, x, y, z);
}

void sums_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y, int z,
                struct sums *sum)
{
    cell_sums(v, t, cell, cells, x, y, z, sum);
}

void drift_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                 int z, struct drift *sum)
{
    cell_drift(v, t, cell, cells, x, y, z, sum);
}

void change_alone(const struct view *v, struct task t, size_t cell, size_t cells, int x, int y,
                  int z, struct change *sum)
{
    cell_change(v, t, cell, cells, x, y, z, sum);
}

void curl_alone(const struct view *v, struct task t, int x, int y, int z, double w[3])
{
    curl_of(v, t.odd, 1, x, y, z, w);
}

/* Adds one worker's share of a box or a range: consecutive cells or entries. ADD: for number n. */
#define SHARE(name, result, ADD)                                                                   \
    static void kernel_##name(const struct view *v, const struct runs *runs, const struct box *b,  \
                              struct task t)                                                       \
    {                                                                                              \
        const size_t count = box_cells(b), workers = (size_t)t.workers;                            \
        (void)runs;                                                                                \
        _Pragma("omp parallel for schedule(static)") for (size_t worker = 0; worker < workers;     \
                                                          worker++)                                \
        {                                                                                          \
            struct result sum = result##_none();                                                   \
            for (size_t n = count * worker / workers; n < count * (worker + 1) / workers; n++) {   \
                ADD;                                                                               \
            }                                                                                      \
            ((struct result *)t.buffer)[worker] = sum;                                             \
        }                                                                                          \
    }
#define SHARE_cells(name)                                                                          \
    SHARE(name, name, const struct coordinates c = box_cell(b, n);                                 \
          cell_##name(v, t, n, count, c.x, c.y, c.z, &sum))
#define SHARE_list(name, result)                                                                   \
    SHARE(name, result, entry_##name(v, t, (size_t)b->lo[0] + n, &sum))
SHARE_cells(scalar_sums)
SHARE_cells(heat)
SHARE_cells(dispersion)
SHARE_list(forces, forces)
SHARE_list(cap_flow, cap_flow)
SHARE_list(heat_near, heat)

/* CPU_VARIANT_LIST */
#define kernel_step NULL
#define kernel_near NULL
#define kernel_flow NULL
#define kernel_average NULL
#define kernel_curl NULL
#define kernel_enstrophy NULL
#define kernel_sums NULL
#define kernel_drift NULL
#define kernel_change NULL
extern cpu_kernel *const PRECISION(cpu_cells)[KERNELS];
cpu_kernel *const PRECISION(cpu_cells)[KERNELS] = {
#define X(name, ...) [KERNEL_##name] = kernel_##name,
    KERNEL_LIST(X)
#undef X
};
