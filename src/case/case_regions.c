/* Section of a case: regions. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/record.h"
#include "case/sections.h"

/* A medium without numbers, or a region that is both. */
static enum status check_resist(struct map m, const struct case_zone *zone)
{
    const struct case_resist *const by = &zone->resist;
    const struct map medium = map_below(m, "resistance");
    if (by->medium && by->screen)
        return value_refuse(m, "screen",
                            "with resistance: a region is a porous medium or a screen");
    if (by->medium && m.r->c->fluid.law.kind != LAW_constant)
        return value_refuse(medium, "permeability",
                            "with fluid.law, as the shear rate in the pores is not known");
    if (by->medium && !map_get(medium, "permeability") && !map_get(medium, "loss"))
        return value_missing(medium, "permeability", " or loss");
    return STATUS_OK;
}

enum status region_read(struct map m, void *thing)
{
    struct case_zone *const zone = thing;
    int collision = (int)m.r->c->solver.collision;
    char why[64];
    enum status s = value_read(m, "collision", &collision);
    if (s)
        return s;
    const unsigned free = collision_free((enum collision)collision);
    snprintf(why, sizeof why, "with collision %s", key_collision_choices[collision]);
    zone->collision = (enum collision)collision;
    if (collision == COLLISION_auto && map_get(m, "magic"))
        zone->collision = COLLISION_accurate;
    if ((s = law_region(m)))
        return s;
    zone->magic = m.r->c->solver.magic;
    zone->viscosity = m.r->c->fluid.viscosity;
    zone->sponge.density = 1;
    if ((s = record_refuse(m, free, why)) || (s = record_read(m, free, zone)))
        return s;
    return check_resist(m, zone);
}
