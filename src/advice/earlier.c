/* Initial flows from a snapshot with few values. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/sections.h"

/* Most cells between values of a snapshot, by one of the lengths of the case. */
struct reach {
    double apart, length;
    char name[CASE_NAME + 32];
};

static void meet(struct reach *r, double share, double length, const char *name, const char *of)
{
    if (!(length > 0) || share * length >= r->apart)
        return;
    *r = (struct reach){.apart = share * length, .length = length};
    snprintf(r->name, sizeof r->name, "%s%s", name, of);
}

/* At these distances the flow was off by some 5 % of its largest velocity (rms) for bodies, 7 % for
 * vortices in the box and channels (docs/lab/own_flows.md). The flow may be uniform along
 * an axis without walls: there at least four values. */
static struct reach reach_of(const struct flow_case *c)
{
    static const double box = 0.125, body = 0.5, around = 0.25;
    static const int flat = 8; /* cells of a flow in two dimensions */
    static const char *const names[3] = {"the box along x,", "the box along y,",
                                         "the box along z,"};
    struct reach r = {.apart = INFINITY};
    for (int a = 0; a < 3; a++)
        if (c->initial.from.cells[a] > c->initial.from.stride &&
            !(axis_is_free(c, a) && c->initial.from.cells[a] <= flat))
            meet(&r, axis_is_free(c, a) ? around : box, c->cells[a], names[a], "");
    for (int k = 0; k < c->body_count; k++)
        meet(&r, body,
             c->bodies[k].image.file ? c->bodies[k].image.width : case_body_size(c, &c->bodies[k]),
             "bodies.", c->bodies[k].name);
    meet(&r, c->body_count ? body : box, c->fluid.length, "fluid.length", "");
    return r;
}

void advise_earlier(const struct flow_case *c)
{
    const struct case_earlier *const e = &c->initial.from;
    double apart = 0;
    if (!e->file || e->stride < 2)
        return;
    const struct reach r = reach_of(c);
    for (int a = 0; a < 3; a++)
        if (e->cells[a] > e->stride)
            apart = fmax(apart, (double)e->stride * c->cells[a] / e->cells[a]);
    if (apart > r.apart)
        warn("initial_sparse",
             "initial.from: its values are %.3g cells apart, by its stride of %d: for %s of %.3g "
             "cells at most %.3g (take a snapshot without `stride`, or a checkpoint)",
             apart, e->stride, r.name, r.length, r.apart);
}
