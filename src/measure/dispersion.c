/* Dispersion of a scalar with a mean gradient; see dispersion.h. */
#include "measure/dispersion.h"

#include <math.h>

#include "solver/mean_flow.h"

enum status dispersion_measure(struct solver *s, int set, struct dispersion_found *found)
{
    const struct domain *const d = s->domain;
    const double *const g = scalar_row(&d->view, set, TAG_FLUID)->gradient;
    const double size = sqrt((g[0] * g[0] + g[1] * g[1]) + g[2] * g[2]);
    struct link_means m;
    const enum status status = link_means_measure(s, set, &m);
    const double *const u = m.velocity;
    const double drift = (u[0] * g[0] + u[1] * g[1]) + u[2] * g[2]; /* T loses this in the step */
    found->porosity = (double)m.cells / ((double)d->cells[0] * d->cells[1] * d->cells[2]);
    found->mean = m.value;
    found->along = 0;
    for (int a = 0; a < 3; a++) {
        found->velocity[a] = u[a];
        found->column[a] = -(m.flux[a] - u[a] * (m.value - 0.5 * drift)) / size;
        found->along += found->column[a] * g[a] / size;
    }
    return status;
}
