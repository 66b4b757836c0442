/* Sums and extrema of the flow; see flow.h. */
#include "measure/flow.h"

#include <math.h>

#include "base/agree.h"
#include "measure/curl.h"

struct flow_partial {
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

/* Sums that ranks add. */
struct flow_whole {
    int64_t drho[3], energy[3], enstrophy[3], bad;
};

enum status flow_measure(const struct levels *all, bool enstrophy, struct flow_sums *sums)
{
    const struct domain *const d = all->solver[0]->domain;
    const int count = all->count;
    struct flow_whole sum[LEVELS];
    double square[LEVELS], most[LEVELS], fluid = 0;
    int64_t first[LEVELS][2], bad = 0; /* cells: the fastest, one that is not sane */
    int status = STATUS_OK;
    for (int l = 0; l < count; l++) {
        struct flow_partial p = {.sums = sums_none(), .enstrophy = enstrophy_none()};
        if (add_all(all->solver[l], &p.sums))
            status = STATUS_MACHINE;
        if (enstrophy && add_enstrophy(all->solver[l], &p.enstrophy))
            status = STATUS_MACHINE;
        exact_split(&p.sums.drho, sum[l].drho);
        exact_split(&p.sums.energy, sum[l].energy);
        exact_split(&p.enstrophy.sum, sum[l].enstrophy);
        sum[l].bad = p.enstrophy.bad;
        square[l] = most[l] = p.sums.max_square;
        first[l][0] = p.sums.max_cell;
        first[l][1] = p.sums.bad_cell;
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, count * (int)(sizeof *sum / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, most, count, MPI_DOUBLE, MPI_MAX, d->comm);
    for (int l = 0; l < count; l++)
        first[l][0] = square[l] == most[l] ? first[l][0] : NO_CELL;
    MPI_Allreduce(MPI_IN_PLACE, first, 2 * count, MPI_INT64_T, MPI_MIN, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, d->comm);

    struct exact_sum drho[LEVELS], energy[LEVELS], curls[LEVELS];
    *sums = (struct flow_sums){.finite = true};
    for (int l = count - 1; l >= 0; l--) {
        const struct domain *const level = all->solver[l]->domain;
        drho[l] = exact_join(sum[l].drho);
        energy[l] = exact_join(sum[l].energy);
        curls[l] = exact_join(sum[l].enstrophy);
        bad += sum[l].bad;
        fluid += ldexp((double)level->fluid_cells, -refined_dimensions(all->refined, 3) * l);
        if (first[l][0] != NO_CELL && most[l] >= sums->max_velocity) {
            sums->max_velocity = most[l];
            sums->max_level = l;
            domain_coordinates(level, first[l][0], sums->max_cell);
        }
        if (first[l][1] == NO_CELL)
            continue;
        sums->finite = false;
        sums->bad_level = l;
        domain_coordinates(level, first[l][1], sums->bad_cell);
    }
    const struct tag_row *const row = &d->rows[TAG_FLUID];
    const double *const a = row->acceleration;
    const bool finite = sums->finite;
    sums->mass = finite ? fluid + levels_sum(all, drho, 3) : NAN;
    sums->kinetic_energy = finite ? levels_sum(all, energy, 3) : NAN;
    sums->max_velocity = finite ? sqrt(sums->max_velocity) : NAN;
    sums->acceleration =
        all->solver[0]->view.signal[row->force_signal] * sqrt(flow_square(a[0], a[1], a[2]));
    /* its square is 4^l, its volume 8^-l */
    sums->enstrophy = finite && !bad ? levels_sum(all, curls, 1) : NAN;
    return (enum status)status;
}
