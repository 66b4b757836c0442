/* Section of a case: output. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

/* Series, fields, averages and images: their resolved text must still be one that can be read. */
enum { ENTRIES = 1024 };

/* The plane of cells `at` along `axis`; the middle one when the map does not say. */
static enum status read_at(const struct reader *r, const struct node *map, const char *row,
                           const int cells[3], int axis, int *plane)
{
    char path[NODE_PATH];
    int64_t at = cells[axis] / 2;
    const enum status s = value_integer(r, map, row, &at);
    if (s)
        return s;
    if (at >= cells[axis]) {
        const struct node *n = value_find(map, row);
        node_path(n, path, sizeof path);
        return fail_at(r->document, n->at, "%s: plane %s is outside the box (0 to %d along %s)",
                       path, n->text, cells[axis] - 1, key_axes[axis]);
    }
    *plane = (int)at;
    return STATUS_OK;
}

/* Keys of a series that are for another kind are refused, those of its kind that have no default
 * are required. */
static enum status check_series_keys(const struct reader *r, const struct node *map,
                                     enum series_kind kind)
{
    static const struct {
        const char *row;
        enum series_kind kind;
        bool needed;
    } keys[] = {
        {"output.series.*.point", SERIES_KIND_probe, true},
        {"output.series.*.from", SERIES_KIND_line, true},
        {"output.series.*.to", SERIES_KIND_line, true},
        {"output.series.*.points", SERIES_KIND_line, true},
        {"output.series.*.axis", SERIES_KIND_flow_rate, false},
        {"output.series.*.at", SERIES_KIND_flow_rate, false},
        {"output.series.*.body", SERIES_KIND_forces, true},
        {"output.series.*.area", SERIES_KIND_forces, false},
        {"output.series.*.velocity", SERIES_KIND_forces, false},
        {"output.series.*.length", SERIES_KIND_forces, false},
        {"output.series.*.about", SERIES_KIND_forces, false},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char why[96];
        enum status s = STATUS_OK;
        if (keys[i].kind != kind) {
            if (kind == SERIES_KIND_flow)
                snprintf(why, sizeof why, "with columns of the flow, only with of: %s",
                         key_series_kinds[keys[i].kind]);
            else
                snprintf(why, sizeof why, "with of: %s, only with of: %s", key_series_kinds[kind],
                         key_series_kinds[keys[i].kind]);
            s = value_refuse(r, map, keys[i].row, why);
        } else if (keys[i].needed && !value_find(map, keys[i].row)) {
            snprintf(why, sizeof why, ", which of: %s needs,", key_series_kinds[kind]);
            s = value_missing(r, map, keys[i].row, why);
        }
        if (s)
            return s;
    }
    return STATUS_OK;
}

static enum status read_line(const struct reader *r, const struct node *map,
                             struct case_series *series, const int cells[3])
{
    char path[NODE_PATH];
    int64_t points = 2;
    enum status s;
    if ((s = value_position(r, map, "output.series.*.from", cells, series->from)) ||
        (s = value_position(r, map, "output.series.*.to", cells, series->to)) ||
        (s = value_integer(r, map, "output.series.*.points", &points)))
        return s;
    series->points = (int)points;
    if (memcmp(series->from, series->to, sizeof series->from) != 0)
        return STATUS_OK;
    const struct node *to = value_find(map, "output.series.*.to");
    node_path(to, path, sizeof path);
    return fail_at(r->document, to->at,
                   "%s is where the line begins (its ends must differ; of: probe is one point)",
                   path);
}

static enum status read_forces(const struct reader *r, const struct node *map,
                               struct case_series *series, const struct flow_case *c)
{
    char path[NODE_PATH], quoted[DOCUMENT_QUOTE];
    const char *name = NULL;
    enum status s;
    series->velocity = c->fluid.velocity;
    series->length = c->fluid.length;
    series->about_given = value_find(map, "output.series.*.about");
    if ((s = value_text(r, map, "output.series.*.body", &name)) ||
        (s = value_number(r, map, "output.series.*.area", &series->area)) ||
        (s = value_number(r, map, "output.series.*.velocity", &series->velocity)) ||
        (s = value_number(r, map, "output.series.*.length", &series->length)) ||
        (s = value_numbers(r, map, "output.series.*.about", UNIT_LENGTH, 3, series->about)))
        return s;
    const struct node *const body = value_find(map, "output.series.*.body");
    for (int k = 0; k < c->body_count; k++)
        if (!strcmp(c->bodies[k].name, name)) {
            series->body = k;
            if (series->area == 0 || series->velocity > 0)
                return STATUS_OK;
            node_path(map, path, sizeof path);
            return fail_at(r->document, map->key_at,
                           "%s: coefficients need a velocity beside the area (for example "
                           "velocity: 0.05, here or in fluid)",
                           path);
        }
    node_path(body, path, sizeof path);
    return fail_at(r->document, body->at, "%s: there is no body %s (%s%s)", path,
                   quote_text(name, quoted), c->body_count ? "for example " : "bodies is empty",
                   c->body_count ? c->bodies[0].name : "");
}

static enum status read_series(const struct reader *r, const struct node *map,
                               struct case_series *series, const struct flow_case *c)
{
    const int *const cells = c->cells;
    int kind = -1; /* of those that stand alone */
    enum status s;
    if ((s = value_interval(r, map, "output.series.*.every", &series->every)) ||
        (s = value_columns(r, map, "output.series.*.of", &series->of, &kind)))
        return s;
    series->kind = (enum series_kind)(kind + 1);
    if ((s = check_series_keys(r, map, series->kind)))
        return s;
    switch (series->kind) {
    case SERIES_KIND_flow:
    case SERIES_KIND_residual:
        return STATUS_OK;
    case SERIES_KIND_probe:
        return value_position(r, map, "output.series.*.point", cells, series->from);
    case SERIES_KIND_line:
        return read_line(r, map, series, cells);
    case SERIES_KIND_flow_rate:
        if ((s = value_choice(r, map, "output.series.*.axis", &series->axis)))
            return s;
        return read_at(r, map, "output.series.*.at", cells, series->axis, &series->at);
    case SERIES_KIND_forces:
        return read_forces(r, map, series, c);
    }
    return STATUS_OK;
}

enum status region_read(const struct reader *r, const struct node *entry, struct region_rows rows,
                        const int cells[3], struct case_region *region)
{
    char path[NODE_PATH];
    double from[3] = {0, 0, 0}, to[3] = {cells[0], cells[1], cells[2]};
    const struct node *map;
    enum status s;
    for (int a = 0; a < 3; a++) {
        region->lo[a] = 0;
        region->hi[a] = cells[a];
    }
    if ((s = value_or_map(r, entry, rows.region, &map)) || !map)
        return s;
    if ((s = value_position(r, map, rows.from, cells, from)) ||
        (s = value_position(r, map, rows.to, cells, to)))
        return s;
    node_path(map, path, sizeof path);
    for (int a = 0; a < 3; a++) {
        if (from[a] > to[a])
            return fail_at(r->document, map->at, "%s: from %g is above to %g along %s (swap them)",
                           path, from[a], to[a], key_axes[a]);
        region->lo[a] = (int)ceil(from[a] - 0.5);
        region->hi[a] = (int)floor(to[a] + 0.5);
        if (region->lo[a] >= region->hi[a])
            return fail_at(r->document, map->at,
                           "%s: no cell has its centre between %g and %g along %s (that of cell i "
                           "is i + 0.5)",
                           path, from[a], to[a], key_axes[a]);
    }
    return STATUS_OK;
}

static enum status read_field(const struct reader *r, const struct node *map,
                              struct case_field *field, const int cells[3])
{
    static const struct region_rows rows = {"output.fields.*.region", "output.fields.*.region.from",
                                            "output.fields.*.region.to"};
    int precision = 0;
    int64_t stride = 1;
    enum status s;
    if ((s = value_interval(r, map, "output.fields.*.every", &field->every)) ||
        (s = value_choices(r, map, "output.fields.*.of", &field->of)) ||
        (s = region_read(r, map, rows, cells, &field->region)) ||
        (s = value_integer(r, map, "output.fields.*.stride", &stride)) ||
        (s = value_choice(r, map, "output.fields.*.precision", &precision)))
        return s;
    field->stride = (int)stride;
    field->precision = (enum precision)precision;
    return STATUS_OK;
}

/* from <= to <= the last step, and a multiple of `every` between them. */
static enum status check_window(const struct reader *r, const struct node *map,
                                const struct case_average *average, int64_t steps)
{
    char path[NODE_PATH];
    const struct node *from = value_find(map, "output.averages.*.from");
    const struct node *to = value_find(map, "output.averages.*.to");
    const struct node *n = to && (!from || !from->at.set) ? to : from ? from : map;
    const struct place at = n == map ? map->key_at : n->at;
    node_path(n, path, sizeof path);
    if (average->to > steps)
        return fail_at(r->document, to->at,
                       "%s: step %lld is after the last one, %lld (or give run.steps more)", path,
                       (long long)average->to, (long long)steps);
    if (average->from > average->to)
        return fail_at(
            r->document, at,
            "%s: the average is from step %lld to step %lld (from must not be after to%s)", path,
            (long long)average->from, (long long)average->to, to ? "" : ", the last step");
    if (average->to / average->every * average->every < average->from)
        return fail_at(r->document, at,
                       "%s: no multiple of every, %lld, is between step %lld and step %lld (no "
                       "sample would be taken)",
                       path, (long long)average->every, (long long)average->from,
                       (long long)average->to);
    return STATUS_OK;
}

static enum status read_average(const struct reader *r, const struct node *map,
                                struct case_average *average, const struct flow_case *c)
{
    static const struct region_rows rows = {
        "output.averages.*.region", "output.averages.*.region.from", "output.averages.*.region.to"};
    int precision = 0;
    enum status s;
    for (int i = 0; i < c->fields_count; i++)
        if (!strcmp(average->name, c->fields[i].name))
            return fail_at(r->document, map->key_at,
                           "output.averages.%s and output.fields.%s have the same name (both are "
                           "files in fields/; take another one)",
                           average->name, average->name);
    average->to = c->run.steps;
    if ((s = value_interval(r, map, "output.averages.*.every", &average->every)) ||
        (s = value_choices(r, map, "output.averages.*.of", &average->of)) ||
        (s = value_interval(r, map, "output.averages.*.from", &average->from)) ||
        (s = value_interval(r, map, "output.averages.*.to", &average->to)) ||
        (s = region_read(r, map, rows, c->cells, &average->region)) ||
        (s = value_choice(r, map, "output.averages.*.precision", &precision)))
        return s;
    average->precision = (enum precision)precision;
    return check_window(r, map, average, c->run.steps);
}

static enum key_unit unit_shown(enum image_quantity quantity)
{
    switch (quantity) {
    case IMAGE_speed:
    case IMAGE_velocity_x:
    case IMAGE_velocity_y:
    case IMAGE_velocity_z:
        return UNIT_VELOCITY;
    case IMAGE_density:
        return UNIT_DENSITY;
    case IMAGE_pressure:
        return UNIT_PRESSURE;
    case IMAGE_vorticity:
        return UNIT_RATE;
    }
    return UNIT_NONE;
}

static enum status read_image(const struct reader *r, const struct node *map,
                              struct case_image *image, const int cells[3])
{
    char path[NODE_PATH];
    int of = 0;
    enum status s;
    if ((s = value_interval(r, map, "output.images.*.every", &image->every)) ||
        (s = value_choice(r, map, "output.images.*.of", &of)) ||
        (s = value_choice(r, map, "output.images.*.axis", &image->axis)) ||
        (s = read_at(r, map, "output.images.*.at", cells, image->axis, &image->at)))
        return s;
    image->of = (enum image_quantity)of;
    const struct node *range = value_find(map, "output.images.*.range");
    image->fixed_range = range;
    if (!range)
        return STATUS_OK;
    if ((s = value_numbers(r, map, "output.images.*.range", unit_shown(image->of), 2,
                           image->range)))
        return s;
    if (image->range[0] < image->range[1])
        return STATUS_OK;
    node_path(range, path, sizeof path);
    return fail_at(r->document, range->at, "%s: the lower end is not below the upper end", path);
}

/* An array with an element for each entry of a map; NULL without entries. `sum` counts them all. */
static enum status allocate_entries(const struct reader *r, const struct node *map, size_t size,
                                    int *count, void **array, int *sum)
{
    *count = 0;
    *array = NULL;
    if (!map || !map->count)
        return STATUS_OK;
    *sum += map->count;
    if (*sum > ENTRIES)
        return fail_at(r->document, map->key_at, "output has %d entries by here (at most %d)", *sum,
                       ENTRIES);
    *array = calloc((size_t)map->count, size);
    if (!*array)
        return fail_machine("no memory for the case's output entries");
    *count = map->count;
    return STATUS_OK;
}

static void copy_name(char name[CASE_NAME], const struct node *n)
{
    assert(strlen(n->key) < CASE_NAME); /* outline_check */
    strcpy(name, n->key);
}

static enum status read_entries(const struct reader *r, const struct node *output,
                                struct flow_case *c)
{
    const struct node *series = node_get(output, "series"), *fields = node_get(output, "fields"),
                      *averages = node_get(output, "averages"),
                      *images = node_get(output, "images");
    enum status s;
    int sum = 0;
    if ((s = allocate_entries(r, series, sizeof *c->series, &c->series_count, (void **)&c->series,
                              &sum)) ||
        (s = allocate_entries(r, fields, sizeof *c->fields, &c->fields_count, (void **)&c->fields,
                              &sum)) ||
        (s = allocate_entries(r, averages, sizeof *c->averages, &c->averages_count,
                              (void **)&c->averages, &sum)) ||
        (s = allocate_entries(r, images, sizeof *c->images, &c->images_count, (void **)&c->images,
                              &sum)))
        return s;
    const struct node *n = series ? series->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->series[i].name, n);
        s = read_series(r, n, &c->series[i], c);
    }
    n = fields ? fields->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->fields[i].name, n);
        s = read_field(r, n, &c->fields[i], c->cells);
    }
    n = averages ? averages->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->averages[i].name, n);
        s = read_average(r, n, &c->averages[i], c);
    }
    n = images ? images->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->images[i].name, n);
        s = read_image(r, n, &c->images[i], c->cells);
    }
    return s;
}

static enum status check_remembered(const struct reader *r, const struct node *output,
                                    const struct flow_case *c)
{
    int count = c->averages_count;
    for (int i = 0; i < c->series_count; i++)
        count += c->series[i].kind == SERIES_KIND_residual;
    if (count <= CASE_REMEMBERED)
        return STATUS_OK;
    return fail_at(
        r->document, output->key_at,
        "output has %d averages and residuals, which every checkpoint has to hold (at most "
        "%d; one average can have several quantities, and a larger region)",
        count, CASE_REMEMBERED);
}

enum status section_output(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "output");
    c->log_every = c->run.steps < 20 ? 1 : c->run.steps / 20;
    enum status s = value_interval(r, node_get(map, "log"), "output.log.every", &c->log_every);
    return s ? s : (s = read_entries(r, map, c)) ? s : check_remembered(r, map, c);
}
