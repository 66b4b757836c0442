/* Scalars of a case: the numbers derived from them, and what the log says of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "case/scalar_extent.h"
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

static void meet(struct scalar_extent *e, double value)
{
    e->low = e->any ? fmin(e->low, value) : value;
    e->high = e->any ? fmax(e->high, value) : value;
    e->any = true;
}

/* What a time function makes of a value. */
static void meet_signal(struct scalar_extent *e, double value, const struct case_signal *s)
{
    meet(e, value * signal_peak(s));
    if (s->kind == SIGNAL_sine)
        meet(e, value * (s->mean - fabs(s->amplitude)));
    if (s->kind == SIGNAL_steer) {
        meet(e, value * s->least);
        meet(e, value * s->most);
    }
    for (int i = 0; s->kind == SIGNAL_table && i < s->points; i++)
        meet(e, value * s->values[i]);
}

/* The values that are given at a wall. */
static void meet_wall(struct scalar_extent *e, const struct case_scalar_wall *w)
{
    double range[2];
    if (!scalar_wall_values(w, range))
        return;
    meet_signal(e, range[0], &w->signal);
    meet_signal(e, range[1], &w->signal);
}

/* The values that faces, patches, caps and bodies give scalar k. */
static struct scalar_extent extent_of_walls(const struct flow_case *c, int k)
{
    struct scalar_extent e = {.any = false};
    for (int n = 0; n < case_conditions(c); n++)
        meet_wall(&e, case_condition(c, n, k));
    return e;
}

/* The same with the initial values, if they are not from an earlier result. */
struct scalar_extent scalar_extent_of(const struct flow_case *c, int k)
{
    struct scalar_extent e = extent_of_walls(c, k);
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

struct scalar_extent scalar_extent_given(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    double range[2];
    bool comes = false;
    for (int n = 0; n < case_gates(c); n++) {
        const struct case_gate gate = case_gate(c, n);
        comes = comes || (gate.open && scalar_wall_values(&gate.scalar[k], range));
    }
    return comes && !s->initial.given ? extent_of_walls(c, k) : scalar_extent_of(c, k);
}

/* fluid.length, or the distance of two opposite faces of different values; 0: not known. */
static double length_of(const struct flow_case *c, int k)
{
    if (c->fluid.length > 0)
        return c->fluid.length;
    for (int a = 0; a < 3; a++) {
        struct scalar_extent low = {.any = false}, high = {.any = false};
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
double scalar_free_fall(const struct flow_case *c, int k, double difference)
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
        const struct scalar_extent e = scalar_extent_of(c, k);
        speed = fmax(speed, part_of_fall * scalar_free_fall(c, k, e.high - e.low));
    }
    return speed;
}

static void say_scalar(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct scalar_extent walls = extent_of_walls(c, k);
    const bool heat = s->kind == SCALAR_KIND_heat;
    const double length = length_of(c, k), viscosity = c->fluid.viscosity, d = s->diffusivity;
    const double magic = scalar_magic(s);
    char even[32], odd[32], physical[48] = "";
    if (c->units.given)
        snprintf(physical, sizeof physical, " (%g m2/s)",
                 d * lattice_unit(&c->units, UNIT_DIFFUSIVITY));
    say("%s: diffusivity %g%s, %s %g, tau+ %s, tau- %s (magic %.4g%s)", s->name, d, physical,
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

/* The unit in which a number of a scalar is shown; unit: for heat. */
static enum key_unit shown_unit(const struct flow_case *c, bool heat, enum key_unit unit)
{
    if (heat && c->units.heat_capacity > 0)
        return unit;
    return heat && unit == UNIT_HEAT_SOURCE ? UNIT_HEATING : unit_of_species(unit);
}

/* A number of a scalar with its unit: "100 W/m2"; without units.heat_capacity "0.08 K m/s"; in a
 * case without units "1e-4 K cells a step". */
struct shown_number {
    char text[64];
};

/* unit: for heat. */
static struct shown_number shown_number(const struct flow_case *c, const struct case_scalar *s,
                                        double value, enum key_unit unit)
{
    struct shown_number t;
    const bool heat = s->kind == SCALAR_KIND_heat;
    const enum key_unit shown = shown_unit(c, heat, unit);
    const char *const kelvin = heat && shown == UNIT_VELOCITY && unit == UNIT_HEAT_FLUX ? "K " : "";
    if (!c->units.given)
        snprintf(t.text, sizeof t.text, "%g %s", value,
                 unit_lattice_text(heat ? unit : unit_of_species(unit)));
    else
        snprintf(t.text, sizeof t.text, "%g %s%s", value * lattice_unit(&c->units, shown), kelvin,
                 unit_info(shown)->symbol);
    return t;
}

/* A value of a scalar: "18 degC (291.15 K)"; a temperature below 200 K is a difference, or cold,
 * and has only K. */
static struct shown_number shown_value(const struct case_scalar *s, double value)
{
    static const double least = 200, ice = 273.15;
    struct shown_number t;
    const double all = s->reference + value;
    if (s->kind == SCALAR_KIND_heat && all > least)
        snprintf(t.text, sizeof t.text, "%.4g degC (%g K)", all - ice, all);
    else
        snprintf(t.text, sizeof t.text, "%g%s", all, s->kind == SCALAR_KIND_heat ? " K" : "");
    return t;
}

bool scalar_range_text(const struct flow_case *c, int k, char text[SCALAR_RANGE_TEXT])
{
    const struct scalar_extent e = scalar_extent_of(c, k);
    const struct case_scalar *const s = &c->scalars[k];
    if (e.any)
        snprintf(text, SCALAR_RANGE_TEXT, "%s%s%s", shown_value(s, e.low).text,
                 e.high > e.low ? " to " : "", e.high > e.low ? shown_value(s, e.high).text : "");
    return e.any;
}

/* "xmin value 305 K", or "xmin value 290 K to 305 K by height along z from a file". */
static void append_value(char *end, size_t size, const char *between, const char *name,
                         const struct case_scalar_wall *w, const struct case_scalar *s)
{
    double range[2];
    char how[32] = "by radius";
    scalar_wall_values(w, range);
    if (w->profile == PROFILE_height)
        snprintf(how, sizeof how, "by height along %s", key_axes[w->heights.axis]);
    if (!w->profile)
        snprintf(end, size, "%s%s value %s", between, name, shown_value(s, w->value).text);
    else
        snprintf(end, size, "%s%s value %s to %s %s from a file", between, name,
                 shown_value(s, range[0]).text, shown_value(s, range[1]).text, how);
}

/* "xmin value 305 K, ", of walls that let something pass and openings of a given value. */
static void append_wall(char *text, size_t size, const char *name, const struct case_scalar_wall *w,
                        const struct flow_case *c, const struct case_scalar *s)
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
        append_value(end, size, between, name, w, s);
        break;
    case SCALAR_WALL_flux:
        snprintf(end, size, "%s%s flux %s", between, name,
                 shown_number(c, s, w->flux, UNIT_HEAT_FLUX).text);
        break;
    case SCALAR_WALL_transfer:
        snprintf(end, size, "%s%s transfer %s from %s", between, name,
                 shown_number(c, s, w->coefficient, UNIT_TRANSFER).text,
                 shown_value(s, w->outside).text);
        break;
    case SCALAR_WALL_conduct:
        snprintf(end, size, "%s%s conducts %s%s%s", between, name,
                 shown_number(c, s, w->conductivity, UNIT_CONDUCTIVITY).text,
                 w->source != 0 ? " with a source of " : "",
                 w->source != 0 ? shown_number(c, s, w->source, UNIT_HEAT_SOURCE).text : "");
        break;
    }
}

/* Has the part of a body, as case_body_wall, a condition of its own? */
bool scalar_has_own(const struct case_body *body, int part, int scalar)
{
    return !part || body->labels[part - 1].scalar[scalar].kind != SCALAR_WALL_inherited;
}

/* "rock", or "rock label 2" with these words between. */
struct scalar_part_name scalar_part_name(const struct case_body *body, int part,
                                         const char *between)
{
    struct scalar_part_name name;
    snprintf(name.text, sizeof name.text, "%s%s%s", body->name, part ? between : "",
             part ? body->labels[part - 1].name : "");
    return name;
}

static void say_walls(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    char text[1024] = "";
    for (int i = 0; i < case_openings(c); i++)
        append_wall(text, sizeof text, i < 6 ? face_name(i) : c->patches[i - 6].name,
                    &case_opening(c, i)->scalar[k], c, s);
    for (int i = 0; i < case_caps(c); i++)
        append_wall(text, sizeof text, case_cap(c, i)->name, &case_cap(c, i)->scalar[k], c, s);
    for (int i = 0; i < c->body_count; i++)
        for (int part = 0; part <= c->bodies[i].label_count; part++) {
            const struct scalar_part_name name = scalar_part_name(&c->bodies[i], part, " label ");
            if (scalar_has_own(&c->bodies[i], part, k))
                append_wall(text, sizeof text, name.text, case_body_wall(&c->bodies[i], part, k), c,
                            s);
        }
    if (scalar_has_gradient(s))
        say("%s: mean gradient (%g, %g, %g); its values are the deviation from it", s->name,
            s->gradient[0], s->gradient[1], s->gradient[2]);
    else
        say("%s: %s", s->name, *text ? text : "no value or flux is given at any face or body");
}

/* Says which values a scalar begins with in a case that begins with an earlier result. */
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

/* Shortest edge of the body's box inside the grid. */
double scalar_thickness(const struct flow_case *c, const struct case_body *body)
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
                flux = fmax(flux, fabs(w->source) * scalar_thickness(c, &c->bodies[i]));
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
    const struct scalar_extent e = scalar_extent_of(c, k);
    return fmax(e.high - e.low, difference_by_flux(c, k));
}

double scalars_fastest(const struct flow_case *c)
{
    double speed = case_fastest_velocity(c);
    for (int k = 0; k < c->scalar_count; k++)
        speed = fmax(speed, part_of_fall * scalar_free_fall(c, k, scalar_difference(c, k)));
    return speed;
}
