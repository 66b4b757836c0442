/* Porous regions, screens and rotating frames; see resist.h. */
#include "tags/resist.h"

#include <math.h>

#include "case/case_resist.h"
#include "resist.h"

/* The parameters of a region. */
static void set_region(const struct case_zone *zone, double r[RESIST_VALUES])
{
    for (int a = 0; a < 3; a++) {
        zone_resistance(zone, a, &r[RESIST_D + a], &r[RESIST_F + a]);
        r[RESIST_G + a] = zone->resist.medium || zone->resist.axis == a;
        r[RESIST_LARGEST_F] = fmax(r[RESIST_LARGEST_F], r[RESIST_F + a]);
    }
}

enum status domain_resist(struct domain *d, const struct flow_case *c, const struct case_zone *zone,
                          struct tag_row *row)
{
    double r[RESIST_VALUES] = {0};
    bool any = false;
    size_t place;
    if (zone && zone_resists(zone))
        set_region(zone, r);
    for (int a = 0; a < 3; a++) {
        r[RESIST_W + a] = 2 * c->rotation[a];
        any = any || r[RESIST_D + a] > 0 || r[RESIST_F + a] > 0 || r[RESIST_W + a] != 0;
    }
    row->resist = 0;
    if (!any)
        return STATUS_OK;
    const enum status s = domain_table(d, RESIST_VALUES, &place);
    if (s)
        return s;
    for (int k = 0; k < RESIST_VALUES; k++)
        d->table[place + (size_t)k] = r[k];
    row->resist = 1 + (uint32_t)place;
    row->forced = 1;
    return STATUS_OK;
}
