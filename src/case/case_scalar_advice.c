/* Scalars of a case: the numbers derived from them, and advice before the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

bool scalar_has_gradient(const struct case_scalar *s)
{
    return s->gradient[0] != 0 || s->gradient[1] != 0 || s->gradient[2] != 0;
}

double scalar_magic(const struct case_scalar *s)
{
    static const double small = 0.02;
    return s->magic > 0 ? s->magic : 4 * s->diffusivity < small ? 1.0 / 4 : 1.0 / 6;
}

/* Lowest and highest of some values, relative to the scalar's reference. */
struct extent {
    bool any;
    double low, high;
};

static void meet(struct extent *e, double value)
{
    e->low = e->any ? fmin(e->low, value) : value;
    e->high = e->any ? fmax(e->high, value) : value;
    e->any = true;
}

/* A value that is given at a wall, and what its time function makes of it. */
static void meet_wall(struct extent *e, const struct case_scalar_wall *w)
{
    const double value = w->kind == SCALAR_WALL_transfer ? w->outside : w->value;
    if (w->kind != SCALAR_WALL_value && w->kind != SCALAR_WALL_transfer)
        return;
    meet(e, value * signal_peak(&w->signal));
    if (w->signal.kind == SIGNAL_sine)
        meet(e, value * (w->signal.mean - fabs(w->signal.amplitude)));
    for (int i = 0; w->signal.kind == SIGNAL_table && i < w->signal.points; i++)
        meet(e, value * w->signal.values[i]);
}

/* The values that faces, patches and bodies give scalar k. */
static struct extent extent_of_walls(const struct flow_case *c, int k)
{
    struct extent e = {.any = false};
    for (int i = 0; i < case_openings(c); i++)
        meet_wall(&e, &case_opening(c, i)->scalar[k]);
    for (int i = 0; i < c->body_count; i++)
        for (int part = 0; part <= c->bodies[i].label_count; part++)
            meet_wall(&e, case_body_wall(&c->bodies[i], part, k));
    return e;
}

/* The same with the initial values, if they are not from an earlier result. */
static struct extent extent_of(const struct flow_case *c, int k)
{
    struct extent e = extent_of_walls(c, k);
    const struct case_scalar_initial *const initial = &c->scalars[k].initial;
    const double amplitude = fabs(initial->amplitude);
    if (initial->earlier)
        return e;
    for (int i = 0; i < (initial->linear ? 2 : 1); i++) {
        const double value = initial->linear ? initial->ends[i] : initial->value;
        meet(&e, value - amplitude);
        meet(&e, value + amplitude);
    }
    for (int i = 0; i < initial->part_count; i++)
        meet(&e, initial->parts[i].value);
    return e;
}

/* fluid.length, or the distance of two opposite faces of different values; 0: not known. */
static double length_of(const struct flow_case *c, int k)
{
    if (c->fluid.length > 0)
        return c->fluid.length;
    for (int a = 0; a < 3; a++) {
        struct extent low = {.any = false}, high = {.any = false};
        meet_wall(&low, &c->faces[2 * a].scalar[k]);
        meet_wall(&high, &c->faces[2 * a + 1].scalar[k]);
        if (low.any && high.any && (low.low != high.low || low.high != high.high))
            return c->cells[a];
    }
    return 0;
}

/* Gravity times the height of the box along it. */
static double fall_of(const struct flow_case *c)
{
    double sum = 0;
    for (int a = 0; a < 3; a++)
        sum += fabs(c->gravity[a]) * c->cells[a];
    return sum;
}

/* Velocity of a free fall through the box by the buoyancy of a difference of scalar k. */
static double free_fall(const struct flow_case *c, int k, double difference)
{
    return sqrt(fall_of(c) * fabs(c->scalars[k].expansion) * difference);
}

/* In a cavity that is heated at a side the largest velocity is 0.26 of a free fall: de Vahl Davis,
 * Int. J. Numer. Meth. Fluids 3:249, 1983, at Ra 1e6; less at lower ones. */
static const double part_of_fall = 0.26;

double scalars_velocity(const struct flow_case *c)
{
    double speed = 0;
    for (int k = 0; k < c->scalar_count; k++) {
        const struct extent e = extent_of(c, k);
        speed = fmax(speed, part_of_fall * free_fall(c, k, e.high - e.low));
    }
    return speed;
}

static void say_scalar(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct extent walls = extent_of_walls(c, k);
    const bool heat = s->kind == SCALAR_KIND_heat;
    const double length = length_of(c, k), viscosity = c->fluid.viscosity, d = s->diffusivity;
    const double magic = scalar_magic(s);
    char even[32], odd[32];
    say("%s: diffusivity %g, %s %g, tau+ %s, tau- %s (magic %.4g%s)", s->name, d,
        heat ? "Prandtl" : "Schmidt", viscosity / d, case_tau_text(even, magic / (4 * d) + 0.5, 6),
        case_tau_text(odd, 4 * d + 0.5, 6), magic, s->magic > 0 ? "" : " by auto");
    if (c->fluid.velocity > 0 && c->fluid.length > 0)
        say("%s: Peclet %g (velocity %g, length %g)", s->name,
            c->fluid.velocity * c->fluid.length / d, c->fluid.velocity, c->fluid.length);
    if (s->expansion != 0 && walls.any && walls.high > walls.low && length > 0)
        say("%s: Rayleigh %g (difference %g, length %g)", s->name,
            magnitude(c->gravity) * fabs(s->expansion) * (walls.high - walls.low) * length *
                length * length / (viscosity * d),
            walls.high - walls.low, length);
}

/* "xmin value 305, ", of walls that let something pass and openings of a given value. */
static void append_wall(char *text, size_t size, const char *name, const struct case_scalar_wall *w,
                        const struct case_scalar *s)
{
    const size_t length = strlen(text);
    char *const end = text + length;
    const char *const between = length ? ", " : "";
    size -= length;
    switch (w->kind) {
    case SCALAR_WALL_adiabatic:
    case SCALAR_WALL_outflow:
    case SCALAR_WALL_inherited:
        break;
    case SCALAR_WALL_value:
        snprintf(end, size, "%s%s value %g", between, name, s->reference + w->value);
        break;
    case SCALAR_WALL_flux:
        snprintf(end, size, "%s%s flux %g", between, name, w->flux);
        break;
    case SCALAR_WALL_transfer:
        snprintf(end, size, "%s%s transfer %g from %g", between, name, w->coefficient,
                 s->reference + w->outside);
        break;
    case SCALAR_WALL_conduct:
        snprintf(end, size, "%s%s conducts %g", between, name, w->conductivity);
        break;
    }
}

/* Has the part of a body, as case_body_wall, a condition of its own? */
static bool is_own(const struct case_body *body, int part, int scalar)
{
    return !part || body->labels[part - 1].scalar[scalar].kind != SCALAR_WALL_inherited;
}

struct part_name {
    char text[2 * CASE_NAME + 16];
};

/* "rock", or "rock label 2" with these words between. */
static struct part_name part_name(const struct case_body *body, int part, const char *between)
{
    struct part_name name;
    snprintf(name.text, sizeof name.text, "%s%s%s", body->name, part ? between : "",
             part ? body->labels[part - 1].name : "");
    return name;
}

static void say_walls(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    char text[512] = "";
    for (int i = 0; i < case_openings(c); i++)
        append_wall(text, sizeof text, i < 6 ? face_name(i) : c->patches[i - 6].name,
                    &case_opening(c, i)->scalar[k], s);
    for (int i = 0; i < c->body_count; i++)
        for (int part = 0; part <= c->bodies[i].label_count; part++) {
            const struct part_name name = part_name(&c->bodies[i], part, " label ");
            if (is_own(&c->bodies[i], part, k))
                append_wall(text, sizeof text, name.text, case_body_wall(&c->bodies[i], part, k),
                            s);
        }
    if (scalar_has_gradient(s))
        say("%s: mean gradient (%g, %g, %g); its values are the deviation from it", s->name,
            s->gradient[0], s->gradient[1], s->gradient[2]);
    else
        say("%s: %s", s->name, *text ? text : "no value or flux is given at any face or body");
}

/* What a scalar begins with in a case that begins with an earlier result. */
static void say_initial(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct case_earlier *const e = &c->initial.from;
    bool there = false;
    for (int i = 0; i < e->scalar_count; i++)
        there = there || !strcmp(e->scalar[i].name, s->name);
    if (s->initial.earlier)
        say("%s: begins with the values of initial.from", s->name);
    else if (e->file && there && !scalar_has_gradient(s))
        say("%s: begins with scalars.%s.initial; initial.from has values of it, which are not "
            "taken",
            s->name, s->name);
    else if (e->file && !scalar_has_gradient(s))
        say("%s: begins with %s, as initial.from has no values of it", s->name,
            s->initial.given ? "its initial values" : "its reference");
}

void scalars_say(const struct flow_case *c)
{
    for (int k = 0; k < c->scalar_count; k++) {
        say_scalar(c, k);
        say_walls(c, k);
        say_initial(c, k);
        limiter_say(c, k);
    }
}

static const char *slower_text(const struct flow_case *c)
{
    return c->units.given ? smaller_step(c) : "a smaller velocity, viscosity and diffusivity";
}

static void warn_diffusivity(const struct flow_case *c, int k)
{
    static const double most_peclet = 10, far_peclet = 15, least = 0.005, most_tau = 8, few = 0.2;
    const struct case_scalar *const s = &c->scalars[k];
    const double d = s->diffusivity, peclet = case_fastest_velocity(c) / d;
    const bool limited = scalar_limited(c, k);
    if (!limited && peclet > most_peclet && scalar_magic(s) < few)
        warn("scalars.%s: the Peclet number of a cell, velocity / diffusivity, is %.3g, above %g: "
             "values ring beside steep fronts (take limiter: on, magic: 0.25, or a finer grid)",
             s->name, peclet, most_peclet);
    if (!limited && peclet > far_peclet && scalar_magic(s) >= few)
        warn(
            "scalars.%s: the Peclet number of a cell, velocity / diffusivity, is %.3g, above %g: "
            "beside walls, bodies and inlets values may lie far outside those given (take limiter: "
            "on, a finer grid, or a larger diffusivity)",
            s->name, peclet, far_peclet);
    if (!limited && 4 * d < least)
        warn("scalars.%s: the diffusivity %.3g is so small, below %g, that the scalar lags behind "
             "the flow (take %s)",
             s->name, d, least / 4,
             c->units.given ? c->units.lattice > 0
                                  ? "a larger units.velocity.lattice, or a finer grid"
                                  : "a larger units.dt, or a finer grid"
                            : "a larger velocity, viscosity and diffusivity, or a finer grid");
    if (4 * d + 0.5 > most_tau)
        warn("scalars.%s: tau- is %.3g, above %g: the scalar diffuses over many cells a step (take "
             "%s)",
             s->name, 4 * d + 0.5, most_tau, slower_text(c));
}

/* Shortest edge of the body's box inside the grid. */
static double thickness_of(const struct flow_case *c, const struct case_body *body)
{
    const struct voxel_image *const v = &body->image;
    double least = INFINITY;
    for (int a = 0; a < 3; a++) {
        least = fmin(least, fmin(body->hi[a], c->cells[a]) - fmax(body->lo[a], 0));
        least = v->file ? fmin(least, v->to[a] - v->from[a]) : least;
    }
    return fmax(least, 1);
}

/* Largest flux into the fluid, by walls of given flux, or by a source and the height of the box or
 * the thickness of a body. height: of the box along gravity. */
static double largest_flux(const struct flow_case *c, int k, double height)
{
    double flux = fabs(c->scalars[k].source) * height;
    for (int i = 0; i < case_openings(c); i++) {
        const struct case_scalar_wall *const w = &case_opening(c, i)->scalar[k];
        if (w->kind == SCALAR_WALL_flux)
            flux = fmax(flux, fabs(w->flux) * signal_peak(&w->signal));
    }
    for (int i = 0; i < c->body_count; i++)
        for (int part = 0; part <= c->bodies[i].label_count; part++) {
            const struct case_scalar_wall *const w = case_body_wall(&c->bodies[i], part, k);
            if (w->kind == SCALAR_WALL_flux)
                flux = fmax(flux, fabs(w->flux) * signal_peak(&w->signal));
            else if (w->kind == SCALAR_WALL_conduct)
                flux = fmax(flux, fabs(w->source) * thickness_of(c, &c->bodies[i]));
        }
    return flux;
}

/* An estimate of the difference that sources and fluxes make of a scalar with buoyancy. It is the
 * least of three: that which conducts the flux over the height of the box, that at the surface of a
 * fluid at rest at the end of the run, and that which the buoyant flow carries away. */
static double difference_by_flux(const struct flow_case *c, int k)
{
    static const double pi = 3.141592653589793;
    const struct case_scalar *const s = &c->scalars[k];
    const double fall = fall_of(c) * fabs(s->expansion);
    if (!(fall > 0))
        return 0;
    const double height = fall_of(c) / magnitude(c->gravity);
    const double flux = largest_flux(c, k, height), d = s->diffusivity;
    const double conducted = flux * height / d;
    const double heated = 2 * flux * sqrt((double)c->run.steps / (pi * d));
    const double carried = pow(flux / (part_of_fall * sqrt(fall)), 2.0 / 3);
    return fmin(conducted, fmin(heated, carried));
}

double scalar_difference(const struct flow_case *c, int k)
{
    const struct extent e = extent_of(c, k);
    return fmax(e.high - e.low, difference_by_flux(c, k));
}

double scalars_fastest(const struct flow_case *c)
{
    double speed = case_fastest_velocity(c);
    for (int k = 0; k < c->scalar_count; k++)
        speed = fmax(speed, part_of_fall * free_fall(c, k, scalar_difference(c, k)));
    return speed;
}

static void warn_buoyancy(const struct flow_case *c, int k)
{
    static const double most_mach = 0.1, most_change = 0.1;
    const struct case_scalar *const s = &c->scalars[k];
    const struct extent e = extent_of(c, k);
    const double difference = scalar_difference(c, k);
    const double mach = sqrt(3.0) * free_fall(c, k, difference);
    const double change = fabs(s->expansion) * difference;
    char by[96] = "";
    if (difference > e.high - e.low)
        snprintf(by, sizeof by, ", and sources and fluxes may make differences of %.3g",
                 difference);
    if (mach > most_mach)
        warn("scalars.%s: buoyancy may drive velocities of Mach %.3g, by a free fall through the "
             "box, above %g%s (take %s)",
             s->name, mach, most_mach, by,
             c->units.given ? smaller_step(c)
                            : "a smaller force.gravity, viscosity and diffusivity");
    if (c->units.given && change > most_change)
        warn("scalars.%s: expansion times the largest difference is %.3g, above %g: buoyancy alone "
             "does not describe such changes of density (take smaller differences)%s",
             s->name, change, most_change, by);
}

/* The value, relative to the reference, of the fluid that comes in through an opening: buoyancy has
 * to vanish there, or it drives a flow through openings of different heights. Without openings, or
 * where none gives a value, the middle of all. */
static double best_reference(const struct flow_case *c, int k, const struct extent *e)
{
    for (int i = 0; i < case_openings(c); i++)
        if (face_open(case_opening(c, i)->kind) &&
            case_opening(c, i)->scalar[k].kind == SCALAR_WALL_value)
            return case_opening(c, i)->scalar[k].value;
    return 0.5 * (e->low + e->high);
}

/* Values are stored relative to the reference, in fp32 unless the flow is in fp64; and there is no
 * buoyancy at the reference: elsewhere only the pressure balances its mean. */
static void warn_reference(const struct flow_case *c, int k)
{
    static const double much = 100;
    const struct case_scalar *const s = &c->scalars[k];
    const struct extent e = extent_of(c, k);
    const double middle = 0.5 * (e.low + e.high), width = e.high - e.low;
    if (c->units.given && s->kind == SCALAR_KIND_heat && s->reference == 0 &&
        s->initial.value == 0 && !s->initial.linear && !s->initial.earlier)
        warn(
            "scalars.%s: begins at 0 K, as neither reference nor initial is given (give reference: "
            "300 K: the temperature at inlets, or near the middle of all)",
            s->name);
    if (!(width > 0))
        return;
    if (s->expansion != 0 && fabs(middle) > width)
        warn(
            "scalars.%s: its values differ by %.3g, but are about %.3g from the reference, so that "
            "nearly all of the buoyancy only changes the pressure (take reference: %.6g)",
            s->name, width, fabs(middle), s->reference + best_reference(c, k, &e));
    else if (c->solver.storage != PRECISION_fp64 && fabs(middle) > much * width)
        warn("scalars.%s: its values differ by %.3g, but are about %.3g from the reference, which "
             "costs digits (take reference: %.6g)",
             s->name, width, fabs(middle), s->reference + best_reference(c, k, &e));
}

static void warn_rate(const struct flow_case *c, int k)
{
    static const double most = 0.1;
    const struct case_scalar *const s = &c->scalars[k];
    const double rate = case_scalar_decay(c, k);
    if (rate > most)
        warn("scalars.%s: a step takes %.3g of its value by decay and rate, above %g, which is too "
             "fast for the time step (take %s)",
             s->name, rate, most, c->units.given ? smaller_step(c) : "smaller rates");
}

/* A value given at an opening acts on the even part of the populations, which lags by tau+ behind
 * what changes along the flow. The relative error was found to be this. Inlets of
 * scalar_inlet_allows() do not have it. */
static double opening_error(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct extent e = extent_of(c, k);
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
    if (given && error > most && !scalar_limited(c, k))
        warn("scalars.%s: at openings of a given value it is off by some %.2g %%, as source, decay "
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
            warn("scalars.%s: patches.%s is an inlet by links in a part of a face: it brings in "
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
    const double length = thickness_of(c, body);
    const double steps = length * length * capacity / w->conductivity;
    const bool far = fmax(ratio, 1 / ratio) > most || fmax(capacity, 1 / capacity) > most;
    if (far && steps > (double)c->run.steps)
        warn("bodies.%s.scalars.%s: conductivity and capacity are %.3g and %.3g times those of the "
             "fluid, beyond %g: the body alone takes some %.2g steps to settle, the run has %lld "
             "(where only the steady state matters, take a capacity near 1)",
             name, s->name, ratio, capacity, most, steps, (long long)c->run.steps);
    else if (far)
        warn("bodies.%s.scalars.%s: conductivity and capacity are %.3g and %.3g times those of the "
             "fluid, beyond %g, where digits are lost (take solver.storage: fp64)",
             name, s->name, ratio, capacity, most);
    if (4 * w->conductivity + 0.5 > most_tau)
        warn("bodies.%s.scalars.%s: tau- is %.3g in the body, above %g (take %s)", name, s->name,
             4 * w->conductivity + 0.5, most_tau, slower_text(c));
}

/* Only given values are where the surface is. */
static void warn_surface(const struct case_scalar *s, const struct case_body *body,
                         const struct case_scalar_wall *w, const char *name)
{
    const bool halfway = w->kind == SCALAR_WALL_flux || w->kind == SCALAR_WALL_transfer ||
                         w->kind == SCALAR_WALL_conduct;
    if (body->wall == BODY_WALL_interpolated && halfway)
        warn("bodies.%s.scalars.%s: with wall interpolated only a given value acts where the "
             "surface is; flux, transfer and conduct act half-way between cells (take wall: "
             "halfway, or more cells)",
             name, s->name);
}

/* The condition of a body acts nowhere if all of its labels have their own. */
static bool is_hidden(const struct case_body *body, int k)
{
    int own = 0;
    for (int part = 1; part <= body->label_count; part++)
        own += is_own(body, part, k);
    return own && own == body->image.solid_count && !body->image.fill;
}

/* Warns of the condition of a part of a body, as case_body_wall. */
static void warn_part(const struct flow_case *c, int k, const struct case_body *body, int part)
{
    const struct case_scalar_wall *const w = case_body_wall(body, part, k);
    const struct part_name name = part_name(body, part, ".labels.");
    const bool hidden = !part && is_hidden(body, k);
    if (hidden && w->kind != SCALAR_WALL_adiabatic)
        warn("bodies.%s.scalars.%s has no effect: labels gives all labels of image.solid another "
             "condition (remove it)",
             body->name, c->scalars[k].name);
    if (hidden || !is_own(body, part, k))
        return;
    warn_conduct(c, k, body, w, name.text);
    warn_surface(&c->scalars[k], body, w, name.text);
}

void scalars_warn(const struct flow_case *c)
{
    static const double most = 0.04;
    const double speed = case_fastest_velocity(c);
    bool falls = false;
    for (int k = 0; k < c->scalar_count; k++) {
        falls = falls || c->scalars[k].expansion != 0;
        warn_diffusivity(c, k);
        warn_buoyancy(c, k);
        warn_reference(c, k);
        warn_rate(c, k);
        warn_opening(c, k);
        warn_links(c, k);
        limiter_warn(c, k);
        for (int i = 0; i < c->body_count; i++)
            for (int part = 0; part <= c->bodies[i].label_count; part++)
                warn_part(c, k, &c->bodies[i], part);
    }
    if (magnitude(c->gravity) > 0 && !falls)
        warn("force.gravity has no effect: no scalar has an expansion (give scalars.*.expansion; "
             "force.acceleration acts on all of the fluid)");
    if (c->scalar_count && 4 * speed * speed > most)
        warn("the velocity is %.3g: four times its square, %.2g %%, is the size of the error of "
             "scalars' diffusion along the flow before a correction (keep it below %g %%: %s)",
             speed, 400 * speed * speed, 100 * most, slower_text(c));
}
