/* Collision operators: one line in COLLISION_LIST and one function collide_<name> each, in the
 * headers of collision/. The line holds all that other files need to know about an operator.
 *
 * Populations are shifted: f_i - w_i. The density's deviation and the momentum are sums of shifted
 * populations; forming rho - 1 would lose digits to rounding. Operators add increments to f, so
 * that rounding errors scale with the distance from equilibrium. */
#ifndef TAGFLOW_COLLISION_H
#define TAGFLOW_COLLISION_H

#include "lattice.h"
#include "platform.h"
#include "slot.h"

/* Free parameters of a case beside the viscosity: TRT's magic parameter; the rates of the trace of
 * the second moments, and of the third and fourth moments. */
enum {
    FREE_none = 0,
    FREE_magic = 1,
    FREE_bulk = 2,
    FREE_third = 4,
    FREE_fourth = 8,
    FREE_rates = FREE_bulk | FREE_third | FREE_fourth,
};

/* Variables that an operator relaxes: flags for those of collision/moment_space.h; or pairs of
 * opposite populations, with an equilibrium of second order. */
enum {
    SPACE_raw = 0,
    /* Fourth moments relative to the second ones. With 19 velocities H_xxyy and H_zz overlap: sum_i
     * w_i H_xxyy H_zz = -1/27. H_xxyy + H_zz/6 is orthogonal to all moments of second order. So
     * N_xxyy - (N_xx + N_yy)/3 + N_zz/6 vanishes if only the stress is off equilibrium. Without
     * N_zz/6 short waves grow in a fluid at rest (by 5 % a step near tau = 1/2 if the bulk rate is
     * omega, for any tau below 0.515). */
    SPACE_hermite = 1,
    SPACE_central = 2,     /* moments of c - u */
    SPACE_cumulant = 4,    /* fourth moments relative to products of second ones */
    SPACE_regularised = 8, /* rates of third and fourth moments are 1: less work */
    SPACE_pairs = 16,
};

/* X(name, FREE_: free, SPACE_: space, class of registers of its GPU steps (a line of CUDA_STEP_LIST
 * in cuda/kernels.h), meaning) */
/* clang-format off */
#define COLLISION_LIST(X)                                                                          \
    X(bgk, FREE_none, SPACE_pairs, pairs,                                                          \
      "one relaxation time (Bhatnagar, Gross, Krook 1954)")                                        \
    X(trt, FREE_magic, SPACE_pairs, pairs,                                                         \
      "two relaxation times, the odd one from solver.magic (Ginzburg et al. 2008)")                \
    X(mrt, FREE_rates, SPACE_raw, moments, "raw moments")                                          \
    X(hermite, FREE_rates, SPACE_hermite, moments, "Hermite moments")                              \
    X(central, FREE_rates, SPACE_central, central, "central moments")                              \
    X(central_hermite, FREE_rates, SPACE_central | SPACE_hermite, central,                         \
      "central Hermite moments")                                                                   \
    X(cumulant, FREE_rates, SPACE_central | SPACE_hermite | SPACE_cumulant, central,               \
      "cumulants (Geier et al. 2015)")                                                             \
    X(gauss_hermite, FREE_bulk, SPACE_hermite | SPACE_regularised, moments,                        \
      "regularised: stress only (Latt, Chopard 2006)")                                             \
    X(rr, FREE_bulk, SPACE_central | SPACE_hermite | SPACE_regularised, moments,                   \
      "recursive regularised (Malaspinas 2015)")
/* clang-format on */

enum collision {
#define X(name, ...) COLLISION_##name,
    COLLISION_LIST(X)
#undef X
        COLLISIONS,
    COLLISION_auto = COLLISIONS, /* the case asks the program to choose one */
    /* `auto` selects one of these two: */
    COLLISION_accurate = COLLISION_trt, /* position of walls independent of viscosity */
    COLLISION_robust = COLLISION_rr,    /* stable up to the highest cell Reynolds number */
};

/* Properties of operators. */

/* Free parameters: bits FREE_. `auto` has those of `trt`: a case with a magic parameter gets `trt`.
 */
TAGFLOW_FN unsigned collision_free(int collision)
{
    switch (collision) {
#define X(name, free, ...)                                                                         \
    case COLLISION_##name:                                                                         \
        return free;
        COLLISION_LIST(X)
#undef X
    default:
        return FREE_magic;
    }
}

TAGFLOW_FN int collision_space(int collision)
{
    switch (collision) {
#define X(name, free, space, ...)                                                                  \
    case COLLISION_##name:                                                                         \
        return space;
        COLLISION_LIST(X)
#undef X
    default:
        return SPACE_raw;
    }
}

/* Does the operator relax pairs of opposite populations? */
TAGFLOW_FN int collision_on_pairs(int collision)
{
    return (collision_space(collision) & SPACE_pairs) != 0;
}

/* Do short waves grow at low viscosity even in a fluid at rest? They do if the fourth moments are
 * not Hermite moments. */
TAGFLOW_FN int collision_noisy_at_rest(int collision)
{
    return (collision_space(collision) & (SPACE_pairs | SPACE_hermite)) == 0;
}

/* The operator to use instead of one that is noisy at rest: the same with Hermite moments. */
TAGFLOW_FN int collision_quiet_at_rest(int collision)
{
    for (int other = 0; other < COLLISIONS; other++)
        if (collision_space(other) == (collision_space(collision) | SPACE_hermite))
            return other;
    return COLLISION_robust;
}

/* The relaxation rate of odd moments that carry no momentum. */
enum odd_rate {
    ODD_shear, /* the rate of shear stress */
    ODD_magic, /* from the magic parameter */
    ODD_third, /* the rate of third moments */
    ODD_one,   /* relaxed to equilibrium */
};

TAGFLOW_FN int odd_rate(unsigned free, int space)
{
    return free & FREE_magic           ? ODD_magic
           : free & FREE_third         ? ODD_third
           : space & SPACE_regularised ? ODD_one
                                       : ODD_shear;
}

TAGFLOW_FN int collision_odd_rate(int collision)
{
    switch (collision) {
#define X(name, free, space, ...)                                                                  \
    case COLLISION_##name:                                                                         \
        return odd_rate(free, space);
        COLLISION_LIST(X)
#undef X
    default:
        return ODD_third;
    }
}

/* For a step over cells of several types: each cell's type names its operator. */
enum { COLLISION_mixed = -1 };

#ifdef TAGFLOW_STORAGE /* the rest is for kernels */

#include "collision/moment_space.h"
#include "collision/pairs.h"
#include "collision/parameters.h"
#include "subgrid.h"

/* f -> out by one operator. */
TAGFLOW_FN void collide(int collision, const real f[Q], real out[Q], struct moments m,
                        struct collision_parameters p, struct rates r, int forced)
{
    switch (collision) {
#define X(name, ...)                                                                               \
    case COLLISION_##name:                                                                         \
        collide_##name(f, out, m, p, r, forced);                                                   \
        break;
        COLLISION_LIST(X)
#undef X
    default: /* not an operator */
        for (int i = 0; i < Q; i++)
            out[i] = f[i];
        break;
    }
}

#endif
#endif
