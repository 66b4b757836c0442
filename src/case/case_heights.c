/* Profiles by height or radius: the maps `height`, `radius`, `log` and `shear` of `profile`. */
#include <math.h>
#include <stdlib.h>

#include "base/message.h"
#include "case/heights.h"
#include "case/input.h"
#include "case/level.h"
#include "case/opening.h"

const char *const profile_heights[] = {"height", "radius", "log", "shear", NULL};

const char *heights_row(const char *map)
{
    return keys_also(map) ? keys_also(map) : map;
}

/* Heights, or distances, of the opening's cells. */
struct heights_range {
    double low, high;
};

/* Two columns, heights that rise and factors (values of a scalar), some of which the opening's
 * cells reach. */
static enum status take_table(struct map m, const struct case_numbers *n,
                              struct heights_range cells, bool radius, struct case_heights *to)
{
    const char *const word = radius ? "distance" : "height";
    const char *const what = m.r->scalar ? "value" : "factor";
    const size_t count = n->size[0];
    const double *const value = n->value;
    if (n->size[1] != 2)
        return input_wrong(m, " has %zu numbers in a line, not 2: a %s and a %s", n->size[1], word,
                           what);
    if (count < 2)
        return input_wrong(m, " has one line (at least two: each has a %s and a %s)", word, what);
    if (count > INT32_MAX)
        return input_wrong(m, " has too many lines");
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(value[2 * i] * to->unit))
            return input_wrong(m, ": %s %g is too large", word, value[2 * i]);
        if (i && !(value[2 * i] * to->unit > value[2 * i - 2] * to->unit))
            return input_wrong(m, ": %s %g is not above the one before, %g (they must rise)", word,
                               value[2 * i], value[2 * i - 2]);
    }
    const double first = value[0] * to->unit, last = value[2 * count - 2] * to->unit;
    if (radius && first < 0)
        return input_wrong(m, ": distance %g is negative", value[0]);
    if (last <= cells.low || first >= cells.high)
        return input_wrong(
            m,
            ": its %ss, from %.4g to %.4g cells, are all %s those of the cells here, from %.4g to "
            "%.4g (length: 1 m if they are in m%s)",
            word, first, last, last <= cells.low ? "below" : "above", cells.low, cells.high,
            radius ? "" : "; from: the position of height 0");
    to->at = malloc(count * sizeof *to->at);
    to->value = malloc(count * sizeof *to->value);
    if (!to->at || !to->value)
        return fail_machine("no memory for a table of %zu %ss", count, word);
    to->points = (int)count;
    for (size_t i = 0; i < count; i++) {
        to->at[i] = value[2 * i] * to->unit;
        to->value[i] = value[2 * i + 1];
    }
    return STATUS_OK;
}

static enum status read_table(struct map m, struct heights_range cells, bool radius,
                              struct case_heights *to)
{
    char *dataset = NULL;
    struct case_numbers n = {0};
    if (m.r->origin)
        return level_heights(m, to);
    enum status s = input_numbers(m, false, &n, &to->file, &dataset, &to->checksum);
    if (!s)
        s = take_table(m, &n, cells, radius, to);
    free(n.value);
    return s;
}

/* Is the axis one of the face? */
static enum status check_axis(struct map m, const struct opening_cells *cells, int axis)
{
    int axes[2];
    face_axes(cells->face, axes);
    if (axis == cells->face / 2)
        return fail_value(m.r, map_get(m, "axis"), ": %s is across face %s (%s or %s)",
                          key_axes[axis], key_faces[cells->face], key_axes[axes[0]],
                          key_axes[axes[1]]);
    return STATUS_OK;
}

/* Positions along the axis, or distances from the point, that the opening has; inset: from its
 * edges, 0.5: of the centres of its cells. */
static struct heights_range positions(enum profile profile, const struct case_heights *h,
                                      const struct opening_cells *cells, double inset)
{
    int axes[2];
    double square = 0;
    face_axes(cells->face, axes);
    const int k = h->axis == axes[1];
    if (!profile_has(profile, PROFILE_HAS_radius))
        return (struct heights_range){cells->lo[k] + inset, cells->hi[k] - inset};
    for (int a = 0; a < 2; a++) {
        const double low = cells->center[a] - (cells->lo[a] + inset),
                     high = cells->hi[a] - inset - cells->center[a];
        square += fmax(low * low, high * high);
    }
    return (struct heights_range){0, sqrt(square)};
}

/* Sets the lowest and the highest value between two positions: laws rise. */
static void find_extremes(enum profile profile, struct case_heights *h, struct heights_range at)
{
    const double first = heights_at(profile, h, at.low), last = heights_at(profile, h, at.high);
    h->low = fmin(first, last);
    h->high = fmax(first, last);
    for (int i = 0; i < h->points; i++)
        if (h->from + h->at[i] >= at.low && h->from + h->at[i] <= at.high) {
            h->low = fmin(h->low, h->value[i]);
            h->high = fmax(h->high, h->value[i]);
        }
}

double heights_peak(const struct case_heights *h)
{
    return fmax(fabs(h->low), fabs(h->high));
}

/* Factors that no flow can have are refused. */
static enum status judge(struct map m, enum profile profile, const struct case_heights *h,
                         struct heights_range at)
{
    if (!isfinite(heights_at(profile, h, at.low)) || !isfinite(heights_at(profile, h, at.high)))
        return fail_value(m.r, m.node,
                          ": the profile is not finite at the cells of the face, from %g to %g "
                          "cells (take a roughness and a reference within some orders of these)",
                          at.low, at.high);
    if (!(heights_peak(h) > 0))
        return fail_value(m.r, m.node,
                          ": the profile is 0 in all cells of the face, whose centres are from %g "
                          "to %g cells (a smaller `from`, or other numbers)",
                          at.low, at.high);
    return STATUS_OK;
}

/* Reads the keys and the file; *at: positions of the cells. */
static enum status read_keys(struct map m, enum profile profile, const struct opening_cells *cells,
                             struct case_heights *to, struct heights_range *at)
{
    const bool radius = profile_has(profile, PROFILE_HAS_radius);
    enum status s = record_read(m, 0, to);
    for (int k = 0; k < 2; k++)
        to->center[k] = cells->center[k];
    if (!s && !radius)
        s = check_axis(m, cells, to->axis);
    *at = positions(profile, to, cells, 0.5);
    if (!s && profile_has(profile, PROFILE_HAS_numbers))
        s = read_table(m, (struct heights_range){at->low - to->from, at->high - to->from}, radius,
                       to);
    return s;
}

enum status heights_read(struct map m, enum profile profile, const struct opening_cells *cells,
                         struct case_heights *to)
{
    struct heights_range at;
    m.row = heights_row(m.row);
    const enum status s = read_keys(m, profile, cells, to, &at);
    if (s)
        return s;
    find_extremes(profile, to, at);
    return judge(m, profile, to, at);
}

/* The number of a line of the file as a value of the scalar, relative to its reference. */
static enum status take_value(struct map m, enum temperature_unit unit, bool physical,
                              double *value)
{
    static const double ice = 273.15;
    const double given = *value, absolute = unit == TEMPERATURE_UNIT_degC ? given + ice : given;
    if (physical && absolute < 0)
        return input_wrong(m, ": %g %s is below the absolute zero", given,
                           key_temperature_units[unit]);
    if (!(fabs(absolute) <= SCALAR_MAX))
        return input_wrong(m, ": %g is out of range (%g to %g)", given, -SCALAR_MAX, SCALAR_MAX);
    *value = absolute - m.r->scalar->reference + 0.0; /* no -0 */
    return STATUS_OK;
}

enum status heights_read_values(struct map m, enum profile profile,
                                const struct opening_cells *cells, enum temperature_unit unit,
                                bool physical, struct case_heights *to)
{
    struct heights_range at;
    m.row = heights_row(m.row);
    enum status s = read_keys(m, profile, cells, to, &at);
    for (int i = 0; i < to->points && !s && !m.r->origin; i++)
        s = take_value(m, unit, physical, &to->value[i]);
    if (!s)
        find_extremes(profile, to, positions(profile, to, cells, 0));
    return s;
}

void heights_destroy(struct case_heights *h)
{
    free(h->at);
    free(h->value);
    free(h->file);
    *h = (struct case_heights){0};
}
