/* Sums and extrema of the flow; see flow.h. */
#include "measure/flow.h"

#include <math.h>

#include "base/agree.h"
#include "measure/curl.h"

struct partial {
    struct sums sums; /* cells by their global index */
    struct enstrophy enstrophy;
};

static enum status add_all(struct solver *s, struct sums *sums)
{
    const struct box all = domain_all(s->domain);
    int workers;
    const struct sums *const partial =
        solver_partials(s, KERNEL_sums, &all, (struct task){0}, &workers);
    if (!partial)
        return STATUS_MACHINE;
    for (int k = 0; k < workers; k++)
        sums_join(sums, &partial[k]);
    sums->max_cell = domain_global_index(s->domain, sums->max_cell);
    sums->bad_cell = domain_global_index(s->domain, sums->bad_cell);
    return STATUS_OK;
}

static enum status add_enstrophy(struct solver *s, struct enstrophy *sum)
{
    const struct box all = domain_all(s->domain);
    int workers;
    const enum status status = curl_prepare(s);
    if (status)
        return status;
    const struct enstrophy *const partial =
        solver_partials(s, KERNEL_enstrophy, &all, (struct task){0}, &workers);
    for (int k = 0; partial && k < workers; k++)
        enstrophy_join(sum, &partial[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

enum status flow_measure(struct solver *s, bool enstrophy, struct flow_sums *sums)
{
    const struct domain *const d = s->domain;
    struct partial p = {.sums = sums_none(), .enstrophy = enstrophy_none()};
    int status = add_all(s, &p.sums);
    if (enstrophy && add_enstrophy(s, &p.enstrophy))
        status = STATUS_MACHINE;

    struct {
        int64_t drho[3], energy[3], enstrophy[3], bad;
    } sum = {.bad = p.enstrophy.bad};
    exact_split(&p.sums.drho, sum.drho);
    exact_split(&p.sums.energy, sum.energy);
    exact_split(&p.enstrophy.sum, sum.enstrophy);
    MPI_Allreduce(MPI_IN_PLACE, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_SUM, d->comm);
    const struct exact_sum drho = exact_join(sum.drho), energy = exact_join(sum.energy),
                           whole_enstrophy = exact_join(sum.enstrophy);
    double max_square = p.sums.max_square;
    MPI_Allreduce(MPI_IN_PLACE, &max_square, 1, MPI_DOUBLE, MPI_MAX, d->comm);
    int64_t first[2] = {p.sums.max_square == max_square ? p.sums.max_cell : NO_CELL,
                        p.sums.bad_cell};
    MPI_Allreduce(MPI_IN_PLACE, first, 2, MPI_INT64_T, MPI_MIN, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, d->comm);

    const struct tag_row *const row = &d->rows[TAG_FLUID];
    const double *const a = row->acceleration;
    const bool finite = first[1] == NO_CELL;
    *sums = (struct flow_sums){.finite = finite};
    sums->mass = finite ? (double)d->fluid_cells + exact_value(&drho) : NAN;
    sums->kinetic_energy = finite ? exact_value(&energy) : NAN;
    sums->max_velocity = finite ? sqrt(max_square) : NAN;
    sums->acceleration = s->view.signal[row->force_signal] * sqrt(flow_square(a[0], a[1], a[2]));
    sums->enstrophy = finite && !sum.bad ? exact_value(&whole_enstrophy) : NAN;
    if (first[0] != NO_CELL)
        domain_coordinates(d, first[0], sums->max_cell);
    if (!sums->finite)
        domain_coordinates(d, first[1], sums->bad_cell);
    return (enum status)status;
}
