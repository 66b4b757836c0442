/* Accelerations that depend on the cell's own velocity: the resistance of a porous medium or a
 * screen, and the Coriolis acceleration of a rotating frame,
 *
 *   a_k = -(D_k + F_k s) u_k - (W x u)_k,   s = sqrt(sum_k G_k u_k^2)
 *
 * D: Darcy's resistance; F: Forchheimer's; G: 1 for each component of the velocity that F depends
 * on; W: twice the angular velocity of the frame. u includes half a step of a (Guo, Zhao, Phys.
 * Rev. E 66:036304, 2002): with v, the velocity without it, u = v + a(u)/2. For a given s this is a
 * linear system in u, so a large D damps and cannot overshoot. s is found by RESIST_PASSES passes
 * of s = n / (1 + b s), n the s of u at s = 0, b from the pass before: exact from the second pass
 * on if D and F are the same along all axes and W = 0; else s is off by 2e-7 where F |v| = 1, by
 * 1e-3 where it is 10.
 *
 * The centrifugal acceleration is a gradient: it adds 1/2 rho |W/2 x r|^2 to the pressure and does
 * not change the flow. It is left out, as the lattice's density would follow that pressure. */
#ifndef TAGFLOW_RESIST_H
#define TAGFLOW_RESIST_H

#include "platform.h"
#include "slot.h"
#include "tag.h"

/* Parameters of a cell type in view.table: three each, and the largest F. */
enum {
    RESIST_D = 0,
    RESIST_F = 3,
    RESIST_G = 6,
    RESIST_W = 9,
    RESIST_LARGEST_F = 12,
    RESIST_VALUES = 13,
    RESIST_PASSES = 5,
};

/* The parameters of a cell type; NULL: it has no such acceleration. */
TAGFLOW_FN const double *resist_of(const struct view *v, const struct tag_row *row)
{
    return row->resist ? v->table + (row->resist - 1) : (const double *)0;
}

/* Avoids 0/0 in a fluid at rest. */
#define RESIST_LEAST 1e-15

/* For a type of numbers T, which may be vectors, of elements N:
 *
 * resist_size: s. resist_given: a of the velocity u. resist_solve: u = v + a(u)/2 at a given s.
 * resist_found: a of the velocity that is v without a/2. */
#define RESIST_FUNCTIONS(suffix, T, N, root, how)                                                  \
    TAGFLOW_FN T resist_size##suffix(const double *r, const T u[3])                                \
    {                                                                                              \
        return root(((N)r[RESIST_G] * (u[0] * u[0]) + (N)r[RESIST_G + 1] * (u[1] * u[1])) +        \
                    (N)r[RESIST_G + 2] * (u[2] * u[2]));                                           \
    }                                                                                              \
    TAGFLOW_FN void resist_at##suffix(const double *r, T s, const T u[3], T a[3])                  \
    {                                                                                              \
        const N wx = (N)r[RESIST_W], wy = (N)r[RESIST_W + 1], wz = (N)r[RESIST_W + 2];             \
        a[0] = (wz * u[1] - wy * u[2]) - ((N)r[RESIST_D] + (N)r[RESIST_F] * s) * u[0];             \
        a[1] = (wx * u[2] - wz * u[0]) - ((N)r[RESIST_D + 1] + (N)r[RESIST_F + 1] * s) * u[1];     \
        a[2] = (wy * u[0] - wx * u[1]) - ((N)r[RESIST_D + 2] + (N)r[RESIST_F + 2] * s) * u[2];     \
    }                                                                                              \
    TAGFLOW_FN void resist_given##suffix(const double *r, const T u[3], T a[3])                    \
    {                                                                                              \
        resist_at##suffix(r, resist_size##suffix(r, u), u, a);                                     \
    }                                                                                              \
    TAGFLOW_FN void resist_solve##suffix(const double *r, T s, const T v[3], T u[3])               \
    {                                                                                              \
        const N wx = (N)(0.5 * r[RESIST_W]), wy = (N)(0.5 * r[RESIST_W + 1]),                      \
                wz = (N)(0.5 * r[RESIST_W + 2]);                                                   \
        const T bx = (N)1 + ((N)(0.5 * r[RESIST_D]) + (N)(0.5 * r[RESIST_F]) * s),                 \
                by = (N)1 + ((N)(0.5 * r[RESIST_D + 1]) + (N)(0.5 * r[RESIST_F + 1]) * s),         \
                bz = (N)1 + ((N)(0.5 * r[RESIST_D + 2]) + (N)(0.5 * r[RESIST_F + 2]) * s);         \
        const T determinant =                                                                      \
            bx * (by * bz) + ((bx * (wx * wx) + by * (wy * wy)) + bz * (wz * wz));                 \
        const T scale = (N)1 / determinant;                                                        \
        const T along = (wx * v[0] + wy * v[1]) + wz * v[2];                                       \
        u[0] = scale * ((by * bz) * v[0] + (wx * along + (bz * (wz * v[1]) - by * (wy * v[2]))));  \
        u[1] = scale * ((bx * bz) * v[1] + (wy * along + (bx * (wx * v[2]) - bz * (wz * v[0]))));  \
        u[2] = scale * ((bx * by) * v[2] + (wz * along + (by * (wy * v[0]) - bx * (wx * v[1]))));  \
    }                                                                                              \
    how void resist_found##suffix(const double *r, const T v[3], T a[3])                           \
    {                                                                                              \
        T u[3], s = v[0] * (N)0;                                                                   \
        resist_solve##suffix(r, s, v, u);                                                          \
        if (r[RESIST_LARGEST_F] != 0) {                                                            \
            const T still = resist_size##suffix(r, u), least = still * (N)0 + (N)RESIST_LEAST;     \
            T b = still * (N)0 + (N)(0.5 * r[RESIST_LARGEST_F]);                                   \
            for (int pass = 0; pass < RESIST_PASSES; pass++) {                                     \
                s = ((N)2 * still) / ((N)1 + root((N)1 + ((N)4 * b) * still));                     \
                resist_solve##suffix(r, s, v, u);                                                  \
                const T now = resist_size##suffix(r, u);                                           \
                b = (still - now) / ((now + least) * (s + least));                                 \
            }                                                                                      \
        }                                                                                          \
        resist_at##suffix(r, s, u, a);                                                             \
    }

RESIST_FUNCTIONS(_double, double, double, TAGFLOW_SQRT_DOUBLE, TAGFLOW_RARE)
/* Adds half a step of the acceleration to the velocity of a cell. */
TAGFLOW_FN void resist_slows(const struct view *v, const struct tag_row *row, double u[3])
{
    double a[3];
    resist_found_double(resist_of(v, row), u, a);
    for (int k = 0; k < 3; k++)
        u[k] += 0.5 * a[k];
}

/* The acceleration of a start state with velocity u. Where the resistance would stop the flow
 * within a step, the populations would move too fast: it is made smaller, so that their velocity, u
 * - a/2, is at most RESIST_START or |u|. */
#define RESIST_START 0.1
TAGFLOW_FN void resist_starts(const double *r, const double u[3], double a[3])
{
    resist_given_double(r, u, a);
    const double size = TAGFLOW_SQRT_DOUBLE(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]),
                 half = 0.5 * TAGFLOW_SQRT_DOUBLE(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (size + half <= RESIST_START)
        return;
    const double kept = size < RESIST_START ? (RESIST_START - size) / half : 0;
    for (int k = 0; k < 3; k++)
        a[k] *= kept;
}

#ifdef TAGFLOW_STORAGE
RESIST_FUNCTIONS(, real, number, real_sqrt, TAGFLOW_FN)
#endif
#undef RESIST_FUNCTIONS

#endif
