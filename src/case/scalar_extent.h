/* Numbers that follow from what a case says of its scalars. */
#ifndef TAGFLOW_SCALAR_EXTENT_H
#define TAGFLOW_SCALAR_EXTENT_H

#include "case/case.h"

/* Lowest and highest of some values, relative to the scalar's reference. */
struct scalar_extent {
    bool any;
    double low, high;
};

/* The values that faces, patches and bodies give scalar k, with the initial ones, if they are not
 * from an earlier result. */
struct scalar_extent scalar_extent_of(const struct flow_case *c, int k);

/* The same, but without an initial value that is not given, if fluid comes in with a value: it is
 * the reference, and soon forgotten. */
struct scalar_extent scalar_extent_given(const struct flow_case *c, int k);

/* The extent of scalar_extent_of() as text with units: "18 degC (291.15 K) to ...". False: there are none. */
enum { SCALAR_RANGE_TEXT = 160 };
bool scalar_range_text(const struct flow_case *c, int k, char text[SCALAR_RANGE_TEXT]);

/* Velocity of a free fall through the box by the buoyancy of a difference of scalar k. */
double scalar_free_fall(const struct flow_case *c, int k, double difference);

/* Shortest edge of the body's box inside the grid. */
double scalar_thickness(const struct flow_case *c, const struct case_body *body);

/* Thickness in cells of the layer at a wall, over the length of the flow along it. */
double scalar_layer(const struct flow_case *c, int k);

/* Has the part of a body, as case_body_wall, a condition of its own? */
bool scalar_has_own(const struct case_body *body, int part, int scalar);

/* "rock", or "rock label 2" with these words between. */
struct scalar_part_name {
    char text[2 * CASE_NAME + 16];
};
struct scalar_part_name scalar_part_name(const struct case_body *body, int part,
                                         const char *between);

#endif
