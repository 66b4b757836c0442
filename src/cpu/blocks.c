/* The CPU's kernels that need density and velocity of all cells: averages, sums, vorticity.
 * Compiled once per variant; plain cells are done in blocks, which are loops of vectors. */
#include "cpu/plain.h"

#define kernel_flow VARIANT(cpu_flow)
#define kernel_average VARIANT(cpu_average)
#define kernel_curl VARIANT(cpu_curl)
#define kernel_enstrophy VARIANT(cpu_enstrophy)
#define kernel_sums VARIANT(cpu_sums)
#define kernel_drift VARIANT(cpu_drift)
#define kernel_change VARIANT(cpu_change)

cpu_kernel kernel_flow, kernel_average, kernel_curl, kernel_enstrophy, kernel_sums, kernel_drift,
    kernel_change;

/* Density and velocity of a few neighbouring cells. */
enum { BLOCK = 64 };
struct block {
    double drho[BLOCK], u[3][BLOCK];
};

/* Adds half a step of buoyancy. */
static void add_lift(const struct view *v, int odd, int x, int count, int y, int z,
                     struct block *restrict b)
{
    for (int k = 0; k < count; k++) {
        const struct around a = around(v, x + k, y, z);
        const double lift = (double)rare_lift(v, odd, owned_index(v, x + k, y, z), &a);
        for (int axis = 0; axis < 3; axis++)
            b->u[axis][k] += 0.5 * (lift * v->scalars.gravity[axis]);
    }
}

/* As flow_of, with the sums in the same order, for plain cells x to x + count - 1 of type `tag` of
 * the row at (y, z). */
static void plain_block(const struct view *v, const struct addresses *r, const struct tag_row *tag,
                        int odd, int x, int count, int y, int z, struct block *restrict b)
{
    const stored *f[Q];
    double half[3];
    for (int i = 0; i < Q; i++)
        f[i] = r->at[i] + x;
    for (int a = 0; a < 3; a++)
        half[a] = 0.5 * view_acceleration(v, tag, a);
#ifndef __clang__ /* clang does not know this pragma, and does not need it: b is restrict */
#pragma GCC ivdep
#endif
    for (int k = 0; k < count; k++) {
        double drho = 0, jx = 0, jy = 0, jz = 0;
        drho += (double)value_of(f[0][k]);
#define ALONG(j, c)                                                                                \
    if ((c) > 0) {                                                                                 \
        j += one;                                                                                  \
        j -= other;                                                                                \
    } else if ((c) < 0) {                                                                          \
        j -= one;                                                                                  \
        j += other;                                                                                \
    }
#define X(i, j, cx, cy, cz, weight)                                                                \
    {                                                                                              \
        const double one = (double)value_of(f[i][k]), other = (double)value_of(f[j][k]);           \
        drho += one;                                                                               \
        drho += other;                                                                             \
        ALONG(jx, cx)                                                                              \
        ALONG(jy, cy)                                                                              \
        ALONG(jz, cz)                                                                              \
    }
        PAIR_LIST(X)
#undef X
#undef ALONG
        b->drho[k] = drho;
        b->u[0][k] = jx / (1 + drho) + half[0];
        b->u[1][k] = jy / (1 + drho) + half[1];
        b->u[2][k] = jz / (1 + drho) + half[2];
    }
    if (v->scalars.lifts)
        add_lift(v, odd, x, count, y, z, b);
    for (int k = 0; k < count && tag->resist; k++) {
        double u[3] = {b->u[0][k], b->u[1][k], b->u[2][k]};
        resist_slows(v, tag, u);
        for (int a = 0; a < 3; a++)
            b->u[a][k] = u[a];
    }
}

static const struct tag_row *tag_row_at(const struct view *v, int x, int y, int z)
{
    return &v->rows[v->tags[view_index(v, x, y, z)] & TAG_ROW];
}

static void plain_flow(const struct view *v, const struct addresses *r, struct task t, size_t cell,
                       int x0, int x1, int y, int z)
{
    const struct tag_row *const tag = tag_row_at(v, x0, y, z);
    double *flow = (double *)t.buffer + 4 * cell;
    struct block b;
    for (int x = x0; x < x1; x += BLOCK) {
        const int count = x1 - x < BLOCK ? x1 - x : BLOCK;
        plain_block(v, r, tag, t.odd, x, count, y, z, &b);
        for (int k = 0; k < count; k++, flow += 4) {
            flow[0] = b.drho[k];
            for (int a = 0; a < 3; a++)
                flow[1 + a] = b.u[a][k];
        }
    }
}

/* As cell_average for each cell of a block; sums: of the first. */
static void average_block(const struct block *restrict b, int count, struct task t, size_t cells,
                          double *restrict sums)
{
    const struct average_layout l = t.average.layout;
    const double n = t.average.samples;
    if (l.density != AVERAGE_NONE)
        for (int k = 0; k < count; k++)
            average_mean(sums + (size_t)l.density * cells + k, n, b->drho[k]);
    if (l.velocity == AVERAGE_NONE)
        return;
#ifndef __clang__
#pragma GCC ivdep
#endif
    for (int k = 0; k < count; k++)
        average_velocity(sums + k, cells, l, n,
                         (const double[3]){b->u[0][k], b->u[1][k], b->u[2][k]});
}

static void plain_average(const struct view *v, const struct addresses *r, struct task t,
                          size_t cell, size_t cells, int x0, int x1, int y, int z)
{
    const struct tag_row *const tag = tag_row_at(v, x0, y, z);
    double *sums = (double *)t.buffer + cell;
    struct block b;
    for (int x = x0; x < x1; x += BLOCK, sums += BLOCK) {
        const int count = x1 - x < BLOCK ? x1 - x : BLOCK;
        plain_block(v, r, tag, t.odd, x, count, y, z, &b);
        for (int k = 0; t.average.layout.sets && k < count; k++)
            average_scalars(v, t, sums + k, cells, x + k, y, z,
                            (const double[3]){b.u[0][k], b.u[1][k], b.u[2][k]});
        average_block(&b, count, t, cells, sums);
    }
}

KERNEL(flow, row_loads, PLAIN_inner, plain_flow(v, &row, t, cell, x, end, y, z), flow_alone)
KERNEL(average, row_loads, PLAIN_inner, plain_average(v, &row, t, cell, cells, x, end, y, z),
       average_alone)

/* Velocities of cells x0 <= x < x1 of the row at (y, z) of the block, into u[a][0 ..]. */
static void velocities(const struct view *v, struct task t, int x0, int x1, int y, int z,
                       double *const u[3])
{
    struct block b;
    for (int x = x0, end; x < x1; x = end) {
        end = plain_end(v, x, x1 - x < BLOCK ? x1 : x + BLOCK, y, z, PLAIN_inner);
        if (end == x) {
            double flow[4];
            flow_alone(v, (struct task){.odd = t.odd, .open = 1, .buffer = flow}, 0, 1, x, y, z);
            for (int a = 0; a < 3; a++)
                u[a][x - x0] = flow[1 + a];
            end = x + 1;
            continue;
        }
        const struct addresses row = row_loads(v, t, x, y, z);
        plain_block(v, &row, tag_row_at(v, x, y, z), t.odd, x, end - x, y, z, &b);
        for (int a = 0; a < 3; a++)
            memcpy(u[a] + (x - x0), b.u[a], (size_t)(end - x) * sizeof(double));
    }
}

/* As `velocities`, for a row that may be in the ghost layer along `axis`: then from v->layers,
 * zeros if there are none. */
static void velocities_at(const struct view *v, struct task t, int axis, int x0, int x1, int y,
                          int z, double *const u[3])
{
    int at[3] = {0, y, z};
    if (!v->ghost[axis] || (at[axis] >= 0 && at[axis] < v->n[axis])) {
        at[axis] = view_wrap(v, axis, at[axis]);
        velocities(v, t, x0, x1, at[1], at[2], u);
        return;
    }
    const int side = at[axis] > 0;
    const double *there = v->layers ? v->layers + 3 * layer_cell(v, axis, side, x0, y, z) : NULL;
    for (int x = x0; x < x1; x++)
        for (int a = 0; a < 3; a++)
            u[a][x - x0] = there ? *there++ : 0;
}

/* Velocities of the rows y - 1, y and y + 1 at z, cells x - 1 to x + count. Two of the rows are
 * used again for the next y. */
struct strip {
    int x, count, y, z; /* y < 0: empty */
    double u[3][3][BLOCK + 2];
};

static void strip_row(const struct view *v, struct task t, struct strip *s, int k, int y)
{
    /* Cells beyond the ends of a row are left out; curl_of does the cells that need them. */
    const int lo = s->x > 0 ? s->x - 1 : 0;
    const int hi = s->x + s->count < v->n[0] ? s->x + s->count + 1 : v->n[0];
    double *const u[3] = {s->u[k][0] + (lo - s->x + 1), s->u[k][1] + (lo - s->x + 1),
                          s->u[k][2] + (lo - s->x + 1)};
    velocities_at(v, t, 1, lo, hi, y, s->z, u);
}

static void strip_move(const struct view *v, struct task t, struct strip *s, int y, int z)
{
    if (s->y >= 0 && s->y == y - 1 && s->z == z) {
        memmove(s->u[0], s->u[1], sizeof s->u[0] + sizeof s->u[1]);
    } else {
        s->z = z;
        strip_row(v, t, s, 0, y - 1);
        strip_row(v, t, s, 1, y);
    }
    s->y = y;
    strip_row(v, t, s, 2, y + 1);
}

struct curls {
    double w[3][BLOCK];
};

/* Moves the strip to (y, z) and computes curl u of its cells: as curl_of, zeros for cells that are
 * not fluid. */
static void curl_block(const struct view *v, struct task t, struct strip *s, int y, int z,
                       struct curls *c)
{
    double below[3][BLOCK], above[3][BLOCK];
    double *const to_below[3] = {below[0], below[1], below[2]};
    double *const to_above[3] = {above[0], above[1], above[2]};
    const uint8_t *const tags = v->tags + view_index(v, 0, y, z);
    const int x = s->x, count = s->count;
    strip_move(v, t, s, y, z);
    velocities_at(v, t, 2, x, x + count, y, z - 1, to_below);
    velocities_at(v, t, 2, x, x + count, y, z + 1, to_above);
    for (int k = 0; k < count; k++) {
        c->w[0][k] =
            0.5 * (s->u[2][2][k + 1] - s->u[0][2][k + 1]) - 0.5 * (above[1][k] - below[1][k]);
        c->w[1][k] = 0.5 * (above[0][k] - below[0][k]) - 0.5 * (s->u[1][2][k + 2] - s->u[1][2][k]);
        c->w[2][k] = 0.5 * (s->u[1][1][k + 2] - s->u[1][1][k]) -
                     0.5 * (s->u[2][0][k + 1] - s->u[0][0][k + 1]);
    }
    for (int k = 0; k < count; k++) {
        const bool fluid = v->rows[tags[x + k] & TAG_ROW].fluid;
        const bool end = x + k == 0 || x + k == v->n[0] - 1;
        double one[3] = {0, 0, 0};
        if (fluid && !end && !(tags[x + k] & TAG_BESIDE))
            continue;
        if (fluid)
            curl_alone(v, t, x + k, y, z, one);
        for (int a = 0; a < 3; a++)
            c->w[a][k] = one[a];
    }
}

/* Computes curl u of one worker's share of a box, block by block, and passes each to `use`; first:
 * number of the block's first cell. */
typedef void curl_use(void *to, size_t first, const struct curls *c, int count);
static void curl_share(const struct view *v, const struct box *b, struct task t, size_t worker,
                       size_t workers, curl_use *use, void *to)
{
    const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);
    const size_t rows = box_cells(b) / nx;
    struct curls c;
    for (int x = b->lo[0]; x < b->hi[0]; x += BLOCK) {
        struct strip s = {.x = x, .count = b->hi[0] - x < BLOCK ? b->hi[0] - x : BLOCK, .y = -1};
        for (size_t n = rows * worker / workers; n < rows * (worker + 1) / workers; n++) {
            curl_block(v, t, &s, b->lo[1] + (int)(n % ny), b->lo[2] + (int)(n / ny), &c);
            use(to, n * nx + (size_t)(x - b->lo[0]), &c, s.count);
        }
    }
}

static void put_curl(void *to, size_t first, const struct curls *c, int count)
{
    double *out = (double *)to + 3 * first;
    for (int k = 0; k < count; k++)
        for (int a = 0; a < 3; a++)
            *out++ = c->w[a][k];
}

static void add_curl(void *to, size_t first, const struct curls *c, int count)
{
    (void)first;
    for (int k = 0; k < count; k++)
        enstrophy_add(to, (const double[3]){c->w[0][k], c->w[1][k], c->w[2][k]});
}

void kernel_curl(const struct view *v, const struct runs *runs, const struct box *b, struct task t)
{
    enum { SHARES = 64 };
    (void)runs;
#pragma omp parallel for schedule(static)
    for (size_t share = 0; share < SHARES; share++)
        curl_share(v, b, t, share, SHARES, put_curl, t.buffer);
}

void kernel_enstrophy(const struct view *v, const struct runs *runs, const struct box *b,
                      struct task t)
{
    const size_t workers = (size_t)t.workers;
    (void)runs;
#pragma omp parallel for schedule(static)
    for (size_t worker = 0; worker < workers; worker++) {
        struct enstrophy sum = enstrophy_none();
        curl_share(v, b, t, worker, workers, add_curl, &sum);
        ((struct enstrophy *)t.buffer)[worker] = sum;
    }
}

/* As sums_add for each cell of a block; the first is number `cell`. */
static void add_block(struct sums *sums, const struct block *b, int count, size_t cell)
{
    struct exact_terms drho = {0, 0}, energy = {0, 0}; /* 64 terms below 1e5 fit */
    double square[BLOCK], e[BLOCK];
    int bad = 0, more = sums->max_cell == NO_CELL;
    for (int k = 0; k < count; k++) {
        square[k] = flow_square(b->u[0][k], b->u[1][k], b->u[2][k]);
        e[k] = flow_energy(b->drho[k], square[k]);
        bad |= !flow_sane(b->drho[k], square[k], e[k]);
        more |= square[k] > sums->max_square;
    }
    if (bad) {
        for (int k = 0; k < count; k++)
            sums_add(sums, b->drho[k], square[k], (int64_t)(cell + (size_t)k));
        return;
    }
    for (int k = 0; k < count; k++) {
        exact_gather(&drho, b->drho[k]);
        exact_gather(&energy, e[k]);
    }
    exact_add_terms(&sums->drho, drho);
    exact_add_terms(&sums->energy, energy);
    for (int k = 0; more && k < count; k++)
        sums_add_max(sums, square[k], (int64_t)(cell + (size_t)k));
}

/* As drift_add for each cell of a block. */
static void add_drift(struct drift *sum, const struct block *b, int count)
{
    int bad = 0;
    for (int k = 0; k < count; k++)
        bad |= !(flow_square(b->u[0][k], b->u[1][k], b->u[2][k]) < FLOW_SANE);
    for (int k = 0; bad && k < count; k++)
        drift_add(sum, (const double[3]){b->u[0][k], b->u[1][k], b->u[2][k]});
    for (int a = 0; !bad && a < 3; a++) {
        struct exact_terms terms = {0, 0};
        for (int k = 0; k < count; k++)
            exact_gather(&terms, b->u[a][k]);
        exact_add_terms(&sum->u[a], terms);
    }
}

/* Adds the cells of a row of the box; the first is number `cell`. */
static void sum_row(const struct view *v, const struct box *box, struct task t, size_t cell, int y,
                    int z, struct sums *sums)
{
    struct block b;
    for (int x = box->lo[0], end; x < box->hi[0]; cell += (size_t)(end - x), x = end) {
        end = plain_end(v, x, box->hi[0] - x < BLOCK ? box->hi[0] : x + BLOCK, y, z, PLAIN_inner);
        if (end == x) {
            sums_alone(v, t, cell, box_cells(box), x, y, z, sums);
            end = x + 1;
            continue;
        }
        const struct addresses row = row_loads(v, t, x, y, z);
        plain_block(v, &row, tag_row_at(v, x, y, z), t.odd, x, end - x, y, z, &b);
        add_block(sums, &b, end - x, cell);
    }
}

/* A worker takes consecutive rows. */
void kernel_sums(const struct view *v, const struct runs *runs, const struct box *b, struct task t)
{
    const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);
    const size_t rows = box_cells(b) / nx, workers = (size_t)t.workers;
    (void)runs;
#pragma omp parallel for schedule(static)
    for (size_t worker = 0; worker < workers; worker++) {
        struct sums sums = sums_none();
        for (size_t n = rows * worker / workers; n < rows * (worker + 1) / workers; n++)
            sum_row(v, b, t, n * nx, b->lo[1] + (int)(n % ny), b->lo[2] + (int)(n / ny), &sums);
        ((struct sums *)t.buffer)[worker] = sums;
    }
}

static void drift_row(const struct view *v, const struct box *box, struct task t, int y, int z,
                      struct drift *sum)
{
    struct block b;
    for (int x = box->lo[0], end; x < box->hi[0]; x = end) {
        end = plain_end(v, x, box->hi[0] - x < BLOCK ? box->hi[0] : x + BLOCK, y, z, PLAIN_inner);
        if (end == x) {
            drift_alone(v, t, 0, 0, x, y, z, sum);
            end = x + 1;
            continue;
        }
        const struct addresses row = row_loads(v, t, x, y, z);
        plain_block(v, &row, tag_row_at(v, x, y, z), t.odd, x, end - x, y, z, &b);
        add_drift(sum, &b, end - x);
    }
}

void kernel_drift(const struct view *v, const struct runs *runs, const struct box *b, struct task t)
{
    const size_t ny = (size_t)(b->hi[1] - b->lo[1]), rows = ny * (size_t)(b->hi[2] - b->lo[2]);
    const size_t workers = (size_t)t.workers;
    (void)runs;
#pragma omp parallel for schedule(static)
    for (size_t worker = 0; worker < workers; worker++) {
        struct drift sum = drift_none();
        for (size_t n = rows * worker / workers; n < rows * (worker + 1) / workers; n++)
            drift_row(v, b, t, b->lo[1] + (int)(n % ny), b->lo[2] + (int)(n / ny), &sum);
        ((struct drift *)t.buffer)[worker] = sum;
    }
}

/* As cell_change for each cell of a block; before: of the first. */
static void add_change(struct change *sum, const struct block *restrict b, int count, struct task t,
                       size_t cells, remembered *restrict before)
{
    double change[BLOCK], whole[BLOCK];
#ifndef __clang__
#pragma GCC ivdep
#endif
    for (int k = 0; k < count; k++)
        change_squares((const double[3]){b->u[0][k], b->u[1][k], b->u[2][k]}, before + k, cells,
                       t.change.replace, &change[k], &whole[k]);
    for (int k = 0; k < count; k++)
        change_add(sum, change[k], whole[k]);
}

static void change_row(const struct view *v, const struct box *box, struct task t, size_t cell,
                       int y, int z, struct change *sum)
{
    const size_t cells = box_cells(box);
    struct block b;
    for (int x = box->lo[0], end; x < box->hi[0]; cell += (size_t)(end - x), x = end) {
        end = plain_end(v, x, box->hi[0] - x < BLOCK ? box->hi[0] : x + BLOCK, y, z, PLAIN_inner);
        if (end == x) {
            change_alone(v, t, cell, cells, x, y, z, sum);
            end = x + 1;
            continue;
        }
        const struct addresses row = row_loads(v, t, x, y, z);
        plain_block(v, &row, tag_row_at(v, x, y, z), t.odd, x, end - x, y, z, &b);
        add_change(sum, &b, end - x, t, cells, (remembered *)t.change.before + cell);
    }
}

void kernel_change(const struct view *v, const struct runs *runs, const struct box *b,
                   struct task t)
{
    const size_t nx = (size_t)(b->hi[0] - b->lo[0]), ny = (size_t)(b->hi[1] - b->lo[1]);
    const size_t rows = box_cells(b) / nx, workers = (size_t)t.workers;
    (void)runs;
#pragma omp parallel for schedule(static)
    for (size_t worker = 0; worker < workers; worker++) {
        struct change sum = change_none();
        for (size_t n = rows * worker / workers; n < rows * (worker + 1) / workers; n++) {
            change_row(v, b, t, n * nx, b->lo[1] + (int)(n % ny), b->lo[2] + (int)(n / ny), &sum);
            change_carry(&sum);
        }
        ((struct change *)t.buffer)[worker] = sum;
    }
}
