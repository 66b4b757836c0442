/* Rules of open boundaries: the lines of BOUNDARY_OPEN_LIST. Numbers of a cell are `real`, which
 * may be vectors of cells with the same links and the same types of cells beyond them.
 *
 * f_i are shifted by the weights. `in` and `out` are opposite directions: `out` leads into a cell
 * that is not fluid, and the population that comes back along `in` waits in the link's slot.
 *
 * A face has the number 2 * axis + side; its outward normal points out of the box. A node of a face
 * needs two numbers, density and normal velocity u_n. The populations from inside give one
 * relation,
 *
 *   S0 + 2 S+ = rho (1 + u_n),   S0: sum of those along the face, S+: of those that leave,
 *
 * and the rule gives the other. */
#ifndef TAGFLOW_OPEN_H
#define TAGFLOW_OPEN_H

#include "boundary.h"

#ifdef TAGFLOW_STORAGE

/* c x for c = 1, -1 or 0, without a product: 0 times x is not 0 for an infinite x. */
TAGFLOW_FN real along(int c, real x)
{
    return c > 0 ? x : c < 0 ? -x : real_of(0);
}

TAGFLOW_FN real open_dot(const int c[3], const real u[3])
{
    return along(c[0], u[0]) + along(c[1], u[1]) + along(c[2], u[2]);
}

/* The same of numbers that all cells share. */
TAGFLOW_FN number shared_dot(const int c[3], const number u[3])
{
    number sum[3];
    for (int k = 0; k < 3; k++)
        sum[k] = c[k] > 0 ? u[k] : c[k] < 0 ? -u[k] : (number)0;
    return sum[0] + sum[1] + sum[2];
}

TAGFLOW_FN number weight_of(int i)
{
    return LATTICE_WEIGHT(number, i);
}

/* Component of c along a face's outward normal. */
TAGFLOW_FN int outward(const int c[3], int face)
{
    return face & 1 ? c[face / 2] : -c[face / 2];
}

/* The direction opposite to the outward normal. */
TAGFLOW_FN int inward_of(int face)
{
    return face + 1;
}

/* Index of a cell's velocity in the view's table. From row.table - 1 on, the table holds the
 * velocities over a face, [n2 + 2][n1 + 2][3]: the block's cells along the two axes of the face, in
 * the order of the axes, and one more cell on either side. */
TAGFLOW_FN size_t open_place(const struct view *v, const struct tag_row *row, const int at[3])
{
    const int axis = row->face / 2, a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    return (size_t)row->table - 1 +
           3 * ((size_t)(at[b] + 1) * (size_t)(v->n[a] + 2) + (size_t)(at[a] + 1));
}

/* The velocity that cell type `row` gives at a cell at this step. */
TAGFLOW_FN void given_velocity(const struct view *v, const struct tag_row *row, const int at[3],
                               double u[3])
{
    const double signal = v->signal[row->signal_velocity];
    const double *const from = row->table ? v->table + open_place(v, row, at) : row->wall_velocity;
    for (int a = 0; a < 3; a++)
        u[a] = from[a] * signal;
}

TAGFLOW_FN number given_drho(const struct view *v, const struct tag_row *row)
{
    return (number)(row->drho * v->signal[row->signal_density]);
}

/* ---- populations that arrive ---- */

/* Input of an arrive hook: the cell's type, the velocity and density that the type gives, half the
 * acceleration (the populations' velocity lacks it, Guo et al. 2002), and the walls half a cell
 * away. */
struct arriving {
    const struct tag_row *row;
    const double *law;    /* from law_of */
    const double *resist; /* from resist_of */
    real u[3], half[3];
    real pushed[3]; /* half the acceleration that does not depend on the velocity */
    number drho;
    int walls; /* bit k: a wall beyond side k of the cell, sides as faces; BESIDE_EDGE */
    real wall_velocity[6][3];
};
enum { BESIDE_EDGE = 1 << 6 }; /* a wall beyond an edge of the cell */

/* Sets half[] for a node with velocity u. */
TAGFLOW_FN void half_at(struct arriving *a, const real u[3])
{
    real by_velocity[3];
    if (!a->resist)
        return;
    resist_given(a->resist, u, by_velocity);
    for (int k = 0; k < 3; k++)
        a->half[k] = a->pushed[k] + (number)0.5 * by_velocity[k];
}

/* Sets u[axis] and half[]; v: that component without half[], the others are known with it. */
TAGFLOW_FN void half_along(struct arriving *a, int axis, real v, real u[3])
{
    real by_velocity[3];
    u[axis] = v + a->half[axis];
    if (!a->resist)
        return;
    u[axis] = real_of(0);
    resist_given(a->resist, u, by_velocity);
    const real rest = (v + a->pushed[axis]) + (number)0.5 * by_velocity[axis];
    const number d = (number)(0.5 * a->resist[RESIST_D + axis]),
                 f = (number)(0.5 * a->resist[RESIST_F + axis]);
    for (int pass = 0; pass < (f != 0 ? 8 : 1); pass++)
        u[axis] = rest / ((number)1 + (d + f * resist_size(a->resist, u)));
    half_at(a, u);
}

/* Bit i: population i comes through one of the faces `outside`, so it is unknown. */
TAGFLOW_FN uint32_t unknown_of(int outside)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    uint32_t unknown = 0;
    TAGFLOW_UNROLL
    for (int i = 1; i < Q; i++) {
        int through = 0; /* faces */
        for (int face = 0; face < 6; face++)
            through |= (outward(c[i], face) < 0) << face;
        unknown |= outside & through ? 1u << i : 0;
    }
    return unknown;
}

/* Equilibrium w_i (drho + rho (3 c.u + 9/2 (c.u)^2 - 3/2 u^2)), without half a step's force: the
 * linear term is 3 c.(u - half). */
TAGFLOW_FN real open_equilibrium(int i, real drho, const real u[3], const real half[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real rho = (number)1 + drho, cu = open_dot(c[i], u), ch = open_dot(c[i], half);
    const real square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    return weight_of(i) *
           (drho + rho * ((number)3 * (cu - ch) + (number)4.5 * (cu * cu) - (number)1.5 * square));
}

/* The density of a node with given velocity, from mass conservation. An unknown population has the
 * odd part (in c) of equilibrium, and the even part of its opposite (bounce-back of the
 * non-equilibrium part: Zou, He, Phys. Fluids 9:1591, 1997). At edges, pairs with both populations
 * unknown are at equilibrium. This gives one equation, linear in rho; on a face it is rho = (S0 + 2
 * S+) / (1 + u_n). */
TAGFLOW_FN real node_drho(const real f[Q], uint32_t unknown, const real u[3], const real half[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    real sum = real_of(0), of_rho = real_of(0);
    number of_drho = 0; /* drho = sum + of_rho rho + of_drho drho */
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        const number w = weight_of(i);
        const real cu = open_dot(c[i], u);
        if (!(unknown >> i & 1)) {
            sum += f[i];
        } else if (!(unknown >> opposite(i) & 1)) {
            sum += f[opposite(i)];
            of_rho += (number)6 * w * (cu - open_dot(c[i], half));
        } else {
            of_drho += w;
            of_rho += w * ((number)4.5 * (cu * cu) - (number)1.5 * square);
        }
    }
    return (sum + of_rho) / ((number)1 - of_rho - of_drho);
}

/* The non-equilibrium part of all populations: unknown ones take their opposite's value
 * (bounce-back). This part must carry no momentum. Its momentum along the face is therefore
 * subtracted, in equal shares, from the unknown populations with a component along the face (as
 * Hecht, Harting, J. Stat. Mech. P01018, 2010, do where known populations are kept). Without this
 * the third moments c_n c_n c_t of known populations (n across, t along the face) would count as
 * shear stress, an error of (2/3) d(u_n u_t)/dn + (1/3) d(u_n u_n)/dt. */
TAGFLOW_FN void off_equilibrium(const real f[Q], int outside, uint32_t unknown, real drho,
                                const real u[3], const real half[3], real off[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        off[i] = (unknown >> i & 1) ? real_of(0) : f[i] - open_equilibrium(i, drho, u, half);
    TAGFLOW_UNROLL
    for (int i = 1; i < Q; i++)
        if (unknown >> i & 1)
            off[i] = (unknown >> opposite(i) & 1) ? real_of(0) : off[opposite(i)];
    TAGFLOW_UNROLL
    for (int t = 0; t < 3; t++) {
        real momentum = real_of(0);
        number carriers = 0;
        if (outside >> (2 * t) & 3)
            continue;
        TAGFLOW_UNROLL
        for (int i = 1; i < Q; i++) {
            momentum += along(c[i][t], off[i]);
            carriers += c[i][t] != 0 && (unknown >> i & 1) ? (number)1 : (number)0;
        }
        const real share = momentum / carriers;
        TAGFLOW_UNROLL
        for (int i = 1; i < Q; i++)
            if (unknown >> i & 1)
                off[i] -= along(c[i][t], share);
    }
}

/* The share of a self-amplifying stress that a node keeps: all up to omega = 5/3, half at omega =
 * 2. The rest of the viscous part, (1 - omega / 2) of the stress, is lost. Outlets of refined grids
 * lose a part of the shear along the face, too. Whole, it feeds a velocity along the face that
 * alternates in time and from cell to cell, if an edge of levels is a few cells before the face
 * (u/nu 50, 4 cells: 1.014 a step). p: the second moments. */
TAGFLOW_FN real node_keeps(const struct arriving *a, real drho, real p[3][3])
{
    if (!a->law) {
        const number kept = (number)(3.5 - 1.5 * a->row->omega_even);
        return real_of(kept < 1 ? kept : (number)1);
    }
    const real square = ((p[0][0] * p[0][0] + p[1][1] * p[1][1]) + p[2][2] * p[2][2]) +
                        (number)2 * ((p[0][1] * p[0][1] + p[0][2] * p[0][2]) + p[1][2] * p[1][2]);
    const real omega = law_rate(a->law, real_sqrt(square) / ((number)1 + drho));
    const real kept = (number)3.5 - (number)1.5 * omega;
    return real_if_less(kept, real_of(1), kept, real_of(1));
}

/* Second moments of the non-equilibrium part, from known populations. Density or velocity follow
 * from populations in the plane of the face, which also hold all of the stress except the shear
 * p_nt: these components amplify themselves, near omega = 2 by up to 3 % a step; with a given
 * velocity where the stream is slow. At edges and corners of open faces all components do. */
TAGFLOW_FN void stress_from_known(const real f[Q], const struct arriving *a, real drho,
                                  const real u[3], real p[3][3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int outside = a->row->outside, several = outside & (outside - 1);
    const int normal = a->row->face / 2;
    real off[Q];
    off_equilibrium(f, outside, unknown_of(outside), drho, u, a->half, off);
    TAGFLOW_UNROLL
    for (int i = 1; i < Q; i++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                p[k][l] += along(c[i][k], along(c[i][l], off[i]));
    const real kept = node_keeps(a, drho, p);
    const real sheared = (number)1 - (number)(2 * a->row->shear_lost) * ((number)1 - kept);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            if (several || (k == normal) == (l == normal))
                p[k][l] *= kept;
            else if ((k == normal) != (l == normal))
                p[k][l] *= sheared;
}

/* Of velocity component k, the slope along the axis of a side with a wall: -du_k/dx_l. */
TAGFLOW_FN real slope_at_wall(const struct arriving *a, const real u[3], int side, int k)
{
    const int both = (a->walls >> (side & ~1) & 3) == 3;
    const real half_a_cell = u[k] - a->wall_velocity[side][k];
    const real slope = both ? half_a_cell : half_a_cell + half_a_cell;
    return side & 1 ? slope : -slope;
}

/* The shear rate beside walls, sqrt(2 S:S), from the walls' velocities. */
TAGFLOW_FN real shear_at_walls(const struct arriving *a, const real u[3])
{
    real square = real_of(0);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < k; l++) {
            real sum = real_of(0); /* of du_k/dx_l and du_l/dx_k */
            for (int side = 2 * l; side < 2 * l + 2; side++)
                if (a->walls >> side & 1)
                    sum += slope_at_wall(a, u, side, k);
            for (int side = 2 * k; side < 2 * k + 2; side++)
                if (a->walls >> side & 1)
                    sum += slope_at_wall(a, u, side, l);
            square += sum * sum;
        }
    return real_sqrt(square);
}

/* The second moments beside walls, from the walls' velocities: a link from a wall brings back what
 * the node itself sent, so a stress taken from populations would amplify itself. With g_kl =
 * du_k/dx_l between the node and the wall half a cell away (the mean of two opposite walls),
 *
 *   p_kl = -rho tau / 3 (g_kl + g_lk)   for k != l,   p_kk = 0 */
TAGFLOW_FN void stress_from_walls(const struct arriving *a, real drho, const real u[3],
                                  real p[3][3])
{
    const real tau = a->law ? (number)1 / law_rate_sheared(a->law, shear_at_walls(a, u))
                            : real_of((number)(1 / a->row->omega_even));
    const real scale = (number)(1.0 / 3) * (((number)1 + drho) * tau);
    for (int side = 0; side < 6; side++)
        for (int k = 0; k < 3; k++) {
            const int l = side / 2;
            if (k == l || !(a->walls >> side & 1))
                continue;
            const real sheared = scale * slope_at_wall(a, u, side, k);
            p[k][l] += sheared;
            p[l][k] += sheared;
        }
}

/* All populations from density, velocity and stress (Latt, Chopard, Malaspinas, Deville, Michler,
 * Phys. Rev. E 77:056703, 2008; Latt, Chopard, Math. Comput. Simul. 72:165, 2006):
 *
 *   f_i = f_i^eq + 9/2 w_i (c_i c_i - 1/3) : P */
TAGFLOW_FN void regularise(real f[Q], const struct arriving *a, real drho, const real u[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    real p[3][3];
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            p[k][l] = real_of(0);
    if (a->walls)
        stress_from_walls(a, drho, u, p);
    else
        stress_from_known(f, a, drho, u, p);
    const real third = (p[0][0] + p[1][1] + p[2][2]) * (number)(1.0 / 3);
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        real q = -third;
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                q += along(c[i][k], along(c[i][l], p[k][l]));
        f[i] = open_equilibrium(i, drho, u, a->half) + (number)4.5 * weight_of(i) * q;
    }
}

TAGFLOW_FN void arrive_velocity_regularised(real f[Q], struct arriving *a)
{
    half_at(a, a->u);
    const real drho = node_drho(f, unknown_of(a->row->outside), a->u, a->half);
    regularise(f, a, drho, a->u);
}

/* The normal velocity follows from S0 + 2 S+; the velocity along the face is given. A node's
 * populations return after two steps, so the normal velocities of odd and even steps would differ
 * (in a duct at u/nu 20 by 4 %). So a quarter of it is the value of the previous step, kept in the
 * slot of the link normal to the face. */
TAGFLOW_FN void arrive_pressure_regularised(real f[Q], struct arriving *a)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int face = a->row->face, axis = face / 2;
    real known = real_of(0), u[3] = {a->u[0], a->u[1], a->u[2]};
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        const int n = outward(c[i], face);
        known += n == 0 ? f[i] : n > 0 ? (number)2 * f[i] : real_of(0);
    }
    const real un = (number)0.75 * ((known - a->drho) / ((number)1 + a->drho)) +
                    (number)0.25 * f[inward_of(face)];
    half_along(a, axis, face & 1 ? un : -un, u);
    regularise(f, a, real_of(a->drho), u);
}

TAGFLOW_FN void arrive_edge_regularised(real f[Q], struct arriving *a)
{
    half_at(a, a->u);
    regularise(f, a, real_of(a->drho), a->u);
}

#define OPEN_SOUND ((number)0.57735026918962576) /* 1 / sqrt(3) */

/* A number that a node remembers: the link normal to the face holds it. In fp16 that keeps 11 bits,
 * too few to add up what changes in a step: a density would relax no further than to 2^-12 u_n / (r
 * c_s), some percent. So this link holds the first 11 bits, and the diagonal links of the node
 * through the face hold the rest. Those that lead to other types of cells hold something else: the
 * smallest of them counts, and nothing larger than a rest can be, so that the error is at most what
 * 11 bits have. */
#if TAGFLOW_STORAGE == 16
/* x rounded to 11 bits (Veltkamp; Dekker, Numer. Math. 18:224, 1971). */
TAGFLOW_FN real memory_first(real x)
{
    const real shifted = x * (number)(sizeof(number) == 4 ? 0x1p13 + 1 : 0x1p42 + 1);
    return shifted - (shifted - x);
}

TAGFLOW_FN real memory_size(real x)
{
    return real_if_less(x, real_of(0), -x, x);
}
#endif

TAGFLOW_FN real memory_read(const real f[Q], int face)
{
    const real first = f[inward_of(face)];
#if TAGFLOW_STORAGE == 16
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real most = memory_size(first) * (number)0x1p-11;
    real rest = real_of(1);
    TAGFLOW_UNROLL
    for (int i = 7; i < Q; i++)
        if (outward(c[i], face) < 0)
            rest = real_if_less(memory_size(f[i]), memory_size(rest), f[i], rest);
    return first + real_if_less(most, memory_size(rest), real_of(0), rest);
#else
    return first;
#endif
}

/* The slot of the link along each outward normal n holds I = c_s drho - u_n. Incoming sound would
 * change I, outgoing sound does not (linear characteristics: Poinsot, Lele, J. Comput. Phys.
 * 101:104, 1992; here for one node). With u_n = c_s drho - I, and the given velocity along the
 * face, the density follows as in node_drho. That equation is linear in drho except for rho u_n, so
 * it is iterated with rho of the previous pass, from rho = 1 on: each pass multiplies the error by
 * about drho. */
TAGFLOW_FN real nonreflecting_drho(const real f[Q], const struct arriving *a, real u[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int outside = a->row->outside;
    const uint32_t unknown = unknown_of(outside);
    /* u = still + slope drho */
    real still[3] = {a->u[0], a->u[1], a->u[2]};
    number slope[3] = {0, 0, 0}, of_both = 0, of_drho = 0;
    real drho = real_of(0), sum = real_of(0), of_rho = real_of(0);
    TAGFLOW_UNROLL
    for (int face = 0; face < 6; face++)
        if (outside >> face & 1) {
            const real in = memory_read(f, face);
            still[face / 2] = (face & 1 ? -in : in) + a->half[face / 2];
            slope[face / 2] = face & 1 ? OPEN_SOUND : -OPEN_SOUND;
        }
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        const number w = weight_of(i);
        if (!(unknown >> i & 1)) {
            sum += f[i];
        } else if (!(unknown >> opposite(i) & 1)) {
            sum += f[opposite(i)];
            of_rho += (number)6 * w * (open_dot(c[i], still) - open_dot(c[i], a->half));
            of_both += (number)6 * w * shared_dot(c[i], slope);
        } else {
            of_drho += w;
        }
    }
    for (int pass = 0; pass < 4; pass++) {
        const real rho = (number)1 + drho;
        real squares = real_of(0);
        for (int k = 0; k < 3; k++)
            u[k] = still[k] + slope[k] * drho;
        const real square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        TAGFLOW_UNROLL
        for (int i = 1; i < Q; i++) {
            const real cu = open_dot(c[i], u);
            if ((unknown >> i & 1) && (unknown >> opposite(i) & 1))
                squares += weight_of(i) * ((number)4.5 * (cu * cu) - (number)1.5 * square);
        }
        drho = (sum + rho * (of_rho + squares)) / (((number)1 - of_drho) - rho * of_both);
    }
    for (int k = 0; k < 3; k++)
        u[k] = still[k] + slope[k] * drho;
    return drho;
}

/* An acceleration that depends on the velocity: again with that of the pass before. */
TAGFLOW_FN void arrive_nonreflecting(real f[Q], struct arriving *a)
{
    real u[3] = {a->u[0], a->u[1], a->u[2]};
    half_at(a, u);
    real drho = nonreflecting_drho(f, a, u);
    for (int pass = 0; pass < 3 && a->resist; pass++) {
        TAGFLOW_UNROLL
        for (int face = 0; face < 6; face++)
            if (a->row->outside >> face & 1) {
                const real un = OPEN_SOUND * drho - memory_read(f, face);
                half_along(a, face / 2, face & 1 ? un : -un, u);
            }
        drho = nonreflecting_drho(f, a, u);
    }
    regularise(f, a, drho, u);
}

/* The other rules act when populations leave. */
#define OPEN_ARRIVES_AS_IT_IS(name)                                                                \
    TAGFLOW_FN void arrive_##name(real f[Q], struct arriving *a)                                   \
    {                                                                                              \
        (void)f, (void)a;                                                                          \
    }
OPEN_ARRIVES_AS_IT_IS(slip) /* loaded from another cell: slip_from in cell.h */
OPEN_ARRIVES_AS_IT_IS(velocity_links)
OPEN_ARRIVES_AS_IT_IS(pressure_links)
OPEN_ARRIVES_AS_IT_IS(outflow)
OPEN_ARRIVES_AS_IT_IS(cap_velocity)
OPEN_ARRIVES_AS_IT_IS(cap_pressure)

TAGFLOW_FN void open_arrive(real f[Q], struct arriving *a)
{
    switch (a->row->boundary) {
#define X(name, ...)                                                                               \
    case BOUNDARY_##name:                                                                          \
        arrive_##name(f, a);                                                                       \
        break;
        BOUNDARY_OPEN_LIST(X)
#undef X
    default:
        break;
    }
}

/* ---- populations that leave ---- */

/* Input of a leave hook: one link into a cell that is not fluid. */
struct leaving {
    const struct tag_row *row; /* type of the cell that is not fluid */
    int in;                    /* direction of the population that comes back */
    int outside;               /* of the fluid cell's type: the faces that it is a node of */
    real f_in, f_out;          /* populations that arrived at this step */
    real c_in, c_out;          /* the same after collision */
    real drho, u[3];           /* of the fluid cell at this step */
    real j[3];                 /* momentum of its populations, without half a step's force */
    real given_u[3];           /* given velocity where the link crosses the boundary */
    number given_drho;
    real q; /* caps: where the link meets the surface, a fraction of it */
};

TAGFLOW_FN real leave_slip(const struct leaving *l)
{
    return l->c_out;
}

/* Moving-wall bounce-back with the cell's density, so that the mass flux through the boundary is
 * rho u (Ladd, J. Fluid Mech. 271:285, 1994, eq. 3.3). */
TAGFLOW_FN real leave_velocity_links(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real cu = open_dot(c[l->in], l->given_u);
    return l->c_out + (number)6 * weight_of(l->in) * (((number)1 + l->drho) * cu);
}

/* Anti-bounce-back (Ginzburg, Verhaeghe, d'Humieres, Commun. Comput. Phys. 3:427, 2008):
 *
 *   f_in(t + 1) = -f*_out + 2 e+(rho given, u_b) + (2 - omega+)(f+ - e+(rho, u))
 *
 * where + is the even part of the pair, u the cell's velocity and u_b the velocity where the link
 * crosses the boundary. The last term gives second order at the half-way point. As omega+ (f+ - e+)
 * = f+ - f*+, it is f+ + f*+ - 2 e+(rho, u) for every operator.
 *
 * With u instead of u_b, diagonal links, which cross beside the cell, would treat u_n d(u_n)/dt (t
 * along the face) as a shear stress. It would deflect the flow by an amount that a finer grid does
 * not reduce. Flow straight out of the face has (c.grad)(9/2 (c.u)^2 - 3/2 u^2) = 6 c.u
 * (c.grad)(c.u), and f+ - f*+ = -3 w rho (c.grad)(c.u): half a link of it adds -2 c_out.u (f+ -
 * f*+). */
TAGFLOW_FN real leave_pressure_links(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real cu = open_dot(c[l->in], l->u);
    const real square = l->u[0] * l->u[0] + l->u[1] * l->u[1] + l->u[2] * l->u[2];
    const real of_u = (number)4.5 * (cu * cu) - (number)1.5 * square;
    const real even =
        (number)2 * weight_of(l->in) * ((l->given_drho - l->drho) * ((number)1 + of_u));
    const real beside = cu * ((l->f_in + l->f_out) - (l->c_in + l->c_out));
    return (even + beside) + (number)0.5 * ((l->f_in + l->f_out) + (l->c_in - l->c_out));
}

/* Convects f_in outwards along the normal with speed V: df/dt + V df/dn = 0, with backward
 * differences in time and space. The value one cell further inside at t + 1 is what leaves this
 * cell now (f*_in). V is the speed of outgoing sound, c_s + u_n. */
TAGFLOW_FN real convected(const struct leaving *l)
{
    const real un = l->u[l->row->face / 2];
    const real speed = OPEN_SOUND + (l->row->face & 1 ? un : -un);
    return (l->f_in + speed * l->c_in) / ((number)1 + speed);
}

/* The last term removes r c_s (rho - rho given) from the cell at each step, which holds the
 * density. */
TAGFLOW_FN real leave_outflow(const struct leaving *l)
{
    const real held = (number)l->row->reflection * (l->drho - l->given_drho);
    return convected(l) - (number)6 * weight_of(l->in) * (OPEN_SOUND * held);
}

/* Value that a link of a node returns, so that the node remembers the number x. normal: it is the
 * link normal to the face. */
TAGFLOW_FN real memory_of(real x, int normal, const struct leaving *l)
{
#if TAGFLOW_STORAGE == 16
    (void)l;
    return normal ? memory_first(x) : x - memory_first(x);
#else
    return normal ? x : l->c_out;
#endif
}

/* The value for arrive_nonreflecting, shifted a little towards the given density. The hook reads no
 * other link. */
TAGFLOW_FN real leave_nonreflecting(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int face = l->row->face;
    const real jn = face & 1 ? l->j[face / 2] : -l->j[face / 2];
    if (outward(c[l->in], face) == 0 || (l->in > 6 && !(l->outside >> face & 1)))
        return l->c_out;
    const real held = (number)l->row->reflection * (l->drho - l->given_drho);
    return memory_of(OPEN_SOUND * (l->drho - held) - jn / ((number)1 + l->drho), l->in <= 6, l);
}

/* The arrive hook reads nothing from these links. */
TAGFLOW_FN real leave_velocity_regularised(const struct leaving *l)
{
    return l->c_out;
}

/* Along the normal: the normal velocity, for arrive_pressure_regularised. */
TAGFLOW_FN real leave_pressure_regularised(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int face = l->row->face;
    const real jn = face & 1 ? l->j[face / 2] : -l->j[face / 2];
    if (l->in > 6 || outward(c[l->in], face) == 0)
        return l->c_out;
    return jn / ((number)1 + l->drho);
}

TAGFLOW_FN real leave_edge_regularised(const struct leaving *l)
{
    return l->c_out;
}

/* Moving-wall bounce-back with density 1: given_u of all links of a cap together brings the given
 * mass, for any flow beside it. */
TAGFLOW_FN real leave_cap_velocity(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    return l->c_out + (number)6 * weight_of(l->in) * open_dot(c[l->in], l->given_u);
}

/* Even part: as anti-bounce-back, see leave_pressure_links. The density half-way along the link
 * lies on the line from the cell's to the one given where the link meets the cap; not beyond it,
 * since a factor 1/q of small q makes flows diverge. u_b is the cell's velocity: the correction for
 * diagonal links, quadratic in u, grows in cells between cap and wall until the flow diverges.
 *
 * Odd part: equilibrium at the cell's momentum. Anti-bounce-back keeps the operator's odd part
 * instead. Its deviation from equilibrium grows from step to step: a Y of 20 cells diverged at a
 * Reynolds number of a cell of 30, with this even part and with another one. Half of the momentum
 * along the cap is left out. With all of it, fluid in the last cells moves along an oblique cap at
 * 7 % of the stream's velocity at Re 5, in place of 1 %; with none, trt diverges earlier. */
TAGFLOW_FN real leave_cap_pressure(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int *const in = c[l->in];
    const double *const n = l->row->wall_velocity; /* the cap's normal */
    const real cu = open_dot(in, l->u), half = real_of((number)0.5);
    const real square = l->u[0] * l->u[0] + l->u[1] * l->u[1] + l->u[2] * l->u[2];
    const real of_u = (number)4.5 * (cu * cu) - (number)1.5 * square;
    const real change = (l->given_drho - l->drho) / real_if_less(l->q, half, half, l->q);
    const real jn = (number)n[0] * l->j[0] + (number)n[1] * l->j[1] + (number)n[2] * l->j[2];
    const number cn = (number)(in[0] * n[0] + in[1] * n[1] + in[2] * n[2]);
    const real cj = (number)0.5 * (open_dot(in, l->j) + cn * jn);
    return weight_of(l->in) * (change * ((number)1 + of_u) + (number)3 * cj) +
           (number)0.5 * (l->f_in + l->f_out);
}

TAGFLOW_FN real open_leave(const struct leaving *l)
{
    switch (l->row->boundary) {
#define X(name, ...)                                                                               \
    case BOUNDARY_##name:                                                                          \
        return leave_##name(l);
        BOUNDARY_OPEN_LIST(X)
#undef X
    default:
        return l->c_out;
    }
}

#endif
#endif
