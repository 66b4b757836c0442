/* The flow-rate controller; see drive.h. */
#include "solver/drive.h"

#include <stdio.h>

#include "solver/flow.h"

enum status drive_adjust(struct solver *s)
{
    const struct case_flow_rate *const wanted = &s->domain->flow_rate;
    struct drive *const drive = &s->drive;
    double sum[3];
    if (!wanted->given || s->step % wanted->every != 0)
        return STATUS_OK;
    const enum status status = flow_drift(s, sum);
    const double cells = s->domain->fluid_cells ? (double)s->domain->fluid_cells : 1;
    const double velocity = sum[wanted->axis] / cells;
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
