/* Collision operators: one row in COLLISION_LIST and one function collide_<name> each, in the
 * headers of collision/.
 *
 * Populations are shifted (f_i - w_i), density and momentum are made of the shifted ones: the
 * deviation of the density is never formed as rho - 1, which would lose it to rounding. Operators
 * add increments to f, so that rounding in them scales with the distance from equilibrium. */
#ifndef TAGFLOW_COLLISION_H
#define TAGFLOW_COLLISION_H

#include "lattice.h"
#include "platform.h"
#include "slot.h"

/* What can be chosen beside the viscosity: TRT's magic parameter; rates of the trace of the second
 * moments, and of the third and fourth ones. */
enum {
    FREE_none = 0,
    FREE_magic = 1,
    FREE_bulk = 2,
    FREE_third = 4,
    FREE_fourth = 8,
    FREE_rates = FREE_bulk | FREE_third | FREE_fourth,
};

/* X(name, what is free, meaning) */
/* clang-format off */
#define COLLISION_LIST(X)                                                                         \
    X(bgk, FREE_none, "one relaxation time (Bhatnagar, Gross, Krook 1954)")                       \
    X(trt, FREE_magic, "two relaxation times, the odd one from solver.magic (Ginzburg et al. 2008)") \
    X(mrt, FREE_rates, "raw moments")                                                             \
    X(hermite, FREE_rates, "Hermite moments")                                                     \
    X(central, FREE_rates, "central moments")                                                     \
    X(central_hermite, FREE_rates, "central Hermite moments")                                     \
    X(cumulant, FREE_rates, "cumulants (Geier et al. 2015)")                                      \
    X(gauss_hermite, FREE_none, "regularised: stress only (Latt, Chopard 2006)")                  \
    X(rr, FREE_none, "recursive regularised (Malaspinas 2015)")
/* clang-format on */

enum collision {
#define X(name, free, meaning) COLLISION_##name,
    COLLISION_LIST(X)
#undef X
        COLLISIONS
};

/* For a step that serves cells of several rows: whatever the cell's own says. */
enum { COLLISION_mixed = -1, FORCED_mixed = -1, SUBGRID_mixed = -1 };

#ifdef TAGFLOW_STORAGE /* the rest is for kernels */

#include "collision/moment_space.h"
#include "collision/pairs.h"
#include "collision/parameters.h"
#include "subgrid.h"

/* f -> out by the operator of a cell's row. */
TAGFLOW_FN void collide(int collision, const real f[Q], real out[Q], struct moments m,
                        struct collision_parameters p, struct rates r, int forced)
{
    switch (collision) {
#define X(name, free, meaning)                                                                     \
    case COLLISION_##name:                                                                         \
        collide_##name(f, out, m, p, r, forced);                                                   \
        break;
        COLLISION_LIST(X)
#undef X
    default: /* no such row */
        for (int i = 0; i < Q; i++)
            out[i] = f[i];
        break;
    }
}

#endif
#endif
