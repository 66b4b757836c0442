/* The arrays of a snapshot, in the units of the case. */
#ifndef TAGFLOW_FIELD_H
#define TAGFLOW_FIELD_H

#include "run/levels_file.h"

enum { FIELD_ARRAYS = 8 * sizeof(unsigned) + CASE_SCALARS };

/* The arrays that `field` asks for; returns their number. levels: of the grid. scalar: room for
 * quantities, which the arrays refer to. */
int field_arrays(const struct flow_case *c, int levels, const struct case_field *field,
                 struct cover_quantity scalar[CASE_SCALARS], struct levels_array to[FIELD_ARRAYS]);

#endif
