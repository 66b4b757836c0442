/* Flow out of the box through its openings; see outflow.h. */
#include "solver/outflow.h"

#include <math.h>

#include "exact.h"
#include "tags/faces.h"

/* Larger values mean that the flow has diverged, and would overflow the sums. */
static const double sane = 1e5;

struct outflow_sums {
    struct exact_sum velocity, momentum, drho;
    int64_t fluid, bad; /* cells */
};

static bool face_passes(const struct flow_case *c, int face)
{
    for (int k = 0; k < case_openings(c); k++)
        if (case_opening_side(c, k) == face && case_opening_passes(c, k))
            return true;
    return false;
}

static void add_cell(struct outflow_sums *sums, const double flow[4], int face)
{
    const double drho = flow[0], u = face & 1 ? flow[1 + face / 2] : -flow[1 + face / 2];
    sums->fluid++;
    if (!(fabs(drho) < sane && fabs(u) < sane && fabs((1 + drho) * u) < sane)) {
        sums->bad++;
        return;
    }
    exact_add(&sums->velocity, u);
    exact_add(&sums->momentum, (1 + drho) * u);
    exact_add(&sums->drho, drho);
}

/* Adds this rank's cells beside a face to the sums of their openings. */
static enum status add_face(struct solver *s, const struct flow_case *c, int face,
                            struct outflow_sums sums[])
{
    const struct domain *const d = s->domain;
    int lo[3] = {0, 0, 0}, hi[3] = {d->cells[0], d->cells[1], d->cells[2]};
    if (face & 1)
        lo[face / 2] = hi[face / 2] - 1;
    else
        hi[face / 2] = 1;
    const struct box layer = domain_part(d, lo, hi);
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, &layer); (flow = fetch_next(&f, &piece));)
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4) {
                    const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                    if (view_fluid(&d->view, view_index(&d->view, x, y, z)))
                        add_cell(&sums[faces_opening_at(d, c, face, g)], flow, face);
                }
    return fetch_end(&f);
}

/* Sums that ranks add. */
struct outflow_parts {
    int64_t velocity[3], momentum[3], drho[3], fluid, bad, failed;
};

enum status outflow_measure(struct solver *s, const struct flow_case *c, struct outflow *to)
{
    const int count = case_openings(c);
    struct outflow_sums sums[OUTFLOW_OPENINGS] = {{.fluid = 0}};
    struct outflow_parts all[OUTFLOW_OPENINGS] = {{.fluid = 0}};
    bool failed = false;
    for (int face = 0; face < 6; face++)
        if (face_passes(c, face) && add_face(s, c, face, sums))
            failed = true;
    for (int k = 0; k < count; k++) {
        all[k] =
            (struct outflow_parts){.fluid = sums[k].fluid, .bad = sums[k].bad, .failed = failed};
        exact_split(&sums[k].velocity, all[k].velocity);
        exact_split(&sums[k].momentum, all[k].momentum);
        exact_split(&sums[k].drho, all[k].drho);
    }
    MPI_Allreduce(MPI_IN_PLACE, all, count * (int)(sizeof *all / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, s->domain->comm);
    for (int k = 0; k < count; k++) {
        const struct exact_sum velocity = exact_join(all[k].velocity),
                               momentum = exact_join(all[k].momentum),
                               drho = exact_join(all[k].drho);
        const double area = (double)all[k].fluid;
        to[k] = (struct outflow){.volume = 0};
        if (!case_opening_passes(c, k))
            continue;
        to[k] = (struct outflow){.volume = all[k].bad ? NAN : exact_value(&velocity),
                                 .mass = all[k].bad ? NAN : exact_value(&momentum),
                                 .pressure =
                                     all[k].bad || area == 0 ? NAN : exact_value(&drho) / 3 / area,
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
