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
        meet_wall(&e, &c->bodies[i].scalar[k]);
    return e;
}

/* The same with the initial values. */
static struct extent extent_of(const struct flow_case *c, int k)
{
    struct extent e = extent_of_walls(c, k);
    const struct case_scalar_initial *const initial = &c->scalars[k].initial;
    const double amplitude = fabs(initial->amplitude);
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

/* Velocity of a free fall through the box by the largest buoyancy of scalar k. */
static double free_fall(const struct flow_case *c, int k)
{
    const struct extent e = extent_of(c, k);
    double sum = 0;
    for (int a = 0; a < 3; a++)
        sum += fabs(c->gravity[a]) * c->cells[a];
    return sqrt(sum * fabs(c->scalars[k].expansion) * (e.high - e.low));
}

/* In a cavity that is heated at a side the largest velocity is 0.26 of a free fall: de Vahl Davis,
 * Int. J. Numer. Meth. Fluids 3:249, 1983, at Ra 1e6; less at lower ones. */
double scalars_velocity(const struct flow_case *c)
{
    double speed = 0;
    for (int k = 0; k < c->scalar_count; k++)
        speed = fmax(speed, 0.26 * free_fall(c, k));
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

static void say_walls(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    char text[512] = "";
    for (int i = 0; i < case_openings(c); i++)
        append_wall(text, sizeof text, i < 6 ? face_name(i) : c->patches[i - 6].name,
                    &case_opening(c, i)->scalar[k], s);
    for (int i = 0; i < c->body_count; i++)
        append_wall(text, sizeof text, c->bodies[i].name, &c->bodies[i].scalar[k], s);
    if (scalar_has_gradient(s))
        say("%s: mean gradient (%g, %g, %g); its values are the deviation from it", s->name,
            s->gradient[0], s->gradient[1], s->gradient[2]);
    else
        say("%s: %s", s->name, *text ? text : "no value or flux is given at any face or body");
}

void scalars_say(const struct flow_case *c)
{
    for (int k = 0; k < c->scalar_count; k++) {
        say_scalar(c, k);
        say_walls(c, k);
    }
}

static const char *slower_text(const struct flow_case *c)
{
    return c->units.given ? "a smaller units.dt" : "a smaller velocity, viscosity and diffusivity";
}

static void warn_diffusivity(const struct flow_case *c, int k)
{
    static const double most_peclet = 10, far_peclet = 15, least = 0.005, most_tau = 8, few = 0.2;
    const struct case_scalar *const s = &c->scalars[k];
    const double d = s->diffusivity, peclet = case_fastest_velocity(c) / d;
    if (peclet > most_peclet && scalar_magic(s) < few)
        warn("scalars.%s: the Peclet number of a cell, velocity / diffusivity, is %.3g, above %g: "
             "values ring beside steep fronts (take magic: 0.25, or a finer grid)",
             s->name, peclet, most_peclet);
    if (peclet > far_peclet && scalar_magic(s) >= few)
        warn("scalars.%s: the Peclet number of a cell, velocity / diffusivity, is %.3g, above %g: "
             "beside walls, bodies and inlets values may lie far outside those given (take a finer "
             "grid, or a larger diffusivity)",
             s->name, peclet, far_peclet);
    if (4 * d < least)
        warn("scalars.%s: the diffusivity %.3g is so small, below %g, that the scalar lags behind "
             "the flow (take %s)",
             s->name, d, least / 4,
             c->units.given ? "a larger units.dt, or a finer grid"
                            : "a larger velocity, viscosity and diffusivity, or a finer grid");
    if (4 * d + 0.5 > most_tau)
        warn("scalars.%s: tau- is %.3g, above %g: the scalar diffuses over many cells a step (take "
             "%s)",
             s->name, 4 * d + 0.5, most_tau, slower_text(c));
}

static void warn_buoyancy(const struct flow_case *c, int k)
{
    static const double most_mach = 0.1, most_change = 0.1;
    const struct case_scalar *const s = &c->scalars[k];
    const struct extent e = extent_of(c, k);
    const double mach = sqrt(3.0) * free_fall(c, k);
    const double change = fabs(s->expansion) * (e.high - e.low);
    if (mach > most_mach)
        warn("scalars.%s: buoyancy may drive velocities of Mach %.3g, by a free fall through the "
             "box, above %g (take %s)",
             s->name, mach, most_mach,
             c->units.given ? "a smaller units.dt"
                            : "a smaller force.gravity, viscosity and diffusivity");
    if (c->units.given && change > most_change)
        warn("scalars.%s: expansion times the largest difference is %.3g, above %g: buoyancy alone "
             "does not describe such changes of density (take smaller differences)",
             s->name, change, most_change);
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
        s->initial.value == 0 && !s->initial.linear)
        warn(
            "scalars.%s: begins at 0 K, as neither reference nor initial is given (give reference: "
            "300 K, or a temperature near the middle of all)",
            s->name);
    if (!(width > 0))
        return;
    if (s->expansion != 0 && fabs(middle) > width)
        warn(
            "scalars.%s: its values differ by %.3g, but are about %.3g from the reference, so that "
            "nearly all of the buoyancy only changes the pressure (take reference: %.6g)",
            s->name, width, fabs(middle), s->reference + middle);
    else if (c->solver.storage != PRECISION_fp64 && fabs(middle) > much * width)
        warn("scalars.%s: its values differ by %.3g, but are about %.3g from the reference, which "
             "costs digits (take reference: %.6g)",
             s->name, width, fabs(middle), s->reference + middle);
}

static void warn_rate(const struct flow_case *c, int k)
{
    static const double most = 0.1;
    const struct case_scalar *const s = &c->scalars[k];
    double rate = s->decay;
    for (int i = 0; i < c->scalar_count; i++)
        rate += c->scalars[i].made_from == k ? c->scalars[i].rate : 0;
    if (rate > most)
        warn("scalars.%s: a step takes %.3g of its value by decay and rate, above %g, which is too "
             "fast for the time step (take %s)",
             s->name, rate, most, c->units.given ? "a smaller units.dt" : "smaller rates");
}

/* A value given at an opening acts on the even part of the populations, which lags by tau+ behind
 * what changes along the flow. The relative error was found to be this. */
static double opening_error(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct extent e = extent_of(c, k);
    const double range = fmax(e.high, 0) - fmin(e.low, 0);
    double rate = s->decay;
    for (int i = 0; i < c->scalar_count; i++)
        rate += c->scalars[i].made_from == k ? c->scalars[i].rate : 0;
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
        given = given || (case_opening(c, i)->kind != FACE_wall &&
                          case_opening(c, i)->scalar[k].kind == SCALAR_WALL_value);
    if (given && error > most)
        warn("scalars.%s: at openings of a given value it is off by some %.2g %%, as source, decay "
             "or reaction are fast beside the diffusivity (take a larger diffusivity, or slower "
             "rates)",
             c->scalars[k].name, 100 * error);
}

/* Shortest edge of the body's box inside the grid. */
static double thickness_of(const struct flow_case *c, const struct case_body *body)
{
    double least = INFINITY;
    for (int a = 0; a < 3; a++)
        least = fmin(least, fmin(body->hi[a], c->cells[a]) - fmax(body->lo[a], 0));
    return fmax(least, 1);
}

static void warn_conduct(const struct flow_case *c, int k, const struct case_body *body)
{
    static const double most = 1000, most_tau = 8;
    const struct case_scalar *const s = &c->scalars[k];
    const struct case_scalar_wall *const w = &body->scalar[k];
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
             body->name, s->name, ratio, capacity, most, steps, (long long)c->run.steps);
    else if (far)
        warn("bodies.%s.scalars.%s: conductivity and capacity are %.3g and %.3g times those of the "
             "fluid, beyond %g, where digits are lost (take solver.storage: fp64)",
             body->name, s->name, ratio, capacity, most);
    if (4 * w->conductivity + 0.5 > most_tau)
        warn("bodies.%s.scalars.%s: tau- is %.3g in the body, above %g (take %s)", body->name,
             s->name, 4 * w->conductivity + 0.5, most_tau, slower_text(c));
}

/* Are all faces of the body normal to an axis? */
static bool is_straight(const struct case_body *body)
{
    return !body->mesh.file && !body->image.file && body->shape.kind == SHAPE_box &&
           !body->shape.rotate[0] && !body->shape.rotate[1] && !body->shape.rotate[2];
}

/* The surface of cells is a staircase, and each of its faces gives the flux. */
static void warn_staircase(const struct case_scalar *s, const struct case_body *body,
                           const struct case_scalar_wall *w)
{
    if ((w->kind == SCALAR_WALL_flux || w->kind == SCALAR_WALL_transfer) && !is_straight(body))
        warn("bodies.%s.scalars.%s: the flux acts on the faces of the body's cells, whose area is "
             "up to 1.7 times that of an oblique surface (1.27 times for a cylinder, 1.5 for a "
             "sphere): divide flux or coefficient by this factor",
             body->name, s->name);
}

/* Only given values are where the surface is. */
static void warn_surface(const struct case_scalar *s, const struct case_body *body,
                         const struct case_scalar_wall *w)
{
    const bool halfway = w->kind == SCALAR_WALL_flux || w->kind == SCALAR_WALL_transfer ||
                         w->kind == SCALAR_WALL_conduct;
    if (body->wall == BODY_WALL_interpolated && halfway)
        warn("bodies.%s.scalars.%s: with wall interpolated only a given value acts where the "
             "surface is; flux, transfer and conduct act half-way between cells (take wall: "
             "halfway, or more cells)",
             body->name, s->name);
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
        for (int i = 0; i < c->body_count; i++) {
            warn_conduct(c, k, &c->bodies[i]);
            warn_surface(&c->scalars[k], &c->bodies[i], &c->bodies[i].scalar[k]);
            warn_staircase(&c->scalars[k], &c->bodies[i], &c->bodies[i].scalar[k]);
        }
    }
    if (magnitude(c->gravity) > 0 && !falls)
        warn("force.gravity has no effect: no scalar has an expansion (give scalars.*.expansion; "
             "force.acceleration acts on all of the fluid)");
    if (c->scalar_count && 4 * speed * speed > most)
        warn("the velocity is %.3g: four times its square, %.2g %%, is the size of the error of "
             "scalars' diffusion along the flow before a correction (keep it below %g %%: %s)",
             speed, 400 * speed * speed, 100 * most, slower_text(c));
}
