/* Heat through walls that levels meet. */
#include <math.h>

#include "advice/advice.h"
#include "base/message.h"
#include "body/shape.h"

/* Does a region come near a face of the box? Regions are whole bricks of a level. */
static bool meets(const struct flow_case *c, const struct case_refine *what, int face)
{
    static const double brick = 4; /* cells */
    const int a = face / 2;
    double from = what->from[a], to = what->to[a];
    struct shape shape;
    if (what->of == REFINE_around) {
        const double reach = fmax(what->distance, fmax(what->behind, what->before));
        from = c->bodies[what->body].lo[a] - reach;
        to = c->bodies[what->body].hi[a] + reach;
    } else if (what->of == REFINE_shape) {
        if (!shape_create(&shape, &what->shape))
            return false;
        from = shape.lo[a];
        to = shape.hi[a];
        shape_destroy(&shape);
    }
    return face % 2 ? to > c->cells[a] - brick : from < brick;
}

/* A row of heat has the first of a level's substeps. Through a wall of given value beside an edge
 * with flow along it, it differed from the whole step by -1.5 to 13 %, and by 3e-5 with the limiter
 * (docs/lab/refinement.md). */
void advise_substeps(const struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++) {
        const struct case_series *const s = &c->series[k];
        if (s->kind != SERIES_KIND_heat || s->opening < 0 || scalar_limited(c, s->scalar))
            continue;
        const struct case_face *const at = case_opening(c, s->opening);
        if (face_open(at->kind) || at->scalar[s->scalar].kind != SCALAR_WALL_value)
            continue; /* regions keep away from open faces */
        for (int i = 0; i < c->refine_count; i++) {
            if (!meets(c, &c->refines[i], case_opening_side(c, s->opening)))
                continue;
            warn(
                "output.series.%s: refine.%s meets this surface of given value, and a row has the "
                "first substep of its level: with flow along its edge rows were off by up to 13 %% "
                "(take the change of the scalar's sum, or limiter: on, or a region that does not "
                "meet it)",
                s->name, c->refines[i].name);
            break;
        }
    }
}
