/* Sums over the cells that hold a scalar's set, and over links: each worker makes one partial
 * result; they can be joined in any order. All sums are exact, so that no cut, thread count or
 * backend changes a bit. */
#ifndef TAGFLOW_SCALAR_SUMS_H
#define TAGFLOW_SCALAR_SUMS_H

#include "sums.h"

/* Values of this size are not sane: they overflow before long, even in fp32. */
#define SCALAR_SANE 1e30

/* Terms of the sums: (T - shift) value, its square, and E enthalpy. The three products must
 * be at most 1 in every cell, so `value` and `enthalpy` are powers of two that follow from the
 * largest values; 0: not known yet, the sums are 0. */
struct scalar_scale {
    double shift, value, enthalpy;
};

struct scalar_part {
    struct exact_sum deviation, square; /* of (T - shift) value */
    double least, most;                 /* of T */
    int64_t least_cell, most_cell;      /* the first cells with them */
    int64_t cells;
};

/* Cells are given by their number in the box, as in struct sums. */
struct scalar_sums {
    struct scalar_part fluid, solid;
    struct exact_sum enthalpy; /* of E enthalpy */
    double most_enthalpy;      /* largest |E| */
    int64_t bad_cell;          /* the first that is not sane; it is left out of all else */
};

TAGFLOW_FN struct scalar_part scalar_part_none(void)
{
    const struct scalar_part p = {{0}, {0}, SCALAR_SANE, -SCALAR_SANE, NO_CELL, NO_CELL, 0};
    return p;
}

TAGFLOW_FN struct scalar_sums scalar_sums_none(void)
{
    const struct scalar_sums s = {scalar_part_none(), scalar_part_none(), {0}, 0, NO_CELL};
    return s;
}

TAGFLOW_FN void scalar_part_extremes(struct scalar_part *p, double least, int64_t least_cell,
                                     double most, int64_t most_cell)
{
    if (least < p->least || (least == p->least && least_cell < p->least_cell)) {
        p->least = least;
        p->least_cell = least_cell;
    }
    if (most > p->most || (most == p->most && most_cell < p->most_cell)) {
        p->most = most;
        p->most_cell = most_cell;
    }
}

/* Adds a cell: t its value, e its enthalpy. */
TAGFLOW_FN void scalar_sums_add(struct scalar_sums *s, int fluid, double t, double e,
                                struct scalar_scale scale, int64_t cell)
{
    struct scalar_part *const p = fluid ? &s->fluid : &s->solid;
    const double size = e < 0 ? -e : e, scaled = (t - scale.shift) * scale.value;
    if (!((t < SCALAR_SANE) & (t > -SCALAR_SANE) & (size < SCALAR_SANE))) {
        s->bad_cell = cell < s->bad_cell ? cell : s->bad_cell;
        return;
    }
    exact_add(&p->deviation, scaled);
    exact_add(&p->square, scaled * scaled);
    exact_add(&s->enthalpy, e * scale.enthalpy);
    scalar_part_extremes(p, t, cell, t, cell);
    p->cells++;
    s->most_enthalpy = size > s->most_enthalpy ? size : s->most_enthalpy;
}

TAGFLOW_FN void scalar_part_join(struct scalar_part *p, const struct scalar_part *other)
{
    p->deviation.units += other->deviation.units;
    p->square.units += other->square.units;
    p->cells += other->cells;
    scalar_part_extremes(p, other->least, other->least_cell, other->most, other->most_cell);
}

TAGFLOW_FN void scalar_sums_join(struct scalar_sums *s, const struct scalar_sums *other)
{
    scalar_part_join(&s->fluid, &other->fluid);
    scalar_part_join(&s->solid, &other->solid);
    s->enthalpy.units += other->enthalpy.units;
    s->most_enthalpy =
        other->most_enthalpy > s->most_enthalpy ? other->most_enthalpy : s->most_enthalpy;
    s->bad_cell = other->bad_cell < s->bad_cell ? other->bad_cell : s->bad_cell;
}

/* Sums over the fluid cells that hold a scalar with a mean gradient: of the flux, of the velocity
 * on links, and of the value. Flux and value are multiplied by a power of two near 1 / gradient, so
 * that they are lengths in cells, and by 2^-12, so that sums of large ones fit. */
struct dispersion {
    struct exact_sum flux[3], velocity[3], value;
    int64_t cells;
    int64_t bad; /* cells that were left out */
};
#define DISPERSION_UNIT 0x1p-12

TAGFLOW_FN struct dispersion dispersion_none(void)
{
    const struct dispersion d = {{{0}, {0}, {0}}, {{0}, {0}, {0}}, {0}, 0, 0};
    return d;
}

/* Adds a cell; scale: the factor of flux and value. */
TAGFLOW_FN void dispersion_add(struct dispersion *d, const double flux[3], const double velocity[3],
                               double value, double scale)
{
    const double sane = 1e6; /* exact_add takes up to 2^22 */
    int good = (value * scale < sane) & (value * scale > -sane);
    for (int a = 0; a < 3; a++)
        good &= (flux[a] * scale < sane) & (flux[a] * scale > -sane) & (velocity[a] < FLOW_SANE) &
                (velocity[a] > -FLOW_SANE);
    d->cells++;
    if (!good) {
        d->bad++;
        return;
    }
    for (int a = 0; a < 3; a++) {
        exact_add(&d->flux[a], flux[a] * scale);
        exact_add(&d->velocity[a], velocity[a]);
    }
    exact_add(&d->value, value * scale);
}

TAGFLOW_FN void dispersion_join(struct dispersion *d, const struct dispersion *other)
{
    for (int a = 0; a < 3; a++) {
        d->flux[a].units += other->flux[a].units;
        d->velocity[a].units += other->velocity[a].units;
    }
    d->value.units += other->value.units;
    d->cells += other->cells;
    d->bad += other->bad;
}

/* Sums over the links of a face, a patch or a body: of what enters, and of what leaves, as positive
 * terms. Their difference can be far smaller than either. */
struct heat {
    struct wide_sum in, out;
    int64_t links;
    int64_t bad; /* links that were left out */
};

TAGFLOW_FN struct heat heat_none(void)
{
    const struct heat h = {{{0}}, {{0}}, 0, 0};
    return h;
}

/* Adds a term: positive if it enters the fluid. A worker adds at most 2^30 between two calls of
 * heat_carry. */
TAGFLOW_FN void heat_add(struct heat *h, double x)
{
    const double sane = 1e9; /* wide_add takes up to 2^31 */
    if (!((x < sane) & (x > -sane)))
        h->bad++;
    else if (x >= 0)
        wide_add(&h->in, x);
    else
        wide_add(&h->out, -x);
}

TAGFLOW_FN void heat_carry(struct heat *h)
{
    wide_carry(&h->in);
    wide_carry(&h->out);
}

TAGFLOW_FN void heat_join(struct heat *h, const struct heat *other)
{
    struct heat carried = *other;
    heat_carry(&carried);
    wide_join(&h->in, &carried.in);
    wide_join(&h->out, &carried.out);
    h->links += other->links;
    h->bad += other->bad;
}

#endif
