/* The flow-rate controller; see drive.h. */
#include "solver/drive.h"

#include <math.h>
#include <stdio.h>

#include "base/agree.h"
#include "solver/grid.h"

/* Sums over a level that ranks add. */
struct drift_parts {
    int64_t u[3][3], bad, failed;
};

static struct drift_parts parts_of(struct solver *s)
{
    const struct box own = domain_all(s->domain);
    struct drift sum = drift_none();
    struct drift_parts parts;
    int workers = 0;
    const struct drift *const partial =
        solver_partials(s, KERNEL_drift, &own, (struct task){0}, &workers);
    for (int k = 0; partial && k < workers; k++)
        drift_join(&sum, &partial[k]);
    for (int a = 0; a < 3; a++)
        exact_split(&sum.u[a], parts.u[a]);
    parts.bad = sum.bad;
    parts.failed = !partial;
    return parts;
}

enum status drive_velocity(const struct levels *all, double sum[3], double *fluid)
{
    struct drift_parts parts[LEVELS];
    struct exact_sum u[LEVELS];
    int64_t bad = 0, failed = 0;
    for (int l = 0; l < all->count; l++)
        parts[l] = parts_of(all->solver[l]);
    MPI_Allreduce(MPI_IN_PLACE, parts, all->count * (int)(sizeof *parts / sizeof(int64_t)),
                  MPI_INT64_T, MPI_SUM, all->solver[0]->domain->comm);
    *fluid = 0;
    for (int l = 0; l < all->count; l++) {
        *fluid += ldexp((double)all->solver[l]->domain->fluid_cells,
                        -refined_dimensions(all->refined, 3) * l);
        bad += parts[l].bad;
        failed += parts[l].failed;
    }
    for (int a = 0; a < 3; a++) {
        for (int l = 0; l < all->count; l++)
            u[l] = exact_join(parts[l].u[a]);
        sum[a] = bad ? NAN : levels_sum(all, u, 3);
    }
    return failed ? STATUS_MACHINE : STATUS_OK;
}

static const struct case_flow_rate *wanted_by(const struct grid *g)
{
    return &g->level->domain.flow_rate;
}

/* A flow that moves already has friction. Its first interval is one step, not to slow down. */
static bool begins_soon(const struct grid *g)
{
    return g->level->c->initial.from.file != NULL;
}

int64_t drive_next(const struct grid *g)
{
    const struct case_flow_rate *const wanted = wanted_by(g);
    const int64_t step = g->level->solver.step;
    if (!wanted->given)
        return 0;
    return step == 0 && begins_soon(g) ? 1 : wanted->every - step % wanted->every;
}

/* Steps since the measurement before this one. */
static double interval(const struct grid *g)
{
    const int64_t step = g->level->solver.step, every = wanted_by(g)->every;
    const bool after_first = step == every && g->drive.looks == 2;
    return (double)(step % every ? step : after_first ? every - 1 : every);
}

enum status drive_adjust(struct grid *g)
{
    const struct case_flow_rate *const wanted = wanted_by(g);
    struct drive *const drive = &g->drive;
    const int64_t step = g->level->solver.step;
    const bool soon = step == 1 && begins_soon(g);
    double sum[3], fluid;
    if (!wanted->given || (step % wanted->every != 0 && !soon))
        return STATUS_OK;
    const struct levels all = levels_of(g);
    const enum status status = drive_velocity(&all, sum, &fluid);
    const double velocity = sum[wanted->axis] / (fluid > 0 ? fluid : 1);
    if (!isfinite(velocity)) /* reported later as divergence, with its cell */
        return status;
    drive->acceleration += (wanted->velocity - velocity) / wanted->time;
    if (drive->looks > 0)
        drive->acceleration -= (velocity - drive->velocity) / interval(g);
    drive->velocity = velocity;
    drive->looks++;
    for (int l = 0; l < g->levels; l++)
        g->level[l].solver.signal_step = -1; /* the time functions of this step are made anew */
    return status;
}

enum status drive_register(struct grid *g, struct state *state)
{
    const struct case_flow_rate *const wanted = wanted_by(g);
    char definition[STATE_DEFINITION];
    if (!wanted->given)
        return STATUS_OK;
    snprintf(definition, sizeof definition,
             "flow rate along %c every %lld steps: acceleration, mean velocity, looks",
             "xyz"[wanted->axis], (long long)wanted -> every);
    return state_add_numbers(state, "run/flow_rate", definition, SAMPLE_float64, 3,
                             &g->drive.acceleration);
}
