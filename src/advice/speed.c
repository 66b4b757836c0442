/* Velocities and forces that are too large. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/remedy.h"
#include "base/message.h"
#include "case/keys.h"
#include "case/sections.h"

void advise_mach(const struct flow_case *c)
{
    const double most = ADVICE_MACH;
    const double highest = sqrt(3.0) * case_fastest_velocity(c);
    const bool estimated = highest > 0 && highest == sqrt(3.0) * c->driven.velocity;
    const bool bound = c->driven.by != DRIVEN_friction && c->driven.by != DRIVEN_swing;
    char smaller[REMEDY + 2] = "", text[REMEDY];
    if (estimated && !c->units.given)
        snprintf(smaller, sizeof smaller, " by a smaller force or pressure");
    if (c->units.given)
        snprintf(smaller, sizeof smaller, ", %s", slower_text(c, most / highest, text));
    if (highest > most)
        warn("mach",
             "Mach is %.3g%s: errors from compressibility grow with its square "
             "(below %g: take velocities under %.2g%s%s)",
             highest,
             !estimated ? ""
             : bound    ? " by the estimated velocity, which is a bound"
                        : " by the estimated velocity",
             most, most / sqrt(3.0), smaller,
             estimated && bound ? "; or give fluid.velocity, if the flow is slower" : "");
}

/* A force or pressures that no wall balances: the velocity grows all the time. */
void advise_free(const struct flow_case *c)
{
    const double most = MACH_MAX / sqrt(3.0), steps = most / c->driven.acceleration;
    if (c->driven.free && steps < (double)c->run.steps)
        warn("free_fall",
             "no wall and no body holds the flow back: it is faster by %.3g in each step, and "
             "reaches Mach %g after about %.0f steps (give faces walls, or take force.flow_rate)",
             c->driven.acceleration, MACH_MAX, steps);
}

/* A force that changes the density, p = rho / 3, much across the box; or that is large at all. */
void advise_force(const struct flow_case *c)
{
    static const double most_density = 0.05, most = 0.01;
    const double peak = signal_peak(&c->force_signal);
    for (int a = 0; a < 3; a++) {
        const double g = fabs(c->acceleration[a]) * peak, change = 3 * g * c->cells[a];
        const bool bounded = c->faces[2 * a].kind != FACE_periodic;
        const char *const remedy =
            c->units.given ? smaller_step(c) : "a smaller one, with a smaller viscosity";
        if (bounded && change > most_density)
            warn("force_density",
                 "force.acceleration is %.3g cells per step^2 along %s: at rest the density "
                 "changes by %.2g across the box, above %g (take %s; or leave gravity out where it "
                 "only "
                 "adds the hydrostatic pressure)",
                 g, key_axes[a], change, most_density, remedy);
        else if (g > most)
            warn("force_large",
                 "force.acceleration is %.3g cells per step^2 along %s, above %g: within %.0f "
                 "steps a fluid at rest is as fast as Mach 0.3 (take %s)",
                 g, key_axes[a], most, ceil(MACH_MAX / sqrt(3.0) / g), remedy);
    }
}
