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

enum status residual_create(struct residual *r, const struct levels *all)
{
    enum status status = STATUS_OK;
    *r = (struct residual){.all = *all, .step = RESIDUAL_NO_STEP};
    for (int l = 0; l < all->count && !status; l++) {
        struct solver *const s = all->solver[l];
        const struct box own = domain_all(s->domain);
        r->velocity[l] =
            solver_alloc(s, box_cells(&own), 3, is_narrow(s) ? sizeof(float) : sizeof(double),
                         "the velocity field that a residual remembers");
        status = status_agree(s->domain->comm, r->velocity[l] ? STATUS_OK : STATUS_MACHINE);
    }
    if (status)
        residual_destroy(r);
    return status;
}

void residual_destroy(struct residual *r)
{
    for (int l = 0; l < r->all.count; l++) {
        struct backend *const b = r->all.solver[l]->backend;
        b->type->free(b, r->velocity[l]);
    }
    *r = (struct residual){.step = RESIDUAL_NO_STEP};
}

enum status residual_register(struct residual *r, struct state *state, const char *name)
{
    static const char definition[] = "velocity at the look before, lattice units";
    char full[STATE_NAME];
    enum status status = STATUS_OK;
    for (int l = 0; l < r->all.count && !status; l++) {
        struct solver *const s = r->all.solver[l];
        const struct domain *const d = s->domain;
        struct box whole; /* of the level */
        for (int a = 0; a < 3; a++) {
            whole.lo[a] = d->at[a];
            whole.hi[a] = d->at[a] + d->extent[a];
        }
        const int length = r->all.count > 1
                               ? snprintf(full, sizeof full, "%s/velocity/level_%d", name, l)
                               : snprintf(full, sizeof full, "%s/velocity", name);
        assert(length < STATE_NAME);
        (void)length;
        status =
            state_add_cells(state, full, definition, is_narrow(s) ? SAMPLE_float32 : SAMPLE_float64,
                            3, &whole, s, r->velocity[l]);
    }
    snprintf(full, sizeof full, "%s/step", name);
    return status ? status : state_add_numbers(state, full, definition, SAMPLE_int64, 1, &r->step);
}

/* This rank's sums, as numbers that can be added over ranks. */
struct sums_of_rank {
    struct change change;
    int64_t failed;
};

static struct sums_of_rank add_level(struct residual *r, int l, bool replace)
{
    struct solver *const s = r->all.solver[l];
    const struct box own = domain_all(s->domain);
    struct sums_of_rank sum = {.change = change_none()};
    int workers = 0;
    const struct change *const partial = solver_partials(
        s, KERNEL_change, &own, (struct task){.change = {r->velocity[l], replace}}, &workers);
    for (int k = 0; partial && k < workers; k++)
        change_join(&sum.change, &partial[k]);
    change_carry(&sum.change);
    sum.failed = !partial;
    return sum;
}

static enum status measure(struct residual *r, bool replace, double *value)
{
    const struct solver *const s = r->all.solver[0];
    const int count = r->all.count;
    struct sums_of_rank sum[LEVELS];
    double change = 0, whole = 0;
    bool bad = r->step == RESIDUAL_NO_STEP, failed = false;
    for (int l = 0; l < count; l++)
        sum[l] = add_level(r, l, replace);
    MPI_Allreduce(MPI_IN_PLACE, sum, count * (int)(sizeof *sum / sizeof(int64_t)), MPI_INT64_T,
                  MPI_SUM, s->domain->comm);
    const int dimensions = refined_dimensions(r->all.refined, 3);
    for (int l = 0; l < count; l++) { /* by the volume of a cell */
        change_carry(&sum[l].change);
        change += ldexp(wide_value(&sum[l].change.change), -dimensions * l);
        whole += ldexp(wide_value(&sum[l].change.whole), -dimensions * l);
        bad = bad || sum[l].change.bad;
        failed = failed || sum[l].failed;
    }
    if (replace)
        r->step = s->step;
    *value = bad ? NAN : change == 0 ? 0 : sqrt(change / whole);
    return failed ? STATUS_MACHINE : STATUS_OK;
}

enum status residual_measure(struct residual *r, double *value)
{
    return measure(r, true, value);
}

enum status residual_compare(struct residual *r, double *value)
{
    return measure(r, false, value);
}
