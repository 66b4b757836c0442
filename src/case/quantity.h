/* A number with an optional unit: "0.1", "5 mm", "1e-3 m2/s". */
#ifndef TAGFLOW_QUANTITY_H
#define TAGFLOW_QUANTITY_H

#include <stdbool.h>

#include "base/text.h"

/* Exponents of m, s and kg. */
struct dimension {
    int m, s, kg;
};

struct quantity {
    double value; /* in SI units when it has a unit */
    bool bare;    /* no unit: a lattice value */
    struct dimension dimension;
};

/* What one lattice unit is: length in m, time in s, density in kg/m3. */
struct quantity_scale {
    double dx, dt, density;
};

/* Read a quantity that fills the whole text. Units: nm um mm cm m km, ns us ms s min h, ug mg g kg,
 * N, Pa hPa kPa MPa mbar bar, L mL, with powers (m2 or m^2), joined by '*', ' ' or '/'; each '/'
 * applies to the one unit after it. Returns NULL and fills *q, or returns what is wrong. */
const char *quantity_parse(const char *text, struct quantity *q);

bool dimension_equal(struct dimension a, struct dimension b);

/* One lattice unit of this dimension in SI units. */
double quantity_unit(struct dimension d, const struct quantity_scale *scale);

#endif
