/* Numbers derived from a case for the log. */
#include <math.h>
#include <stdio.h>

#include "base/message.h"
#include "case/case_law.h"
#include "case/case_resist.h"
#include "case/keys.h"
#include "case/sections.h"

double case_fastest_velocity(const struct flow_case *c)
{
    double fastest = fmax(c->fluid.velocity, initial_fastest(c));
    for (int k = 0; k < case_gates(c); k++)
        fastest = fmax(fastest, case_gate(c, k).speed);
    for (int i = 0; i < c->zone_count; i++)
        fastest = fmax(fastest, magnitude(c->zones[i].sponge.velocity));
    for (int i = 0; i < c->body_count; i++)
        fastest = fmax(fastest, c->bodies[i].speed);
    if (c->flow_rate.given)
        fastest = fmax(fastest, fabs(c->flow_rate.velocity));
    return fmax(fmax(fastest, scalars_velocity(c)), c->driven.velocity);
}

double case_cell_reynolds(const struct flow_case *c, int level)
{
    return ldexp(case_fastest_velocity(c) / case_thinnest(c), -level);
}

const char *smaller_step(const struct flow_case *c)
{
    return c->units.lattice > 0 ? "a smaller units.velocity.lattice" : "a smaller units.dt";
}

/* Two digits, rounded so that the remedy does not fall short: down if it is to be smaller. */
static double two_digits(double x, bool down)
{
    const double unit = pow(10, floor(log10(x)) - 1);
    return (down ? floor(x / unit * (1 + 1e-9)) : ceil(x / unit * (1 - 1e-9))) * unit;
}

const char *time_step_text(const struct flow_case *c, double times, char text[TIME_STEP_TEXT])
{
    if (c->units.lattice > 0)
        snprintf(text, TIME_STEP_TEXT, "units.velocity.lattice %.2g",
                 two_digits(c->units.lattice * times, times < 1));
    else
        snprintf(text, TIME_STEP_TEXT, "units.dt %.2g s",
                 two_digits(c->units.dt * times, times < 1));
    return text;
}

/* The speed of sound is 1/sqrt(3). */
static double mach(double velocity)
{
    return velocity * sqrt(3.0);
}

double case_density_error(const struct flow_case *c)
{
    const double highest = mach(case_fastest_velocity(c));
    double error = fmax(highest * highest / 2, driven_density(c));
    for (int k = 0; k < case_gates(c); k++)
        error = fmax(error, fabs(case_gate(c, k).drho));
    return error;
}

static void say_physical(const struct flow_case *c, double velocity)
{
    const double dx = c->units.dx, dt = c->units.dt;
    say("units: dx %g m, dt %g s, density %g kg/m3", dx, dt, c->units.density);
    say("box: %g x %g x %g m, duration %g s", c->cells[0] * dx, c->cells[1] * dx, c->cells[2] * dx,
        (double)c->run.steps * dt);
    say("physical: viscosity %g m2/s, lattice velocity 1 is %g m/s",
        c->fluid.viscosity * dx * dx / dt, dx / dt);
    if (c->fluid.length > 0)
        say("dx: the length %g m is %g cells", c->fluid.length * dx, c->fluid.length);
    if (!(velocity > 0))
        return;
    say("dt: the velocity %g m/s is %g cells a step, Mach %g", velocity * dx / dt, velocity,
        mach(velocity));
}

static void say_driven(const struct flow_case *c)
{
#define X(name, how, by) {how, by},
    static const struct {
        const char *how, *by;
    } estimates[] = {DRIVEN_LIST(X)};
#undef X
    const double velocity = c->driven.velocity;
    char physical[48] = "";
    if (c->units.given)
        snprintf(physical, sizeof physical, "%.3g m/s, ", velocity * c->units.dx / c->units.dt);
    if (velocity > 0)
        say("velocity: %s %s%.3g cells a step, estimated %s; the case names none (fluid.velocity "
            "takes its place)",
            estimates[c->driven.by].how, physical, velocity, estimates[c->driven.by].by);
}

void case_say_derived(const struct flow_case *c)
{
    const double tau = case_tau(c);
    const double velocity = case_fastest_velocity(c);
    char text[32], omega[32];
    say("grid: %d x %d x %d = %.0f cells%s, %lld steps", c->cells[0], c->cells[1], c->cells[2],
        (double)c->cells[0] * c->cells[1] * c->cells[2], c->levels > 1 ? " of level 0" : "",
        (long long)c->run.steps);
    if (c->units.given)
        say_physical(c, velocity);
    say_driven(c);
    if (c->solver.chosen) {
        const double cell = case_fastest_velocity(c) / case_thinnest(c);
        if (c->driven.free)
            say("collision auto: %s, as no wall bounds the velocity that the force drives",
                key_collisions[c->solver.collision]);
        else if (cell > 0)
            say("collision auto: %s, the Reynolds number of a cell is %.3g%s",
                key_collisions[c->solver.collision], cell,
                c->solver.subgrid == SUBGRID_none || c->solver.subgrid_given
                    ? ""
                    : "; with solver.subgrid {smagorinsky: {constant: 0.1}}, without which such "
                      "flows diverged or were not tested (subgrid: none for none)");
        else
            say("collision auto: %s, the case sets no velocity",
                key_collisions[c->solver.collision]);
    }
    say("relaxation: viscosity %g, tau %s, omega %s", case_thinnest(c), case_tau_text(text, tau, 6),
        case_omega_text(omega, tau));
    law_say(c);
    resist_say(c);
    if (velocity > 0)
        say("Mach: %g (velocity %g)", mach(velocity), velocity);
    scalars_say(c);
    refine_say(c);
    if (!(c->fluid.length > 0))
        return;
    if (c->fluid.reynolds > 0)
        say("Reynolds: %g (velocity %g, length %g)", c->fluid.reynolds, c->fluid.velocity,
            c->fluid.length);
    const double fastest = case_fastest_velocity(c);
    if (fastest > 1.001 * c->fluid.velocity)
        say("Reynolds by the largest velocity that the case sets: %g (velocity %g)",
            fastest * c->fluid.length / c->fluid.viscosity, fastest);
}
