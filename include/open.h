/* Rules of open boundaries, for single cells: the rows of BOUNDARY_OPEN_LIST.
 *
 * f_i come with the weights taken off. `in` and `out` are opposite directions: `out` leads into a
 * cell that is not fluid, and what comes back along `in` waits in the link's slot.
 *
 * A face is 2 * axis + side; outward along it means away from the box. Of two numbers that cells of
 * a face give (density and the velocity across it) populations from inside know one combination,
 *
 *   S0 + 2 S+ = rho (1 + u_n),   S0: sum of those along the face, S+: of those that leave,
 *
 * and a rule says the other. */
#ifndef TAGFLOW_OPEN_H
#define TAGFLOW_OPEN_H

#include "boundary.h"

#if defined(TAGFLOW_STORAGE) && !defined(TAGFLOW_LANES)

/* x, -x or 0, as c is; no product: 0 times something is not always 0. */
TAGFLOW_FN real along(int c, real x)
{
    return c > 0 ? x : c < 0 ? -x : (real)0;
}

TAGFLOW_FN real open_dot(const int c[3], const real u[3])
{
    return along(c[0], u[0]) + along(c[1], u[1]) + along(c[2], u[2]);
}

TAGFLOW_FN real weight_of(int i)
{
    return i == 0 ? (real)(1.0 / 3) : i <= 6 ? (real)(1.0 / 18) : (real)(1.0 / 36);
}

/* Component of c along a face's outward normal. */
TAGFLOW_FN int outward(const int c[3], int face)
{
    return face & 1 ? c[face / 2] : -c[face / 2];
}

/* The direction against that normal. */
TAGFLOW_FN int inward_of(int face)
{
    return face + 1;
}

/* Direction i mirrored in a plane across the axis. */
TAGFLOW_FN int mirrored(int i, int axis)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    int j = 0;
    for (int k = 1; k < Q; k++) {
        int same = 1;
        for (int a = 0; a < 3; a++)
            same &= c[k][a] == (a == axis ? -c[i][a] : c[i][a]);
        j = same ? k : j;
    }
    return j;
}

/* Velocities over a face: [n2 + 2][n1 + 2][3] from row.table on, at the cells of the block along
 * the face's axes in order, and one more on either side. */
TAGFLOW_FN size_t open_place(const struct view *v, const struct tag_row *row, const int at[3])
{
    const int axis = row->face / 2, a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    return (size_t)row->table - 1 +
           3 * ((size_t)(at[b] + 1) * (size_t)(v->n[a] + 2) + (size_t)(at[a] + 1));
}

/* What the row gives at a cell. */
TAGFLOW_FN void given_velocity(const struct view *v, const struct tag_row *row, const int at[3],
                               double u[3])
{
    const double signal = v->signal[row->signal_velocity];
    const double *const from = row->table ? v->table + open_place(v, row, at) : row->wall_velocity;
    for (int a = 0; a < 3; a++)
        u[a] = from[a] * signal;
}

TAGFLOW_FN real given_drho(const struct view *v, const struct tag_row *row)
{
    return (real)(row->drho * v->signal[row->signal_density]);
}

/* ---- populations that arrive ---- */

/* What the rule of a cell is told: its row, the velocity and density that the row gives, half of
 * the acceleration, by which populations' momentum lags behind (Guo et al. 2002). */
struct arriving {
    const struct tag_row *row;
    real u[3], drho, half[3];
};

/* Bit i: population i comes through one of the faces `outside`, from where nothing is known. */
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

/* w_i (drho + rho (3 c.u + 9/2 (c.u)^2 - 3/2 u^2)), less what half a step's force lacks. */
TAGFLOW_FN real open_equilibrium(int i, real drho, const real u[3], const real half[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real rho = (real)1 + drho, cu = open_dot(c[i], u), ch = open_dot(c[i], half);
    const real square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    return weight_of(i) *
           (drho + rho * ((real)3 * (cu - ch) + (real)4.5 * (cu * cu) - (real)1.5 * square));
}

/* The density of a node whose velocity is given, from mass: of populations that are not known the
 * part that is odd in c is the equilibrium's and the even one that of the opposite (bounce-back of
 * what is off equilibrium: Zou, He, Phys. Fluids 9:1591, 1997); pairs at an edge of which
 * neither is known are at equilibrium. One equation, linear in rho. On a face it is
 * rho = (S0 + 2 S+) / (1 + u_n). */
TAGFLOW_FN real node_drho(const real f[Q], uint32_t unknown, const real u[3], const real half[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    real sum = 0, of_rho = 0, of_drho = 0; /* drho = sum + of_rho rho + of_drho drho */
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        const real w = weight_of(i), cu = open_dot(c[i], u);
        if (!(unknown >> i & 1)) {
            sum += f[i];
        } else if (!(unknown >> opposite(i) & 1)) {
            sum += f[opposite(i)];
            of_rho += (real)6 * w * (cu - open_dot(c[i], half));
        } else {
            of_drho += w;
            of_rho += w * ((real)4.5 * (cu * cu) - (real)1.5 * square);
        }
    }
    return (sum + of_rho) / ((real)1 - of_rho - of_drho);
}

/* What is off equilibrium, with that which comes from outside as its bounce-back. Along the face
 * this has momentum, which the node has not: the unknown populations that have a part in it take
 * it away in equal shares (so do Hecht, Harting, J. Stat. Mech. P01018, 2010, for populations that
 * are kept as they are). Without this the third moments c_n c_n c_t of the known populations would
 * count as shear stress, an error of (2/3) d(u_n u_t)/dn + (1/3) d(u_n u_n)/dt. */
TAGFLOW_FN void off_equilibrium(const real f[Q], int outside, uint32_t unknown, real drho,
                                const real u[3], const real half[3], real off[Q])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++)
        off[i] = (unknown >> i & 1) ? (real)0 : f[i] - open_equilibrium(i, drho, u, half);
    TAGFLOW_UNROLL
    for (int i = 1; i < Q; i++)
        if (unknown >> i & 1)
            off[i] = (unknown >> opposite(i) & 1) ? (real)0 : off[opposite(i)];
    TAGFLOW_UNROLL
    for (int t = 0; t < 3; t++) {
        real momentum = 0, carriers = 0;
        if (outside >> (2 * t) & 3)
            continue;
        TAGFLOW_UNROLL
        for (int i = 1; i < Q; i++) {
            momentum += along(c[i][t], off[i]);
            carriers += c[i][t] != 0 && (unknown >> i & 1) ? (real)1 : (real)0;
        }
        const real share = momentum / carriers;
        TAGFLOW_UNROLL
        for (int i = 1; i < Q; i++)
            if (unknown >> i & 1)
                off[i] -= along(c[i][t], share);
    }
}

/* All populations from density, velocity and stress, the latter from what is off equilibrium
 * (Latt, Chopard, Malaspinas, Deville, Michler, Phys. Rev. E 77:056703, 2008; Latt, Chopard, Math.
 * Comput. Simul. 72:165, 2006):
 *
 *   f_i = f_i^eq + 9/2 w_i (c_i c_i - 1/3) : P,   P = sum of c_i c_i (f_i - f_i^eq) */
TAGFLOW_FN void regularise(real f[Q], int outside, real drho, const real u[3], const real half[3])
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    real off[Q], p[3][3] = {{0}};
    off_equilibrium(f, outside, unknown_of(outside), drho, u, half, off);
    TAGFLOW_UNROLL
    for (int i = 1; i < Q; i++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                p[a][b] += along(c[i][a], along(c[i][b], off[i]));
    const real third = (p[0][0] + p[1][1] + p[2][2]) * (real)(1.0 / 3);
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        real q = -third;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                q += along(c[i][a], along(c[i][b], p[a][b]));
        f[i] = open_equilibrium(i, drho, u, half) + (real)4.5 * weight_of(i) * q;
    }
}

TAGFLOW_FN void arrive_velocity_regularised(real f[Q], const struct arriving *a)
{
    const real drho = node_drho(f, unknown_of(a->row->outside), a->u, a->half);
    regularise(f, a->row->outside, drho, a->u, a->half);
}

/* The velocity across the face is that of S0 + 2 S+, that along it the given one. */
TAGFLOW_FN void arrive_pressure_regularised(real f[Q], const struct arriving *a)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int face = a->row->face, axis = face / 2;
    real known = 0, u[3] = {a->u[0], a->u[1], a->u[2]};
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        const int n = outward(c[i], face);
        known += n == 0 ? f[i] : n > 0 ? (real)2 * f[i] : (real)0;
    }
    const real un = (known - a->drho) / ((real)1 + a->drho);
    u[axis] = (face & 1 ? un : -un) + a->half[axis];
    regularise(f, a->row->outside, a->drho, u, a->half);
}

TAGFLOW_FN void arrive_edge_regularised(real f[Q], const struct arriving *a)
{
    regularise(f, a->row->outside, a->drho, a->u, a->half);
}

#define OPEN_SOUND ((real)0.57735026918962576) /* 1 / sqrt(3) */

/* Along each outward normal n the links' slot has I = c_s drho - u_n, which sound that comes in
 * would change and sound that goes out does not (linear characteristics: Poinsot, Lele, J. Comput.
 * Phys. 101:104, 1992; here for one cell, from the known populations). What arrives along -n, x_n,
 * is what makes it so: with R the sum of all others, J_n their momentum along n and
 * u_n = rho u_n - u_n drho,
 *
 *   (c_s + u_n) (R + sum of x) - (J_n - x_n) = I_n   for each n,
 *
 * solved with u_n of the time before, from 0 on: of an error drho is left each time. */
TAGFLOW_FN void arrive_nonreflecting(real f[Q], const struct arriving *a)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int outside = a->row->outside;
    real rest = 0, x[6], right[6], u[6];
    TAGFLOW_UNROLL
    for (int i = 0; i < Q; i++) {
        const int normal = i >= 1 && i <= 6 && (outside >> (i - 1) & 1);
        rest += normal ? (real)0 : f[i];
    }
    TAGFLOW_UNROLL
    for (int face = 0; face < 6; face++) {
        const int in = inward_of(face);
        real momentum = 0;
        u[face] = x[face] = 0;
        TAGFLOW_UNROLL
        for (int i = 1; i < Q; i++) {
            const int n = outward(c[i], face);
            if (i != in)
                momentum = n > 0 ? momentum + f[i] : n < 0 ? momentum - f[i] : momentum;
        }
        right[face] = f[in] + momentum; /* I + J */
    }
    for (int pass = 0; pass < 4; pass++) {
        real sum = 0, speeds = 0;
        TAGFLOW_UNROLL
        for (int face = 0; face < 6; face++)
            if (outside >> face & 1) {
                sum += right[face];
                speeds += OPEN_SOUND + u[face];
            }
        const real drho = rest + (sum - speeds * rest) / ((real)1 + speeds);
        TAGFLOW_UNROLL
        for (int face = 0; face < 6; face++) {
            x[face] = right[face] - (OPEN_SOUND + u[face]) * drho;
            /* J - x = right - I - x */
            u[face] = ((right[face] - f[inward_of(face)]) - x[face]) / ((real)1 + drho);
        }
    }
    TAGFLOW_UNROLL
    for (int face = 0; face < 6; face++)
        if (outside >> face & 1)
            f[inward_of(face)] = x[face];
}

/* The rest make what comes back when it leaves. */
#define OPEN_ARRIVES_AS_IT_IS(name)                                                                \
    TAGFLOW_FN void arrive_##name(real f[Q], const struct arriving *a)                             \
    {                                                                                              \
        (void)f, (void)a;                                                                          \
    }
OPEN_ARRIVES_AS_IT_IS(slip) /* but is loaded from elsewhere: slip_from in cell.h */
OPEN_ARRIVES_AS_IT_IS(velocity_links)
OPEN_ARRIVES_AS_IT_IS(pressure_links)
OPEN_ARRIVES_AS_IT_IS(outflow)

TAGFLOW_FN void open_arrive(real f[Q], const struct arriving *a)
{
    switch (a->row->boundary) {
#define X(name, meaning)                                                                           \
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

/* What the rule of a cell that is not fluid is told of a link into it. */
struct leaving {
    const struct tag_row *row; /* the rule's */
    int in;                    /* direction that comes back */
    real f_in, f_out;          /* populations that arrived at this step */
    real c_in, c_out;          /* and collided */
    real drho, u[3];           /* of the cell at this step */
    real j[3];                 /* momentum of its populations: without half of a step's force */
    real given_u[3];           /* where the link crosses the boundary */
    real given_drho;
};

TAGFLOW_FN real leave_slip(const struct leaving *l)
{
    return l->c_out;
}

/* Moving bounce-back with the cell's density, so that what goes through is rho u (Ladd, J. Fluid
 * Mech. 271:285, 1994, eq. 3.3). */
TAGFLOW_FN real leave_velocity_links(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real cu = open_dot(c[l->in], l->given_u);
    return l->c_out + (real)6 * weight_of(l->in) * (((real)1 + l->drho) * cu);
}

/* Anti-bounce-back (Ginzburg, Verhaeghe, d'Humieres, Commun. Comput. Phys. 3:427, 2008):
 *
 *   f_in(t + 1) = -f*_out + 2 e+(rho given, u_b) + (2 - omega+)(f+ - e+(rho, u))
 *
 * where + is the even part of the pair, u the cell's velocity and u_b that where the link crosses
 * the boundary. The last term makes it of second order for the half-way point; as
 * omega+ (f+ - e+) = f+ - f*+, it is f+ + f*+ - 2 e+(rho, u) whatever the operator.
 *
 * With u for u_b diagonal links, which cross beside the cell, would take u_n d(u_n)/dt along the
 * face for a shear stress and turn the flow aside, by a part of it that no finer grid makes
 * smaller. What goes straight out has (c.grad)(9/2 (c.u)^2 - 3/2 u^2) = 6 c.u (c.grad)(c.u), and
 * f+ - f*+ = -3 w rho (c.grad)(c.u): half a link of it adds -2 c_out.u (f+ - f*+). */
TAGFLOW_FN real leave_pressure_links(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const real cu = open_dot(c[l->in], l->u);
    const real square = l->u[0] * l->u[0] + l->u[1] * l->u[1] + l->u[2] * l->u[2];
    const real of_u = (real)4.5 * (cu * cu) - (real)1.5 * square;
    const real even = (real)2 * weight_of(l->in) * ((l->given_drho - l->drho) * ((real)1 + of_u));
    const real beside = cu * ((l->f_in + l->f_out) - (l->c_in + l->c_out));
    return (even + beside) + (real)0.5 * ((l->f_in + l->f_out) + (l->c_in - l->c_out));
}

/* f_in is carried out along the normal at the speed V: df/dt + V df/dn = 0, backward in both; one
 * cell further inside at t + 1 it is what leaves this cell now (f*_in). V is that of sound that
 * goes out, c_s + u_n. */
TAGFLOW_FN real convected(const struct leaving *l)
{
    const real un = l->u[l->row->face / 2];
    const real speed = OPEN_SOUND + (l->row->face & 1 ? un : -un);
    return (l->f_in + speed * l->c_in) / ((real)1 + speed);
}

TAGFLOW_FN real leave_outflow(const struct leaving *l)
{
    return convected(l);
}

/* Along the normal what arrive_nonreflecting asks for, changed a little towards the given density;
 * the others are carried out. */
TAGFLOW_FN real leave_nonreflecting(const struct leaving *l)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const int face = l->row->face;
    const real jn = face & 1 ? l->j[face / 2] : -l->j[face / 2];
    if (l->in > 6 || outward(c[l->in], face) == 0)
        return convected(l);
    return OPEN_SOUND * (l->drho - (real)l->row->reflection * (l->drho - l->given_drho)) -
           jn / ((real)1 + l->drho);
}

/* Nodes on the face ask for nothing. */
TAGFLOW_FN real leave_velocity_regularised(const struct leaving *l)
{
    return l->c_out;
}

TAGFLOW_FN real leave_pressure_regularised(const struct leaving *l)
{
    return l->c_out;
}

TAGFLOW_FN real leave_edge_regularised(const struct leaving *l)
{
    return l->c_out;
}

TAGFLOW_FN real open_leave(const struct leaving *l)
{
    switch (l->row->boundary) {
#define X(name, meaning)                                                                           \
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
