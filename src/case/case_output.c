/* Sections of a case: run, check, output. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

/* run.duration in steps. */
static enum status steps_from_duration(const struct reader *r, const struct node *map,
                                       int64_t *steps)
{
    double duration = 0;
    const double most = keys_row("run.steps")->range.high;
    const struct node *n = value_find(map, "run.duration");
    const enum status s = value_number(r, map, "run.duration", &duration);
    if (s)
        return s;
    const double whole = round(duration);
    if (whole < 1 || whole > most)
        return fail_at(r->document, n->at, "run.duration is %g steps (1 to %.0f)", duration, most);
    *steps = (int64_t)whole;
    return STATUS_OK;
}

enum status section_run(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "run");
    int64_t threads = 1;
    int isa = 0;
    enum status s;
    if (!map)
        return value_missing(r, NULL, "run", "");
    if ((s = value_one_of(r, map, "run.steps", "run.duration")) ||
        (s = value_integer(r, map, "run.steps", &c->run.steps)) ||
        (s = value_find(map, "run.duration") ? steps_from_duration(r, map, &c->run.steps)
                                             : STATUS_OK) ||
        (s = value_ranks(r, map, "run.ranks", c->run.ranks)) ||
        (s = value_integer(r, map, "run.threads", &threads)) ||
        (s = value_choice(r, map, "run.isa", &isa)))
        return s;
    for (int a = 0; a < 3; a++)
        if (c->run.ranks[a] > c->cells[a])
            return fail_at(r->document, value_find(map, "run.ranks")->at,
                           "run.ranks: %d ranks along %s for %d cells (at most one a cell)",
                           c->run.ranks[a], key_axes[a], c->cells[a]);
    c->run.threads = (int)threads;
    c->run.isa = (enum isa)isa;
    return STATUS_OK;
}

enum status section_check(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "check");
    const enum status s = value_interval(r, map, "check.every", &c->check.every);
    return s ? s : value_number(r, map, "check.max_velocity", &c->check.max_velocity);
}

static enum status read_series(const struct reader *r, const struct node *map,
                               struct case_series *series)
{
    const enum status s = value_interval(r, map, "output.series.*.every", &series->every);
    return s ? s : value_choices(r, map, "output.series.*.of", &series->of);
}

static enum status read_field(const struct reader *r, const struct node *map,
                              struct case_field *field)
{
    int precision = 0;
    enum status s;
    if ((s = value_interval(r, map, "output.fields.*.every", &field->every)) ||
        (s = value_choices(r, map, "output.fields.*.of", &field->of)) ||
        (s = value_choice(r, map, "output.fields.*.precision", &precision)))
        return s;
    field->precision = (enum precision)precision;
    return STATUS_OK;
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

static enum status read_plane(const struct reader *r, const struct node *map,
                              struct case_image *image, const int cells[3])
{
    char path[NODE_PATH];
    int64_t at;
    enum status s;
    if ((s = value_choice(r, map, "output.images.*.axis", &image->axis)))
        return s;
    at = cells[image->axis] / 2;
    if ((s = value_integer(r, map, "output.images.*.at", &at)))
        return s;
    if (at >= cells[image->axis]) {
        const struct node *n = value_find(map, "output.images.*.at");
        node_path(n, path, sizeof path);
        return fail_at(r->document, n->at, "%s: plane %s is outside the box (0 to %d along %s)",
                       path, n->text, cells[image->axis] - 1, key_axes[image->axis]);
    }
    image->at = (int)at;
    return STATUS_OK;
}

static enum status read_image(const struct reader *r, const struct node *map,
                              struct case_image *image, const int cells[3])
{
    char path[NODE_PATH];
    int of = 0;
    enum status s;
    if ((s = value_interval(r, map, "output.images.*.every", &image->every)) ||
        (s = value_choice(r, map, "output.images.*.of", &of)) ||
        (s = read_plane(r, map, image, cells)))
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

/* An array with an element for each entry of a map; NULL without entries. */
static enum status allocate_entries(const struct node *map, size_t size, int *count, void **array)
{
    *count = 0;
    *array = NULL;
    if (!map || !map->count)
        return STATUS_OK;
    *array = calloc((size_t)map->count, size);
    if (!*array)
        return fail_machine("no memory for the case's output entries");
    *count = map->count;
    return STATUS_OK;
}

static void copy_name(char name[CASE_NAME], const struct node *n)
{
    assert(strlen(n->key) < CASE_NAME); /* shape_check */
    strcpy(name, n->key);
}

static enum status read_entries(const struct reader *r, const struct node *output,
                                struct flow_case *c)
{
    const struct node *series = node_get(output, "series"), *fields = node_get(output, "fields"),
                      *images = node_get(output, "images");
    enum status s;
    if ((s = allocate_entries(series, sizeof *c->series, &c->series_count, (void **)&c->series)) ||
        (s = allocate_entries(fields, sizeof *c->fields, &c->fields_count, (void **)&c->fields)) ||
        (s = allocate_entries(images, sizeof *c->images, &c->images_count, (void **)&c->images)))
        return s;
    const struct node *n = series ? series->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->series[i].name, n);
        s = read_series(r, n, &c->series[i]);
    }
    n = fields ? fields->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->fields[i].name, n);
        s = read_field(r, n, &c->fields[i]);
    }
    n = images ? images->first : NULL;
    for (int i = 0; n && !s; n = n->next, i++) {
        copy_name(c->images[i].name, n);
        s = read_image(r, n, &c->images[i], c->cells);
    }
    return s;
}

enum status section_output(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "output");
    c->log_every = c->run.steps < 20 ? 1 : c->run.steps / 20;
    const enum status s =
        value_interval(r, node_get(map, "log"), "output.log.every", &c->log_every);
    return s ? s : read_entries(r, map, c);
}
