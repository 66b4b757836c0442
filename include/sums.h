/* Sums over the fluid cells of a box: each worker that shares the box makes one partial result;
 * they can be joined in any order. */
#ifndef TAGFLOW_SUMS_H
#define TAGFLOW_SUMS_H

#include "exact.h"
#include "wide.h"

/* Cells are given by their number in the box, which increases with their number in the whole grid.
 */
struct sums {
    struct exact_sum drho, energy; /* rho - 1, rho u^2 / 2 */
    double max_square;             /* largest |u|^2 */
    int64_t max_cell, bad_cell;    /* the first cell with it; the first that is not sane */
};
#define NO_CELL INT64_MAX

/* Larger values mean that the flow has diverged, and would overflow the sums. */
#define FLOW_SANE 1e5

TAGFLOW_FN int flow_sane(double drho, double square, double energy)
{
    return (drho < FLOW_SANE) & (drho > -FLOW_SANE) & (square < FLOW_SANE) & (energy < FLOW_SANE) &
           (energy > -FLOW_SANE);
}

TAGFLOW_FN double flow_square(double ux, double uy, double uz)
{
    return ux * ux + uy * uy + uz * uz;
}

TAGFLOW_FN double flow_energy(double drho, double square)
{
    return 0.5 * (1 + drho) * square;
}

TAGFLOW_FN struct sums sums_none(void)
{
    const struct sums s = {{0}, {0}, 0, NO_CELL, NO_CELL};
    return s;
}

TAGFLOW_FN void sums_add_max(struct sums *s, double square, int64_t cell)
{
    if (square > s->max_square || (square == s->max_square && cell < s->max_cell)) {
        s->max_square = square;
        s->max_cell = cell;
    }
}

/* Adds a cell. A cell that is not sane is left out of the sums. */
TAGFLOW_FN void sums_add(struct sums *s, double drho, double square, int64_t cell)
{
    const double energy = flow_energy(drho, square);
    if (!flow_sane(drho, square, energy)) {
        s->bad_cell = cell < s->bad_cell ? cell : s->bad_cell;
        return;
    }
    exact_add(&s->drho, drho);
    exact_add(&s->energy, energy);
    sums_add_max(s, square, cell);
}

/* Sum of |curl u|^2 / 2; cells that are not sane are left out and counted. */
struct enstrophy {
    struct exact_sum sum;
    int64_t bad; /* cells */
};

TAGFLOW_FN struct enstrophy enstrophy_none(void)
{
    const struct enstrophy e = {{0}, 0};
    return e;
}

TAGFLOW_FN void enstrophy_add(struct enstrophy *e, const double curl[3])
{
    const double half = 0.5 * (curl[0] * curl[0] + curl[1] * curl[1] + curl[2] * curl[2]);
    if (half < FLOW_SANE)
        exact_add(&e->sum, half);
    else
        e->bad++;
}

TAGFLOW_FN void enstrophy_join(struct enstrophy *e, const struct enstrophy *other)
{
    e->sum.units += other->sum.units;
    e->bad += other->bad;
}

/* Sums of the velocity's components; cells that are not sane are left out and counted. */
struct drift {
    struct exact_sum u[3];
    int64_t bad; /* cells */
};

TAGFLOW_FN struct drift drift_none(void)
{
    const struct drift d = {{{0}, {0}, {0}}, 0};
    return d;
}

TAGFLOW_FN void drift_add(struct drift *d, const double u[3])
{
    if (!(flow_square(u[0], u[1], u[2]) < FLOW_SANE)) {
        d->bad++;
        return;
    }
    for (int a = 0; a < 3; a++)
        exact_add(&d->u[a], u[a]);
}

TAGFLOW_FN void drift_join(struct drift *d, const struct drift *other)
{
    for (int a = 0; a < 3; a++)
        d->u[a].units += other->u[a].units;
    d->bad += other->bad;
}

/* Sums of |u - u_before|^2 and of |u|^2; cells that are not sane are left out and counted. */
struct change {
    struct wide_sum change, whole;
    int64_t bad; /* cells */
};

TAGFLOW_FN struct change change_none(void)
{
    const struct change c = {{{0}}, {{0}}, 0};
    return c;
}

/* Adds the squares of a cell. A worker adds at most 2^30 cells between two calls of change_carry.
 */
TAGFLOW_FN void change_add(struct change *c, double change, double whole)
{
    const double sane = 1e9; /* wide_add takes up to 2^31 */
    if (!(change < sane && whole < sane)) {
        c->bad++;
        return;
    }
    wide_add(&c->change, change);
    wide_add(&c->whole, whole);
}

TAGFLOW_FN void change_carry(struct change *c)
{
    wide_carry(&c->change);
    wide_carry(&c->whole);
}

TAGFLOW_FN void change_join(struct change *c, const struct change *other)
{
    struct change carried = *other;
    change_carry(&carried);
    wide_join(&c->change, &carried.change);
    wide_join(&c->whole, &carried.whole);
    c->bad += other->bad;
}

TAGFLOW_FN void sums_join(struct sums *s, const struct sums *other)
{
    s->drho.units += other->drho.units;
    s->energy.units += other->energy.units;
    sums_add_max(s, other->max_square, other->max_cell);
    s->bad_cell = other->bad_cell < s->bad_cell ? other->bad_cell : s->bad_cell;
}

#endif
