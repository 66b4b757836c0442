/* The limiter of scalars: where it acts, and the values between which it keeps them. */
#include <math.h>
#include <stdio.h>

#include "base/message.h"
#include "case/scalar_extent.h"
#include "case/sections.h"
#include "tag.h"

/* ---- what the case gives ---- */

static void meet(struct scalar_given *g, double value)
{
    g->low = g->any ? fmin(g->low, value) : value;
    g->high = g->any ? fmax(g->high, value) : value;
    g->any = true;
}

/* A value times what its time function takes. */
static void meet_signal(struct scalar_given *g, double value, const struct case_signal *s)
{
    double range[2];
    signal_range(s, range);
    if (s->kind == SIGNAL_ramp)
        range[0] = 0;
    meet(g, value * range[0]);
    meet(g, value * range[1]);
}

/* Something that changes values by up to `most` a step. */
static void open_side(struct scalar_given *g, double most)
{
    g->rises += fmax(most, 0);
    g->falls += fmax(-most, 0);
}

static void meet_wall(struct scalar_given *g, const struct case_scalar_wall *w)
{
    static const int links = 6; /* a cell has at most */
    double range[2];
    if (scalar_wall_values(w, range)) {
        meet_signal(g, range[0], &w->signal);
        meet_signal(g, range[1], &w->signal);
    }
    if (w->kind == SCALAR_WALL_flux) {
        signal_range(&w->signal, range);
        open_side(g, links * fmax(0, fmax(w->flux * range[0], w->flux * range[1])));
        open_side(g, links * fmin(0, fmin(w->flux * range[0], w->flux * range[1])));
    }
    if (w->kind == SCALAR_WALL_conduct)
        open_side(g, w->source / w->capacity);
}

static void meet_initial(struct scalar_given *g, const struct case_scalar_initial *i)
{
    const double amplitude = fabs(i->amplitude);
    for (int k = 0; k < 2; k++) {
        const double value = i->linear ? i->ends[k] : i->value;
        meet(g, value - amplitude);
        meet(g, value + amplitude);
    }
    for (int k = 0; k < i->part_count; k++)
        meet(g, i->parts[k].value);
}

struct scalar_given scalar_given(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    struct scalar_given g = {.earlier = s->initial.earlier};
    if (!g.earlier)
        meet_initial(&g, &s->initial);
    for (int n = 0; n < case_conditions(c); n++)
        meet_wall(&g, case_condition(c, n, k));
    if (case_scalar_decay(c, k) > 0 || !g.any)
        meet(&g, 0);
    open_side(&g, s->source);
    if (s->made_from >= 0) { /* which comes before this one: the chain ends */
        const struct scalar_given from = scalar_given(c, s->made_from);
        g.opens_up = from.high > 0 || from.opens_up;
        g.opens_down = from.low < 0 || from.opens_down;
    }
    g.opens_up = g.opens_up || g.rises > 0;
    g.opens_down = g.opens_down || g.falls > 0;
    return g;
}

/* ---- where it acts ---- */

double scalar_peclet(const struct flow_case *c, int k)
{
    return scalars_fastest(c) / c->scalars[k].diffusivity;
}

/* Why the limiter cannot act; NULL: it can. Populations are in units of the smallest capacity.
 * Diffusivities are those of the finest level. */
static const char *obstacle(const struct flow_case *c, int k)
{
    static const double most_speed = 0.3;
    const struct case_scalar *const s = &c->scalars[k];
    const double unit = 1 / case_scalar_capacity(c, k);
    const double diffusivity = ldexp(s->diffusivity, c->levels > 1 ? c->levels - 1 : 0);
    if (scalar_has_gradient(s))
        return "does not go with a mean gradient";
    if (diffusivity >= LIMITED_MOST)
        return c->levels > 1 ? "is not possible at a diffusivity of 1/8 and more in cells of the "
                               "finest level"
                             : "is not needed, and not possible, at a diffusivity of 1/8 and more";
    if (unit > 1 && (unit * diffusivity >= LIMITED_MOST || unit * scalars_fastest(c) > most_speed))
        return "does not go with a body that conducts and has so small a capacity beside the "
               "fluid's";
    return NULL;
}

bool scalar_limited(const struct flow_case *c, int k)
{
    static const double most_peclet = 10;
    const enum limiter wanted = c->scalars[k].limiter;
    if (wanted == LIMITER_none || obstacle(c, k))
        return false;
    return wanted == LIMITER_on || scalar_peclet(c, k) > most_peclet;
}

enum status limiter_check(struct map m, const struct flow_case *c, int k)
{
    const struct node *const n = map_get(m, "limiter");
    const char *const why = obstacle(c, k);
    if (c->scalars[k].limiter != LIMITER_on || !why)
        return STATUS_OK;
    return fail_value(m.r, n, " %s (remove it, or none)", why);
}

/* ---- what check says ---- */

/* Thickness in cells of the layer at a wall, over the length of the flow along it. */
double scalar_layer(const struct flow_case *c, int k)
{
    double length = c->fluid.length;
    for (int a = 0; a < 3 && !(c->fluid.length > 0); a++)
        length = fmax(length, c->cells[a]);
    return sqrt(c->scalars[k].diffusivity * length / scalars_fastest(c));
}

void limiter_say(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const char *const by = s->limiter == LIMITER_auto ? " by auto" : "";
    const double peclet = scalar_peclet(c, k);
    const char *const why = obstacle(c, k);
    if (scalar_limited(c, k))
        say("%s: limiter on%s, the Peclet number of a cell is %.3g: tau+ is tau- in the fluid, and "
            "values stay between those given",
            s->name, by, peclet);
    else if (why && peclet > 10 && !scalar_has_gradient(s))
        say("%s: no limiter: it %s", s->name, why);
}
