/* Checks for relaxation times that are too large; their effects: docs/lab/large_tau.md. */
#include <math.h>
#include <stdio.h>

#include "base/message.h"
#include "case/sections.h"

/* Decimals that show tau - 1/2 to three digits. */
static int decimals(double tau)
{
    const double over = fabs(tau - 0.5);
    return over > 0 && over < 1 ? (int)fmin(14, 2 + ceil(-log10(over))) : 0;
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
static double settling(double tau)
{
    return 40 * tau;
}

/* Cells of the channel by which walls are judged. */
#define CHANNEL 16

/* Relative excess of the flow rate of a plane channel of so many cells; only the walls cause it
 * (Ginzburg, d'Humieres, Phys. Rev. E 68:066614, 2003). */
static double channel_error(const struct flow_case *c, double tau, double cells)
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
static bool is_walls_fault(const struct flow_case *c)
{
    return has_walls(c) && collision_odd_rate(c->solver.collision) != ODD_magic;
}

/* A level halves the width of its cells and their steps: the viscosity doubles, in its units. */
static enum status check_level(const struct reader *r, const struct flow_case *c, int level)
{
    const struct node *const fluid = node_get(r->document->root, "fluid");
    const struct node *n = node_get(fluid, "viscosity");
    const double viscosity = ldexp(c->fluid.viscosity, level), tau = 3 * viscosity + 0.5;
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
                       tau, on, viscosity, settling(tau), most, remedy);
    if (is_walls_fault(c) && channel_error(c, tau, CHANNEL) > 1)
        return fail_at(r->document, n->at,
                       "tau is %.6g%s: with collision %s walls are so far off that a channel of 16 "
                       "cells would let through %.3g times as much as it should (take "
                       "solver.collision trt, or %s)",
                       tau, on, key_collisions[c->solver.collision],
                       1 + channel_error(c, tau, CHANNEL),
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

/* Velocities come out too fast by the share that the density falls. */
static void warn_friction(const struct flow_case *c)
{
    static const double most = 0.05, creeping = 1;
    const double change = driven_density(c), times = sqrt(most / change);
    const double velocity = case_fastest_velocity(c);
    const double reynolds = velocity * c->fluid.length / c->fluid.viscosity;
    char smaller[96] = "a smaller viscosity and velocity", creeps[128] = "", step[TIME_STEP_TEXT];
    if (!(change > most))
        return;
    if (c->units.given)
        snprintf(smaller, sizeof smaller, "a smaller time step, %s",
                 time_step_text(c, times, step));
    if (reynolds > 0 && reynolds < creeping)
        snprintf(creeps, sizeof creeps,
                 "; or, as creeping flow does not depend on it, a viscosity %.0f times smaller",
                 ceil(fmin(1 / (times * times), creeping / reynolds)));
    warn("friction takes about %.2g of the density between the faces, as p = rho / 3 and the "
         "viscosity is %.3g: the flow gets faster by that share (keep it below %g: %s%s)",
         change, c->fluid.viscosity, most, smaller, creeps);
}

/* Does something drive a flow along the axis: openings, or a force through periodic faces? */
static bool flows_along(const struct flow_case *c, int axis)
{
    bool flows = c->faces[2 * axis].kind == FACE_periodic &&
                 (c->acceleration[axis] != 0 || (c->flow_rate.given && c->flow_rate.axis == axis));
    for (int k = 0; k < case_openings(c); k++)
        flows =
            flows || (case_opening_side(c, k) / 2 == axis && face_open(case_opening(c, k)->kind));
    return flows;
}

/* Few cells between two walls of the box, along which something flows. The velocities in the cells'
 * centres take 1 / (2 n^2) more through a cross-section than the parabola, beside the error of the
 * walls (docs/physics.md, "Few cells between walls"). */
static void warn_few(const struct flow_case *c)
{
    static const int least = 8;
    for (int a = 0; a < 3 && c->levels == 1; a++) {
        const int n = c->cells[a];
        const double error = channel_error(c, case_tau(c), n) + 0.5 / n / n;
        if (n >= least || c->faces[2 * a].kind != FACE_wall ||
            c->faces[2 * a + 1].kind != FACE_wall ||
            !(flows_along(c, (a + 1) % 3) || flows_along(c, (a + 2) % 3)))
            continue;
        warn("%d cell%s between the walls along %s: with %s the flow rate of a plane channel would "
             "be off by %+.2g %%, of other flows by more (take %d cells at least)",
             n, n == 1 ? "" : "s", key_axes[a], key_collisions[c->solver.collision], 100 * error,
             least);
        return;
    }
}

void tau_warn(const struct flow_case *c)
{
    static const double worth_telling = 0.05, large = 10, pressures = 0.5;
    warn_friction(c);
    warn_few(c);
    const double tau = case_tau(c), error = channel_error(c, tau, CHANNEL);
    const double fastest = case_fastest_velocity(c);
    if (is_walls_fault(c) && error > worth_telling)
        warn("tau is %.4g: with %s walls are off, a channel of 16 cells lets through %.2g %% too "
             "much (take solver.collision trt, or a smaller viscosity and velocity)",
             tau, key_collisions[c->solver.collision], 100 * error);
    if (tau > large && (double)c->run.steps < settling(tau))
        warn("tau is %.4g: a flow takes some %.2g steps to settle, the run has %lld (a smaller "
             "viscosity and velocity take fewer)",
             tau, settling(tau), (long long)c->run.steps);
    if (tau > 1 && fastest * tau > pressures)
        warn("tau is %.4g and the velocity %.3g: pressure differences of so viscous a flow "
             "change the density (keep velocity times tau below %g: a smaller viscosity and "
             "velocity)",
             tau, fastest, pressures);
}
