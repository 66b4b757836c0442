/* Change of the velocity field; see residual.h. */
#include "measure/residual.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/agree.h"

/* Is a velocity kept as a float? As `remembered` in kernel.h. */
static bool is_narrow(const struct solver *s)
{
    return s->backend->storage != PRECISION_fp64;
}

enum status residual_create(struct residual *r, struct solver *s)
{
    const struct box all = domain_all(s->domain);
    *r = (struct residual){.solver = s, .step = RESIDUAL_NO_STEP};
    r->velocity = solver_alloc(s, box_cells(&all), 3, is_narrow(s) ? sizeof(float) : sizeof(double),
                               "the velocity field that a residual remembers");
    const enum status status =
        status_agree(s->domain->comm, r->velocity ? STATUS_OK : STATUS_MACHINE);
    if (status)
        residual_destroy(r);
    return status;
}

void residual_destroy(struct residual *r)
{
    if (r->solver)
        r->solver->backend->type->free(r->solver->backend, r->velocity);
    *r = (struct residual){.step = RESIDUAL_NO_STEP};
}

enum status residual_register(struct residual *r, struct state *state, const char *name)
{
    static const char definition[] = "velocity at the look before, lattice units";
    const int *const cells = r->solver->domain->cells;
    const struct box all = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
    char full[STATE_NAME];
    const int length = snprintf(full, sizeof full, "%s/velocity", name);
    assert(length < STATE_NAME);
    (void)length;
    enum status status = state_add_cells(state, full, definition,
                                         is_narrow(r->solver) ? SAMPLE_float32 : SAMPLE_float64, 3,
                                         &all, r->solver, r->velocity);
    snprintf(full, sizeof full, "%s/step", name);
    return status ? status : state_add_numbers(state, full, definition, SAMPLE_int64, 1, &r->step);
}

/* This rank's sums, as numbers that can be added over ranks. */
struct sums_of_rank {
    struct change change;
    int64_t failed;
};

static struct sums_of_rank add_all(struct residual *r, bool replace)
{
    const struct box all = domain_all(r->solver->domain);
    struct sums_of_rank sum = {.change = change_none()};
    int workers = 0;
    const struct change *const partial =
        solver_partials(r->solver, KERNEL_change, &all,
                        (struct task){.before = r->velocity, .replace = replace}, &workers);
    for (int k = 0; partial && k < workers; k++)
        change_join(&sum.change, &partial[k]);
    change_carry(&sum.change);
    sum.failed = !partial;
    return sum;
}

static enum status measure(struct residual *r, bool replace, double *value)
{
    struct sums_of_rank sum = add_all(r, replace);
    MPI_Allreduce(MPI_IN_PLACE, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_SUM,
                  r->solver->domain->comm);
    change_carry(&sum.change);
    const double change = wide_value(&sum.change.change), whole = wide_value(&sum.change.whole);
    const bool first = r->step == RESIDUAL_NO_STEP;
    if (replace)
        r->step = r->solver->step;
    *value = first || sum.change.bad ? NAN : change == 0 ? 0 : sqrt(change / whole);
    return sum.failed ? STATUS_MACHINE : STATUS_OK;
}

enum status residual_measure(struct residual *r, double *value)
{
    return measure(r, true, value);
}

enum status residual_compare(struct residual *r, double *value)
{
    return measure(r, false, value);
}
