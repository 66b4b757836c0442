/* Checks for relaxation times that are too large; their effects: docs/lab/large_tau.md. */
#include <math.h>
#include <stdio.h>

#include "base/message.h"
#include "case/case_law.h"
#include "case/limits.h"
#include "case/sections.h"

/* Decimals that show tau - 1/2 to three digits. */
static int decimals(double tau)
{
    const double over = fabs(tau - 0.5);
    return over > 0 && over < 1 ? (int)fmin(14, 2 + ceil(-log10(over))) : 0;
}

double case_tau(const struct flow_case *c)
{
    return 3 * case_thinnest(c) + 0.5;
}

const char *case_tau_text(char text[static 32], double tau, int digits)
{
    snprintf(text, 32, "%.*g", digits > decimals(tau) ? digits : decimals(tau), tau);
    return text;
}

/* 2 - omega is about 4 (tau - 1/2). */
const char *case_omega_text(char text[static 32], double tau)
{
    const int least = 6, needed = decimals(tau) + 1;
    snprintf(text, 32, "%.*g", least > needed ? least : needed, 1 / tau);
    return text;
}

/* Largest tau. Above it a flow takes half a million steps to settle, and rounding spoils the
 * result. */
static double most_tau(const struct flow_case *c)
{
    return c->solver.storage == PRECISION_fp16 ? 300 : 10000;
}

/* The product (tau+ - 1/2)(tau- - 1/2) that decides where half-way walls are. tau+ = tau; tau- is
 * the relaxation time of the third moments, 1 where the operator discards them. */
static double product_of(const struct flow_case *c, double tau)
{
    switch (collision_odd_rate(c->solver.collision)) {
    case ODD_shear:
        return (tau - 0.5) * (tau - 0.5);
    case ODD_magic:
        return c->solver.magic;
    case ODD_one:
        return (tau - 0.5) * 0.5;
    default:
        return (tau - 0.5) * (1 / c->solver.rates.third - 0.5);
    }
}

/* Steps after which little of the initial flow is left; a quarter of them is not enough. */
double limits_settling(double tau)
{
    return 40 * tau;
}

/* Relative excess of the flow rate of a plane channel of so many cells; only the walls cause it
 * (Ginzburg, d'Humieres, Phys. Rev. E 68:066614, 2003). */
double limits_channel_error(const struct flow_case *c, double tau, double cells)
{
    return 1.5 * (16.0 / 3 * product_of(c, tau) - 1) / (cells * cells);
}

static bool has_walls(const struct flow_case *c)
{
    bool walls = c->body_count > 0;
    for (int f = 0; f < 6; f++)
        walls = walls || c->faces[f].kind == FACE_wall;
    return walls;
}

/* The error of walls grows with tau, unless the operator holds magic. */
bool limits_walls_fault(const struct flow_case *c)
{
    return has_walls(c) && collision_odd_rate(c->solver.collision) != ODD_magic;
}

/* A level halves the width of its cells and their steps: the viscosity doubles, in its units. */
static enum status check_level(const struct reader *r, const struct flow_case *c, int level)
{
    const struct node *const fluid = node_get(r->document->root, "fluid");
    const struct node *n = node_get(fluid, "viscosity");
    const double viscosity = ldexp(case_thinnest(c), level), tau = 3 * viscosity + 0.5;
    const double most = most_tau(c);
    const char *const remedy = level            ? "take a coarser level, or a smaller viscosity"
                               : c->units.given ? "take a smaller units.dt"
                                                : "take a smaller viscosity";
    char on[32] = "";
    if (!n)
        n = node_get(fluid, "reynolds");
    if (level)
        snprintf(on, sizeof on, " on level %d", level);
    if (tau > most)
        return fail_at(r->document, n->at,
                       "tau is %.6g%s, the viscosity %.6g in lattice units: a flow would take some "
                       "%.2g steps to settle, and be rounded off (tau at most %g: %s)",
                       tau, on, viscosity, limits_settling(tau), most, remedy);
    if (limits_walls_fault(c) && limits_channel_error(c, tau, LIMITS_CHANNEL) > 1)
        return fail_at(r->document, n->at,
                       "tau is %.6g%s: with collision %s walls are so far off that a channel of 16 "
                       "cells would let through %.3g times as much as it should (take "
                       "solver.collision trt, or %s)",
                       tau, on, key_collisions[c->solver.collision],
                       1 + limits_channel_error(c, tau, LIMITS_CHANNEL),
                       level            ? "a coarser level"
                       : c->units.given ? smaller_step(c)
                                        : "a smaller viscosity");
    for (int k = 0; k < c->zone_count; k++) {
        const double there = 3 * ldexp(c->zones[k].viscosity, level) + 0.5;
        if (there > most)
            return fail_at(
                r->document,
                node_get(node_get(r->document->root, "regions"), c->zones[k].name)->key_at,
                "regions.%s: tau is %.6g there%s (at most %g: take a smaller viscosity%s)",
                c->zones[k].name, there, on, most, level ? ", or a coarser level" : "");
    }
    return STATUS_OK;
}

enum status tau_check(const struct reader *r, const struct flow_case *c)
{
    const enum status s = check_level(r, c, 0);
    return s || c->levels == 1 ? s : check_level(r, c, c->levels - 1);
}
