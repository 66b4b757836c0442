/* A case as YAML with every default filled in, in lattice units; it reads back to the same case. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

/* Shortest of 15 to 17 digits that reads back to the same double. */
static const char *number(double value, char text[static 32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

void put_number(FILE *to, const char *before, double value, const char *after)
{
    char text[32];
    fprintf(to, "%s%s%s", before, number(value, text), after);
}

void put_vector(FILE *to, const double v[3])
{
    put_number(to, "[", v[0], ", ");
    put_number(to, "", v[1], ", ");
    put_number(to, "", v[2], "]");
}

/* In quotes; what is not plain ASCII by its number, so that no reader of YAML takes offence. */
void put_text(FILE *to, const char *utf8)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)utf8; *c;) {
        const int more = *c < 0xc0 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
        unsigned long code = more ? *c & (0x3f >> more) : *c;
        c++;
        for (int i = 0; i < more && *c; i++, c++)
            code = code << 6 | (*c & 0x3f);
        if (code >= ' ' && code <= '~' && code != '"' && code != '\\')
            fputc((int)code, to);
        else
            fprintf(to, "\\U%08lX", code);
    }
    fputc('"', to);
}

void put_checksum(FILE *to, uint64_t checksum)
{
    fprintf(to, ", checksum: %016" PRIx64, checksum);
}

static void put_choices(FILE *to, const char *const *choices, unsigned bits)
{
    const char *comma = "";
    fputc('[', to);
    for (int i = 0; choices[i]; i++) {
        if (!(bits & (1u << i)))
            continue;
        fprintf(to, "%s%s", comma, choices[i]);
        comma = ", ";
    }
    fputc(']', to);
}

static void put_method(FILE *to, const struct flow_case *c, bool by_reynolds)
{
    const struct case_fluid *f = &c->fluid;
    fprintf(to, "domain:\n  cells: [%d, %d, %d]\n", c->cells[0], c->cells[1], c->cells[2]);
    fprintf(to, "fluid:\n");
    if (by_reynolds)
        put_number(to, "  reynolds: ", f->reynolds, "");
    else
        put_number(to, "  viscosity: ", f->viscosity, "\n");
    if (by_reynolds)
        put_number(to, " # viscosity ", f->viscosity, "\n");
    if (f->velocity > 0)
        put_number(to, "  velocity: ", f->velocity, "\n");
    if (f->length > 0)
        put_number(to, "  length: ", f->length, "\n");
    fprintf(to, "solver:\n  collision: %s\n", key_collisions[c->solver.collision]);
    if (collision_free(c->solver.collision) & FREE_magic)
        put_number(to, "  magic: ", c->solver.magic, "\n");
    if (collision_free(c->solver.collision) & FREE_rates) {
        put_number(to, "  rates: {bulk: ", c->solver.rates.bulk, "");
        put_number(to, ", third: ", c->solver.rates.third, "");
        put_number(to, ", fourth: ", c->solver.rates.fourth, "}\n");
    }
    if (c->solver.subgrid == SUBGRID_smagorinsky) {
        put_number(to, "  subgrid: {smagorinsky: {constant: ", c->solver.smagorinsky, "");
        if (c->solver.van_driest > 0)
            put_number(to, ", van_driest: ", c->solver.van_driest, "");
        fprintf(to, "}}\n");
    } else {
        fprintf(to, "  subgrid: none\n");
    }
    fprintf(to, "  storage: %s\n  arithmetic: %s\n", precision_name(c->solver.storage),
            precision_name(c->solver.arithmetic));
}

static void put_initial(FILE *to, const struct case_initial *initial)
{
    const enum initial_flow flow = initial->flow;
    fprintf(to, "initial:\n  flow: %s\n", initial_name(flow));
    if (initial_has(flow, INITIAL_HAS_velocity)) {
        fprintf(to, "  velocity: ");
        put_vector(to, initial->velocity);
        fputc('\n', to);
    }
    if (initial_has(flow, INITIAL_HAS_amplitude))
        put_number(to, "  amplitude: ", initial->amplitude, "\n");
    if (initial_has(flow, INITIAL_HAS_axis))
        fprintf(to, "  axis: %s\n", key_axes[initial->axis]);
    if (initial_has(flow, INITIAL_HAS_thickness))
        put_number(to, "  thickness: ", initial->thickness, "\n");
    if (initial_has(flow, INITIAL_HAS_perturbation))
        put_number(to, "  perturbation: ", initial->perturbation, "\n");
    if (initial_has(flow, INITIAL_HAS_density))
        put_number(to, "  density: ", initial->density, "\n");
    if (initial_has(flow, INITIAL_HAS_center)) {
        fprintf(to, "  center: ");
        put_vector(to, initial->center);
        fputc('\n', to);
    }
    if (initial_has(flow, INITIAL_HAS_width))
        put_number(to, "  width: ", initial->width, "\n");
    fprintf(to, "  pressure: %s\n  relax: %lld\n", key_pressures[initial->level],
            (long long)initial->relax);
}

static void put_force(FILE *to, const struct flow_case *c)
{
    const struct case_flow_rate *const wanted = &c->flow_rate;
    if (wanted->given) {
        put_number(to, "force:\n  flow_rate: {velocity: ", wanted->velocity, ", ");
        fprintf(to, "axis: %s, every: %lld, ", key_axes[wanted->axis], (long long)wanted->every);
        put_number(to, "time: ", wanted->time, "}\n");
        return;
    }
    fprintf(to, "force: {acceleration: ");
    put_vector(to, c->acceleration);
    signal_write(to, ", ", &c->force_signal);
    fprintf(to, "}\n");
}

/* The faces between cells, so that the cells are the same again; `all` for the whole box. */
static void put_region(FILE *to, const char *key, const struct case_region *region,
                       const int cells[3])
{
    const int *const lo = region->lo, *const hi = region->hi;
    bool all = true;
    for (int a = 0; a < 3; a++)
        all = all && lo[a] == 0 && hi[a] == cells[a];
    if (all)
        fprintf(to, "%s: all", key);
    else
        fprintf(to, "%s: {from: [%d, %d, %d], to: [%d, %d, %d]}", key, lo[0], lo[1], lo[2], hi[0],
                hi[1], hi[2]);
}

static void put_zone(FILE *to, const struct case_zone *z, const int cells[3])
{
    const struct case_sponge *const sponge = &z->sponge;
    fprintf(to, "  %s:\n    ", z->name);
    put_region(to, "box", &z->cells, cells);
    fprintf(to, "\n    collision: %s\n", key_collisions[z->collision]);
    if (collision_free(z->collision) & FREE_magic)
        put_number(to, "    magic: ", z->magic, "\n");
    put_number(to, "    viscosity: ", z->viscosity, "\n");
    if (!sponge->given)
        return;
    fprintf(to, "    sponge: {towards: %s, ", key_sides[sponge->face]);
    put_number(to, "strength: ", sponge->strength, ", ");
    put_number(to, "power: ", sponge->power, ", ");
    put_number(to, "density: ", sponge->density, ", velocity: ");
    put_vector(to, sponge->velocity);
    fprintf(to, "}\n");
}

/* Seconds of wall time; 0 is none. */
static void put_wall(FILE *to, const char *before, double seconds)
{
    if (seconds > 0)
        put_number(to, before, seconds, " s\n");
    else
        fprintf(to, "%snone\n", before);
}

static void put_run(FILE *to, const struct flow_case *c)
{
    const int *ranks = c->run.ranks;
    fprintf(to, "run:\n  steps: %lld\n", (long long)c->run.steps);
    if (ranks[0])
        fprintf(to, "  ranks: [%d, %d, %d]\n", ranks[0], ranks[1], ranks[2]);
    else
        fprintf(to, "  ranks: auto\n");
    fprintf(to, "  threads: %d\n  isa: %s\n", c->run.threads, isa_name(c->run.isa));
    fprintf(to, "  transport: %s\n  exchange: %s\n  sparse: %s\n", key_transports[c->run.transport],
            key_exchanges[c->run.exchange], key_sparse[c->run.sparse]);
    put_wall(to, "  time_limit: ", c->run.time_limit);
    if (c->run.stop.given) {
        fprintf(to, "  stop: {of: %s", key_stops[c->run.stop.of]);
        put_number(to, ", change: ", c->run.stop.change, "");
        fprintf(to, ", every: %lld}\n", (long long)c->run.stop.every);
    } else {
        fprintf(to, "  stop: none\n");
    }
}

static void put_checks(FILE *to, const struct flow_case *c)
{
    fprintf(to, "checkpoint:\n");
    if (c->checkpoint.seconds > 0)
        put_wall(to, "  every: ", c->checkpoint.seconds);
    else
        fprintf(to, "  every: %lld\n", (long long)c->checkpoint.every);
    fprintf(to, "  keep: %d\n", c->checkpoint.keep);
    fprintf(to, "check:\n  every: %lld\n", (long long)c->check.every);
    put_number(to, "  max_velocity: ", c->check.max_velocity, "\n");
    put_wall(to, "  hang: ", c->check.hang);
}

static void put_forces(FILE *to, const struct flow_case *c, const struct case_series *s)
{
    fprintf(to, ", body: %s", c->bodies[s->body].name);
    if (s->area > 0) {
        put_number(to, ", area: ", s->area, "");
        put_number(to, ", velocity: ", s->velocity, "");
    }
    if (s->area > 0 && s->length > 0)
        put_number(to, ", length: ", s->length, "");
    if (s->about_given) {
        fprintf(to, ", about: ");
        put_vector(to, s->about);
    }
}

static void put_series(FILE *to, const struct flow_case *c, const struct case_series *s)
{
    fprintf(to, "    %s: {every: %lld, of: ", s->name, (long long)s->every);
    if (s->kind == SERIES_KIND_flow)
        put_choices(to, key_series, s->of);
    else
        fprintf(to, "%s", key_series_kinds[s->kind]);
    if (s->kind == SERIES_KIND_probe) {
        fprintf(to, ", point: ");
        put_vector(to, s->from);
    } else if (s->kind == SERIES_KIND_line) {
        fprintf(to, ", from: ");
        put_vector(to, s->from);
        fprintf(to, ", to: ");
        put_vector(to, s->to);
        fprintf(to, ", points: %d", s->points);
    } else if (s->kind == SERIES_KIND_flow_rate) {
        fprintf(to, ", axis: %s, at: %d", key_axes[s->axis], s->at);
    } else if (s->kind == SERIES_KIND_forces) {
        put_forces(to, c, s);
    } else if (s->kind == SERIES_KIND_permeability) {
        fprintf(to, ", axis: %s", key_axes[s->axis]);
        if (s->length_along > 0)
            put_number(to, ", length: ", s->length_along, "");
    }
    fprintf(to, "}\n");
}

static void put_output(FILE *to, const struct flow_case *c)
{
    fprintf(to, "output:\n  log: {every: %lld}\n", (long long)c->log_every);
    fprintf(to, "  series:%s\n", c->series_count ? "" : " {}");
    for (int n = 0; n < c->series_count; n++)
        put_series(to, c, &c->series[n]);
    fprintf(to, "  fields:%s\n", c->fields_count ? "" : " {}");
    for (int n = 0; n < c->fields_count; n++) {
        const struct case_field *f = &c->fields[n];
        fprintf(to, "    %s: {every: %lld, of: ", f->name, (long long)f->every);
        put_choices(to, key_fields, f->of);
        put_region(to, ", region", &f->region, c->cells);
        fprintf(to, ", stride: %d, precision: %s}\n", f->stride, precision_name(f->precision));
    }
    fprintf(to, "  averages:%s\n", c->averages_count ? "" : " {}");
    for (int n = 0; n < c->averages_count; n++) {
        const struct case_average *a = &c->averages[n];
        fprintf(to, "    %s: {every: %lld, of: ", a->name, (long long)a->every);
        put_choices(to, key_averages, a->of);
        fprintf(to, ", from: %lld, to: %lld", (long long)a->from, (long long)a->to);
        put_region(to, ", region", &a->region, c->cells);
        fprintf(to, ", precision: %s}\n", precision_name(a->precision));
    }
    fprintf(to, "  images:%s\n", c->images_count ? "" : " {}");
    for (int n = 0; n < c->images_count; n++) {
        const struct case_image *i = &c->images[n];
        fprintf(to, "    %s: {every: %lld, of: %s, axis: %s, at: %d", i->name, (long long)i->every,
                image_name(i->of), key_axes[i->axis], i->at);
        if (i->fixed_range) {
            put_number(to, ", range: [", i->range[0], ", ");
            put_number(to, "", i->range[1], "]");
        }
        fprintf(to, "}\n");
    }
}

char *case_resolve(const struct flow_case *c, bool by_reynolds)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        goto no_memory;
    fprintf(to, "# as resolved by tagflow; lattice units\n");
    if (c->units.given) {
        put_number(to, "units:\n  dx: ", c->units.dx, " m\n");
        put_number(to, "  dt: ", c->units.dt, " s\n");
        put_number(to, "  density: ", c->units.density, " kg/m3\n");
    }
    if (!c->units.given && c->units.cell > 0)
        put_number(to, "units:\n  dx: ", c->units.cell, " m\n");
    put_method(to, c, by_reynolds);
    put_initial(to, &c->initial);
    faces_write(to, c);
    patches_write(to, c);
    put_force(to, c);
    fprintf(to, "regions:%s\n", c->zone_count ? "" : " {}");
    for (int i = 0; i < c->zone_count; i++)
        put_zone(to, &c->zones[i], c->cells);
    bodies_write(to, c);
    put_run(to, c);
    put_checks(to, c);
    put_output(to, c);
    const bool failed = ferror(to);
    if (fclose(to) == 0 && !failed)
        return text;
    free(text);
no_memory:
    fail_machine("no memory to write the resolved case");
    return NULL;
}
