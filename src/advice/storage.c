/* Rounding of populations in fp16. */
#include <math.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/sections.h"

/* fp16 rounds each population by up to 2^-11 of itself at every step. In a steady flow the force
 * adds only a small part of that per step (docs/physics.md, "Precision"). */
void advise_storage(const struct flow_case *c)
{
    static const double share = 1e-4, worth_telling = 0.01;
    const double *const g = c->acceleration;
    const double speed = case_fastest_velocity(c),
                 push = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (c->solver.storage != PRECISION_fp16 || !(push > 0) || speed * share <= worth_telling * push)
        return;
    warn(
        "fp16_force",
        "solver.storage fp16 rounds populations to 2^-11 of themselves: where a force holds a flow "
        "steady, velocities are off by about %.2g %% (1e-4 u / g; take fp32, or a larger dt)",
        100 * share * speed / push);
}

/* The same of a steady flow between walls that a velocity face drives: its corners and what is
 * separated settle in w^2 / viscosity steps (docs/physics.md, "Precision"). */
void advise_settling(const struct flow_case *c)
{
    static const double most = 1e4, most_reynolds = 1000; /* eddies shake the rounding off */
    bool walls = false;
    if (c->solver.storage != PRECISION_fp16)
        return;
    for (int a = 0; a < 3; a++)
        walls =
            walls || (c->faces[2 * a].kind == FACE_wall && c->faces[2 * a + 1].kind == FACE_wall);
    const double width = walls ? driven_width(c) : 0, viscosity = case_thinnest(c);
    if (width * width > most * viscosity &&
        case_fastest_velocity(c) * width < most_reynolds * viscosity)
        warn("fp16_settling",
             "solver.storage fp16 rounds populations to 2^-11 of themselves: a steady flow between "
             "these "
             "walls takes some %.2g steps to settle, and stops before; where it separates it is "
             "off by "
             "percents (take fp32)",
             width * width / viscosity);
}
