/* A number with an optional unit: "0.1", "5 mm", "1e-3 m2/s". */
#ifndef TAGFLOW_QUANTITY_H
#define TAGFLOW_QUANTITY_H

#include <stdbool.h>

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

/* Read a whole number at `text`, decimal, up to *end (which may be followed by anything).
 * Only digits, '.', exponent and sign: no hexadecimal, nan or infinity. The decimal point is a
 * point in the caller's locale (case_read sets the C locale of its thread).
 * Returns NULL, or what is wrong in words that follow the quoted text ("is not a number"). */
const char *number_parse(const char *text, const char **end, double *value);

/* Read a quantity that fills the whole text. Units: nm um mm cm m km, ns us ms s min h,
 * ug mg g kg, with powers (m2 or m^2) and joined by '*', ' ' or '/', each '/' for the one unit
 * after it. Returns NULL and *q, or what is wrong as above. */
const char *quantity_parse(const char *text, struct quantity *q);

bool dimension_equal(struct dimension a, struct dimension b);

/* One lattice unit of this dimension in SI units. */
double quantity_unit(struct dimension d, const struct quantity_scale *scale);

#endif
