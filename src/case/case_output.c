/* Section of a case: output. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/columns.h"
#include "case/given.h"
#include "case/record.h"
#include "case/sections.h"

/* Refuses keys that belong to other kinds of series; requires the keys of this kind that have no
 * default. */
static enum status check_series_keys(struct map m, enum series_kind kind, unsigned has)
{
    enum status s = STATUS_OK;
    for (const struct key *k = keys_child(m.row, NULL); k && !s; k = keys_child(m.row, k)) {
        const unsigned coefficients =
            (k->where & SERIES_COEFFICIENTS ? SERIES(forces) : 0) |
            (k->where & (SERIES_HEAT_OF_BODY | SERIES_NUSSELT) ? SERIES(heat) : 0);
        char why[192];
        if (k->where && !(k->where & has)) {
            size_t length =
                (size_t)snprintf(why, sizeof why, "with %s%s, only with of: ",
                                 kind == SERIES_KIND_flow ? "columns of the flow" : "of: ",
                                 kind == SERIES_KIND_flow ? "" : key_series_kinds[kind]);
            const char *between = "";
            for (int i = 0; key_series_kinds[i] && length < sizeof why; i++)
                if ((k->where | coefficients) & 1u << i) {
                    length += (size_t)snprintf(why + length, sizeof why - length, "%s%s", between,
                                               key_series_kinds[i]);
                    between = " or ";
                }
            s = value_refuse(m, keys_name(k), why);
        } else if (k->needed & has && !map_get(m, keys_name(k))) {
            snprintf(why, sizeof why, ", which of: %s needs,", key_series_kinds[kind]);
            s = value_missing(m, keys_name(k), why);
        }
    }
    return s;
}

static enum status check_line(struct map m, const struct case_series *series)
{
    if (memcmp(series->from, series->to, sizeof series->from) != 0)
        return STATUS_OK;
    return fail_value(m.r, map_get(m, "to"),
                      " is where the line begins (its ends must differ; of: probe is one point)");
}

/* Can flow come in or go out through the face? */
static bool is_open(const struct flow_case *c, int face)
{
    for (int k = 0; k < case_openings(c); k++)
        if (case_opening_side(c, k) == face && face_open(case_opening(c, k)->kind))
            return true;
    return false;
}

static enum status check_forces(struct map m, const struct case_series *series)
{
    const int face = series->density_face;
    enum status s;
    if (series->area == 0 &&
        (s = value_refuse(m, "density", "without area, as there are no coefficients")))
        return s;
    if (face >= 0 && !is_open(m.r->c, face))
        return fail_value(
            m.r, map_get(m, "density"),
            ": face %s is %s, and no flow comes in there (reference, or an open face)",
            key_sides[face], key_face_kinds[m.r->c->faces[face].kind]);
    if (series->area == 0 || series->velocity > 0)
        return STATUS_OK;
    return fail_key(m.r, m.node,
                    ": coefficients need a velocity beside the area (for example velocity: 0.05, "
                    "here or in fluid)");
}

/* A ring needs a smooth surface, which voxels do not have. */
static enum status check_ring(struct map m, const struct case_series *series)
{
    const struct case_body *const body = &m.r->c->bodies[series->body];
    if (!body->image.file)
        return STATUS_OK;
    return fail_value(
        m.r, map_get(m, "body"),
        ": %s is made of voxels, which have no smooth surface (a shape or a mesh has)", body->name);
}

/* May there be a pressure difference along the axis? */
static bool driven_by_faces(const struct flow_case *c, int axis)
{
    return is_open(c, 2 * axis) || is_open(c, 2 * axis + 1);
}

/* The axis along which the flow is driven: the flow-rate controller's, else the largest
 * acceleration's, else the first one with an open face; -1: none. */
static int driven_axis(const struct flow_case *c)
{
    int most = -1;
    if (c->flow_rate.given)
        return c->flow_rate.axis;
    for (int a = 0; a < 3; a++)
        if (c->acceleration[a] != 0 &&
            (most < 0 || fabs(c->acceleration[a]) > fabs(c->acceleration[most])))
            most = a;
    for (int a = 0; a < 3 && most < 0; a++)
        most = driven_by_faces(c, a) ? a : -1;
    return most;
}

/* Can fluid leave through the face, or come round a periodic axis? */
static bool lets_through(const struct flow_case *c, int face)
{
    const struct case_face *const f = &c->faces[face];
    return f->kind == FACE_periodic || is_open(c, face) ||
           (f->kind == FACE_wall && f->velocity[face / 2] != 0);
}

static enum status check_permeability(struct map m, const struct case_series *series)
{
    const struct flow_case *const c = m.r->c;
    const int a = series->axis;
    if (c->acceleration[a] == 0 && !driven_by_faces(c, a) &&
        !(c->flow_rate.given && c->flow_rate.axis == a))
        return fail_key(m.r, m.node,
                        ": nothing drives the flow along %s (force.acceleration, or faces with a "
                        "pressure)",
                        key_axes[a]);
    for (int f = 2 * a; f < 2 * a + 2; f++)
        if (!lets_through(c, f))
            return fail_key(m.r, m.node,
                            ": nothing flows through the box along %s, as face %s is of kind %s ("
                            "both must be periodic or open)",
                            key_axes[a], key_sides[f], key_face_kinds[c->faces[f].kind]);
    if (series->length > c->cells[a])
        return fail_key(m.r, m.node, ": the sample is %g cells long, but the box has %d along %s",
                        series->length, c->cells[a], key_axes[a]);
    return STATUS_OK;
}

/* Finds the patch of a series: the number of its opening. */
static enum status find_patch(struct map m, int *opening)
{
    const struct flow_case *const c = m.r->c;
    char quoted[TEXT_QUOTE];
    const char *name;
    const enum status s = value_text(m, "patch", &name);
    if (s)
        return s;
    for (int i = 0; i < c->patch_count; i++)
        if (!strcmp(c->patches[i].name, name)) {
            *opening = 6 + i;
            return STATUS_OK;
        }
    return fail_value(m.r, map_get(m, "patch"), ": there is no patch %s (%s%s)",
                      quote_text(name, quoted),
                      c->patch_count ? "for example " : "patches is empty",
                      c->patch_count ? c->patches[0].name : "");
}

static enum status find_cap(struct map m, int *opening)
{
    const struct flow_case *const c = m.r->c;
    char quoted[TEXT_QUOTE];
    const char *name;
    const enum status s = value_text(m, "cap", &name);
    if (s)
        return s;
    for (int k = 0; k < case_caps(c); k++)
        if (!strcmp(case_cap(c, k)->name, name)) {
            *opening = SERIES_CAP + k;
            return STATUS_OK;
        }
    return fail_value(m.r, map_get(m, "cap"), ": there is no cap %s (%s%s)",
                      quote_text(name, quoted), case_caps(c) ? "for example " : "no body has caps",
                      case_caps(c) ? case_cap(c, 0)->name : "");
}

/* A patch on the face of the series that the scalar passes; NULL: there is none. */
static const struct case_patch *patch_that_passes(const struct flow_case *c,
                                                  const struct case_series *series)
{
    for (const struct case_patch *p = c->patches; p < c->patches + c->patch_count; p++)
        if (series->opening == (int)p->face &&
            p->opening.scalar[series->scalar].kind != SCALAR_WALL_adiabatic)
            return p;
    return NULL;
}

/* Nothing passes a surface that is adiabatic. */
static enum status check_passes(struct map m, const char *key, const struct case_series *series)
{
    const struct flow_case *const c = m.r->c;
    const struct node *const n = map_get(m, key);
    if (series->opening >= SERIES_CAP)
        return STATUS_OK;
    const struct case_face *const face =
        series->opening < 0 ? NULL : case_opening(c, series->opening);
    bool passes = face && face->scalar[series->scalar].kind != SCALAR_WALL_adiabatic;
    for (int part = 0; !face && part <= c->bodies[series->body].label_count; part++)
        passes = passes || case_body_wall(&c->bodies[series->body], part, series->scalar)->kind !=
                               SCALAR_WALL_adiabatic;
    if (face && face->kind == FACE_periodic)
        return fail_value(m.r, n, ": the face is periodic, so nothing comes in or goes out there");
    if (passes)
        return STATUS_OK;
    const char *const scalar = c->scalars[series->scalar].name;
    const struct case_patch *const patch = face ? patch_that_passes(c, series) : NULL;
    if (patch)
        return fail_value(m.r, n,
                          ": it is adiabatic for %s, so nothing passes the face outside of its "
                          "patches (patch %s lies on it: write `patch: %s`)",
                          scalar, patch->name, patch->name);
    return fail_value(m.r, n,
                      ": it is adiabatic for %s, so nothing passes (give value, flux or "
                      "transfer there)",
                      scalar);
}

/* The surface, exactly one: a face, a patch or a body. missing: said if there is none; *found: the
 * key that gives it. */
static enum status read_place(struct map m, const char *missing, int *opening, const char **found)
{
    static const char *const places[] = {"face", "patch", "body", "cap"};
    *found = NULL;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        if (!map_get(m, places[k]))
            continue;
        if (*found)
            return value_one_of(m, *found, places[k]);
        *found = places[k];
    }
    if (!*found)
        return value_missing(m, "face", missing);
    *opening = -1;
    return **found == 'f'   ? value_read(m, "face", opening)
           : **found == 'p' ? find_patch(m, opening)
           : **found == 'c' ? find_cap(m, opening)
                            : STATUS_OK;
}

static enum status read_outlet(struct map m, struct case_series *series)
{
    const struct flow_case *const c = m.r->c;
    const char *found;
    const enum status s =
        read_place(m, ", patch or cap, which of: outlet needs,", &series->opening, &found);
    if (s || series->opening >= SERIES_CAP || case_opening_passes(c, series->opening))
        return s;
    const struct case_face *const face = case_opening(c, series->opening);
    for (const struct case_patch *p = c->patches; p < c->patches + c->patch_count; p++)
        if (series->opening == (int)p->face && face_open(p->opening.kind))
            return fail_value(m.r, map_get(m, found),
                              ": no flow passes the face outside of its patches, as it is of kind "
                              "%s (patch %s lies on it: write `patch: %s`)",
                              key_face_kinds[face->kind], p->name, p->name);
    return fail_value(m.r, map_get(m, found),
                      ": no flow leaves the box there, as it is of kind %s (an open face or patch)",
                      key_face_kinds[face->kind]);
}

static enum status read_pressure_drop(struct map m, struct case_series *series)
{
    enum status s = value_plane(m, "at", series->axis, &series->at);
    if (s || (s = value_plane(m, "second", series->axis, &series->second)) ||
        series->second != series->at)
        return s;
    return fail_value(m.r, map_get(m, "second"),
                      ": is the first plane, too, cell %d (the planes must differ)", series->at);
}

/* The surface; the numbers that make a Nusselt number. */
static enum status read_heat(struct map m, struct case_series *series)
{
    const char *found;
    enum status s =
        read_place(m, ", or patch, body or cap, which of: heat needs,", &series->opening, &found);
    if (s || (s = check_passes(m, found, series)))
        return s;
    if (series->difference == 0) {
        series->length = 0;
        return value_refuse(m, "length", "without difference, as there is no Nusselt number");
    }
    if (series->length == 0)
        return value_missing(m, "length", " or fluid.length, which difference needs,");
    return STATUS_OK;
}

static enum status check_dispersion(struct map m, const struct case_series *series)
{
    const struct case_scalar *const scalar = &m.r->c->scalars[series->scalar];
    if (scalar_has_gradient(scalar))
        return STATUS_OK;
    return fail_value(m.r, map_get(m, "scalar"),
                      ": dispersion needs a mean gradient (for example scalars: {%s: {gradient: "
                      "[1e-3, 0, 0]}})",
                      scalar->name);
}

void series_place_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_series *const series = from;
    (void)key;
    if (series->opening >= SERIES_CAP)
        write_word(w, "cap", case_cap(w->c, series->opening - SERIES_CAP)->name);
    else if (series->opening >= 6)
        write_word(w, "patch", w->c->patches[series->opening - 6].name);
    else if (series->opening >= 0)
        write_word(w, "face", key_sides[series->opening]);
}

/* A step of the run, given at n. */
static enum status check_step(const struct reader *r, const struct node *n, int64_t step)
{
    if (step <= r->c->run.steps)
        return STATUS_OK;
    return fail_value(r, n, ": step %lld is after the last one, %lld (or give run.steps more)",
                      (long long)step, (long long)r->c->run.steps);
}

static enum status check_statistics(struct map m, const struct case_series *series)
{
    char why[96];
    snprintf(why, sizeof why, "with of: %s, which has many rows a step",
             key_series_kinds[series->kind]);
    if (series_has_points(series))
        return value_refuse(m, "statistics", why);
    return check_step(m.r, map_get(map_below(m, "statistics"), "from"), series->statistics_from);
}

/* Defaults that depend on the kind of series. */
static void set_defaults(const struct flow_case *c, struct case_series *series)
{
    const int driven = driven_axis(c);
    series->axis = series->kind == SERIES_KIND_surface ? 2 : 0;
    if (series->kind == SERIES_KIND_permeability)
        series->axis = driven < 0 ? 0 : driven;
    if (series->kind == SERIES_KIND_forces || series->kind == SERIES_KIND_surface)
        series->velocity = c->fluid.velocity;
    if (series->kind == SERIES_KIND_forces || series->kind == SERIES_KIND_heat ||
        series->kind == SERIES_KIND_dispersion)
        series->length = c->fluid.length;
}

enum status series_read(struct map m, void *entry)
{
    struct case_series *const series = entry;
    int kind = -1; /* index of a word that stands alone; -1: columns of the flow */
    enum status s = value_read(m, "every", &series->every);
    if (s || (s = value_read_beside(m, map_row(m, "of"), &series->of, &kind)))
        return s;
    series->kind = (enum series_kind)(kind + 1);
    const unsigned has =
        1u << series->kind | (series->kind == SERIES_KIND_forces ? SERIES_COEFFICIENTS : 0) |
        (series->kind == SERIES_KIND_heat ? SERIES_HEAT_OF_BODY | SERIES_NUSSELT : 0);
    struct reader of_scalar = *m.r;
    set_defaults(m.r->c, series);
    if ((s = check_series_keys(m, series->kind, has)))
        return s;
    if (map_get(m, "scalar")) {
        if ((s = value_read(m, "scalar", &series->scalar)))
            return s;
        of_scalar.scalar = &m.r->c->scalars[series->scalar];
        m.r = &of_scalar;
    }
    if ((s = record_read(m, has, series)) || (s = check_statistics(m, series)))
        return s;
    switch (series->kind) {
    case SERIES_KIND_line:
        return check_line(m, series);
    case SERIES_KIND_flow_rate:
    case SERIES_KIND_mixing_cup:
        return value_plane(m, "at", series->axis, &series->at);
    case SERIES_KIND_pressure_drop:
        return read_pressure_drop(m, series);
    case SERIES_KIND_outlet:
        return read_outlet(m, series);
    case SERIES_KIND_forces:
        return check_forces(m, series);
    case SERIES_KIND_permeability:
        return check_permeability(m, series);
    case SERIES_KIND_surface:
        return check_ring(m, series);
    case SERIES_KIND_heat:
        return read_heat(m, series);
    case SERIES_KIND_dispersion:
        return check_dispersion(m, series);
    case SERIES_KIND_scalar:
    case SERIES_KIND_flow:
    case SERIES_KIND_residual:
    case SERIES_KIND_probe:
        break;
    }
    return STATUS_OK;
}

void columns_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_series *const series = from;
    if (series->kind != SERIES_KIND_flow) {
        write_word(w, "of", key_series_kinds[series->kind]);
        return;
    }
    write_key(w, "of");
    type_write(w, (struct held){key, &series->of, NULL});
}

/* Fields, averages and surfaces are all files in fields/: their names must differ from those of the
 * lists before. */
static enum status check_name(struct map m, const char *list)
{
    static const char *const lists[] = {"output.fields", "output.averages", "output.surfaces"};
    for (size_t k = 0; strcmp(lists[k], list) != 0; k++) {
        const struct things others = things_of(keys_row(lists[k]), m.r->c);
        for (size_t i = 0; i < (size_t)others.count; i++)
            if (!strcmp(m.node->key, others.first + i * others.size))
                return fail_key(m.r, m.node,
                                " and %s.%s have the same name (both are files in fields/; take "
                                "another one)",
                                lists[k], m.node->key);
    }
    return STATUS_OK;
}

/* Requires from <= to <= the last step, and a multiple of `every` between from and to. */
static enum status check_window(struct map m, const struct case_average *average)
{
    char path[NODE_PATH];
    const struct node *from = map_get(m, "from");
    const struct node *to = map_get(m, "to");
    const struct node *n = to && (!from || !from->at.set) ? to : from ? from : m.node;
    const struct place at = n == m.node ? m.node->key_at : n->at;
    const enum status s = check_step(m.r, to, average->to);
    if (s)
        return s;
    node_path(n, path, sizeof path);
    if (average->from > average->to)
        return fail_at(
            m.r->document, at,
            "%s: the average is from step %lld to step %lld (from must not be after to%s)", path,
            (long long)average->from, (long long)average->to, to ? "" : ", the last step");
    if (average->to / average->every * average->every < average->from)
        return fail_at(m.r->document, at,
                       "%s: no multiple of every, %lld, is between step %lld and step %lld (no "
                       "sample would be taken)",
                       path, (long long)average->every, (long long)average->from,
                       (long long)average->to);
    return STATUS_OK;
}

/* Has the case the level whose cells a file is to have? */
static enum status check_level(struct map m, int level)
{
    const int finest = m.r->c->levels > 1 ? m.r->c->levels - 1 : 0;
    if (level <= finest)
        return STATUS_OK;
    return fail_value(m.r, map_get(m, "levels"), ": the case has no level %d (at most %d, or all)",
                      level, finest);
}

enum status field_read(struct map m, void *entry)
{
    struct case_field *const field = entry;
    enum status s = record_read(m, 0, field);
    if (!s)
        s = check_level(m, field->levels);
    if (!s && m.r->c->levels > 1 && field->levels == CASE_LEVELS_all && field->stride > 1)
        s = fail_value(m.r, map_get(m, "stride"),
                       ": a file of all levels has every cell (levels: 0, or another level)");
    return s;
}

enum status average_read(struct map m, void *entry)
{
    struct case_average *const average = entry;
    enum status s;
    average->to = m.r->c->run.steps;
    if ((s = check_name(m, "output.averages")) || (s = record_read(m, 0, average)) ||
        (s = check_level(m, average->levels)))
        return s;
    return check_window(m, average);
}

enum status surface_read(struct map m, void *entry)
{
    struct case_surface *const surface = entry;
    enum status s = check_name(m, "output.surfaces");
    if (s || (s = record_read(m, 0, surface)) || m.r->c->bodies[surface->body].mesh.file)
        return s;
    return fail_value(m.r, map_get(m, "body"),
                      ": %s is no mesh, so it has no triangles (output.series with of: surface has "
                      "points of other surfaces)",
                      m.r->c->bodies[surface->body].name);
}

static enum key_unit unit_shown(enum image_quantity quantity)
{
#define X(name, unit) UNIT_##unit,
    static const enum key_unit units[] = {IMAGE_LIST(X) UNIT_TEMPERATURE};
#undef X
    return units[quantity];
}

/* Has a map of this name, anywhere in the tree, a value in degC? */
static bool celsius_below(const struct node *n, const char *name)
{
    if (n->key && !strcmp(n->key, name) && given_celsius(n))
        return true;
    for (const struct node *c = n->first; c; c = c->next)
        if (celsius_below(c, name))
            return true;
    return false;
}

static enum status read_temperature_unit(struct map m, struct case_image *image)
{
    const struct case_scalar *const scalar =
        image->of == IMAGE_scalar ? &m.r->c->scalars[image->scalar] : NULL;
    image->heat = scalar && scalar->kind == SCALAR_KIND_heat;
    if (!image->heat)
        return value_refuse(m, "unit", "on a quantity that is no temperature");
    if (map_get(m, "unit"))
        return value_read(m, "unit", &image->unit);
    const bool celsius = celsius_below(m.r->document->root, scalar->name) || given_celsius(m.node);
    image->unit = celsius ? TEMPERATURE_UNIT_degC : TEMPERATURE_UNIT_K;
    return STATUS_OK;
}

enum status image_read(struct map m, void *entry)
{
    struct case_image *const image = entry;
    struct reader of_scalar = *m.r;
    enum key_unit unit;
    enum status s;
    if ((s = record_read(m, 0, image)) || (s = value_plane(m, "at", image->axis, &image->at)) ||
        (s = read_temperature_unit(m, image)))
        return s;
    const struct node *range = map_get(m, "range");
    image->fixed_range = range;
    if (!range)
        return STATUS_OK;
    unit = unit_shown(image->of);
    if (image->of == IMAGE_scalar) {
        of_scalar.scalar = &m.r->c->scalars[image->scalar];
        m.r = &of_scalar;
        unit = of_scalar.scalar->kind == SCALAR_KIND_species ? unit_of_species(unit) : unit;
    }
    if ((s = value_range(m, "range", unit, image->range)))
        return s;
    if (image->range[0] < image->range[1])
        return STATUS_OK;
    return fail_value(m.r, range, ": the lower end is not below the upper end");
}

/* Keys of coefficients have no effect without an area. */
unsigned series_kinds(const struct case_series *s)
{
    return 1u << s->kind | (s->area > 0 ? SERIES_COEFFICIENTS : 0) |
           (s->kind == SERIES_KIND_heat && s->opening < 0 ? SERIES_HEAT_OF_BODY : 0) |
           (s->difference > 0 ? SERIES_NUSSELT : 0);
}

static enum status check_entries(struct map m)
{
    int sum = 0;
    for (const struct key *k = keys_child(m.row, NULL); k; k = keys_child(m.row, k)) {
        const struct node *const map = k->type == KEY_NAMES ? map_get(m, keys_name(k)) : NULL;
        sum += map ? map->count : 0;
        if (map && sum > CASE_ENTRIES)
            return fail_at(m.r->document, map->key_at, "output has %d entries by here (at most %d)",
                           sum, CASE_ENTRIES);
    }
    return STATUS_OK;
}

static void series_write(struct writer *w, const char *row, const void *thing)
{
    record_write(w, row, series_kinds(thing), thing);
}

static void image_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_image *const image = thing;
    w->scalar = image->of == IMAGE_scalar ? &w->c->scalars[image->scalar] : NULL;
    record_write(w, row, 0, image);
    w->scalar = NULL;
}

/* An entry on each line. */
void entries_write(struct writer *w, const struct key *key, const void *from)
{
    const bool none = !things_of(key, from).count;
    fprintf(w->to, "  %s:%s\n", keys_name(key), none ? " {}" : "");
    w->indent = 4;
    things_write(w, key, from,
                 key->read == series_read  ? series_write
                 : key->read == image_read ? image_write
                                           : NULL);
    w->indent = 2;
}

static enum status check_remembered(struct map m, const struct flow_case *c)
{
    const int levels = c->levels > 1 ? c->levels : 1;
    /* without the sets of populations and a residual of run.stop */
    const int room = CASE_ARRAYS - (2 + c->scalar_count) * levels;
    const int most = room < CASE_REMEMBERED ? room : CASE_REMEMBERED;
    int count = c->averages_count;
    for (int i = 0; i < c->series_count; i++)
        count += c->series[i].kind == SERIES_KIND_residual;
    count *= levels;
    if (count <= most)
        return STATUS_OK;
    return fail_key(m.r, m.node,
                    " has %d averages and residuals%s, which every checkpoint has to hold (at most "
                    "%d; one average can have several quantities, and a larger region)",
                    count, c->levels > 1 ? " on all levels" : "", most);
}

/* The smallest one of 1, 2, 5, 10, 20, 50 .. that is at least `least`. */
static int64_t round_interval(double least)
{
    static const int digits[] = {1, 2, 5};
    int64_t interval = 1;
    for (int64_t ten = 1; interval < least; ten *= 10)
        for (size_t k = 0; k < sizeof digits / sizeof *digits && interval < least; k++)
            interval = digits[k] * ten;
    return interval;
}

/* Interval of so many outputs in a run. Long runs have all of them, others fewer, at least
 * `closest` steps apart, short ones `fewest`: so they take less than 1 % of the time with
 * 64^3 cells, and about 3 % with 24^3. A row costs as much as 1.4 and 3.5 steps, a picture with
 * 24^2 cells 8 ms. */
static int64_t default_interval(double steps, double most, double closest, double fewest)
{
    return round_interval(fmax(steps / most, fmin(closest, steps / fewest)));
}

/* Output of a case that says nothing of it: sums over the flow, and pictures of the speed in the
 * middle plane across the shortest axis. */
static enum status default_output(struct flow_case *c)
{
    const double steps = (double)c->run.steps;
    int axis = 2;
    for (int a = 1; a >= 0; a--)
        axis = c->cells[a] < c->cells[axis] ? a : axis;
    c->series = calloc(1, sizeof *c->series);
    c->images = calloc(1, sizeof *c->images);
    if (!c->series || !c->images)
        return fail_machine("no memory for the output");
    c->series_count = c->images_count = 1;
    c->series[0] = (struct case_series){.name = "flow",
                                        .kind = SERIES_KIND_flow,
                                        .every = default_interval(steps, 200, 500, 5),
                                        .of = 1u << SERIES_mass | 1u << SERIES_kinetic_energy |
                                              1u << SERIES_max_velocity,
                                        .density_face = -1};
    c->images[0] = (struct case_image){.name = "speed",
                                       .every = default_interval(steps, 10, 1000, 2),
                                       .of = IMAGE_speed,
                                       .axis = axis,
                                       .at = c->cells[axis] / 2};
    return STATUS_OK;
}

/* output: none is as if the map were empty. */
static enum status read_none(struct map *m)
{
    struct map inner;
    if (!m->node || m->node->kind == NODE_MAPPING)
        return STATUS_OK;
    m->node = NULL;
    return value_or_map((struct map){m->r, m->r->document->root, ""}, "output", &inner);
}

enum status output_read(struct map m, struct flow_case *c)
{
    const bool given = m.node;
    enum status s = read_none(&m);
    const struct map log = map_below(m, "log");
    c->log.every = c->run.steps < 20 ? 1 : c->run.steps / 20;
    if (s || (s = check_entries(m)))
        return s;
    if (!given && (s = default_output(c)))
        return s;
    if ((s = record_read(m, 0, c)) || (s = check_remembered(m, c)))
        return s;
    c->log.seconds = c->log.every > 0 ? 600 : 0;
    if ((s = value_read(log, "wall_time", &c->log.seconds)))
        return s;
    return stop_find_series(m.r, c);
}
