/* Flow out of the box through its openings; see outflow.h. */
#include "solver/outflow.h"

#include <math.h>

#include "solver/through.h"
#include "tags/faces.h"

static bool face_passes(const struct flow_case *c, int face)
{
    for (int k = 0; k < case_openings(c); k++)
        if (case_opening_side(c, k) == face && case_opening_passes(c, k))
            return true;
    return false;
}

/* Adds this rank's cells beside a face to the sums of their openings. */
static enum status add_face(struct solver *s, const struct flow_case *c, int face,
                            struct through sums[])
{
    const struct domain *const d = s->domain;
    const int axis = face / 2, last = d->cells[axis] - 1;
    const struct box layer = through_box(d, axis, face & 1 ? last : 0, 1);
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, &layer); (flow = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4) {
                    const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                    if (view_fluid(&d->view, view_index(&d->view, x, y, z)))
                        through_add(&sums[faces_opening_at(d, c, face, g)], flow[0],
                                    face & 1 ? flow[1 + axis] : -flow[1 + axis]);
                }
    return fetch_end(&f);
}

enum status outflow_measure(struct solver *s, const struct flow_case *c, struct outflow *to)
{
    const int count = case_openings(c);
    struct through sums[OUTFLOW_OPENINGS] = {{.fluid = 0}};
    struct through_parts all[OUTFLOW_OPENINGS];
    bool failed = false;
    for (int face = 0; face < 6; face++)
        if (face_passes(c, face) && add_face(s, c, face, sums))
            failed = true;
    for (int k = 0; k < count; k++)
        all[k] = through_split(&sums[k], failed);
    MPI_Allreduce(MPI_IN_PLACE, all, count * (int)(sizeof *all / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, s->domain->comm);
    for (int k = 0; k < count; k++) {
        const struct through whole = through_join(&all[k]);
        const double area = (double)whole.fluid;
        to[k] = (struct outflow){.volume = 0};
        if (!case_opening_passes(c, k))
            continue;
        to[k] = (struct outflow){
            .volume = whole.bad ? NAN : exact_value(&whole.velocity),
            .mass = whole.bad ? NAN : exact_value(&whole.momentum),
            .pressure = whole.bad || area == 0 ? NAN : exact_value(&whole.drho) / 3 / area,
            .area = area};
    }
    return all[0].failed ? STATUS_MACHINE : STATUS_OK;
}

double outflow_leaves(const struct flow_case *c, const struct outflow *all)
{
    double leaves = 0;
    for (int k = 0; k < case_openings(c); k++)
        leaves += all[k].mass <= 0 ? 0 : all[k].mass;
    return leaves;
}

double outflow_share(const struct flow_case *c, const struct outflow *all, int opening)
{
    const double leaves = outflow_leaves(c, all), mass = all[opening].mass;
    return leaves == 0 ? NAN : mass < 0 ? 0 * leaves : mass / leaves;
}
