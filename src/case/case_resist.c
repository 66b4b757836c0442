/* Porous regions, screens and rotating frames before a run; see case_resist.h. */
#include "case/case_resist.h"

#include <math.h>

#include "base/message.h"

bool zone_resists(const struct case_zone *zone)
{
    return zone->resist.medium || zone->resist.screen;
}

bool zone_spans(const struct flow_case *c, const struct case_zone *zone, int axis)
{
    bool spans = true;
    for (int a = 0; a < 3; a++)
        spans =
            spans && (a == axis || (zone->cells.lo[a] <= 0 && zone->cells.hi[a] >= c->cells[a]));
    return spans;
}

void zone_resistance(const struct case_zone *zone, int axis, double *d, double *f)
{
    const struct case_resist *const by = &zone->resist;
    *d = *f = 0;
    if (by->medium && by->permeability[axis] > 0)
        *d = fmin(zone->viscosity / by->permeability[axis], RESIST_MOST);
    if (by->medium)
        *f = fmin(by->loss[axis] / 2, RESIST_MOST);
    if (by->screen && by->axis == axis)
        *f = fmin(by->screen_loss / (2 * (zone->cells.hi[axis] - zone->cells.lo[axis])),
                  RESIST_MOST);
}

void resist_say(const struct flow_case *c)
{
    const double u = case_fastest_velocity(c), unit = c->units.dx / c->units.dt;
    for (int k = 0; k < c->zone_count; k++) {
        const struct case_zone *const zone = &c->zones[k];
        const int *const lo = zone->cells.lo, *const hi = zone->cells.hi;
        double drop[3];
        if (!zone_resists(zone))
            continue;
        for (int a = 0; a < 3; a++) {
            double d, f;
            zone_resistance(zone, a, &d, &f);
            drop[a] = (d + f * u) * u * (hi[a] - lo[a]) *
                      (c->units.given ? c->units.density * unit * unit : 1);
        }
        say("region %s: %d x %d x %d cells with a resistance; at a velocity of %.3g%s the pressure "
            "falls by %.4g, %.4g, %.4g%s along x, y, z",
            zone->name, hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2], c->units.given ? u * unit : u,
            c->units.given ? " m/s" : "", drop[0], drop[1], drop[2], c->units.given ? " Pa" : "");
    }
}

double resisted_velocity(const struct flow_case *c, int axis, double acceleration)
{
    double linear = 0, quadratic = 0; /* along the box: linear u + quadratic u^2 */
    for (int k = 0; k < c->zone_count; k++) {
        const struct case_zone *const zone = &c->zones[k];
        const int thickness = zone->cells.hi[axis] - zone->cells.lo[axis];
        double d, f;
        if (!zone_resists(zone) || !zone_spans(c, zone, axis))
            continue;
        zone_resistance(zone, axis, &d, &f);
        linear += d * thickness;
        quadratic += f * thickness;
    }
    const double drives = acceleration * c->cells[axis];
    if (!(linear > 0 || quadratic > 0) || !(drives > 0))
        return INFINITY;
    return 2 * drives / (linear + sqrt(linear * linear + 4 * quadratic * drives));
}

double turned_velocity(const struct flow_case *c, int axis, double acceleration)
{
    const double *const w = c->rotation;
    const double across = hypot(w[(axis + 1) % 3], w[(axis + 2) % 3]);
    return across > 0 && across > fabs(w[axis]) ? acceleration / (2 * across) : INFINITY;
}
