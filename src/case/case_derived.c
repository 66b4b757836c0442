/* What follows from a case: derived numbers for the log, and advice. */
#include <math.h>

#include "base/message.h"
#include "case/case.h"

static double magnitude(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The fastest thing that the case sets; 0 when it sets none. */
static double fastest_velocity(const struct flow_case *c)
{
    double fastest = fmax(c->fluid.velocity, c->initial.amplitude);
    fastest = fmax(fastest, magnitude(c->initial.velocity));
    for (int f = 0; f < 6; f++)
        fastest = fmax(fastest, face_speed(&c->faces[f]));
    for (int i = 0; i < c->patch_count; i++)
        fastest = fmax(fastest, face_speed(&c->patches[i].opening));
    return fastest;
}

/* The speed of sound is 1/sqrt(3). */
static double mach(double velocity)
{
    return velocity * sqrt(3.0);
}

static void say_physical(const struct flow_case *c)
{
    const double dx = c->units.dx, dt = c->units.dt;
    say("units: dx %g m, dt %g s, density %g kg/m3", dx, dt, c->units.density);
    say("box: %g x %g x %g m, duration %g s", c->cells[0] * dx, c->cells[1] * dx, c->cells[2] * dx,
        (double)c->run.steps * dt);
    say("physical: viscosity %g m2/s, lattice velocity 1 is %g m/s",
        c->fluid.viscosity * dx * dx / dt, dx / dt);
}

void case_say_derived(const struct flow_case *c)
{
    const double tau = case_tau(c);
    const double velocity = c->fluid.velocity > 0 ? c->fluid.velocity : fastest_velocity(c);
    say("grid: %d x %d x %d = %.0f cells, %lld steps", c->cells[0], c->cells[1], c->cells[2],
        (double)c->cells[0] * c->cells[1] * c->cells[2], (long long)c->run.steps);
    if (c->units.given)
        say_physical(c);
    say("relaxation: viscosity %g, tau %g, omega %g", c->fluid.viscosity, tau, 1 / tau);
    if (velocity > 0)
        say("Mach: %g (velocity %g)", mach(velocity), velocity);
    if (c->fluid.reynolds > 0)
        say("Reynolds: %g (velocity %g, length %g)", c->fluid.reynolds, c->fluid.velocity,
            c->fluid.length);
}

static void warn_tau(const struct flow_case *c)
{
    const double tau = case_tau(c);
    if (tau < 0.505 && c->solver.collision == COLLISION_trt && c->solver.magic > 0.01)
        warn("tau is %g, near 1/2: TRT with magic %g is less stable there "
             "(take solver.magic 1e-3 to 1e-6, a finer grid or a larger viscosity)",
             tau, c->solver.magic);
    else if (tau < 0.505)
        warn("tau is %g, near 1/2: the flow may become unstable "
             "(take a finer grid or a larger viscosity%s)",
             tau, c->solver.collision == COLLISION_bgk ? ", or solver.collision trt" : "");
    if (tau > 2 && c->solver.collision == COLLISION_bgk)
        warn("tau is %g: BGK is inaccurate above 2, at walls most "
             "(take solver.collision trt, or a smaller viscosity and velocity)",
             tau);
}

void case_warn(const struct flow_case *c)
{
    const double highest = mach(fastest_velocity(c));
    if (highest > 0.15)
        warn("Mach is %.3g: errors from compressibility grow with its square "
             "(below 0.15: take velocities under %.2g%s)",
             highest, 0.15 / sqrt(3.0), c->units.given ? ", that is a smaller dt" : "");
    warn_tau(c);
}
