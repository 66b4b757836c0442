/* The words and numbers around a picture of a plane; see plane_words.h. */
#include "run/plane_words.h"

#include <math.h>
#include <stdio.h>

#include "run/output_kind.h"

const int plane_across[3] = {1, 0, 0}, plane_up[3] = {2, 2, 1};

static const char *const axis_names[3] = {"x", "y", "z"};

static const double ice_point = 273.15; /* K */

/* The unit in which lengths up to the longest are numbers that read well. */
struct length_unit {
    const char *name;
    double in; /* of a cell */
};

static struct length_unit length_unit(const struct flow_case *c, int longest)
{
    const double cell = c->units.cell;
    if (!(cell > 0))
        return (struct length_unit){"cells", 1};
    const double length = cell * longest;
    return length >= 0.5    ? (struct length_unit){"m", cell}
           : length >= 5e-4 ? (struct length_unit){"mm", 1e3 * cell}
                            : (struct length_unit){"um", 1e6 * cell};
}

static struct shown_unit scalar_unit(const struct case_scalar *scalar,
                                     const struct case_image *image)
{
    if (!image->heat)
        return (struct shown_unit){1, scalar->reference, ""};
    if (image->unit == TEMPERATURE_UNIT_degC)
        return (struct shown_unit){1, scalar->reference - ice_point, "degC"};
    return (struct shown_unit){1, scalar->reference, "K"};
}

struct shown_unit plane_unit(const struct flow_case *c, const struct case_image *image)
{
    const bool si = c->units.given;
    const double u = output_velocity_unit(c), rho = c->units.density;
    switch (image->of) {
    case IMAGE_scalar:
        return scalar_unit(&c->scalars[image->scalar], image);
    case IMAGE_density:
        return (struct shown_unit){rho, 0, si ? "kg/m3" : "of the reference"};
    case IMAGE_pressure:
        return (struct shown_unit){rho * u * u, 0, si ? "Pa" : "lattice units"};
    case IMAGE_vorticity:
        return (struct shown_unit){u / c->units.dx, 0, si ? "1/s" : "1/step"};
    default:
        return (struct shown_unit){u, 0, si ? "m/s" : "cells/step"};
    }
}

static struct image_axis axis_of(const struct flow_case *c, int axis, struct length_unit unit)
{
    return (struct image_axis){axis_names[axis], unit.name, 0, unit.in * c->cells[axis]};
}

void plane_words(const struct flow_case *c, const struct case_image *image, double middle,
                 long long step, struct plane_words *words, struct image *picture)
{
    const int across = plane_across[image->axis], up = plane_up[image->axis];
    const int longest = c->cells[across] > c->cells[up] ? c->cells[across] : c->cells[up];
    const struct length_unit length = length_unit(c, longest);
    const char *name =
        image->of == IMAGE_scalar ? c->scalars[image->scalar].name : image_name(image->of);
    snprintf(words->title, sizeof words->title, "%s at %s = %.4g %s", name, axis_names[image->axis],
             middle * length.in, length.name);
    if (c->units.given)
        snprintf(words->when, sizeof words->when, "step %lld, time %.6g s", step,
                 (double)step * c->units.dt);
    else
        snprintf(words->when, sizeof words->when, "step %lld", step);
    picture->title = words->title;
    picture->when = words->when;
    picture->quantity = name;
    picture->unit = plane_unit(c, image).name;
    picture->across = axis_of(c, across, length);
    picture->up = axis_of(c, up, length);
}
