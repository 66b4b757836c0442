/* Time functions: tables that end, ramps that do not, or begin anew, flows that reverse. */
#include <stdio.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/sections.h"

/* A table that ends flat, and not where it began, is meant to stay there. */
static void warn_end(const struct flow_case *c, const struct case_signal *s, const char *of,
                     const char *name)
{
    const int last = s->points - 1;
    char time[64] = "";
    if (s->kind != SIGNAL_table || s->repeat || last < 1 ||
        s->times[last] >= (double)c->run.steps ||
        (s->values[last] == s->values[last - 1] && s->values[last] != s->values[0]))
        return;
    if (c->units.given)
        snprintf(time, sizeof time, " (%.4g s)", s->times[last] * c->units.dt);
    warn("table_short",
         "%s%s: its table ends at step %.6g%s, and the run has %lld steps: the last factor, %.4g, "
         "stays (repeat: true in table for a pulse; a further line at the end of the run if it is "
         "meant)",
         of, name, s->times[last], time, (long long)c->run.steps, s->values[last]);
}

/* A run that sees less than the first interval of a table: its times are in another unit. */
static void warn_unseen(const struct flow_case *c, const struct case_signal *s, const char *of,
                        const char *name)
{
    if (s->kind == SIGNAL_table && s->points > 2 && s->times[1] > (double)c->run.steps)
        warn("table_unseen",
             "%s%s: its table reaches to step %.6g, its second line alone to %.6g, and the run has "
             "%lld steps (are its times in another unit?)",
             of, name, s->times[s->points - 1], s->times[1], (long long)c->run.steps);
}

static void warn_ramp(const struct flow_case *c, const struct case_signal *s, const char *of,
                      const char *name)
{
    static const int64_t trial = 100; /* shorter runs only try a case */
    if (s->kind == SIGNAL_ramp && s->duration > (double)c->run.steps && c->run.steps >= trial)
        warn("ramp_long",
             "%s%s: its ramp takes %.6g steps, and the run has %lld (a shorter ramp, or more "
             "steps)",
             of, name, s->duration, (long long)c->run.steps);
}

static void warn_signal(const struct flow_case *c, const struct case_signal *s, const char *of,
                        const char *name)
{
    warn_end(c, s, of, name);
    warn_ramp(c, s, of, name);
    warn_unseen(c, s, of, name);
}

/* The ramp of an inlet begins at 0: a flow that is there already is stopped by it, and rings. */
static void warn_start(const struct flow_case *c, const struct case_gate *gate)
{
    const struct case_initial *const i = &c->initial;
    const bool flows = i->from.file || i->flow == INITIAL_inlet ||
                       (i->flow == INITIAL_uniform && magnitude(i->velocity) > 0);
    if (gate->gives && gate->signal->kind == SIGNAL_ramp && flows)
        warn("ramp_from_rest",
             "%s: its ramp begins at 0, and the initial flow has its velocity already, so that the "
             "inlet stops it (remove the ramp)",
             gate->name);
}

/* Does the opening draw fluid out of the box (-1), let it in (1), or both (0)? */
static int direction_of(const struct flow_case *c, int k)
{
    const struct case_face *const what = case_opening(c, k);
    const int side = case_opening_side(c, k);
    const double in = (side % 2 ? -1 : 1) * what->velocity[side / 2];
    double range[2];
    signal_range(&what->signal, range);
    return signal_changes_sign(&what->signal) || profile_has(what->profile, PROFILE_HAS_numbers) ? 0
           : in * (range[0] + range[1]) < 0 ? -1
                                            : 1;
}

/* Does the opening make the flow turn round? Only a pressure or a velocity across the face does. */
static bool turns_flow(const struct flow_case *c, int k)
{
    const struct case_face *const what = case_opening(c, k);
    const bool drives = what->kind == FACE_velocity
                            ? what->velocity[case_opening_side(c, k) / 2] != 0
                            : what->kind == FACE_pressure && what->density != 1;
    return drives && signal_changes_sign(&what->signal);
}

/* Fluid that comes in through `outflow` diverges: where a flow reverses, or is only drawn out. */
static void warn_backflow(const struct flow_case *c)
{
    const bool pushed = magnitude(c->acceleration) > 0;
    int outflow = -1, turns = -1, draws = -1;
    bool comes = pushed;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        const bool given =
            what->kind == FACE_velocity && what->velocity[case_opening_side(c, k) / 2] != 0;
        outflow = what->kind == FACE_outflow ? k : outflow;
        turns = turns_flow(c, k) ? k : turns;
        draws = given && direction_of(c, k) < 0 ? k : draws;
        comes = comes || (given && direction_of(c, k) >= 0) || what->kind == FACE_pressure;
    }
    const bool force = pushed && signal_changes_sign(&c->force_signal);
    if (outflow < 0)
        return;
    if (turns >= 0 || force)
        warn("outflow_reverses",
             "%s: the flow reverses, and %s is outflow: that is for fluid that leaves, and becomes "
             "unstable where fluid comes in (take pressure or nonreflecting there)",
             force ? "force" : case_gate(c, turns).name, case_gate(c, outflow).name);
    else if (draws >= 0 && !comes)
        warn("outflow_inlet",
             "%s draws fluid out of the box, so that it comes in through %s: outflow is for fluid "
             "that leaves (take pressure there, or turn the velocity)",
             case_gate(c, draws).name, case_gate(c, outflow).name);
}

void advise_signals(const struct flow_case *c)
{
    for (int k = 0; k < case_gates(c); k++) {
        const struct case_gate gate = case_gate(c, k);
        warn_signal(c, gate.signal, "", gate.name);
        warn_start(c, &gate);
        for (int i = 0; i < c->scalar_count; i++)
            warn_signal(c, &gate.scalar[i].signal, "", gate.name);
    }
    for (int k = 0; k < c->body_count; k++)
        for (int i = 0; i < c->scalar_count; i++)
            warn_signal(c, &c->bodies[k].scalar[i].signal, "bodies.", c->bodies[k].name);
    warn_signal(c, &c->force_signal, "force", "");
    warn_backflow(c);
}
