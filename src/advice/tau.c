/* Relaxation times that are too large, friction, few cells between walls. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/keys.h"
#include "case/limits.h"
#include "case/sections.h"

/* Velocities come out too fast by the share that the density falls. */
static void warn_friction(const struct flow_case *c)
{
    static const double most = 0.05, creeping = 1;
    const double change = driven_density(c), times = sqrt(most / change);
    const double velocity = case_fastest_velocity(c);
    const double reynolds = velocity * c->fluid.length / case_thinnest(c);
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
    warn("friction",
         "friction takes about %.2g of the density between the faces, as p = rho / 3 and the "
         "viscosity is %.3g: the flow gets faster by that share (keep it below %g: %s%s)",
         change, case_thinnest(c), most, smaller, creeps);
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
        const double error = limits_channel_error(c, case_tau(c), n) + 0.5 / n / n;
        if (n >= least || c->faces[2 * a].kind != FACE_wall ||
            c->faces[2 * a + 1].kind != FACE_wall ||
            !(flows_along(c, (a + 1) % 3) || flows_along(c, (a + 2) % 3)))
            continue;
        warn("channel_coarse",
             "%d cell%s between the walls along %s: with %s the flow rate of a plane channel would "
             "be off by %+.2g %%, of other flows by more (take %d cells at least)",
             n, n == 1 ? "" : "s", key_axes[a], key_collisions[c->solver.collision], 100 * error,
             least);
        return;
    }
}

void advise_tau(const struct flow_case *c)
{
    static const double worth_telling = 0.05, large = 10, pressures = 0.5;
    warn_friction(c);
    warn_few(c);
    const double tau = case_tau(c), error = limits_channel_error(c, tau, LIMITS_CHANNEL);
    const double fastest = case_fastest_velocity(c);
    if (limits_walls_fault(c) && error > worth_telling)
        warn("tau_walls",
             "tau is %.4g: with %s walls are off, a channel of 16 cells lets through %.2g %% too "
             "much (take solver.collision trt, or a smaller viscosity and velocity)",
             tau, key_collisions[c->solver.collision], 100 * error);
    if (tau > large && (double)c->run.steps < limits_settling(tau))
        warn("tau_settling",
             "tau is %.4g: a flow takes some %.2g steps to settle, the run has %lld (a smaller "
             "viscosity and velocity take fewer)",
             tau, limits_settling(tau), (long long)c->run.steps);
    if (tau > 1 && fastest * tau > pressures)
        warn("tau_density",
             "tau is %.4g and the velocity %.3g: pressure differences of so viscous a flow "
             "change the density (keep velocity times tau below %g: a smaller viscosity and "
             "velocity)",
             tau, fastest, pressures);
}
