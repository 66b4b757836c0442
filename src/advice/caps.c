/* Caps of a mesh that holds the fluid. */
#include "advice/caps.h"

#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/sections.h"

/* Cells across a round cap of the same area. */
static double across(const struct case_cap *cap)
{
    return sqrt(cap->at.area * 4 / 3.14159265358979323846);
}

static void say_flow(const struct flow_case *c, const struct case_cap *cap, char *text, size_t size)
{
    const double dx = c->units.dx, mean = fabs(cap->flow_rate) / cap->at.area;
    const double peak = signal_peak(&cap->signal);
    snprintf(text, size, ", flow rate %s %.5g %s, mean velocity %.4g cells a step%s, Re %.4g",
             cap->flow_rate < 0 ? "out" : "in", fabs(cap->flow_rate) * dx * dx * dx / c->units.dt,
             c->units.given ? "m3/s" : "cells^3 a step", mean,
             cap->signal.kind == SIGNAL_constant ? "" : " where the time function is 1",
             peak * mean * across(cap) / c->fluid.viscosity);
}

void caps_say(const struct domain *d, const struct flow_case *c)
{
    for (int k = 0; k < case_caps(c); k++) {
        const struct case_cap *const cap = case_cap(c, k);
        char flow[192] = "", links[64] = "";
        if (cap->kind == CAP_velocity)
            say_flow(c, cap, flow, sizeof flow);
        else
            snprintf(flow, sizeof flow, ", density %.6g", cap->density);
        if (d->cap[k].links)
            snprintf(links, sizeof links, ", %lld links that stand for %.5g",
                     (long long)d->cap[k].links, d->cap[k].area);
        say("cap %s: %s, area %.5g cells^2%s, %.3g cells across%s", cap->name,
            key_cap_kinds[cap->kind], cap->at.area, links, across(cap), flow);
    }
}

void advise_cells_caps(const struct domain *d, const struct flow_case *c)
{
    static const double few = 8, off = 0.1;
    for (int k = 0; k < case_caps(c); k++) {
        const struct case_cap *const cap = case_cap(c, k);
        const double area = d->cap[k].area;
        if (!d->cap[k].links) /* on a finer level */
            continue;
        if (across(cap) < few)
            warn("cap_coarse",
                 "the cap %s is %.3g cells across: the flow through it is rough (take %g cells at "
                 "least)",
                 cap->name, across(cap), few);
        if (fabs(area / cap->at.area - 1) > off)
            warn("cap_area",
                 "the cap %s has an area of %.4g cells^2, but the links that cross it stand for "
                 "%.4g: another body covers a part, or the cells are too few (the flow rate is "
                 "kept)",
                 cap->name, cap->at.area, area);
    }
    for (int k = 0; k < c->body_count; k++)
        if (body_surrounds(&c->bodies[k]) && !case_is_open(c) && magnitude(c->acceleration) == 0 &&
            !c->flow_rate.given && !(case_fastest_velocity(c) > 0) && !c->scalar_count)
            warn("lumen_closed",
                 "bodies.%s: the fluid is inside of its mesh, but no face of the box that it "
                 "reaches is open, it has no caps, and there is no force: nothing drives the flow "
                 "(caps, or an open face)",
                 c->bodies[k].name);
}
