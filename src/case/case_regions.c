/* Section of a case: regions. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/record.h"
#include "case/sections.h"

enum status region_read(const struct reader *r, const struct node *map, void *thing)
{
    struct case_zone *const zone = thing;
    int collision = (int)r->c->solver.collision;
    char why[64];
    enum status s = value_read(r, map, "regions.*.collision", &collision);
    if (s)
        return s;
    const unsigned free = collision_free((enum collision)collision);
    snprintf(why, sizeof why, "with collision %s", key_collision_choices[collision]);
    zone->collision = (enum collision)collision;
    if (collision == COLLISION_auto && value_find(map, "regions.*.magic"))
        zone->collision = COLLISION_accurate;
    zone->magic = r->c->solver.magic;
    zone->viscosity = r->c->fluid.viscosity;
    zone->sponge.density = 1;
    s = record_refuse(r, map, "regions.*", free, why);
    return s ? s : record_read(r, map, "regions.*", free, zone);
}
