/* Section of a case: regions. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

static enum status read_sponge(const struct reader *r, const struct node *map,
                               struct case_zone *zone)
{
    struct case_sponge *const s = &zone->sponge;
    const struct node *const sponge = value_find(map, "regions.*.sponge");
    enum status status;
    if (!sponge)
        return STATUS_OK;
    s->given = true;
    s->density = 1;
    if ((status = value_choice(r, sponge, "regions.*.sponge.towards", &s->face)) ||
        (status = value_number(r, sponge, "regions.*.sponge.strength", &s->strength)) ||
        (status = value_number(r, sponge, "regions.*.sponge.power", &s->power)) ||
        (status = value_number(r, sponge, "regions.*.sponge.density", &s->density)))
        return status;
    return value_numbers(r, sponge, "regions.*.sponge.velocity", UNIT_VELOCITY, 3, s->velocity);
}

static enum status read_zone(const struct reader *r, const struct node *map,
                             const struct flow_case *c, struct case_zone *zone)
{
    static const struct region_rows rows = {"regions.*.box", "regions.*.box.from",
                                            "regions.*.box.to"};
    int collision = (int)c->solver.collision;
    char why[64];
    enum status s;
    zone->magic = c->solver.magic;
    zone->viscosity = c->fluid.viscosity;
    if (!value_find(map, rows.region))
        return value_missing(r, map, rows.region, "");
    if ((s = region_read(r, map, rows, c->cells, &zone->cells)) ||
        (s = value_choice(r, map, "regions.*.collision", &collision)))
        return s;
    zone->collision = (enum collision)collision;
    snprintf(why, sizeof why, "with collision %s", key_collisions[collision]);
    if (!(collision_free(zone->collision) & FREE_magic) &&
        (s = value_refuse(r, map, "regions.*.magic", why)))
        return s;
    if ((s = value_number(r, map, "regions.*.magic", &zone->magic)) ||
        (s = value_number(r, map, "regions.*.viscosity", &zone->viscosity)))
        return s;
    return read_sponge(r, map, zone);
}

enum status section_regions(struct reader *r, struct flow_case *c)
{
    const struct node *const map = node_get(r->document->root, "regions");
    enum status s = STATUS_OK;
    if (!map || !map->count)
        return STATUS_OK;
    if (map->count > CASE_ZONES)
        return fail_at(r->document, map->key_at, "regions has %d entries (at most %d)", map->count,
                       CASE_ZONES);
    c->zones = calloc((size_t)map->count, sizeof *c->zones);
    if (!c->zones)
        return fail_machine("no memory for the case's regions");
    for (const struct node *n = map->first; n && !s; n = n->next) {
        struct case_zone *const zone = &c->zones[c->zone_count++];
        memcpy(zone->name, n->key, strlen(n->key) + 1); /* outline_check */
        s = read_zone(r, n, c, zone);
    }
    return s;
}
