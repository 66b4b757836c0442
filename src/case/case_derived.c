/* What follows from a case: derived numbers for the log, and advice. */
#include <math.h>
#include <stdio.h>

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
    for (int i = 0; i < c->zone_count; i++)
        fastest = fmax(fastest, magnitude(c->zones[i].sponge.velocity));
    if (c->flow_rate.given)
        fastest = fmax(fastest, fabs(c->flow_rate.velocity));
    return fastest;
}

/* The speed of sound is 1/sqrt(3). */
static double mach(double velocity)
{
    return velocity * sqrt(3.0);
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
    /* viscosity in lattice units goes with dt / dx^2, velocity with dt / dx */
    const double tau = case_tau(c), over = tau - 0.5;
    say("dt: the velocity %g m/s is %g cells a step, Mach %g", velocity * dx / dt, velocity,
        mach(velocity));
    say("  half of dt would make Mach %g and tau %g for twice the steps; half of dx at the same "
        "Mach "
        "tau %g for 16 times the work",
        mach(velocity) / 2, 0.5 + over / 2, 0.5 + 2 * over);
}

void case_say_derived(const struct flow_case *c)
{
    const double tau = case_tau(c);
    const double velocity = c->fluid.velocity > 0 ? c->fluid.velocity : fastest_velocity(c);
    say("grid: %d x %d x %d = %.0f cells, %lld steps", c->cells[0], c->cells[1], c->cells[2],
        (double)c->cells[0] * c->cells[1] * c->cells[2], (long long)c->run.steps);
    if (c->units.given)
        say_physical(c, velocity);
    say("relaxation: viscosity %g, tau %g, omega %g", c->fluid.viscosity, tau, 1 / tau);
    if (velocity > 0)
        say("Mach: %g (velocity %g)", mach(velocity), velocity);
    if (c->fluid.reynolds > 0)
        say("Reynolds: %g (velocity %g, length %g)", c->fluid.reynolds, c->fluid.velocity,
            c->fluid.length);
}

/* A finer grid at the same Mach number raises tau - 1/2 with the cells along a length. */
static void finer_text(const struct flow_case *c, double times, char text[96])
{
    if (c->units.given)
        snprintf(text, 96, "a finer grid, units.dx %.2g m at the same Mach number,",
                 c->units.dx / times);
    else
        snprintf(text, 96, "a finer grid");
}

/* What docs/physics.md measures ("Where operators fail"). BGK and TRT fail in layers that are not
 * resolved: with velocity / viscosity, the Reynolds number of a cell, at 78 there is noise or TRT
 * diverges, at 157 both diverge, at 39 neither does; a subgrid model takes up what they do not.
 * Where no velocity is known tau stands for it. Raw and central moments let short waves grow even
 * in a fluid at rest, whatever the flow is. */
static void warn_unstable(const struct flow_case *c)
{
    static const double least_tau = 0.505, most_cell = 50;
    const enum collision collision = c->solver.collision;
    const double tau = case_tau(c), cell = fastest_velocity(c) / c->fluid.viscosity;
    const double times = cell > 0 ? cell / most_cell : (least_tau - 0.5) / (tau - 0.5);
    char finer[96], why[64] = "";
    finer_text(c, cell > 0 ? times : fmax(times, 1), finer);
    if (cell > 0)
        snprintf(why, sizeof why, ", the Reynolds number of a cell %.3g", cell);
    if ((collision == COLLISION_mrt || collision == COLLISION_central) && tau < least_tau)
        warn("tau is %g: with %s short waves grow below %g, even at rest (take solver.collision "
             "%s or a larger viscosity)",
             tau, collision == COLLISION_mrt ? "mrt" : "central", least_tau,
             collision == COLLISION_mrt ? "hermite" : "central_hermite");
    if (times <= 1 || c->solver.subgrid != SUBGRID_none)
        return;
    if (collision == COLLISION_trt && c->solver.magic > 0.01)
        warn("tau is %g%s: TRT with magic %g is unstable there, near 1/2, where layers get thin "
             "(take solver.collision rr or cumulant, solver.magic 1e-3, %s or a larger viscosity)",
             tau, why, c->solver.magic, finer);
    else if (collision == COLLISION_trt || collision == COLLISION_bgk)
        warn("tau is %g%s: the flow may become noisy or unstable where layers get thin "
             "(take solver.collision rr or cumulant, %s or a larger viscosity)",
             tau, why, finer);
}

static bool has_interpolated_wall(const struct flow_case *c)
{
    for (int i = 0; i < c->body_count; i++)
        if (c->bodies[i].wall == BODY_WALL_interpolated)
            return true;
    return false;
}

/* The term of an interpolated wall that makes plane flows exact takes inertia's part of the
 * gradient of the pressure for a curvature of the flow (docs/bodies.md, "How many cells"): with TRT
 * the velocity of the wall is off by a share of the fluid's beside it that grows as magic times the
 * Reynolds number of a cell. */
static void warn_surfaces(const struct flow_case *c)
{
    static const double most_cell = 5, of_magic = 3.0 / 16;
    const double cell = fastest_velocity(c) / c->fluid.viscosity;
    const double times = cell * c->solver.magic / (most_cell * of_magic);
    char finer[96];
    if (c->solver.collision != COLLISION_trt || times <= 1 || !has_interpolated_wall(c))
        return;
    finer_text(c, times, finer);
    warn("the Reynolds number of a cell is %.3g, above %.3g: with magic %g interpolated walls leak "
         "there, and forces across the stream are wrong (take %s or a larger viscosity)",
         cell, cell / times, c->solver.magic, finer);
}

static void warn_tau(const struct flow_case *c)
{
    const double tau = case_tau(c);
    warn_unstable(c);
    if (tau > 2 && c->solver.collision == COLLISION_bgk)
        warn("tau is %g: BGK is inaccurate above 2, at walls most "
             "(take solver.collision trt, or a smaller viscosity and velocity)",
             tau);
}

/* What goes through an opening by its own velocity, along its normal axis. */
static double through(const struct case_face *face, int axis)
{
    return face->kind == FACE_velocity || face->kind == FACE_wall ? face->velocity[axis] : 0;
}

static bool lets_out(const struct case_face *face)
{
    return face->kind == FACE_pressure || face->kind == FACE_outflow ||
           face->kind == FACE_nonreflecting;
}

/* What goes in through one face surely leaves by the other one. */
static bool is_balanced(const struct case_face pair[2], int axis)
{
    const double in = through(&pair[0], axis), out = through(&pair[1], axis);
    if (in == 0 && out == 0)
        return true;
    return in == out && pair[0].kind == pair[1].kind && pair[0].profile == pair[1].profile &&
           pair[0].power == pair[1].power && pair[0].checksum == pair[1].checksum &&
           pair[0].signal.kind == SIGNAL_constant && pair[1].signal.kind == SIGNAL_constant;
}

/* Without a face that gives the pressure a hold, mass is only kept by velocities that agree. */
static void warn_mass(const struct flow_case *c)
{
    bool balanced = true;
    for (int f = 0; f < 6; f++)
        if (lets_out(&c->faces[f]))
            return;
    for (int i = 0; i < c->patch_count; i++) {
        const struct case_patch *p = &c->patches[i];
        if (lets_out(&p->opening))
            return;
        balanced = balanced && through(&p->opening, p->face / 2) == 0;
    }
    for (int a = 0; a < 3; a++)
        balanced = balanced && is_balanced(&c->faces[2 * a], a);
    if (!balanced)
        warn("velocities are given on faces, and none lets mass go as it must: the density drifts "
             "unless what comes in is what goes out (make one pressure, outflow or nonreflecting)");
}

/* p = rho / 3: a density far from 1 drives a flow that is far too fast. */
static void warn_density(const struct case_face *face, const char *name)
{
    const double distance =
        fabs(face->density - 1) * (face->kind == FACE_pressure ? signal_peak(&face->signal) : 1);
    if ((face->kind == FACE_pressure || face->kind == FACE_nonreflecting) && distance > 0.05)
        warn("the density of %s comes as far as %g from 1: the flow is treated as one of constant "
             "density (keep it below 0.05; with a smaller dt pressures are smaller in lattice "
             "units)",
             name, distance);
}

/* fp16 rounds each population to 2^-11 of itself at every step, of which what the force adds in a
 * steady flow is a small part (docs/physics.md, "Precision"). */
static void warn_storage(const struct flow_case *c)
{
    static const double share = 1e-4, worth_telling = 0.01;
    const double *const g = c->acceleration;
    const double speed = fastest_velocity(c), push = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (c->solver.storage != PRECISION_fp16 || !(push > 0) || speed * share <= worth_telling * push)
        return;
    warn(
        "solver.storage fp16 rounds populations to 2^-11 of themselves: where a force holds a flow "
        "steady, velocities are off by about %.2g %% (1e-4 u / g; take fp32, or a larger dt)",
        100 * share * speed / push);
}

void case_warn(const struct flow_case *c)
{
    const double highest = mach(fastest_velocity(c));
    char smaller[96] = "";
    if (c->units.given)
        snprintf(smaller, sizeof smaller, ", units.dt %.2g s, which makes tau %.4g",
                 c->units.dt * 0.15 / highest, 0.5 + (case_tau(c) - 0.5) * 0.15 / highest);
    if (highest > 0.15)
        warn("Mach is %.3g: errors from compressibility grow with its square "
             "(below 0.15: take velocities under %.2g%s)",
             highest, 0.15 / sqrt(3.0), smaller);
    warn_tau(c);
    warn_storage(c);
    warn_surfaces(c);
    warn_mass(c);
    for (int f = 0; f < 6; f++)
        warn_density(&c->faces[f], face_name(f));
    for (int i = 0; i < c->patch_count; i++)
        warn_density(&c->patches[i].opening, c->patches[i].name);
}
