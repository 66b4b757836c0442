/* The reference lattice update; see plain.h. Compiled for each TAGFLOW_STORAGE and
 * TAGFLOW_ARITHMETIC. */
#include "bench/plain.h"

#include <stdbool.h>
#include <string.h>

#include "collision.h"
#include "stored.h"

/* 0 rest; 1 .. 6 = +x -x +y -y +z -z; then the diagonals, each followed by its opposite. */
static const signed char velocity[Q][3] = {
    {0, 0, 0},                                          /* 0 */
    {+1, 0, 0},  {-1, 0, 0},  {0, +1, 0},  {0, -1, 0},  /* 1 .. 4 */
    {0, 0, +1},  {0, 0, -1},                            /* 5, 6 */
    {+1, +1, 0}, {-1, -1, 0}, {+1, 0, +1}, {-1, 0, -1}, /* 7 .. 10 */
    {0, +1, +1}, {0, -1, -1}, {+1, -1, 0}, {-1, +1, 0}, /* 11 .. 14 */
    {+1, 0, -1}, {-1, 0, +1}, {0, +1, -1}, {0, -1, +1}, /* 15 .. 18 */
};

static int reverse(int i)
{
    return i == 0 ? 0 : i % 2 ? i + 1 : i - 1;
}

static void take(struct plain *p, const struct box *piece, const void *populations)
{
    const stored *const from = populations;
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1],
              nz = piece->hi[2] - piece->lo[2];
    const size_t cells = (size_t)nx * (size_t)ny * (size_t)nz;
    real *const f = p->f;
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) {
            const size_t row = ((size_t)z * (size_t)ny + (size_t)y) * (size_t)nx;
            real *to = f + Q * plain_cell(p, piece->lo[0], piece->lo[1] + y, piece->lo[2] + z);
            for (int x = 0; x < nx; x++, to += Q)
                for (size_t i = 0; i < Q; i++)
                    to[i] = value_of(from[i * cells + row + (size_t)x]);
        }
}

static void collide_all(struct plain *p)
{
    static const struct view still = {.signal = {1}};
    const ptrdiff_t cells = (ptrdiff_t)plain_cells(p);
    real *const all = p->f;
#pragma omp parallel for schedule(static)
    for (ptrdiff_t n = 0; n < cells; n++) {
        if (p->what[n] >= PLAIN_FACE || !p->rows[p->what[n]].fluid)
            continue;
        const struct tag_row *const row = &p->rows[p->what[n]];
        const struct collision_parameters parameters = collision_parameters(&still, row);
        real *const f = all + Q * n, out[Q];
        const struct moments m = moments(f, parameters, row->forced);
        const struct rates r = subgrid_rates(row->subgrid, f, m, parameters, 1, row->forced);
        collide(row->collision, f, out, m, parameters, r, row->forced);
        memcpy(f, out, sizeof out);
    }
}

/* 6 w_i c_i . u for a wall with density 1: u / 3 for an axis direction, u / 6 for a diagonal. */
static scalar wall_gain(int i, const double u[3])
{
    scalar sum = 0;
    bool first = true;
    for (int a = 0; a < 3; a++) {
        const scalar sixth = (scalar)(u[a] / 6);
        if (velocity[i][a] == 0)
            continue;
        const scalar term = velocity[i][a] < 0 ? -sixth : sixth;
        sum = first ? term : sum + term;
        first = false;
    }
    return i <= 6 ? 2 * sum : sum;
}

/* The velocity of the wall at a place; NULL: at rest. */
static const double *wall_velocity(const struct plain *p, uint8_t what)
{
    const double *const u = what == PLAIN_EDGE   ? NULL
                            : what >= PLAIN_FACE ? p->face_velocity[what - PLAIN_FACE]
                                                 : p->rows[what].wall_velocity;
    return u && (u[0] != 0 || u[1] != 0 || u[2] != 0) ? u : NULL;
}

/* Population i of a cell after the step. */
static stored arriving(const struct plain *p, int x, int y, int z, int i)
{
    const real *const f = p->f;
    const size_t here = plain_cell(p, x, y, z);
    const size_t there = plain_cell(p, x - velocity[i][0], y - velocity[i][1], z - velocity[i][2]);
    const uint8_t what = p->what[there];
    if (what < PLAIN_FACE && p->rows[what].fluid)
        return stored_of(f[Q * there + (size_t)i]);
    const real sent = f[Q * here + (size_t)reverse(i)];
    const double *const u = wall_velocity(p, what);
    return stored_of(u ? sent + wall_gain(i, u) : sent);
}

static size_t compare(const struct plain *p, const struct box *piece, const void *populations,
                      struct plain_fault *fault)
{
    const stored *const got = populations;
    const int nx = piece->hi[0] - piece->lo[0], ny = piece->hi[1] - piece->lo[1],
              nz = piece->hi[2] - piece->lo[2];
    const size_t cells = (size_t)nx * (size_t)ny * (size_t)nz;
    const ptrdiff_t rows = (ptrdiff_t)ny * nz;
    size_t wrong = 0;
    ptrdiff_t first = rows * nx;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : first)
    for (ptrdiff_t row = 0; row < rows; row++) {
        const int y = piece->lo[1] + (int)(row % ny), z = piece->lo[2] + (int)(row / ny);
        for (int x = 0; x < nx; x++) {
            const size_t at = (size_t)row * (size_t)nx + (size_t)x;
            if (!p->rows[p->what[plain_cell(p, piece->lo[0] + x, y, z)]].fluid)
                continue;
            for (int i = 0; i < Q; i++) {
                const stored wanted = arriving(p, piece->lo[0] + x, y, z, i);
                if (memcmp(&wanted, &got[(size_t)i * cells + at], sizeof wanted) == 0)
                    continue;
                wrong++;
                first = (ptrdiff_t)at < first ? (ptrdiff_t)at : first;
            }
        }
    }
    if (!wrong)
        return 0;
    fault->at[0] = piece->lo[0] + (int)(first % nx);
    fault->at[1] = piece->lo[1] + (int)(first / nx % ny);
    fault->at[2] = piece->lo[2] + (int)(first / nx / ny);
    for (fault->i = 0; fault->i < Q; fault->i++) {
        const stored wanted = arriving(p, fault->at[0], fault->at[1], fault->at[2], fault->i),
                     is = got[(size_t)fault->i * cells + (size_t)first];
        fault->is = (double)value_of(is);
        fault->was_to_be = (double)value_of(wanted);
        if (memcmp(&wanted, &is, sizeof is) != 0)
            break;
    }
    return wrong;
}

#define JOINED(storage, arithmetic) plain_step_##storage##_##arithmetic
#define NAMED(storage, arithmetic) JOINED(storage, arithmetic)

extern const struct plain_step NAMED(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC);
const struct plain_step NAMED(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC) = {
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .real = sizeof(real),
    .take = take,
    .collide = collide_all,
    .compare = compare,
};
