/* Wrong flows that are finite; see sanity.h. */
#include "run/sanity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/keys.h"
#include "run/schedule.h"

/* Measured in 807 runs: correct ones had a share of at most 3e-3, wrong lids 0.20 to 0.73, wrong
 * outlets 0.14 and more. An impulsive start has 0.25 once, and its forces alternate for some
 * hundred steps. */
static const double warn_above = 0.02, wrong_above = 0.15, warn_force_above = 0.05;
/* Steps during which every check must find it. */
static const int64_t steps_velocity = 100, steps_force = 5000, steps_density = 5000;
/* Deviation of the density: a start may have the first one for a while. */
static const double most_density = 0.05, most_density_once = 0.3, most_mass = 0.01;
/* Change of the mass of a closed box: rounding makes at most 1e-5, in fp16 (docs/physics.md). */
static const double warn_mass = 1e-3, wrong_mass = 0.01;

/* Forces of the sampled steps, newest first. */
struct force_triple {
    double force[ALTERNATION_TIMES][3];
    int64_t above; /* step since which too much of the force alternates; -1: it does not */
};

/* Below this mean speed a flow may be rounding noise. A layer at rest whose buoyancy the pressure
 * balances keeps some of an acceleration of a step, which alternates for ever. */
static double slowest(const struct flow_case *c)
{
    const double noise = c->solver.storage == PRECISION_fp64   ? 1e-9
                         : c->solver.storage == PRECISION_fp32 ? 1e-6
                                                               : 1e-3;
    return c->scalar_count ? fmax(noise, 1e-3 * case_fastest_velocity(c)) : noise;
}

enum status sanity_create(struct sanity *s, const struct flow_case *c, struct grid *grid,
                          struct state *state)
{
    struct solver *const solver = &grid->level->solver;
    *s = (struct sanity){
        .c = c, .grid = grid, .solver = solver, .above = -1, .noisy = -1, .dense = -1};
    enum status status = alternation_create(&s->alternation, solver);
    s->forces = calloc((size_t)c->series_count + 1, sizeof *s->forces);
    if (!status && !s->forces)
        status = fail_machine("out of memory for forces");
    for (int k = 0; !status && k < c->series_count; k++)
        s->forces[k].above = -1;
    if (!status)
        status = state_add_numbers(state, "run/alternates",
                                   "step since which too much of the velocity alternates, -1: "
                                   "it does not",
                                   SAMPLE_int64, 1, &s->above);
    if (!status)
        status = state_add_numbers(state, "run/first_mass", "mass at the first step",
                                   SAMPLE_float64, 1, &s->first_mass);
    return status_agree(solver->domain->comm, status);
}

void sanity_destroy(struct sanity *s)
{
    alternation_destroy(&s->alternation);
    free(s->forces);
    *s = (struct sanity){0};
}

/* Steps from a sampled step to its check, 0 to 2; -1: the step is not sampled. There is no check if
 * a checkpoint is due between its samples, since a restart would not know the earlier ones. */
static int64_t before_look(const struct sanity *s, int64_t step)
{
    const int64_t every = s->c->check.every, cut = s->c->checkpoint.every;
    const int64_t left = every > 0 ? (every - step % every) % every : every;
    if (every < ALTERNATION_TIMES || left >= ALTERNATION_TIMES || step + left < ALTERNATION_TIMES)
        return -1;
    for (int64_t k = 1; k < ALTERNATION_TIMES; k++)
        if (schedule_due(step + left - k, cut))
            return -1;
    return left;
}

int64_t sanity_next(const struct sanity *s, int64_t step)
{
    const int64_t every = s->c->check.every;
    if (every < ALTERNATION_TIMES)
        return INT64_MAX;
    for (int64_t k = 1; k < ALTERNATION_TIMES; k++)
        if (before_look(s, step + k) >= 0)
            return k;
    /* the first sample of this interval, or else the check itself */
    const int64_t first = every - step % every - (ALTERNATION_TIMES - 1);
    return first > 0 ? first : every - step % every;
}

bool sanity_waits(const struct sanity *s, int64_t step)
{
    return before_look(s, step) > 0;
}

void sanity_forget(struct sanity *s)
{
    s->alternation.known = 0;
}

static enum status sample_forces(struct sanity *s)
{
    const struct levels all = levels_of(s->grid);
    enum status status = STATUS_OK;
    for (int k = 0; k < s->c->series_count && !status; k++) {
        struct force_triple *const t = &s->forces[k];
        struct forces_step now;
        if (s->c->series[k].kind != SERIES_KIND_forces)
            continue;
        status = forces_begin(&all, s->c->series[k].body, NULL, &now);
        memmove(t->force[1], t->force[0], sizeof *t->force * (ALTERNATION_TIMES - 1));
        memcpy(t->force[0], now.first.force, sizeof *t->force);
    }
    return status;
}

static double norm(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Advice: a more stable method, or a finer grid. */
static const char *remedy(const struct flow_case *c, char text[128])
{
    const char *const method = narrate_operator_remedy(c);
    snprintf(text, 128, "%s%sa finer grid", method, *method ? ", or " : "");
    return text;
}

/* Has `now` been true at every check for `steps` steps? *from: the first of these checks, -1:
 * none. */
static bool since(int64_t *from, bool now, int64_t step, int64_t steps)
{
    if (!now)
        *from = -1;
    else if (*from < 0)
        *from = step;
    return now && step - *from >= steps;
}

static void warn_forces(struct sanity *s)
{
    char help[128];
    for (int k = 0; k < s->c->series_count && !s->warned_forces; k++) {
        double second[3];
        struct force_triple *const t = &s->forces[k];
        double(*const f)[3] = t->force;
        if (s->c->series[k].kind != SERIES_KIND_forces)
            continue;
        for (int a = 0; a < 3; a++)
            second[a] = f[0][a] - 2 * f[1][a] + f[2][a];
        const double size = (norm(f[0]) + norm(f[1]) + norm(f[2])) / 3;
        const bool above = size >= slowest(s->c) && norm(second) > 4 * warn_force_above * size;
        if (!since(&t->above, above, s->solver->step, steps_force))
            continue;
        s->warned_forces = true;
        warn_at(
            s->solver->step, "force_alternates",
            "series %s: %.2g of the force alternates from step to step at step %lld: it is not to "
            "be trusted (take %s)",
            s->c->series[k].name, norm(second) / (4 * size), (long long)s->solver->step,
            remedy(s->c, help));
    }
}

/* The flow is treated as one of constant density. What moves the density by pressure grows with the
 * square of the velocity in lattice units. */
static void warn_density(struct sanity *s, double deviation)
{
    const bool lasts = since(&s->dense, deviation > most_density, s->solver->step, steps_density);
    if (s->warned_density || (!lasts && deviation <= most_density_once))
        return;
    s->warned_density = true;
    const bool held = case_holds_density(s->c);
    char remedy[96] = "an outlet that holds the density";
    if (held)
        snprintf(remedy, sizeof remedy, "half of %s leaves a quarter of the error",
                 s->c->units.lattice > 0 ? "units.velocity.lattice"
                 : s->c->units.given     ? "units.dt"
                                         : "the velocities");
    warn_at(s->solver->step, "density_differs",
            "the density differs by up to %.2g %% from the reference at step %lld: velocities and "
            "scalars are wrong by about as much (%s)",
            100 * deviation, (long long)s->solver->step, remedy);
}

static enum status judge(struct sanity *s, const struct narrator *n)
{
    struct alternation_found found;
    char place[192], help[128];
    const enum status status = alternation_measure(&s->alternation, s->solver, &found);
    if (status || !(found.share >= 0)) /* too few steps since the start */
        return status;
    const int64_t step = s->solver->step;
    narrate_place(n, 0, found.cell, place, sizeof place);
    warn_forces(s);
    warn_density(s, found.density);
    const bool fast = found.rms >= slowest(s->c);
    if (since(&s->above, fast && found.share > wrong_above, step, steps_velocity)) {
        fail_user("the flow is wrong: %.2g of its velocity alternates from step to step at step "
                  "%lld, and more than %g for %lld steps, most near cell %s (%s: try %s)",
                  found.share, (long long)step, wrong_above, (long long)(step - s->above), place,
                  key_collisions[s->c->solver.collision], remedy(s->c, help));
        return STATUS_DIVERGED;
    }
    if (since(&s->noisy, fast && found.share > warn_above, step, steps_velocity) &&
        found.share > 2 * s->warned) {
        s->warned = found.share;
        warn_at(
            step, "velocity_alternates",
            "%.2g of the velocity alternates from step to step at step %lld, most near cell %s: "
            "the flow is noisy or becomes wrong (try %s)",
            found.share, (long long)step, place, remedy(s->c, help));
    }
    return STATUS_OK;
}

enum status sanity_look(struct sanity *s, const struct narrator *n)
{
    const int64_t left = before_look(s, s->solver->step);
    if (left < 0)
        return STATUS_OK;
    enum status status = alternation_sample(&s->alternation, s->solver);
    if (!status)
        status = sample_forces(s);
    status = status_agree(s->solver->domain->comm, status);
    return status || left > 0 ? status : judge(s, n);
}

/* Beside bodies the fluid is up to 1.8 times as fast as the case says, which the operator's limit
 * allows for (docs/lab/refinement.md). */
void sanity_velocity(struct sanity *s, const struct narrator *n, const struct flow_sums *sums)
{
    static const double peaks = 2;
    const double mach = sqrt(3.0) * sums->max_velocity;
    const double thin = case_thinnest(s->c), viscosity = ldexp(thin, sums->max_level);
    const double cell = sums->max_velocity / viscosity, expected = case_fastest_velocity(s->c);
    /* above the limit advice warned already */
    const double most = peaks * fmax(case_limit_cell(s->c), expected / thin);
    char place[192], help[128], than[64] = "and the case names none";
    if (s->warned_velocity || !sums->finite || (mach <= MACH_MAX && cell <= most))
        return;
    s->warned_velocity = true;
    narrate_place(n, sums->max_level, sums->max_cell, place, sizeof place);
    if (expected > 0)
        snprintf(than, sizeof than, "%.3g was expected", expected);
    warn_at(s->solver->step, "velocity_exceeds",
            "|u| is %.3g cells a step at step %lld, in cell %s; %s: %s (%s%s)", sums->max_velocity,
            (long long)s->solver->step, place, than,
            mach > MACH_MAX ? "it is above Mach 0.3, where the flow is compressible and wrong"
                            : "it is far beyond what the operator was tested for",
            mach > MACH_MAX ? "a smaller time step, or a smaller force or pressure" : "try ",
            mach > MACH_MAX ? "" : remedy(s->c, help));
}

/* Judges the mass of a box that should keep it. */
static enum status judge_closed(struct sanity *s, double mass)
{
    static const char walls[] = "walls that move along their normal or across an edge of levels, "
                                "or bodies that move and are cut by a face, pump fluid; else take "
                                "a finer grid, or storage fp32 in place of fp16",
                      velocities[] = "the velocities of its openings must let in as much as out at "
                                     "any time, and walls must not move along their normal; or "
                                     "make one opening pressure or nonreflecting";
    const bool open = case_is_open(s->c);
    const char *const help = open ? velocities : walls;
    const char *const though = open ? "no opening holds the density" : "it has no opening";
    const long long step = s->solver->step;
    if (!(s->first_mass > 0))
        s->first_mass = mass;
    const double change = mass / s->first_mass - 1;
    if (fabs(change) >= wrong_mass) {
        fail_user(
            "the flow is wrong: the mass of the box changed by %.2g %% by step %lld, and %s (%s)",
            100 * change, step, though, help);
        return STATUS_DIVERGED;
    }
    if (fabs(change) > warn_mass && !s->warned_mass) {
        s->warned_mass = true;
        warn_at(
            step, "mass_changes",
            "the mass of the box changed by %.2g %% by step %lld, and %s; from %g %% on the run "
            "ends (%s)",
            100 * change, step, though, 100 * wrong_mass, help);
    }
    return STATUS_OK;
}

/* Inflow and outflow of a box differ, and an opening holds the density. */
static void say_mass(const struct sanity *s, double change)
{
    const struct flow_case *const c = s->c;
    const char *name = "the outlet", *remedy = "more steps";
    for (int k = case_openings(c) - 1; k >= 0; k--) {
        const struct case_face *const face = case_opening(c, k);
        if (!face_open(face->kind) || !face_holds_density(face))
            continue;
        name = k < 6 ? face_name(k) : c->patches[k - 6].name;
        remedy = face->kind == FACE_pressure
                     ? "if it goes on, sound rings: nonreflecting in place of pressure, or a ramp "
                       "at the inlet"
                     : "if it goes on, a larger reflection there, or a ramp at the inlet";
    }
    say("the mass in the box changed by %.2g %% since step %lld: inflow and outflow through %s "
        "differ (%s)",
        100 * change, (long long)s->mass_step, name, remedy);
}

enum status sanity_mass(struct sanity *s, double mass, bool log)
{
    if (!case_holds_density(s->c))
        return s->c->check.every > 0 ? judge_closed(s, mass) : STATUS_OK;
    if (!log)
        return STATUS_OK;
    const double change = s->mass > 0 ? mass / s->mass - 1 : 0;
    if (fabs(change) > most_mass && case_is_open(s->c))
        say_mass(s, change);
    s->mass = mass;
    s->mass_step = s->solver->step;
    return STATUS_OK;
}
