/* A number with an optional unit: "0.1", "5 mm", "1e-3 m2/s". */
#ifndef TAGFLOW_QUANTITY_H
#define TAGFLOW_QUANTITY_H

#include <stdbool.h>

#include "base/text.h"

/* Exponents of m, s, kg and K. */
struct dimension {
    int m, s, kg, kelvin;
};

struct quantity {
    double value; /* in SI units when it has a unit */
    bool bare;    /* no unit: a lattice value */
    bool celsius; /* given in degC; the value is in K */
    struct dimension dimension;
};

/* One lattice unit: length in m, time in s, density in kg/m3. */
struct quantity_scale {
    double dx, dt, density;
};

#define QUANTITY_UNITS                                                                             \
    "m cm mm um nm km in ft, s ms us ns min h d, kg g mg ug, N, Pa mPa hPa kPa MPa mbar bar atm "  \
    "mmHg, cP, St cSt, L mL uL, J kJ MJ, mW W kW MW, K degC, rad/s"

/* Read a quantity that fills the whole text. Units: QUANTITY_UNITS, with powers (m2 or m^2), joined
 * by '*', ' ' or '/'; each '/' applies to the one unit after it, or to those in brackets, as in
 * W/(m K). degC and rad/s go with no other unit. Fills *q and returns NULL; or returns what is
 * wrong. */
const char *quantity_parse(const char *text, struct quantity *q);

bool dimension_equal(struct dimension a, struct dimension b);

/* One lattice unit of this dimension in SI units; one of temperature is 1 K. */
double quantity_unit(struct dimension d, const struct quantity_scale *scale);

#endif
