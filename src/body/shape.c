/* Shapes by formulas; see shape.h. */
#include "body/shape.h"

#include <math.h>

bool shape_holds(const struct case_shape *s, const double at[3])
{
    bool in = true;
    double square = 0;
    for (int a = 0; a < 3; a++) {
        const double d = at[a] - s->center[a];
        in = in && at[a] >= s->from[a] && at[a] <= s->to[a];
        square += s->kind == SHAPE_cylinder && a == s->axis ? 0 : d * d;
    }
    return s->kind == SHAPE_box ? in : square <= s->radius * s->radius;
}

void shape_bounds(const struct case_shape *s, double lo[3], double hi[3])
{
    for (int a = 0; a < 3; a++) {
        const bool along = s->kind == SHAPE_cylinder && a == s->axis;
        lo[a] = s->kind == SHAPE_box ? s->from[a] : along ? -INFINITY : s->center[a] - s->radius;
        hi[a] = s->kind == SHAPE_box ? s->to[a] : along ? INFINITY : s->center[a] + s->radius;
    }
}
