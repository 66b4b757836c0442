/* Sums and extremes of a scalar; see scalar.h. */
#include "measure/scalar.h"

#include <math.h>

#include "base/agree.h"

enum { SUMS = 5, COUNTS = 2, PLACES = 5 };

/* The sums of this rank's cells; their places are global. */
static enum status add_block(struct solver *s, int set, struct scalar_scale scale,
                             struct scalar_sums *sums)
{
    const struct box all = domain_all(s->domain);
    int workers;
    const struct scalar_sums *const partial = solver_partials(
        s, KERNEL_scalar_sums, &all, (struct task){.set = set, .scale = scale}, &workers);
    *sums = scalar_sums_none();
    for (int k = 0; partial && k < workers; k++)
        scalar_sums_join(sums, &partial[k]);
    int64_t *const place[] = {&sums->fluid.least_cell, &sums->fluid.most_cell,
                              &sums->solid.least_cell, &sums->solid.most_cell, &sums->bad_cell};
    for (int k = 0; k < PLACES; k++)
        *place[k] = domain_global_index(s->domain, *place[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

/* Joins the sums of all ranks. */
static enum status add_ranks(MPI_Comm comm, enum status status, struct scalar_sums *s)
{
    struct exact_sum *const sum[SUMS] = {&s->fluid.deviation, &s->fluid.square, &s->solid.deviation,
                                         &s->solid.square, &s->enthalpy};
    int64_t parts[SUMS + 1][3] = {{0}};
    for (int k = 0; k < SUMS; k++)
        exact_split(sum[k], parts[k]);
    parts[SUMS][0] = s->fluid.cells;
    parts[SUMS][1] = s->solid.cells;
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1), MPI_INT64_T, MPI_SUM, comm);
    for (int k = 0; k < SUMS; k++)
        *sum[k] = exact_join(parts[k]);
    s->fluid.cells = parts[SUMS][0];
    s->solid.cells = parts[SUMS][1];

    const double mine[PLACES] = {-s->fluid.least, s->fluid.most, -s->solid.least, s->solid.most,
                                 s->most_enthalpy};
    double most[PLACES];
    MPI_Allreduce(mine, most, PLACES, MPI_DOUBLE, MPI_MAX, comm);
    int64_t place[PLACES] = {s->fluid.least_cell, s->fluid.most_cell, s->solid.least_cell,
                             s->solid.most_cell, s->bad_cell};
    for (int k = 0; k + 1 < PLACES; k++)
        place[k] = mine[k] == most[k] ? place[k] : NO_CELL;
    MPI_Allreduce(MPI_IN_PLACE, place, PLACES, MPI_INT64_T, MPI_MIN, comm);
    s->fluid.least = -most[0];
    s->fluid.most = most[1];
    s->solid.least = -most[2];
    s->solid.most = most[3];
    s->most_enthalpy = most[4];
    s->fluid.least_cell = place[0];
    s->fluid.most_cell = place[1];
    s->solid.least_cell = place[2];
    s->solid.most_cell = place[3];
    s->bad_cell = place[4];
    return status_agree(comm, status);
}

/* The largest |value| and its cell. */
static void find_size(const struct domain *d, const struct scalar_sums *s,
                      struct scalar_found *found)
{
    const double size[] = {-s->fluid.least, s->fluid.most, -s->solid.least, s->solid.most};
    const int64_t cell[] = {s->fluid.least_cell, s->fluid.most_cell, s->solid.least_cell,
                            s->solid.most_cell};
    int largest = -1;
    for (int k = 0; k < 4; k++)
        if (cell[k] != NO_CELL && (largest < 0 || size[k] > size[largest] ||
                                   (size[k] == size[largest] && cell[k] < cell[largest])))
            largest = k;
    if (largest >= 0)
        domain_coordinates(d, cell[largest], found->size_cell);
    found->size = largest < 0 ? 0 : size[largest];
}

/* Least and most value and their cells. */
static void find_ends(const struct domain *d, const struct scalar_sums *s, bool finite,
                      struct scalar_found *found)
{
    const struct scalar_part *const low = s->solid.least < s->fluid.least ? &s->solid : &s->fluid;
    const struct scalar_part *const high = s->solid.most > s->fluid.most ? &s->solid : &s->fluid;
    found->least = finite && low->least_cell != NO_CELL ? low->least : NAN;
    found->most = finite && high->most_cell != NO_CELL ? high->most : NAN;
    if (low->least_cell != NO_CELL)
        domain_coordinates(d, low->least_cell, found->least_cell);
    if (high->most_cell != NO_CELL)
        domain_coordinates(d, high->most_cell, found->most_cell);
}

static struct scalar_values values_of(const struct scalar_part *p, bool finite,
                                      struct scalar_scale scale)
{
    struct scalar_values v = {p->cells, NAN, NAN, NAN, NAN};
    const double n = (double)p->cells;
    if (!p->cells || !finite)
        return v;
    v.least = p->least;
    v.most = p->most;
    if (scale.value == 0)
        return v;
    const double mean = exact_value(&p->deviation) / n;
    const double variance = exact_value(&p->square) / n - mean * mean;
    v.mean = scale.shift + mean / scale.value;
    v.variance = (variance > 0 ? variance : 0) / scale.value / scale.value;
    return v;
}

static void fill(const struct solver *s, int set, const struct scalar_sums *sums,
                 struct scalar_scale scale, struct scalar_found *found)
{
    const struct domain *const d = s->domain;
    const bool finite = sums->bad_cell == NO_CELL;
    *found = (struct scalar_found){.finite = finite};
    found->fluid = values_of(&sums->fluid, finite, scale);
    found->solid = values_of(&sums->solid, finite, scale);
    found->enthalpy = finite && scale.enthalpy > 0 ? exact_value(&sums->enthalpy) / scale.enthalpy /
                                                         scalar_row(&d->view, set, TAG_FLUID)->flow
                                                   : NAN;
    find_size(d, sums, found);
    find_ends(d, sums, finite, found);
    if (!finite)
        domain_coordinates(d, sums->bad_cell, found->bad_cell);
}

/* A power of two whose product with `most` is at most 1. */
static double scale_of(double most)
{
    int exponent;
    frexp(most, &exponent);
    return most > 0 ? ldexp(1, exponent > -900 ? -exponent : 900) : 1;
}

static struct scalar_scale scale_for(const struct scalar_sums *s)
{
    const double least = fmin(s->fluid.least, s->solid.least),
                 most = fmax(s->fluid.most, s->solid.most), middle = 0.5 * (least + most);
    const struct scalar_scale scale = {middle, scale_of(fmax(most - middle, middle - least)),
                                       scale_of(s->most_enthalpy)};
    return scale;
}

enum status scalar_extremes(struct solver *s, int set, struct scalar_found *found)
{
    const struct scalar_scale none = {0, 0, 0};
    struct scalar_sums sums;
    const enum status status = add_ranks(s->domain->comm, add_block(s, set, none, &sums), &sums);
    fill(s, set, &sums, none, found);
    return status;
}

enum status scalar_measure(struct solver *s, int set, struct scalar_found *found)
{
    struct scalar_scale scale = {0, 0, 0};
    struct scalar_sums sums;
    enum status status = add_ranks(s->domain->comm, add_block(s, set, scale, &sums), &sums);
    if (!status && sums.bad_cell == NO_CELL && sums.fluid.cells + sums.solid.cells > 0) {
        scale = scale_for(&sums);
        status = add_ranks(s->domain->comm, add_block(s, set, scale, &sums), &sums);
    }
    fill(s, set, &sums, scale, found);
    return status;
}
