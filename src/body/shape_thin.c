/* Parts of shapes that are thinner than the grid resolves; see shape.h. */
#include <math.h>

#include "body/shape.h"

/* A ball of this diameter holds the centre of a cell, wherever it is: sqrt(3), rounded up. */
#define HOLDS_ALWAYS 1.7321
/* Most cells in which a centre is looked for. */
#define LOOKED_AT 1e6
/* Smallest thickness that is no cell, less rounding. */
#define CELL (1 - 1e-6)

/* The diameter of the largest ball in a leaf, or more. */
static double thickness(const struct shape_leaf *l)
{
    const double *const s = l->size;
    switch (l->kind) {
    case SHAPE_box:
    case SHAPE_ellipsoid:
        return 2 * fmin(s[0], fmin(s[1], s[2]));
    case SHAPE_cylinder:
        return 2 * fmin(s[0], s[1]);
    case SHAPE_sphere:
    case SHAPE_capsule:
    case SHAPE_pack:
        return 2 * s[0];
    case SHAPE_torus:
        return 2 * s[2];
    default:
        return INFINITY;
    }
}

/* Does the leaf hold the centre of no cell? False as well if its box is too large to look. */
static bool is_lost(struct shape_step *step)
{
    const struct shape one = {.count = 1, .step = step};
    int lo[3], hi[3];
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        cells *= step->hi[a] - step->lo[a] + 2;
        if (!(cells < LOOKED_AT) || !(fabs(step->lo[a]) < 1e8))
            return false;
        lo[a] = (int)floor(step->lo[a]);
        hi[a] = (int)ceil(step->hi[a]);
    }
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++)
                if (shape_holds(&one, (const double[3]){x + 0.5, y + 0.5, z + 0.5}))
                    return false;
    return true;
}

/* Name of the leaf number *left of a shape, counted down as they are passed; NULL: further on. */
static const char *name_of(const struct case_shape *s, int *left)
{
    const char *name = NULL;
    if (!s->count)
        return (*left)-- == 0 ? s->name : NULL;
    for (int k = 0; k < s->count && !name; k++)
        name = name_of(&s->parts[k], left);
    return name;
}

bool shape_find_thin(const struct case_shape *from, struct shape_thin *found)
{
    struct shape s;
    int number = 0, first = 0;
    *found = (struct shape_thin){.thickness = INFINITY};
    if (!shape_create(&s, from))
        return false;
    for (struct shape_step *step = s.step; step < s.step + s.count; step++) {
        if (step->what != SHAPE_PUSH)
            continue;
        const double thick = thickness(&step->leaf);
        const bool lost = thick < HOLDS_ALWAYS && is_lost(step);
        if ((thick < CELL || lost) && !found->parts++) {
            first = number;
            found->thickness = thick;
        }
        found->lost += lost;
        number++;
    }
    found->name = found->parts ? name_of(from, &first) : "";
    shape_destroy(&s);
    return true;
}
