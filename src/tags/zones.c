/* Regions with their own operator, rates or sponge; see zones.h. */
#include "tags/zones.h"

#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "elementary.h"
#include "sponge.h"
#include "tags/resist.h"

enum { NO_ZONE = -1 };

static bool in_region(const struct case_region *region, const int g[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++)
        in = in && g[a] >= region->lo[a] && g[a] < region->hi[a];
    return in;
}

/* The last region that contains the cell; NO_ZONE: none. */
static int zone_at(const struct flow_case *c, const int g[3])
{
    int zone = NO_ZONE;
    for (int k = 0; k < c->zone_count; k++)
        if (in_region(&c->zones[k].cells, g))
            zone = k;
    return zone;
}

/* Populations f_i - w_i at equilibrium. */
static void equilibrium(double drho, const double u[3], double f[Q])
{
    static const int velocities[Q][3] = LATTICE_VELOCITIES;
    const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    for (int i = 0; i < Q; i++) {
        const double w = LATTICE_WEIGHT(double, i);
        double cu = 0;
        for (int a = 0; a < 3; a++)
            cu += velocities[i][a] * u[a];
        f[i] = w * (drho + (1 + drho) * (3 * cu + 4.5 * cu * cu - 1.5 * square));
    }
}

/* Makes the table of a region's sponge; *place: its index. Cells have the strength of their
 * centres, at depths of 1/2, 3/2 .. cells. */
static enum status make_sponge(struct domain *d, const struct case_zone *zone, uint32_t *place)
{
    const struct case_sponge *const sponge = &zone->sponge;
    const int axis = sponge->face / 2, n = d->view.n[axis];
    const int longer = d->level - refined_halved(d->refined, d->level, axis); /* flat: 2^level */
    const int lo = zone->cells.lo[axis] >> longer,
              thickness = (zone->cells.hi[axis] >> longer) - lo;
    size_t at;
    const enum status status = domain_table(d, (size_t)(Q + n + SPONGE_PAD), &at);
    if (status)
        return status;
    double *const target = d->table + at, *const strength = target + Q;
    equilibrium(sponge->density - 1, sponge->velocity, target);
    for (int k = 0; k < n; k++) {
        const int g = d->lo[axis] + k - lo;
        if (g < 0 || g >= thickness)
            continue;
        const double depth = sponge->face % 2 ? g + 0.5 : thickness - g - 0.5;
        strength[k] = sponge->strength * exact_exp(sponge->power * exact_log(depth / thickness));
    }
    *place = (uint32_t)at;
    return STATUS_OK;
}

static void apply(struct tag_row *row, const struct case_zone *zone, uint32_t sponge)
{
    row->collision = (uint8_t)zone->collision;
    tag_row_rates(row, 3 * zone->viscosity + 0.5, zone->magic);
    if (zone->sponge.given) {
        row->sponge = (uint8_t)(1 + zone->sponge.face / 2);
        row->sponge_table = sponge;
    }
}

/* Types of fluid cells in each region on any rank: [zone][type]. */
typedef uint8_t met_rows[TAG_ROWS];

/* Runs `body` for each cell of the block and its ghost layers that is fluid and in a region. */
#define EACH_ZONED(body)                                                                           \
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)                                     \
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)                                 \
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {                           \
                const int g[3] = {domain_wrap(d, 0, d->lo[0] + x),                                 \
                                  domain_wrap(d, 1, d->lo[1] + y),                                 \
                                  domain_wrap(d, 2, d->lo[2] + z)};                                \
                uint8_t *const tag = &d->tags[view_index(v, x, y, z)];                             \
                const int zone = d->rows[*tag].fluid ? zone_at(c, g) : NO_ZONE;                    \
                if (zone != NO_ZONE)                                                               \
                    body;                                                                          \
            }

enum status domain_zones(struct domain *d, const struct flow_case *c)
{
    static met_rows met[CASE_ZONES], row_of[CASE_ZONES];
    const struct view *const v = &d->view;
    if (!c->zone_count)
        return STATUS_OK;
    memset(met, 0, sizeof met);
    EACH_ZONED(met[zone][*tag] = 1)
    MPI_Allreduce(MPI_IN_PLACE, met, (int)sizeof met, MPI_UINT8_T, MPI_MAX, d->comm);

    const int rows = d->row_count;
    enum status status = STATUS_OK;
    for (int zone = 0; zone < c->zone_count && !status; zone++) {
        uint32_t sponge = 0;
        if (c->zones[zone].sponge.given)
            status = make_sponge(d, &c->zones[zone], &sponge);
        for (int row = 0; row < rows && !status; row++) {
            if (!met[zone][row])
                continue;
            if (d->row_count == TAG_ROWS)
                status = fail_user("regions.%s: faces and regions together make more than %d kinds "
                                   "of cells (fewer regions, or parts of faces)",
                                   c->zones[zone].name, TAG_ROWS);
            else
                row_of[zone][row] = (uint8_t)d->row_count++;
            if (!status) {
                struct tag_row *const made = &d->rows[row_of[zone][row]];
                *made = d->rows[row];
                apply(made, &c->zones[zone], sponge);
                status = domain_resist(d, c, &c->zones[zone], made);
            }
        }
    }
    status = status_agree(d->comm, status);
    if (!status)
        EACH_ZONED(*tag = row_of[zone][*tag])
    return status;
}
