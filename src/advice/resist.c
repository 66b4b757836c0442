/* Porous regions, screens and rotating frames of which little is right: pressures that change the
 * density, layers of a cell, outlets of one pressure across a rotating flow. */
#include <math.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/case_resist.h"
#include "case/keys.h"

/* The density that a flow of velocity u loses across a region that all of it must cross; 0: none
 * must, or it goes round a periodic axis, along which a force drives it. */
static double density_lost(const struct flow_case *c, const struct case_zone *zone, double u)
{
    double lost = 0;
    for (int a = 0; a < 3; a++) {
        double d, f;
        if (c->faces[2 * a].kind == FACE_periodic || !zone_spans(c, zone, a))
            continue;
        zone_resistance(zone, a, &d, &f);
        lost = fmax(lost, 3 * (d + f * u) * u * (zone->cells.hi[a] - zone->cells.lo[a]));
    }
    return lost;
}

static bool overlap(const struct case_region *a, const struct case_region *b)
{
    bool over = true;
    for (int k = 0; k < 3; k++)
        over = over && a->lo[k] < b->hi[k] && b->lo[k] < a->hi[k];
    return over;
}

void advise_resistance(const struct flow_case *c)
{
    static const double most = 0.02;
    const double u = case_fastest_velocity(c);
    for (int k = 0; k < c->zone_count; k++) {
        const struct case_zone *const zone = &c->zones[k];
        if (!zone_resists(zone))
            continue;
        const double lost = density_lost(c, zone, u);
        if (lost > most)
            warn("resist_density",
                 "regions.%s: at a velocity of %.3g the density falls by %.3g across it: its "
                 "pressure "
                 "drop and velocities are off by up to as much (half the time step: half the "
                 "velocity, a quarter of the fall)",
                 zone->name, u, lost);
        for (int later = k + 1; later < c->zone_count; later++)
            if (overlap(&zone->cells, &c->zones[later].cells))
                warn("resist_covered",
                     "regions.%s: the later region %s takes a part of its cells, which lose this "
                     "resistance (give it there, too, or name that region first)",
                     zone->name, c->zones[later].name);
    }
}

/* Does a wall of the box lie across the axis? */
static bool wall_across(const struct flow_case *c, int axis)
{
    return c->faces[2 * axis].kind == FACE_wall || c->faces[2 * axis + 1].kind == FACE_wall;
}

static void warn_layers(const struct flow_case *c, double rate)
{
    static const double least = 2;
    const double thickness = sqrt(c->fluid.viscosity / rate);
    for (int a = 0; a < 3; a++)
        if (c->levels == 1 && wall_across(c, a) && fabs(c->rotation[a]) > 0.5 * rate &&
            thickness < least) {
            warn("ekman_thin",
                 "force.rotation: the layer on the walls across %s, sqrt(viscosity / rotation), is "
                 "%.3g cells thick, below %g: their friction and the flow they drive are wrong (a "
                 "larger viscosity, more cells, or slip there)",
                 key_axes[a], thickness, least);
            return;
        }
}

/* Across a flow of velocity u the pressure changes by 2 rotation u per length: 4 rotation L / u
 * dynamic pressures across an opening. */
static void warn_openings(const struct flow_case *c)
{
    static const double most = 0.2;
    const double u = case_fastest_velocity(c);
    for (int k = 0; k < case_openings(c) && u > 0; k++) {
        const struct case_face *const what = case_opening(c, k);
        const int side = case_opening_side(c, k), axis = side / 2;
        double across = 0;
        for (int a = 1; a < 3; a++) {
            const int along = (axis + a) % 3, about = 3 - axis - along;
            if (c->cells[along] > 1)
                across = fmax(across, fabs(c->rotation[about]) * c->cells[along]);
        }
        if (!(face_has(what->kind, FACE_HAS_density) && 4 * across / u > most))
            continue;
        warn("rotation_outlet",
             "force.rotation: across %s the pressure of a flow of velocity %.3g changes by %.3g "
             "dynamic pressures, and this face gives one pressure: the flow near it turns, and may "
             "diverge (a sponge with the stream's velocity before it, a periodic axis with "
             "force.flow_rate, or an outlet across the axis of rotation)",
             key_faces[side], u, 4 * across / u);
        return;
    }
}

/* The centrifugal acceleration at the rim of the box, over gravity. */
static void warn_centrifugal(const struct flow_case *c, double rate)
{
    static const double most = 0.05;
    double radius = 0, gravity = 0, along = 0;
    bool buoyant = false;
    for (int k = 0; k < c->scalar_count; k++)
        buoyant = buoyant || c->scalars[k].expansion != 0;
    for (int a = 0; a < 3; a++) {
        radius += c->cells[a] * c->cells[a] / 4.0;
        along += c->cells[a] / 2.0 * fabs(c->rotation[a]) / rate;
        gravity += c->gravity[a] * c->gravity[a];
    }
    radius = sqrt(fmax(radius - along * along, 0));
    gravity = sqrt(gravity);
    if (buoyant && rate * rate * radius > most * gravity)
        warn("centrifugal",
             "force.rotation: the centrifugal acceleration at the rim of the box is %.3g of "
             "gravity, and its buoyancy is left out (this is right for slow rotation only)",
             rate * rate * radius / gravity);
}

void advise_rotation(const struct flow_case *c)
{
    const double *const w = c->rotation;
    const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (!(rate > 0))
        return;
    warn_layers(c, rate);
    warn_openings(c);
    warn_centrifugal(c, rate);
}
