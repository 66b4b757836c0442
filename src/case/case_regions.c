/* Section of a case: regions. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/record.h"
#include "case/sections.h"

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
    s = record_refuse(m, free, why);
    return s ? s : record_read(m, free, zone);
}
