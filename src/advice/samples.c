/* Samples of which the permeability is measured. */
#include <math.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/keys.h"

/* Cells along an axis from the first to the last of the images; without any, of the only body
 * inside the box. 0: not known. */
static double sample_length(const struct flow_case *c, int axis)
{
    double from = INFINITY, to = -INFINITY;
    for (int i = 0; i < c->body_count; i++) {
        const struct voxel_image *const v = &c->bodies[i].image;
        if (!v->file)
            continue;
        from = fmin(from, v->at[axis]);
        to = fmax(to, v->at[axis] + v->to[axis] - v->from[axis]);
    }
    if (c->body_count == 1 && !c->bodies->image.file) {
        from = fmax(c->bodies->lo[axis], 0);
        to = fmin(c->bodies->hi[axis], c->cells[axis]);
    }
    return fmax(to - from, 0);
}

void advise_samples(const struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++) {
        const struct case_series *const s = &c->series[k];
        const double sample = s->kind == SERIES_KIND_permeability ? sample_length(c, s->axis) : 0;
        if (s->length > 0 && s->length < sample - 0.5)
            warn("permeability_length",
                 "output.series.%s.length is %g cells, but the sample is %g cells long along %s: "
                 "the permeability comes out too small (give %g, or leave length out where the "
                 "sample fills the box)",
                 s->name, s->length, sample, key_axes[s->axis], sample);
    }
}
