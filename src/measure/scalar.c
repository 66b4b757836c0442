/* Sums and extremes of a scalar; see scalar.h. */
#include "measure/scalar.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"

enum { SUMS = 5, PLACES = 5 };

/* The sums of this rank's cells of a level; their places are global. */
static enum status add_block(struct solver *s, int set, struct scalar_scale scale,
                             struct scalar_sums *sums)
{
    const struct box all = domain_all(s->domain);
    int workers;
    const struct scalar_sums *const partial = solver_partials(
        s, KERNEL_scalar_sums, &all, (struct task){.scalar_sums = {set, scale}}, &workers);
    *sums = scalar_sums_none();
    for (int k = 0; partial && k < workers; k++)
        scalar_sums_join(sums, &partial[k]);
    int64_t *const place[] = {&sums->fluid.least_cell, &sums->fluid.most_cell,
                              &sums->solid.least_cell, &sums->solid.most_cell, &sums->bad_cell};
    for (int k = 0; k < PLACES; k++)
        *place[k] = domain_global_index(s->domain, *place[k]);
    return partial ? STATUS_OK : STATUS_MACHINE;
}

/* Joins the sums that all ranks have of each level. */
static void add_ranks(MPI_Comm comm, int count, struct scalar_sums sums[LEVELS])
{
    int64_t parts[LEVELS][SUMS + 1][3] = {{{0}}}, place[LEVELS][PLACES];
    double mine[LEVELS][PLACES], most[LEVELS][PLACES];
    for (int l = 0; l < count; l++) {
        const struct scalar_sums *const s = &sums[l];
        const struct scalar_part *const fluid = &s->fluid, *const solid = &s->solid;
        const struct exact_sum *const sum[SUMS] = {&fluid->deviation, &fluid->square,
                                                   &solid->deviation, &solid->square, &s->enthalpy};
        for (int k = 0; k < SUMS; k++)
            exact_split(sum[k], parts[l][k]);
        parts[l][SUMS][0] = fluid->cells;
        parts[l][SUMS][1] = solid->cells;
        const double ends[PLACES] = {-fluid->least, fluid->most, -solid->least, solid->most,
                                     s->most_enthalpy};
        const int64_t cells[PLACES] = {fluid->least_cell, fluid->most_cell, solid->least_cell,
                                       solid->most_cell, s->bad_cell};
        memcpy(mine[l], ends, sizeof ends);
        memcpy(place[l], cells, sizeof cells);
    }
    MPI_Allreduce(MPI_IN_PLACE, parts, 3 * (SUMS + 1) * count, MPI_INT64_T, MPI_SUM, comm);
    MPI_Allreduce(mine, most, PLACES * count, MPI_DOUBLE, MPI_MAX, comm);
    for (int l = 0; l < count; l++)
        for (int k = 0; k + 1 < PLACES; k++)
            place[l][k] = mine[l][k] == most[l][k] ? place[l][k] : NO_CELL;
    MPI_Allreduce(MPI_IN_PLACE, place, PLACES * count, MPI_INT64_T, MPI_MIN, comm);
    for (int l = 0; l < count; l++)
        sums[l] = (struct scalar_sums){
            .fluid = {exact_join(parts[l][0]), exact_join(parts[l][1]), -most[l][0], most[l][1],
                      place[l][0], place[l][1], parts[l][SUMS][0]},
            .solid = {exact_join(parts[l][2]), exact_join(parts[l][3]), -most[l][2], most[l][3],
                      place[l][2], place[l][3], parts[l][SUMS][1]},
            .enthalpy = exact_join(parts[l][4]),
            .most_enthalpy = most[l][4],
            .bad_cell = place[l][4],
        };
}

/* The sums of each level. */
static enum status add_levels(const struct levels *all, int set, struct scalar_scale scale,
                              struct scalar_sums sums[LEVELS])
{
    const MPI_Comm comm = all->solver[0]->domain->comm;
    enum status status = STATUS_OK;
    for (int l = 0; l < all->count; l++)
        status = status_worse(status, add_block(all->solver[l], set, scale, &sums[l]));
    add_ranks(comm, all->count, sums);
    return status_agree(comm, status);
}

static struct level_cell place_of(const struct levels *all, int level, int64_t cell)
{
    struct level_cell at = {.level = level};
    domain_coordinates(all->solver[level]->domain, cell, at.cell);
    return at;
}

/* The largest |value| and its cell. */
static void find_size(const struct levels *all, const struct scalar_sums *sums,
                      struct scalar_found *found)
{
    bool any = false;
    for (int l = 0; l < all->count; l++) {
        const struct scalar_part *const fluid = &sums[l].fluid, *const solid = &sums[l].solid;
        const double size[] = {-fluid->least, fluid->most, -solid->least, solid->most};
        const int64_t cell[] = {fluid->least_cell, fluid->most_cell, solid->least_cell,
                                solid->most_cell};
        int largest = -1;
        for (int k = 0; k < 4; k++)
            if (cell[k] != NO_CELL && (largest < 0 || size[k] > size[largest] ||
                                       (size[k] == size[largest] && cell[k] < cell[largest])))
                largest = k;
        if (largest < 0 || (any && size[largest] <= found->size))
            continue;
        any = true;
        found->size = size[largest];
        found->size_at = place_of(all, l, cell[largest]);
    }
}

/* Least and most value and their cells. */
static void find_ends(const struct levels *all, const struct scalar_sums *sums,
                      struct scalar_found *found)
{
    const struct scalar_part *low = NULL, *high = NULL;
    for (int l = 0; l < all->count; l++)
        for (int k = 0; k < 2; k++) {
            const struct scalar_part *const p = k ? &sums[l].solid : &sums[l].fluid;
            if (p->least_cell != NO_CELL && (!low || p->least < low->least)) {
                low = p;
                found->least_at = place_of(all, l, p->least_cell);
            }
            if (p->most_cell != NO_CELL && (!high || p->most > high->most)) {
                high = p;
                found->most_at = place_of(all, l, p->most_cell);
            }
        }
    found->least = found->finite && low ? low->least : NAN;
    found->most = found->finite && high ? high->most : NAN;
}

static struct scalar_values values_of(const struct levels *all, const struct scalar_sums *sums,
                                      bool solid, bool finite, struct scalar_scale scale)
{
    struct scalar_values v = {0, INFINITY, -INFINITY, NAN, NAN};
    struct exact_sum deviation[LEVELS], square[LEVELS];
    for (int l = 0; l < all->count; l++) {
        const struct scalar_part *const p = solid ? &sums[l].solid : &sums[l].fluid;
        v.cells += ldexp((double)p->cells, -refined_dimensions(all->refined, 3) * l);
        v.least = fmin(v.least, p->least);
        v.most = fmax(v.most, p->most);
        deviation[l] = p->deviation;
        square[l] = p->square;
    }
    if (v.cells == 0 || !finite)
        v.least = v.most = NAN;
    if (isnan(v.least) || scale.value == 0)
        return v;
    const double mean = levels_sum(all, deviation, 3) / v.cells;
    const double variance = levels_sum(all, square, 3) / v.cells - mean * mean;
    v.mean = scale.shift + mean / scale.value;
    v.variance = (variance > 0 ? variance : 0) / scale.value / scale.value;
    return v;
}

static void fill(const struct levels *all, int set, const struct scalar_sums *sums,
                 struct scalar_scale scale, struct scalar_found *found)
{
    struct exact_sum enthalpy[LEVELS];
    *found = (struct scalar_found){.finite = true};
    for (int l = all->count - 1; l >= 0; l--) {
        enthalpy[l] = sums[l].enthalpy;
        if (sums[l].bad_cell == NO_CELL)
            continue;
        found->finite = false;
        found->bad_at = place_of(all, l, sums[l].bad_cell);
    }
    found->fluid = values_of(all, sums, false, found->finite, scale);
    found->solid = values_of(all, sums, true, found->finite, scale);
    found->enthalpy = found->finite && scale.enthalpy > 0
                          ? levels_sum(all, enthalpy, 3) / scale.enthalpy /
                                scalar_row(&all->solver[0]->domain->view, set, TAG_FLUID)->flow
                          : NAN;
    find_size(all, sums, found);
    find_ends(all, sums, found);
}

double scalar_scale_of(double most)
{
    int exponent;
    frexp(most, &exponent);
    return most > 0 ? ldexp(1, exponent > -900 ? -exponent : 900) : 1;
}

static struct scalar_scale scale_for(const struct scalar_sums *sums, int count)
{
    double least = INFINITY, most = -INFINITY, enthalpy = 0;
    for (int l = 0; l < count; l++) {
        least = fmin(least, fmin(sums[l].fluid.least, sums[l].solid.least));
        most = fmax(most, fmax(sums[l].fluid.most, sums[l].solid.most));
        enthalpy = fmax(enthalpy, sums[l].most_enthalpy);
    }
    const double middle = 0.5 * (least + most);
    const struct scalar_scale scale = {middle, scalar_scale_of(fmax(most - middle, middle - least)),
                                       scalar_scale_of(enthalpy)};
    return scale;
}

enum status scalar_extremes(const struct levels *all, int set, struct scalar_found *found)
{
    const struct scalar_scale none = {0, 0, 0};
    struct scalar_sums sums[LEVELS];
    const enum status status = add_levels(all, set, none, sums);
    fill(all, set, sums, none, found);
    return status;
}

enum status scalar_measure(const struct levels *all, int set, struct scalar_found *found)
{
    const struct scalar_scale none = {0, 0, 0};
    struct scalar_sums sums[LEVELS];
    struct scalar_scale scale = none;
    enum status status = add_levels(all, set, none, sums);
    fill(all, set, sums, none, found);
    if (status || !found->finite || found->fluid.cells + found->solid.cells == 0)
        return status;
    scale = scale_for(sums, all->count);
    status = add_levels(all, set, scale, sums);
    fill(all, set, sums, scale, found);
    return status;
}
