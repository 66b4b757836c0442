/* Openings, by the cells that bodies leave of them. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "advice/survey.h"
#include "base/message.h"
#include "case/keys.h"
#include "case/signal.h"
#include "tags/faces.h"

/* ---- openings ---- */

/* Warns if velocities are given and nothing (face or sponge) holds the density. */
void advise_cells_density(const struct domain *d, const struct flow_case *c)
{
    bool flows = false, held = false, out = false;
    for (int k = 0; k < d->openings; k++) {
        const struct case_face *const what = case_opening(c, k);
        flows = flows || d->opening[k].inflow != 0;
        if (!d->opening[k].open || !face_holds_density(what))
            continue;
        out = true;
        held = held || what->kind == FACE_pressure || what->reflection > 0;
    }
    for (int k = 0; k < c->zone_count; k++)
        held = held || c->zones[k].sponge.given;
    if (flows && out && !held)
        warn("mass_drifts",
             "no face holds the density, as reflection is 0: the mass of the box drifts (leave "
             "reflection out, or make a face pressure)");
}

static const double sound = 0.57735026918962576; /* 1 / sqrt(3) */

/* Cells of the box along the opening's normal. */
static double outlet_length(const struct flow_case *c, int opening)
{
    return c->cells[case_opening_side(c, opening) / 2];
}

/* Mean velocity of the fastest inlet, without its time function. */
static double inlet_velocity(const struct domain *d, const struct flow_case *c)
{
    double fastest = 0;
    for (int k = 0; k < d->openings; k++)
        if (case_opening(c, k)->kind == FACE_velocity && d->opening[k].open)
            fastest = fmax(fastest, d->opening[k].inflow / (double)d->opening[k].open);
    return fastest;
}

/* Warns if several outlets have no time to divide the flow, or a kind that does not divide it; or
 * if the flow crosses the box, but the run ends before what varies over a nonreflecting face has
 * settled by e: see docs/boundaries.md, "Holding the density". */
void advise_cells_settling(const struct domain *d, const struct flow_case *c)
{
    const double velocity = inlet_velocity(d, c);
    const bool uniform = c->initial.flow == INITIAL_uniform && !c->body_count && !c->patch_count;
    double slowest = 0; /* 1 / reflection */
    int outlets = 0, outflow = -1, last = -1;
    char name[FACES_NAME];
    for (int k = 0; k < d->openings; k++) {
        const struct case_face *const what = case_opening(c, k);
        if (!d->opening[k].open || !face_holds_density(what))
            continue;
        outlets++;
        outflow = what->kind == FACE_outflow ? k : outflow;
        last = k;
        if (what->reflection > 0)
            slowest = fmax(slowest, 1 / what->reflection);
    }
    if (!outlets || !(velocity > 0))
        return;
    const double steps = slowest * sqrt(3.0) / velocity;
    faces_name(c, outflow >= 0 ? outflow : last, name);
    if (outflow >= 0 && outlets > 1)
        warn("outflow_shares",
             "%s: outflow does not find its share of a flow that several outlets divide (take "
             "nonreflecting, or pressure with a ramp at the inlet)",
             name);
    else if (outlets > 1 && (double)c->run.steps < steps)
        warn("outlets_settle",
             "several outlets divide the flow: their shares settle in about %.2g steps, the run "
             "has %lld (more steps, or pressure with a ramp at the inlet)",
             steps, (long long)c->run.steps);
    else if (outlets == 1 && outflow < 0 && !uniform && 3 * (double)c->run.steps < steps &&
             velocity * (double)c->run.steps > outlet_length(c, last))
        warn("outlet_settles",
             "%s: the flow over the face settles in about %.2g steps, the run has %lld (leave "
             "reflection out, or more steps)",
             name, steps, (long long)c->run.steps);
    else if (outlets == 1 && outflow < 0 && !uniform && (double)c->run.steps < steps &&
             velocity * (double)c->run.steps > outlet_length(c, last))
        say("%s: the flow over the face settles in about %.2g steps, the run has %lld (for a "
            "steady flow more steps, or a larger reflection, which reflects more sound)",
            name, steps, (long long)c->run.steps);
}

/* Does the time function rise and fall again? A ramp does not, nor a table like one. */
static bool pulsates(const struct case_signal *s)
{
    bool rises = s->kind == SIGNAL_sine && s->amplitude != 0, falls = rises;
    for (int k = 1; k < s->points && s->kind == SIGNAL_table; k++) {
        rises = rises || s->values[k] > s->values[k - 1];
        falls = falls || s->values[k] < s->values[k - 1];
    }
    return rises && falls;
}

/* d after a line of a table, r d + d' = `slope`. */
static double relaxed(double d, double slope, double steps, double r)
{
    return r > 0 ? slope / r + (d - slope / r) * exp(-r * steps) : d + slope * steps;
}

/* The largest |U' - r d| of a table, d' = U' - r d, in the state of a table that repeats: the start
 * of the flow does not count. */
static double largest_rise(const struct case_signal *s, double r)
{
    const double period = s->times[s->points - 1] - s->times[0];
    double d = 0, most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 1; k < s->points; k++) {
            const double steps = s->times[k] - s->times[k - 1];
            const double slope = (s->values[k] - s->values[k - 1]) / steps;
            const double after = relaxed(d, slope, steps, r);
            if (pass)
                most = fmax(most, fmax(fabs(slope - r * d), fabs(slope - r * after)));
            d = after;
        }
        d = r > 0 ? d / (1 - exp(-r * period)) : 0;
    }
    return most;
}

/* Largest difference between the flow into a box and the flow out of it, through a nonreflecting
 * outlet, as a share of the mean flow. The mean density d follows c_s d' - U' = -r c_s d, so the L
 * cells of the box take L d' = L (U' / c_s - r d). `length`: L / c_s. With a frequency w that is
 * the share w^2 (L / c_s) / sqrt(w^2 + r^2) of the amplitude. */
static double gathers(const struct case_signal *s, double length, double r)
{
    double mean = s->mean, highest = fabs(s->amplitude), area = 0;
    if (s->kind == SIGNAL_sine) {
        const double w = 2 * acos(-1) / s->period;
        return highest / fmax(highest, fabs(mean)) * w * w * length / sqrt(w * w + r * r);
    }
    highest = 0;
    for (int k = 1; k < s->points; k++) {
        area += 0.5 * (s->values[k] + s->values[k - 1]) * (s->times[k] - s->times[k - 1]);
        highest = fmax(highest, fabs(s->values[k] - s->values[0]));
    }
    mean = area / (s->times[s->points - 1] - s->times[0]);
    return length * largest_rise(s, r) / fmax(fabs(mean), 0.5 * highest);
}

/* The largest change of a table's slope, of means over `span` steps before and after. */
static double sharpest_kink(const struct case_signal *s, double span)
{
    const int64_t far = llround(fmax(span, 1)); /* a table that repeats is looked at later */
    const double later = s->repeat ? s->times[s->points - 1] - s->times[0] : 0;
    double most = 0;
    for (int k = s->repeat ? 0 : 1; k < s->points - 1; k++) {
        const int64_t t = llround(s->times[k] + later);
        const double change = signal_at(s, t + far) - 2 * signal_at(s, t) + signal_at(s, t - far);
        most = fmax(most, fabs(change) / (double)far);
    }
    return most;
}

/* The same by the inertia of the fluid in the box, with any outlet. A pressure accelerates the
 * fluid and compresses it. A sine: (w L / c_s)^2 / 2 of the amplitude, times 4/3 in a pipe, whose
 * profile lags behind at walls. A table: at least a sine of its range and its time. rings: sound
 * has no way out; then a kink gives 1.5 L / c_s of its change of slope. Measured:
 * docs/lab/open_faces.md. */
static double yields(const struct case_signal *s, double length, bool rings)
{
    double mean = fabs(s->mean), amplitude = fabs(s->amplitude), period = s->period, kink = 0;
    if (s->kind != SIGNAL_sine) {
        double low = s->values[0], high = low, area = 0;
        for (int k = 1; k < s->points; k++) {
            low = fmin(low, s->values[k]);
            high = fmax(high, s->values[k]);
            area += 0.5 * (s->values[k] + s->values[k - 1]) * (s->times[k] - s->times[k - 1]);
        }
        period = s->times[s->points - 1] - s->times[0];
        mean = fabs(area / period);
        amplitude = 0.5 * (high - low);
        kink = rings ? 1.5 * length * sharpest_kink(s, 0.5 * length) : 0;
    }
    const double wl = 2 * acos(-1) / period * length;
    return fmax(amplitude * 2 / 3 * wl * wl, kink) / fmax(amplitude, mean);
}

/* Length of the way through the box, in cells: the fluid cells over the open cells of all outlets.
 * On a refined grid the fluid of finer levels is not known here: the length of the box. */
static double way_length(const struct domain *d, const struct flow_case *c, int outlet)
{
    double open = 0;
    for (int k = 0; k < d->openings; k++)
        if (face_open(case_opening(c, k)->kind) && case_opening(c, k)->kind != FACE_velocity)
            open += (double)d->opening[k].open;
    const double way = open > 0 && c->levels == 1 ? (double)d->fluid_cells / open : 0;
    return fmax(outlet_length(c, outlet), way);
}

/* The share of an inlet in what all inlets let in, on average. */
static double inlet_share(const struct domain *d, const struct flow_case *c, int inlet)
{
    double all = 0;
    for (int k = 0; k < d->openings; k++)
        if (case_opening(c, k)->kind == FACE_velocity)
            all += fabs(d->opening[k].inflow);
    return all > 0 ? fabs(d->opening[inlet].inflow) / all : 1;
}

/* Does sound leave through an opening? */
static bool lets_sound_out(const struct domain *d, const struct flow_case *c)
{
    bool any = false;
    for (int k = 0; k < d->openings; k++)
        any = any || (case_opening(c, k)->kind == FACE_nonreflecting && d->opening[k].open);
    return any;
}

/* The smallest reflection, times L / c_s, with which at most the share `most` gathers; at most
 * `highest`. */
static double holds(const struct case_signal *s, double length, double most, double highest)
{
    double low = 0, high = highest;
    for (int k = 0; k < 20; k++) {
        const double middle = 0.5 * (low + high);
        if (gathers(s, length, middle / length) > most)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Warns if the velocity of an inlet varies so fast that fluid gathers before a nonreflecting or
 * pressure outlet, and names the remedy: a reflection that is large enough, if there is one;
 * otherwise a smaller velocity. */
void advise_cells_pulse(const struct domain *d, const struct flow_case *c)
{
    static const double most = 0.05, most_held = 3; /* share of the flow; r L / c_s */
    char name[FACES_NAME], remedy[96], varies[64];
    for (int k = 0; k < d->openings; k++)
        for (int out = 0; out < d->openings; out++) {
            const struct case_face *const inlet = case_opening(c, k),
                                          *outlet = case_opening(c, out);
            const struct case_signal *const s = &inlet->signal;
            if (inlet->kind != FACE_velocity || !pulsates(s) || !d->opening[k].open ||
                (outlet->kind != FACE_nonreflecting && outlet->kind != FACE_pressure) ||
                !d->opening[out].open)
                continue;
            const bool leaves = outlet->kind == FACE_nonreflecting;
            const double of_all = inlet_share(d, c, k),
                         box = c->cells[0] + c->cells[1] + c->cells[2];
            const double length = way_length(d, c, out) / sound;
            const double column = yields(s, fmin(length, box / sound), !lets_sound_out(d, c));
            const double share =
                of_all * ((leaves ? gathers(s, length, outlet->reflection) : 0) + column);
            const double held =
                leaves ? holds(s, length, most / of_all - column, most_held) : most_held;
            if (share <= most)
                continue;
            if (held < 0.999 * most_held)
                snprintf(remedy, sizeof remedy,
                         "give nonreflecting.reflection %.2g, which reflects more sound",
                         held / length);
            else
                snprintf(
                    remedy, sizeof remedy,
                    "take a smaller velocity in cells a step, so that a period has more steps");
            if (s->kind == SIGNAL_sine || s->repeat)
                snprintf(varies, sizeof varies, "varies with a period of %.4g steps",
                         s->kind == SIGNAL_sine ? s->period
                                                : s->times[s->points - 1] - s->times[0]);
            else
                snprintf(varies, sizeof varies, "rises and falls by its table");
            faces_name(c, out, name);
            warn("inlet_pulse",
                 "%s: the inlet's velocity %s, and the flow out differs by about %.0f %% from the "
                 "flow in (%s)",
                 name, varies, 100 * share, remedy);
            return;
        }
}

/* Warns if velocities are given at faces but none across its face, so that nothing flows in or out.
 */
void advise_cells_no_inflow(const struct domain *d, const struct flow_case *c)
{
    bool out = false;
    int along = -1;
    char name[FACES_NAME];
    for (int k = 0; k < d->openings; k++) {
        const struct case_face *const what = case_opening(c, k);
        if (!d->opening[k].open)
            continue;
        if (d->opening[k].inflow != 0 ||
            (what->kind == FACE_velocity && profile_has(what->profile, PROFILE_HAS_numbers)))
            return;
        out = out || face_holds_density(what);
        if (what->kind == FACE_velocity && face_speed(what) > 0)
            along = k;
    }
    if (!out || along < 0)
        return;
    faces_name(c, along, name);
    warn("inlet_along",
         "%s: its velocity goes along the face, and no face lets fluid in or out with a given "
         "velocity (give the component along %s)",
         name, key_axes[case_opening_side(c, along) / 2]);
}

/* A regularised pressure face or a nonreflecting outlet imposes the tangential velocity. A faster
 * stream along it, from an inlet or the initial flow, is slowed down as by a wall. Faces that
 * bodies cover in part are taken for the ends of ducts. */
void advise_cells_along(const struct domain *d, const struct flow_case *c)
{
    for (int f = 0; f < 6; f++) {
        const struct case_face *const face = &c->faces[f];
        double stream = 0, along = 0;
        if (d->opening[f].open < d->opening[f].cells ||
            (face->kind != FACE_nonreflecting &&
             (face->kind != FACE_pressure || face->rule == FACE_RULE_links)))
            continue;
        for (int a = 0; a < 3; a++) {
            if (a == f / 2)
                continue;
            along += face->velocity[a] * face->velocity[a];
            stream = fmax(stream, fabs(c->initial.velocity[a]));
            for (int other = 0; other < 6; other++)
                if (c->faces[other].kind == FACE_velocity && other / 2 != f / 2)
                    stream = fmax(stream, fabs(c->faces[other].velocity[a]));
        }
        along = sqrt(along);
        if (stream > 0 && along < 0.5 * stream)
            warn("stream_held",
                 "the velocity along face %s is %g, and a stream of %g goes along it: the face "
                 "holds it back like a wall (give %s.velocity, or take slip)",
                 face_name(f), along, stream,
                 face->kind == FACE_pressure ? "pressure" : "nonreflecting");
    }
}

/* Beside walls `outflow` holds the density with an error of percents. No warning: developed flows
 * are right to a percent or two all the same. */
void advise_cells_outflow_walls(const struct domain *d, const struct flow_case *c)
{
    char name[FACES_NAME];
    if (!(inlet_velocity(d, c) > 0))
        return;
    for (int k = 0; k < d->openings; k++) {
        const int side = case_opening_side(c, k);
        bool walls = d->opening[k].open < d->opening[k].cells ||
                     (k >= 6 && c->faces[side].kind == FACE_wall);
        if (case_opening(c, k)->kind != FACE_outflow || !d->opening[k].open)
            continue;
        for (int f = 0; f < 6; f++)
            walls = walls || (f / 2 != side / 2 && c->faces[f].kind == FACE_wall);
        faces_name(c, k, name);
        if (walls)
            say("%s: beside walls outflow holds the density only to some percent (nonreflecting "
                "to a tenth of that)",
                name);
    }
}

/* Warns if velocities draw fluid in through a face that gives no value of a scalar. */
void advise_cells_drawn(const struct domain *d, const struct flow_case *c)
{
    char name[FACES_NAME];
    double in = 0;
    for (int k = 0; k < d->openings; k++)
        in += case_opening(c, k)->kind == FACE_velocity ? d->opening[k].inflow : 0;
    for (int k = 0; k < d->openings && in < 0; k++) {
        const struct case_face *const what = case_opening(c, k);
        for (int i = 0; i < c->scalar_count; i++) {
            if (!face_open(what->kind) || what->kind == FACE_velocity || !d->opening[k].open ||
                what->scalar[i].kind == SCALAR_WALL_value)
                continue;
            faces_name(c, k, name);
            warn("inflow_value",
                 "%s: the velocities of other faces draw fluid in through it, and it gives no "
                 "value of scalars.%s: what comes in has that of the cells beside it (give one, "
                 "or turn the velocity)",
                 name, c->scalars[i].name);
        }
    }
}
