/* Cell types of scalars; see scalars.h. */
#include "tags/scalars.h"

#include <stdlib.h>

#include "base/message.h"

bool scalars_lift(const struct flow_case *c)
{
    bool lift = false;
    for (int k = 0; k < c->scalar_count; k++)
        lift = lift || c->scalars[k].expansion != 0;
    return lift;
}

double scalars_least_capacity(const struct flow_case *c, int scalar)
{
    double least = 1;
    for (int k = 0; k < c->body_count; k++) {
        const struct case_scalar_wall *const w = &c->bodies[k].scalar[scalar];
        if (w->kind == SCALAR_WALL_conduct && w->capacity < least)
            least = w->capacity;
    }
    return least;
}

static void set_rates(struct scalar_row *row, double conductivity, double capacity, double magic)
{
    row->conductivity = conductivity;
    row->magic = magic;
    row->omega_odd = 1 / (4 * conductivity + 0.5);
    row->omega_even = 4 * conductivity / (magic + 2 * conductivity);
    row->tensor = 16 * conductivity * row->omega_odd;
    row->inverse = 1 / (capacity + 0.5 * row->decay);
}

/* In the fluid. scale: capacity of the fluid in the unit of the populations. */
static struct scalar_row fluid_row(const struct flow_case *c, int k, double scale, bool subgrid)
{
    const struct case_scalar *const s = &c->scalars[k];
    struct scalar_row row = {.holds = 1, .flow = scale, .source = scale * s->source};
    double decay = s->decay;
    for (int other = 0; other < c->scalar_count; other++)
        if (c->scalars[other].made_from == k)
            decay += c->scalars[other].rate;
    row.decay = scale * decay;
    if (s->made_from >= 0) {
        row.from = (uint8_t)(1 + s->made_from);
        row.gain = scale * s->rate;
    }
    row.buoyancy = s->expansion;
    row.slopes = scalar_has_gradient(s);
    for (int a = 0; a < 3; a++)
        row.gradient[a] = scale * s->gradient[a];
    row.turbulent = subgrid ? scale / s->turbulent_prandtl : 0;
    set_rates(&row, scale * s->diffusivity, scale, scalar_magic(s));
    return row;
}

/* Beyond a wall or an opening, or in a body. */
static enum status wall_row(struct domain *d, const struct case_scalar_wall *w, double scale,
                            double magic, struct scalar_row *row)
{
    const double h = scale * w->coefficient;
    enum status status = STATUS_OK;
    *row = (struct scalar_row){.wall = SCALAR_given, .a = -1};
    switch (w->kind) {
    case SCALAR_WALL_value:
        row->b = 0.25 * w->value;
        row->surface = 1;
        break;
    case SCALAR_WALL_flux:
        row->a = 1;
        row->b = scale * w->flux;
        break;
    case SCALAR_WALL_transfer:
        row->a = (1 - 4 * h) / (1 + 4 * h);
        row->b = h * w->outside / (1 + 4 * h);
        break;
    case SCALAR_WALL_outflow:
        *row = (struct scalar_row){.wall = SCALAR_free};
        return STATUS_OK;
    case SCALAR_WALL_conduct:
        *row = (struct scalar_row){.holds = 1, .source = scale * w->source};
        set_rates(row, scale * w->conductivity, scale * w->capacity, magic);
        return STATUS_OK;
    case SCALAR_WALL_adiabatic:
        *row = (struct scalar_row){.wall = SCALAR_adiabatic};
        return STATUS_OK;
    }
    status = domain_signal(d, &w->signal, &row->signal);
    return status;
}

enum status scalars_rows(struct domain *d, const struct flow_case *c)
{
    enum status status = STATUS_OK;
    if (!c->scalar_count)
        return STATUS_OK;
    struct scalar_row *const rows = calloc((size_t)c->scalar_count * TAG_ROWS, sizeof *rows);
    if (!rows)
        return fail_machine("out of memory for the scalars");
    free(d->scalar);
    d->view.scalar = d->scalar = rows;
    for (int k = 0; k < c->scalar_count; k++) {
        const double scale = 1 / scalars_least_capacity(c, k);
        for (int type = 0; type < d->row_count && !status; type++) {
            const struct tag_row *const row = &d->rows[type];
            struct scalar_row *const to = &rows[k * TAG_ROWS + type];
            const int opening = d->row_opening[type];
            if (row->fluid)
                *to = fluid_row(c, k, scale, row->subgrid != SUBGRID_none);
            else if (row->body)
                status = wall_row(d, &c->bodies[row->body - 1].scalar[k], scale,
                                  scalar_magic(&c->scalars[k]), to);
            else if (opening)
                status = wall_row(d, &case_opening(c, opening - 1)->scalar[k], scale,
                                  scalar_magic(&c->scalars[k]), to);
            to->opening = row->fluid || row->body ? 0 : (uint16_t)opening;
        }
    }
    return status;
}
