/* Sums over the cells of a plane, of the flow across it. */
#ifndef TAGFLOW_THROUGH_H
#define TAGFLOW_THROUGH_H

#include <math.h>

#include "domain/domain.h"
#include "exact.h"

struct through {
    struct exact_sum velocity, momentum, drho; /* of u across the plane, rho u, rho - 1 */
    int64_t fluid, bad;                        /* cells; bad: NaN or out of bounds, in no sum */
};

/* The same as numbers that ranks add. */
struct through_parts {
    int64_t velocity[3], momentum[3], drho[3], fluid, bad, failed;
};

/* This rank's part of the planes across an axis from at * thick on, `thick` of them. */
static inline struct box through_box(const struct domain *d, int axis, int at, int thick)
{
    int lo[3] = {0, 0, 0}, hi[3] = {d->cells[0], d->cells[1], d->cells[2]};
    lo[axis] = at * thick;
    hi[axis] = (at + 1) * thick;
    return domain_part(d, lo, hi);
}

/* Adds a fluid cell. */
static inline void through_add(struct through *t, double drho, double u)
{
    /* Larger values mean that the flow has diverged, and would overflow the sums. */
    const double sane = 1e5;
    t->fluid++;
    if (!(fabs(drho) < sane && fabs(u) < sane && fabs((1 + drho) * u) < sane)) {
        t->bad++;
        return;
    }
    exact_add(&t->velocity, u);
    exact_add(&t->momentum, (1 + drho) * u);
    exact_add(&t->drho, drho);
}

static inline struct through_parts through_split(const struct through *t, bool failed)
{
    struct through_parts parts = {.fluid = t->fluid, .bad = t->bad, .failed = failed};
    exact_split(&t->velocity, parts.velocity);
    exact_split(&t->momentum, parts.momentum);
    exact_split(&t->drho, parts.drho);
    return parts;
}

static inline struct through through_join(const struct through_parts *parts)
{
    return (struct through){.velocity = exact_join(parts->velocity),
                            .momentum = exact_join(parts->momentum),
                            .drho = exact_join(parts->drho),
                            .fluid = parts->fluid,
                            .bad = parts->bad};
}

#endif
