/* The flow-rate controller; see drive.h. */
#include "solver/drive.h"

#include <math.h>
#include <stdio.h>

#include "base/agree.h"
#include "solver/solver.h"

enum status drive_velocity(struct solver *s, double sum[3])
{
    const struct box all = domain_all(s->domain);
    struct drift mine = drift_none();
    int64_t parts[4][3] = {{0}}; /* [3][0]: bad cells */
    int workers = 0;
    const struct drift *const partial =
        solver_partials(s, KERNEL_drift, &all, (struct task){0}, &workers);
    for (int k = 0; partial && k < workers; k++)
        drift_join(&mine, &partial[k]);
    for (int a = 0; a < 3; a++)
        exact_split(&mine.u[a], parts[a]);
    parts[3][0] = mine.bad;
    MPI_Allreduce(MPI_IN_PLACE, parts, 12, MPI_INT64_T, MPI_SUM, s->domain->comm);
    for (int a = 0; a < 3; a++) {
        mine.u[a] = exact_join(parts[a]);
        sum[a] = parts[3][0] ? NAN : exact_value(&mine.u[a]);
    }
    return status_agree(s->domain->comm, partial ? STATUS_OK : STATUS_MACHINE);
}

int64_t drive_next(const struct solver *s)
{
    const struct case_flow_rate *const wanted = &s->domain->flow_rate;
    return wanted->given ? wanted->every - s->step % wanted->every : 0;
}

enum status drive_adjust(struct solver *s)
{
    const struct case_flow_rate *const wanted = &s->domain->flow_rate;
    struct drive *const drive = &s->drive;
    double sum[3];
    if (!wanted->given || s->step % wanted->every != 0)
        return STATUS_OK;
    const enum status status = drive_velocity(s, sum);
    const double cells = s->domain->fluid_cells ? (double)s->domain->fluid_cells : 1;
    const double velocity = sum[wanted->axis] / cells;
    if (!isfinite(velocity)) /* reported later as divergence, with its cell */
        return status;
    drive->acceleration += (wanted->velocity - velocity) / wanted->time;
    if (drive->looks > 0)
        drive->acceleration -= (velocity - drive->velocity) / (double)wanted->every;
    drive->velocity = velocity;
    drive->looks++;
    s->signal_step = -1;
    return status;
}

enum status drive_register(struct solver *s, struct state *state)
{
    const struct case_flow_rate *const wanted = &s->domain->flow_rate;
    char definition[STATE_DEFINITION];
    if (!wanted->given)
        return STATUS_OK;
    snprintf(definition, sizeof definition,
             "flow rate along %c every %lld steps: acceleration, mean velocity, looks",
             "xyz"[wanted->axis], (long long)wanted -> every);
    return state_add_numbers(state, "run/flow_rate", definition, SAMPLE_float64, 3,
                             &s->drive.acceleration);
}
