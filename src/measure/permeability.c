/* Permeability by Darcy's law; see permeability.h. */
#include "measure/permeability.h"

#include <math.h>

#include "measure/flow.h"
#include "measure/flow_rate.h"
#include "solver/drive.h"

enum status permeability_measure(const struct levels *all, double viscosity, int axis,
                                 double length, struct permeability *k)
{
    const struct solver *const s = all->solver[0];
    const struct domain *const d = s->domain;
    const struct tag_row *const row = &d->rows[TAG_FLUID];
    const double cells = (double)d->cells[0] * d->cells[1] * d->cells[2];
    struct flow_rate first = {0}, last = {0};
    double sum[3], fluid, drop = 0;
    enum status status = drive_velocity(all, sum, &fluid);
    if (!d->periodic[axis] && d->cells[axis] > 1) {
        const enum status at_first = flow_rate_measure(all, axis, 0, &first);
        const enum status at_last = flow_rate_measure(all, axis, d->cells[axis] - 1, &last);
        status = status || at_first || at_last ? STATUS_MACHINE : STATUS_OK;
        const double density = 1 + 1.5 * (first.pressure + last.pressure); /* p = (rho - 1) / 3 */
        drop = (first.pressure - last.pressure) / density;
    }
    const double acceleration = view_acceleration(&s->view, row, axis);
    const double far = d->cells[axis] > 1 ? d->cells[axis] - 1 : 1;
    for (int a = 0; a < 3; a++)
        k->mean[a] = sum[a] / cells;
    k->velocity = k->mean[axis];
    k->gradient =
        length > 0 ? (acceleration * d->cells[axis] + drop) / length : acceleration + drop / far;
    k->value = k->gradient != 0 ? viscosity * k->velocity / k->gradient : NAN;
    return status;
}
