/* Cell types of scalars; see scalars.h. */
#include "tags/scalars.h"

#include <math.h>
#include <stdlib.h>

#include "base/message.h"

bool scalars_lift(const struct flow_case *c)
{
    bool lift = false;
    for (int k = 0; k < c->scalar_count; k++)
        lift = lift || c->scalars[k].expansion != 0;
    return lift;
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
static struct scalar_row fluid_row(const struct flow_case *c, int k, double scale, bool mixed)
{
    const struct case_scalar *const s = &c->scalars[k];
    struct scalar_row row = {.holds = HOLDS_swept, .flow = scale, .source = scale * s->source};
    row.decay = scale * case_scalar_decay(c, k);
    if (s->made_from >= 0) {
        row.from = (uint8_t)(1 + s->made_from);
        row.gain = scale * s->rate;
    }
    row.buoyancy = s->expansion;
    row.slopes = scalar_has_gradient(s);
    for (int a = 0; a < 3; a++)
        row.gradient[a] = scale * s->gradient[a];
    row.turbulent = mixed ? scale / s->turbulent_prandtl : 0;
    set_rates(&row, scale * s->diffusivity, scale, scalar_magic(s));
    row.per_flow = 1 / scale;
    row.limited = scalar_limited(c, k);
    if (row.limited)
        row.omega_even = row.omega_odd;
    return row;
}

/* The value that the links of an inlet are given at a position of its face, along the face's axes.
 * With this value the given one, T, holds half-way.
 *
 * The even part of the populations lags: where sources change T by s a step, a link that is given T
 * holds T + 3 (tau+ - 1/2) s. What it ought to hold is T - T'' / 8. Along a stream u the solution
 * changes as exp(m x) with m = (u - sqrt(u^2 + 4 D decay)) / (2 D), so T'' = -s m^2 / decay. (At
 * rest and with magic 1/6 the two are equal.) */
static double inlet_value(const struct flow_case *c, int k, int opening, const double at[2])
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct case_face *const face = case_opening(c, opening);
    const int side = case_opening_side(c, opening);
    const double value = scalar_wall_at(&face->scalar[k], side, at);
    const double u = (side & 1 ? -1 : 1) * face->velocity[side / 2];
    const double decay = case_scalar_decay(c, k);
    if (!scalar_inlet_allows(c, k, opening))
        return value;
    double change = s->source - decay * value;
    if (s->made_from >= 0 && face->scalar[s->made_from].kind == SCALAR_WALL_value)
        change += s->rate * scalar_wall_at(&face->scalar[s->made_from], side, at);
    const double sum = u + sqrt(u * u + 4 * s->diffusivity * decay);
    const double bend = 4 * decay / (sum * sum), lag = 3 * scalar_magic(s) / (4 * s->diffusivity);
    return value + (bend / 8 - lag) * change;
}

/* Beyond a wall or an opening, or in a body; oblique: a body whose faces are not normal to axes. */
static enum status wall_row(struct domain *d, const struct case_scalar_wall *w, double scale,
                            double magic, bool oblique, struct scalar_row *row)
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
        row->a = oblique ? 0 : 1;
        row->b = scale * w->flux;
        row->wall = oblique ? SCALAR_oblique : SCALAR_given;
        break;
    case SCALAR_WALL_transfer:
        row->a = oblique ? 4 * h : (1 - 4 * h) / (1 + 4 * h);
        row->b = oblique ? h * w->outside : h * w->outside / (1 + 4 * h);
        row->wall = oblique ? SCALAR_oblique : SCALAR_given;
        break;
    case SCALAR_WALL_outflow:
        *row = (struct scalar_row){.wall = SCALAR_free};
        return STATUS_OK;
    case SCALAR_WALL_conduct:
        *row = (struct scalar_row){.holds = HOLDS_swept, .source = scale * w->source};
        set_rates(row, scale * w->conductivity, scale * w->capacity, magic);
        return STATUS_OK;
    case SCALAR_WALL_adiabatic:
    case SCALAR_WALL_inherited: /* case_body_wall() gives none */
        *row = (struct scalar_row){.wall = SCALAR_adiabatic};
        return STATUS_OK;
    }
    row->oblique = row->wall == SCALAR_oblique;
    status = domain_signal(d, &w->signal, &row->signal);
    return status;
}

/* The rules of a scalar with the limiter in place of others. */
static void limit_wall(const struct case_scalar_wall *w, double scale, struct scalar_row *row)
{
    double range[2];
    if (!scalar_wall_values(w, range))
        return;
    row->wall = SCALAR_layer;
    row->a = scalar_wall_flux(w->kind) ? 1 / (scale * w->coefficient) : 0;
    row->b = range[0];
}

static void limit_opening(const struct case_scalar_wall *w, struct scalar_row *row)
{
    row->wall = SCALAR_open;
    row->surface = 0;
    row->a = w->kind == SCALAR_WALL_value;
    row->b = w->value;
}

/* b of an opening's rule where the value is given, at a position of its face. */
static double opening_b(const struct flow_case *c, int k, int opening, const double at[2])
{
    return scalar_limited(c, k) ? scalar_wall_at(&case_opening(c, opening)->scalar[k],
                                                 case_opening_side(c, opening), at)
                                : 0.25 * inlet_value(c, k, opening, at);
}

/* Does b vary over the opening? Also with the value of the scalar that turns into this one. */
static bool opening_varies(const struct flow_case *c, int k, int opening)
{
    const struct case_scalar_wall *const all = case_opening(c, opening)->scalar;
    const int from = c->scalars[k].made_from;
    return all[k].kind == SCALAR_WALL_value && (all[k].profile || (from >= 0 && all[from].profile));
}

/* The table of an opening's b, for this block's cells. */
static enum status opening_table(struct domain *d, const struct flow_case *c, int k, int opening,
                                 struct scalar_row *row)
{
    const int side = case_opening_side(c, opening);
    int axes[2];
    size_t place;
    face_axes(side, axes);
    const int *const n = d->view.n, width = n[axes[0]], height = n[axes[1]];
    const enum status status = domain_table(d, (size_t)width * (size_t)height, &place);
    if (status)
        return status;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            const double at[2] = {d->lo[axes[0]] + i + 0.5, d->lo[axes[1]] + j + 0.5};
            d->table[place + (size_t)j * (size_t)width + (size_t)i] = opening_b(c, k, opening, at);
        }
    row->across = (uint8_t)(side / 2);
    row->table = (uint32_t)(place + 1);
    return STATUS_OK;
}

static enum status opening_row(struct domain *d, const struct flow_case *c, int k, int opening,
                               double scale, struct scalar_row *row)
{
    const struct case_scalar_wall *const w = &case_opening(c, opening)->scalar[k];
    static const double corner[2] = {0, 0};
    const enum status status = wall_row(d, w, scale, scalar_magic(&c->scalars[k]), false, row);
    if (scalar_limited(c, k) && face_open(case_opening(c, opening)->kind))
        limit_opening(w, row);
    else if (scalar_limited(c, k))
        limit_wall(w, scale, row);
    if (w->kind == SCALAR_WALL_value)
        row->b = opening_b(c, k, opening, corner);
    row->opening = (uint16_t)(1 + opening);
    return status || !opening_varies(c, k, opening) ? status : opening_table(d, c, k, opening, row);
}

/* A cap of a mesh: as an opening, half-way along its links. */
static enum status cap_row(struct domain *d, const struct flow_case *c, int k, int cap,
                           double scale, struct scalar_row *row)
{
    const struct case_scalar_wall *const w = &case_cap(c, cap)->scalar[k];
    const enum status status = wall_row(d, w, scale, scalar_magic(&c->scalars[k]), false, row);
    row->surface = 0;
    if (scalar_limited(c, k))
        limit_opening(w, row);
    row->opening = (uint16_t)(1 + SERIES_CAP + cap);
    return status;
}

static enum status body_row(struct domain *d, const struct flow_case *c, int k, int type,
                            double scale, struct scalar_row *row)
{
    const struct case_body *const body = &c->bodies[d->rows[type].body - 1];
    const struct case_scalar_wall *const w = case_body_wall(body, d->row_part[type], k);
    const enum status status =
        wall_row(d, w, scale, scalar_magic(&c->scalars[k]), !case_straight(body), row);
    if (scalar_limited(c, k))
        limit_wall(w, scale, row);
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
    d->view.scalars.row = d->scalar = rows;
    for (int k = 0; k < c->scalar_count; k++) {
        const double scale = 1 / case_scalar_capacity(c, k);
        d->given[k] = scalar_given(c, k);
        for (int type = 0; type < d->row_count && !status; type++) {
            const struct tag_row *const row = &d->rows[type];
            struct scalar_row *const to = &rows[k * TAG_ROWS + type];
            const int opening = d->row_opening[type];
            if (row->fluid)
                *to = fluid_row(c, k, scale, subgrid_mixes(row->subgrid));
            else if (row->body)
                status = body_row(d, c, k, type, scale, to);
            else if (opening)
                status = opening_row(d, c, k, opening - 1, scale, to);
            else if (d->row_cap[type])
                status = cap_row(d, c, k, d->row_cap[type] - 1, scale, to);
            if (to->holds && d->row_listed[type])
                to->holds = HOLDS_listed;
        }
    }
    return status;
}
