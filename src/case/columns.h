/* Names of the columns of a series, as in its file, in run.stop and in reports. */
#ifndef TAGFLOW_COLUMNS_H
#define TAGFLOW_COLUMNS_H

#include "case/case.h"

enum { SERIES_COLUMNS = 32 }; /* most columns of a series */

/* The names of a series' columns: step, time, ..., and NULL after the last. Returns their
 * number. */
int series_columns(const struct case_series *s, const struct flow_case *c,
                   const char *names[static SERIES_COLUMNS + 1]);

/* Number of coefficients of a series of forces: 0, 3 (of the force) or 6 (of force and torque). */
int series_coefficients(const struct case_series *s);

/* Does the series write many lines a step, one for each of its points? */
bool series_has_points(const struct case_series *s);

#endif
