/* The limiter's ranges; see scalar_range.h. */
#include "solver/scalar_range.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"
#include "solver/solver.h"

static const struct scalar_row *row_of(const struct solver *s, int set)
{
    return &s->domain->scalar[(set - 1) * TAG_ROWS + TAG_FLUID];
}

static bool is_limited(const struct solver *s, int set)
{
    return s->domain->scalar && row_of(s, set)->limited;
}

/* Does a side of its range follow the flow? */
static bool follows(const struct solver *s, int set)
{
    const struct scalar_given *const g = &s->domain->given[set - 1];
    return is_limited(s, set) && (g->opens_up || g->opens_down);
}

/* Least and most of a set in all cells; false: a value is not sane, or no cell holds the set. */
static enum status find_extremes(struct solver *const level[], int levels, int set, double range[2],
                                 bool *sane)
{
    const MPI_Comm comm = level[0]->domain->comm;
    struct scalar_sums sums = scalar_sums_none();
    enum status status = STATUS_OK;
    for (int l = 0; l < levels; l++) {
        const struct box whole = domain_all(level[l]->domain);
        if (box_cells(&whole) == 0)
            continue;
        int workers;
        const struct scalar_sums *const partial = solver_partials(
            level[l], KERNEL_scalar_sums, &whole, (struct task){.scalar_sums.set = set}, &workers);
        for (int k = 0; partial && k < workers; k++)
            scalar_sums_join(&sums, &partial[k]);
        status = partial ? status : STATUS_MACHINE;
    }
    double most[3] = {-fmin(sums.fluid.least, sums.solid.least),
                      fmax(sums.fluid.most, sums.solid.most), sums.bad_cell != NO_CELL};
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_DOUBLE, MPI_MAX, comm);
    range[0] = -most[0];
    range[1] = most[1];
    *sane = most[2] == 0 && range[0] <= range[1];
    return status_agree(comm, status);
}

/* Fields that are at a bound must not be outside by rounding. */
static double rounding(const struct solver *s, int set, double low, double high)
{
    return (s->view.set[set].bits == 64 ? 0x1p-49 : 0x1p-20) * fmax(fabs(low), fabs(high));
}

/* The range of a set at step 0, or what changes of it. */
static enum status look(struct solver *const level[], int levels, int set)
{
    struct solver *const s = level[0];
    const struct scalar_given *const g = &s->domain->given[set - 1];
    const int from = row_of(s, set)->from;
    const double rate = from ? row_of(s, set)->gain / row_of(s, set)->flow : 0;
    const double rises = g->rises + (from ? rate * fmax(s->view.scalars.range[from].most, 0) : 0);
    const double falls = g->falls + (from ? rate * fmax(-s->view.scalars.range[from].least, 0) : 0);
    double low = g->low, high = g->high, seen[2] = {g->low, g->high};
    bool sane = true;
    enum status status = STATUS_OK;
    if (follows(s, set) || g->earlier)
        status = find_extremes(level, levels, set, seen, &sane);
    if (status || !sane) /* reported later, with the cell */
        return status;
    if (g->earlier) {
        low = fmin(low, seen[0]);
        high = fmax(high, seen[1]);
    }
    if (g->opens_down)
        low = fmin(low, seen[0] - SCALAR_RANGE_EVERY * falls);
    if (g->opens_up)
        high = fmax(high, seen[1] + SCALAR_RANGE_EVERY * rises);
    const double room = rounding(s, set, low, high);
    if (s->step == 0 || g->opens_down)
        s->view.scalars.range[set].least = low - room;
    if (s->step == 0 || g->opens_up)
        s->view.scalars.range[set].most = high + room;
    return STATUS_OK;
}

void scalar_range_share(struct solver *const level[], int levels)
{
    for (int l = 1; l < levels; l++)
        memcpy(level[l]->view.scalars.range, level[0]->view.scalars.range,
               sizeof level[0]->view.scalars.range);
}

enum status scalar_range_adjust(struct solver *const level[], int levels)
{
    const struct solver *const s = level[0];
    enum status status = STATUS_OK;
    if (s->step % SCALAR_RANGE_EVERY != 0)
        return STATUS_OK;
    for (int set = 1; set < s->view.sets; set++)
        if (follows(s, set) || (s->step == 0 && is_limited(s, set))) {
            const enum status one = look(level, levels, set);
            status = status ? status : one;
        }
    scalar_range_share(level, levels);
    return status;
}

int64_t scalar_range_next(const struct solver *s)
{
    bool any = false;
    for (int set = 1; set < s->view.sets; set++)
        any = any || follows(s, set);
    return any ? SCALAR_RANGE_EVERY - s->step % SCALAR_RANGE_EVERY : 0;
}

enum status scalar_range_register(struct solver *s, struct state *state)
{
    bool any = false;
    for (int set = 1; set < s->view.sets; set++)
        any = any || is_limited(s, set);
    if (!any)
        return STATUS_OK;
    return state_add_numbers(state, "run/scalar_range",
                             "least and most of each set, for scalars with the limiter",
                             SAMPLE_float64, 2 * SETS, s->view.scalars.range);
}
