/* Sums and extrema of the flow; see flow.h. */
#include "solver/flow.h"

#include <math.h>

#include "base/exact.h"
#include "solver/curl.h"

/* Beyond this a velocity or density is no flow any more, and would overflow the sums. */
static const double sane = 1e5;

enum { NO_CELL = -1 };

struct partial {
    struct exact_sum drho, energy, enstrophy;
    double max_square;
    int64_t max_index, bad_index; /* global index of a cell, NO_CELL: none */
};

static int64_t global_index(const struct domain *d, int x, int y, int z)
{
    return ((int64_t)(d->lo[2] + z) * d->cells[1] + (d->lo[1] + y)) * d->cells[0] + (d->lo[0] + x);
}

static void add_cell(struct partial *p, const double flow[4], int64_t index)
{
    const double drho = flow[0];
    const double square = flow[1] * flow[1] + flow[2] * flow[2] + flow[3] * flow[3];
    if (!(fabs(drho) < sane && square < sane)) {
        if (p->bad_index == NO_CELL || index < p->bad_index)
            p->bad_index = index;
        return;
    }
    exact_add(&p->drho, drho);
    exact_add(&p->energy, 0.5 * (1 + drho) * square);
    if (square > p->max_square || p->max_index == NO_CELL ||
        (square == p->max_square && index < p->max_index)) {
        p->max_square = square;
        p->max_index = index;
    }
}

static enum status add_all(struct solver *s, struct partial *p)
{
    const struct box all = domain_all(s->domain);
    struct box piece;
    for (int number = 0; solver_piece(s, &all, number, &piece); number++) {
        const double *flow = solver_flow(s, &piece);
        if (!flow)
            return STATUS_MACHINE;
        for (int z = piece.lo[2]; z < piece.hi[2]; z++)
            for (int y = piece.lo[1]; y < piece.hi[1]; y++)
                for (int x = piece.lo[0]; x < piece.hi[0]; x++, flow += 4)
                    if (view_fluid(&s->view, view_index(&s->view, x, y, z)))
                        add_cell(p, flow, global_index(s->domain, x, y, z));
    }
    return STATUS_OK;
}

static enum status add_enstrophy(struct solver *s, struct partial *p)
{
    const struct view *const v = &s->view;
    const struct box all = domain_all(s->domain);
    struct curl curl;
    double w[3];
    enum status status = curl_start(&curl, s, &all);
    if (status)
        return status;
    for (int z = 0; z < v->n[2] && !(status = curl_plane(&curl, z)); z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                if (!view_fluid(v, view_index(v, x, y, z)))
                    continue;
                curl_at(&curl, x, y, w);
                const double e = 0.5 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
                if (e < sane)
                    exact_add(&p->enstrophy, e);
            }
    curl_end(&curl);
    return status;
}

static void cell_of(const struct domain *d, int64_t index, int cell[3])
{
    cell[0] = (int)(index % d->cells[0]);
    cell[1] = (int)(index / d->cells[0] % d->cells[1]);
    cell[2] = (int)(index / d->cells[0] / d->cells[1]);
}

enum status flow_measure(struct solver *s, bool enstrophy, struct flow_sums *sums)
{
    const struct domain *const d = s->domain;
    struct partial p = {.max_index = NO_CELL, .bad_index = NO_CELL};
    int status = add_all(s, &p);
    if (enstrophy && add_enstrophy(s, &p))
        status = STATUS_MACHINE;

    int64_t parts[3][3];
    exact_split(&p.drho, parts[0]);
    exact_split(&p.energy, parts[1]);
    exact_split(&p.enstrophy, parts[2]);
    MPI_Allreduce(MPI_IN_PLACE, parts, 9, MPI_INT64_T, MPI_SUM, d->comm);
    p.drho = exact_join(parts[0]);
    p.energy = exact_join(parts[1]);
    p.enstrophy = exact_join(parts[2]);
    double max_square = p.max_square;
    MPI_Allreduce(MPI_IN_PLACE, &max_square, 1, MPI_DOUBLE, MPI_MAX, d->comm);
    int64_t first[2] = {INT64_MAX, p.bad_index == NO_CELL ? INT64_MAX : p.bad_index};
    if (p.max_index != NO_CELL && p.max_square == max_square)
        first[0] = p.max_index;
    MPI_Allreduce(MPI_IN_PLACE, first, 2, MPI_INT64_T, MPI_MIN, d->comm);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, d->comm);

    *sums = (struct flow_sums){.max_velocity = sqrt(max_square), .finite = first[1] == INT64_MAX};
    sums->mass = (double)d->fluid_cells + exact_value(&p.drho);
    sums->kinetic_energy = exact_value(&p.energy);
    sums->enstrophy = exact_value(&p.enstrophy);
    if (first[0] != INT64_MAX)
        cell_of(d, first[0], sums->max_cell);
    if (!sums->finite)
        cell_of(d, first[1], sums->bad_cell);
    return (enum status)status;
}
