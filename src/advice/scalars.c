/* Scalars. */
#include <math.h>
#include <stdio.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/limits.h"
#include "case/scalar_extent.h"
#include "case/sections.h"

static const char *slower_text(const struct flow_case *c)
{
    return c->units.given ? smaller_step(c) : "a smaller velocity, viscosity and diffusivity";
}

/* The share of the length of the flow that it passes in a step. */
static double scalar_passing(const struct flow_case *c)
{
    double length = c->fluid.length;
    for (int a = 0; a < 3 && !(c->fluid.length > 0); a++)
        length = fmax(length, c->cells[a]);
    return case_fastest_velocity(c) / length;
}

/* The even part of the populations lags by tau+. The error is that of opening_error(), of a value
 * that changes along the length of the flow. */
static void warn_diffusivity(const struct flow_case *c, int k)
{
    static const double most_peclet = 10, far_peclet = 15, least = 0.005, most_tau = 8, few = 0.2;
    const struct case_scalar *const s = &c->scalars[k];
    const double lag = scalar_magic(s) / (4 * s->diffusivity);
    const double d = s->diffusivity, peclet = case_fastest_velocity(c) / d;
    const bool limited = scalar_limited(c, k);
    if (!limited && peclet > most_peclet && scalar_magic(s) < few)
        warn("cell_peclet_rings",
             "scalars.%s: the Peclet number of a cell, velocity / diffusivity, is %.3g, above %g: "
             "values ring beside steep fronts (take limiter: on, magic: 0.25, or a finer grid)",
             s->name, peclet, most_peclet);
    if (!limited && peclet > far_peclet && scalar_magic(s) >= few)
        warn(
            "cell_peclet",
            "scalars.%s: the Peclet number of a cell, velocity / diffusivity, is %.3g, above %g: "
            "beside walls, bodies and inlets values may lie far outside those given (take limiter: "
            "on, a finer grid, or a larger diffusivity)",
            s->name, peclet, far_peclet);
    if (!limited && 4 * d < least)
        warn("diffusivity_small",
             "scalars.%s: the diffusivity %.3g is below %g, and a part of the scalar lags by %.3g "
             "steps: values at walls and fronts may be off by some %.2g %% (take %s)",
             s->name, d, least / 4, lag, 100 * fmin(1, 3 * lag * scalar_passing(c)),
             c->units.given ? c->units.lattice > 0
                                  ? "a larger units.velocity.lattice, or a finer grid"
                                  : "a larger units.dt, or a finer grid"
                            : "a larger velocity, viscosity and diffusivity, or a finer grid");
    if (4 * d + 0.5 > most_tau)
        warn("diffusivity_large",
             "scalars.%s: tau- is %.3g, above %g: the scalar diffuses over many cells a step (take "
             "%s)",
             s->name, 4 * d + 0.5, most_tau, slower_text(c));
}

/* Does a time function multiply a value at a wall, an opening or a body? */
static bool value_varies(const struct flow_case *c, int k)
{
    bool any = false;
    double range[2];
    for (int n = 0; n < case_conditions(c); n++) {
        const struct case_scalar_wall *const w = case_condition(c, n, k);
        any = any || (scalar_wall_values(w, range) && w->signal.kind != SIGNAL_constant);
    }
    return any;
}

/* Temperatures of less than half of others, above 250 K: slips of units, or of a time function.
 * Where each temperature has its unit, only those below 75 K: boiling nitrogen has 77 K. Below the
 * ice, so that a hot body in the air is none. */
static void warn_temperatures(const struct flow_case *c, int k)
{
    static const double cold = 75, warm = 250, ice = 273.15, half = 0.5;
    const struct case_scalar *const s = &c->scalars[k];
    const struct scalar_extent e = scalar_extent_of(c, k);
    const double high = s->reference + fmax(e.high, 0);
    const double low = s->reference != 0 ? s->reference + fmin(e.low, 0) : e.low;
    const double least = c->unitless.temperatures ? fmin(half * high, ice) : cold;
    if (s->kind != SCALAR_KIND_heat || !e.any || high < warm)
        return;
    if (s->reference == 0 && value_varies(c, k))
        warn("scalar_table_reference",
             "scalars.%s: a time function multiplies the difference from the reference, which is 0 "
             "K (give scalars.%s.reference)",
             s->name, s->name);
    else if (low < least)
        warn("temperatures",
             "scalars.%s: the temperatures that the case gives reach from %.4g K to %.4g K, with "
             "their time functions (a temperature without a unit is in K: write 20 degC, or the K "
             "that you mean)",
             s->name, low, high);
}

static void warn_buoyancy(const struct flow_case *c, int k)
{
    static const double most_mach = 0.1, most_change = 0.1;
    const struct case_scalar *const s = &c->scalars[k];
    const struct scalar_extent e = scalar_extent_of(c, k);
    const double difference = scalar_difference(c, k);
    const double mach = sqrt(3.0) * scalar_free_fall(c, k, difference);
    const double change = fabs(s->expansion) * difference;
    char by[96] = "";
    if (difference > e.high - e.low)
        snprintf(by, sizeof by, ", and sources and fluxes may make differences of %.3g",
                 difference);
    if (mach > most_mach)
        warn("buoyancy_mach",
             "scalars.%s: buoyancy may drive velocities of Mach %.3g, by a free fall through the "
             "box, above %g%s (take %s)",
             s->name, mach, most_mach, by,
             c->units.given ? smaller_step(c)
                            : "a smaller force.gravity, viscosity and diffusivity");
    if (c->units.given && change > most_change)
        warn("buoyancy_density",
             "scalars.%s: expansion times the largest difference is %.3g, above %g: buoyancy alone "
             "does not describe such changes of density (take smaller differences)%s",
             s->name, change, most_change, by);
}

/* The value, relative to the reference, of the fluid that comes in through an opening: buoyancy has
 * to vanish there, or it drives a flow through openings of different heights. Without openings, or
 * where none gives a value, the middle of all. */
static double best_reference(const struct flow_case *c, int k, const struct scalar_extent *e)
{
    double range[2] = {e->low, e->high};
    for (int i = case_gates(c) - 1; i >= 0; i--) {
        const struct case_gate gate = case_gate(c, i);
        if (gate.open)
            scalar_wall_values(&gate.scalar[k], range);
    }
    return 0.5 * (range[0] + range[1]);
}

/* Where the flow makes or loses a little mass, at walls of bodies and in sound, the scalar changes
 * by this share of its distance from the reference. With 30 times the range of the values heat at
 * tubes was wrong by 7 to 130 % (docs/lab/scalar_limiter.md). And there is no buoyancy at the
 * reference: elsewhere only the pressure balances its mean. */
static void warn_reference(const struct flow_case *c, int k)
{
    static const double far = 2, much = 100;
    const bool leaks = c->body_count > 0 || case_is_open(c);
    const struct case_scalar *const s = &c->scalars[k];
    const struct scalar_extent e = scalar_extent_given(c, k);
    const double middle = 0.5 * (e.low + e.high), width = e.high - e.low;
    if (c->units.given && s->kind == SCALAR_KIND_heat && s->reference == 0 && !s->initial.given &&
        !s->initial.earlier)
        warn("reference_start",
             "scalars.%s: begins at 0 K, its reference, as initial is not given (give reference: "
             "300 K: the temperature at inlets, or near the middle of all)",
             s->name);
    if (leaks && width == 0 && s->kind == SCALAR_KIND_heat && s->reference == 0 && middle != 0)
        warn("reference_missing",
             "scalars.%s: its values are %.4g from the reference, 0: errors of the flow at walls "
             "and openings change heat by their share of this (give reference: %.6g)",
             s->name, middle, middle);
    if (!(width > 0))
        return;
    if (s->expansion != 0 && fabs(middle) > width)
        warn(
            "reference_buoyancy",
            "scalars.%s: its values differ by %.3g, but are about %.3g from the reference, so that "
            "nearly all of the buoyancy only changes the pressure (take reference: %.6g)",
            s->name, width, fabs(middle), s->reference + best_reference(c, k, &e));
    else if (leaks && fabs(middle) > far * width)
        warn("reference_far",
             "scalars.%s: its values differ by %.3g, but are about %.3g from the reference: errors "
             "of the flow at walls and openings change it by their share of this, so fluxes may be "
             "wrong by percents and more (take reference: %.6g)",
             s->name, width, fabs(middle), s->reference + best_reference(c, k, &e));
    else if (c->solver.storage != PRECISION_fp64 && fabs(middle) > much * width)
        warn("reference_digits",
             "scalars.%s: its values differ by %.3g, but are about %.3g from the reference, which "
             "costs digits (take reference: %.6g)",
             s->name, width, fabs(middle), s->reference + best_reference(c, k, &e));
}

/* The values that come in and differ with height: of tables by height along the axis. */
static struct scalar_extent stratified_along(const struct flow_case *c, int k, int axis)
{
    struct scalar_extent e = {.any = false};
    for (int i = 0; i < case_openings(c); i++) {
        const struct case_face *const what = case_opening(c, i);
        const struct case_scalar_wall *const w = &what->scalar[k];
        if (face_open(what->kind) && w->kind == SCALAR_WALL_value &&
            profile_has(w->profile, PROFILE_HAS_height) && w->heights.axis == axis)
            e = (struct scalar_extent){true, w->heights.low, w->heights.high};
    }
    return e;
}

/* An outlet holds one pressure. In a stratified fluid at rest the pressure differs with height, by
 * the buoyancy. Where this difference was 0.21 of the square of the velocity, a stream between two
 * planes was turned by 9 % of its velocity (docs/lab/stratified.md, also for other ratios). */
static void warn_stratified(const struct flow_case *c, int k)
{
    static const double of_velocity = 0.43, least = 0.01;
    const struct case_scalar *const s = &c->scalars[k];
    const double speed = case_fastest_velocity(c);
    for (int axis = 0; axis < 3; axis++) {
        const struct scalar_extent e = stratified_along(c, k, axis);
        const double weight = fabs(c->gravity[axis] * s->expansion) * c->cells[axis];
        const double width = e.high - e.low, far = fmax(fabs(e.low), fabs(e.high));
        const double pressure =
            weight * (e.low * e.high > 0 ? 0.5 * fabs(e.low + e.high) : far * far / (2 * width));
        const double error = of_velocity * pressure / (speed * speed);
        if (!e.any || !(width > 0) || !(speed > 0) || error < least)
            continue;
        char middle[64] = "";
        if (fabs(e.low + e.high) > 0.1 * width)
            snprintf(middle, sizeof middle, "take reference: %.6g, the middle; or ",
                     s->reference + 0.5 * (e.low + e.high));
        for (int i = 0; i < case_openings(c); i++)
            if (face_holds_density(case_opening(c, i)) && case_opening_side(c, i) / 2 != axis) {
                warn("stratified_outlet",
                     "scalars.%s: it differs by height where fluid comes in, and %s holds one "
                     "pressure at all heights: the flow is turned before it, by about %.2g %% of "
                     "its velocity (%scut the outlet into patches, each with the pressure of its "
                     "height)",
                     s->name, case_gate(c, i).name, 100 * error, middle);
                return;
            }
    }
}

static void warn_rate(const struct flow_case *c, int k)
{
    static const double most = 0.1;
    const struct case_scalar *const s = &c->scalars[k];
    const double rate = case_scalar_decay(c, k);
    if (rate > most)
        warn("decay_fast",
             "scalars.%s: a step takes %.3g of its value by decay and rate, above %g, which is too "
             "fast for the time step (take %s)",
             s->name, rate, most, c->units.given ? smaller_step(c) : "smaller rates");
}

/* A value given at an opening acts on the even part of the populations, which lags by tau+ behind
 * what changes along the flow. The relative error was found to be this. Inlets of
 * scalar_inlet_allows() do not have it. */
static double opening_error(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct scalar_extent e = scalar_extent_of(c, k);
    const double range = fmax(e.high, 0) - fmin(e.low, 0);
    double rate = case_scalar_decay(c, k);
    if (range > 0)
        rate += fabs(s->source) / range;
    return 3 * rate * scalar_magic(s) / (4 * s->diffusivity);
}

static void warn_opening(const struct flow_case *c, int k)
{
    static const double most = 0.01;
    const double error = opening_error(c, k);
    bool given = false;
    for (int i = 0; i < case_openings(c); i++)
        given = given || (case_opening(c, i)->kind != FACE_wall && !scalar_inlet_allows(c, k, i) &&
                          case_opening(c, i)->scalar[k].kind == SCALAR_WALL_value);
    for (int i = 0; i < case_caps(c); i++)
        given = given || case_cap(c, i)->scalar[k].kind == SCALAR_WALL_value;
    if (given && error > most && !scalar_limited(c, k))
        warn("opening_value",
             "scalars.%s: at openings of a given value it is off by some %.2g %%, as source, decay "
             "or reaction are fast beside the diffusivity (take a larger diffusivity, or slower "
             "rates)",
             c->scalars[k].name, 100 * error);
}

/* Patches 3 and 2 cells high brought in 28 % and 43 % too little of a scalar, while the flow was
 * right. A whole face brings in all of it. */
static void warn_links(const struct flow_case *c, int k)
{
    for (int i = 6; i < case_openings(c); i++) {
        const struct case_face *const patch = case_opening(c, i);
        if (patch->kind == FACE_velocity && patch->rule == FACE_RULE_links)
            warn("scalar_links",
                 "scalars.%s: patches.%s is an inlet by links in a part of a face: it brings in "
                 "too little of the scalar (take rule: regularised, the default)",
                 c->scalars[k].name, c->patches[i - 6].name);
    }
}

static void warn_conduct(const struct flow_case *c, int k, const struct case_body *body,
                         const struct case_scalar_wall *w, const char *name)
{
    static const double most = 1000, most_tau = 8;
    const struct case_scalar *const s = &c->scalars[k];
    if (w->kind != SCALAR_WALL_conduct)
        return;
    const double ratio = w->conductivity / s->diffusivity, capacity = w->capacity;
    const double length = scalar_thickness(c, body);
    const double steps = length * length * capacity / w->conductivity;
    const bool far = fmax(ratio, 1 / ratio) > most || fmax(capacity, 1 / capacity) > most;
    if (far && steps > (double)c->run.steps)
        warn("conduct_steady",
             "bodies.%s.scalars.%s: conductivity and capacity are %.3g and %.3g times those of the "
             "fluid, beyond %g: the body alone takes some %.2g steps to settle, the run has %lld "
             "(where only the steady state matters, take a capacity near 1)",
             name, s->name, ratio, capacity, most, steps, (long long)c->run.steps);
    else if (far)
        warn("conduct_digits",
             "bodies.%s.scalars.%s: conductivity and capacity are %.3g and %.3g times those of the "
             "fluid, beyond %g, where digits are lost (take solver.storage: fp64)",
             name, s->name, ratio, capacity, most);
    if (4 * w->conductivity + 0.5 > most_tau)
        warn("conduct_diffusivity",
             "bodies.%s.scalars.%s: tau- is %.3g in the body, above %g (take %s)", name, s->name,
             4 * w->conductivity + 0.5, most_tau, slower_text(c));
}

/* Only given values are where the surface is. */
static void warn_surface(const struct case_scalar *s, const struct case_body *body,
                         const struct case_scalar_wall *w, const char *name)
{
    const bool halfway = scalar_wall_flux(w->kind) || w->kind == SCALAR_WALL_conduct;
    if (body->wall == BODY_WALL_interpolated && halfway)
        warn("scalar_surface",
             "bodies.%s.scalars.%s: with wall interpolated only a given value acts where the "
             "surface is; flux, transfer and conduct act half-way between cells (take wall: "
             "halfway, or more cells)",
             name, s->name);
}

/* The condition of a body acts nowhere if all of its labels have their own. */
static bool is_hidden(const struct case_body *body, int k)
{
    int own = 0;
    for (int part = 1; part <= body->label_count; part++)
        own += scalar_has_own(body, part, k);
    return own && own == body->image.solid_count && !body->image.fill;
}

/* Warns of the condition of a part of a body, as case_body_wall. */
static void warn_part(const struct flow_case *c, int k, const struct case_body *body, int part)
{
    const struct case_scalar_wall *const w = case_body_wall(body, part, k);
    const struct scalar_part_name name = scalar_part_name(body, part, ".labels.");
    const bool hidden = !part && is_hidden(body, k);
    if (hidden && w->kind != SCALAR_WALL_adiabatic)
        warn("scalar_hidden",
             "bodies.%s.scalars.%s has no effect: labels gives all labels of image.solid another "
             "condition (remove it)",
             body->name, c->scalars[k].name);
    if (hidden || !scalar_has_own(body, part, k))
        return;
    warn_conduct(c, k, body, w, name.text);
    warn_surface(&c->scalars[k], body, w, name.text);
}

/* Is a value given at a wall that is no opening? *level: the coarsest level of such walls. */
static bool meets_value(const struct flow_case *c, int k, int *level)
{
    bool any = false;
    double range[2];
    *level = c->levels - 1;
    for (int i = 0; i < case_openings(c); i++) {
        const struct case_face *const face = case_opening(c, i);
        if (face_open(face->kind) || !scalar_wall_values(&face->scalar[k], range))
            continue;
        any = true;
        *level = 0;
    }
    for (int i = 0; i < c->body_count; i++)
        for (int part = 0; part <= c->bodies[i].label_count; part++) {
            const int finest = limits_level(c, i);
            if (!scalar_wall_values(case_body_wall(&c->bodies[i], part, k), range))
                continue;
            any = true;
            *level = finest < *level ? finest : *level;
        }
    return any;
}

/* A layer of 1.5 cells at a body that conducts lets 11 % more pass, one of 0.8 cells 45 %, one of
 * 0.25 cells 5 times as much (a plate of 64 cells, docs/lab/scalar_limiter.md). */
static void warn_conducting(const struct flow_case *c, int k, double layer)
{
    static const double least = 1.5;
    for (int i = 0; i < c->body_count && layer < least; i++)
        if (case_body_conducts(&c->bodies[i], k))
            warn("conduct_layer",
                 "bodies.%s.scalars.%s: the layer at its surface, sqrt(diffusivity length / "
                 "velocity), is %.2g cells thick: below %g cells a body that conducts exchanges "
                 "too much with the fluid (a finer grid, a larger diffusivity, or a given value "
                 "or flux)",
                 c->bodies[i].name, c->scalars[k].name, layer, least);
}

static void warn_limiter(const struct flow_case *c, int k)
{
    if (!scalar_limited(c, k))
        return;
    int level;
    const bool meets = meets_value(c, k, &level);
    const double layer = ldexp(scalar_layer(c, k), level); /* in cells at these walls */
    warn_conducting(c, k, scalar_layer(c, k));
    if (layer < 1 && meets) {
        /* fits the plate of docs/lab/scalar_limiter.md */
        const double thin = 1.77 * layer, share = thin / pow(1 + pow(thin, 2.3), 1 / 2.3);
        warn("scalar_layer",
             "scalars.%s: its layer at walls of given value or transfer, sqrt(diffusivity length / "
             "velocity), is %.2g cells thick: what passes through them is off, on a plate it is "
             "about %.0f %% of what it ought to be, at tubes it was up to a quarter more (a finer "
             "grid, %sor a given flux)",
             c->scalars[k].name, layer, 100 * share,
             c->solver.subgrid == SUBGRID_none ? "a subgrid model, " : "");
    }
}

/* Heat of a box without openings in which buoyancy drives the flow. Error 23 % over the square of
 * the layer in cells: within half of it in square cavities at Ra 1e5 to 1e7 on 16 to 96 cells
 * (docs/lab/own_flows.md). Thinner layers are warn_limiter's. */
static void warn_convection(const struct flow_case *c, int k)
{
    static const double thick = 3.4, error = 0.23, most = 0.4;
    const double layer = scalar_layer(c, k), part = error / (layer * layer);
    const bool limited = scalar_limited(c, k);
    int level;
    if (c->scalars[k].expansion == 0 || !(magnitude(c->gravity) > 0) || case_is_open(c) ||
        c->levels > 1 || layer >= thick || (limited && layer < 1) || !meets_value(c, k, &level))
        return;
    warn("convection_layer",
         "scalars.%s: its layer at the walls, sqrt(diffusivity length / velocity), is %.2g cells "
         "thick: %s %.0f %% too %s passes through walls of given value (%.2g times as fine a grid "
         "for 1 %%)",
         c->scalars[k].name, layer, part > most ? "more than" : "about", 100 * fmin(part, most),
         limited ? "little" : "much", sqrt(100 * part));
}

void advise_scalars(const struct flow_case *c)
{
    static const double most = 0.04;
    const double speed = case_fastest_velocity(c);
    bool falls = false;
    for (int k = 0; k < c->scalar_count; k++) {
        falls = falls || c->scalars[k].expansion != 0;
        warn_diffusivity(c, k);
        warn_temperatures(c, k);
        warn_buoyancy(c, k);
        warn_reference(c, k);
        warn_stratified(c, k);
        warn_rate(c, k);
        warn_opening(c, k);
        warn_links(c, k);
        warn_limiter(c, k);
        warn_convection(c, k);
        for (int i = 0; i < c->body_count; i++)
            for (int part = 0; part <= c->bodies[i].label_count; part++)
                warn_part(c, k, &c->bodies[i], part);
    }
    if (magnitude(c->gravity) > 0 && !falls)
        warn("gravity_idle",
             "force.gravity has no effect: no scalar has an expansion (give scalars.*.expansion; "
             "force.acceleration acts on all of the fluid)");
    if (c->scalar_count && 4 * speed * speed > most)
        warn("scalar_velocity",
             "the velocity is %.3g: four times its square, %.2g %%, is the size of the error of "
             "scalars' diffusion along the flow before a correction (keep it below %g %%: %s)",
             speed, 400 * speed * speed, 100 * most, slower_text(c));
}
