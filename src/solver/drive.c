/* The flow-rate controller; see drive.h. */
#include "solver/drive.h"

#include <stdio.h>

#include "solver/solver.h"

/* The mean of the velocity along an axis. */
static enum status measure(struct solver *s, int axis, double *mean)
{
    const struct domain *const d = s->domain;
    const struct box all = domain_all(d);
    struct exact_sum sum = {0};
    int workers = 0;
    const struct drift *const partial =
        solver_partials(s, KERNEL_drift, &all, sizeof *partial, &workers);
    for (int k = 0; partial && k < workers; k++)
        sum.units += partial[k].u[axis].units;
    int64_t parts[3];
    exact_split(&sum, parts);
    MPI_Allreduce(MPI_IN_PLACE, parts, 3, MPI_INT64_T, MPI_SUM, d->comm);
    sum = exact_join(parts);
    *mean = d->fluid_cells ? exact_value(&sum) / (double)d->fluid_cells : 0;
    return partial ? STATUS_OK : STATUS_MACHINE;
}

enum status drive_adjust(struct solver *s)
{
    const struct case_flow_rate *const wanted = &s->domain->flow_rate;
    struct drive *const drive = &s->drive;
    double velocity;
    if (!wanted->given || s->step % wanted->every != 0)
        return STATUS_OK;
    const enum status status = measure(s, wanted->axis, &velocity);
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
