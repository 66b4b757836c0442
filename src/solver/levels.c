/* All levels of a grid; see levels.h. */
#include "solver/levels.h"

#include <assert.h>
#include <math.h>

#include "base/agree.h"
#include "solver/mean_flow.h"
#include "solver/scalar_range.h"

/* Only one level has a mean gradient. */
enum status levels_adjust(const struct levels *all)
{
    const enum status mean = all->count == 1 ? mean_flow_adjust(all->solver[0]) : STATUS_OK;
    return status_worse(mean, scalar_range_adjust(all->solver, all->count));
}

/* `whole` is in the sum's units, `part` in units of the finest level: all of them are integers. */
double levels_sum_bits(const struct exact_sum *sum, int count, int bits)
{
    const int most = bits > 0 ? bits * (count - 1) : 0;
    exact_units whole = 0;
    int64_t part = 0;
    assert(count >= 1 && count <= LEVELS && bits >= -3 && bits <= 4);
    for (int l = 0; l < count; l++) {
        if (bits <= 0) {
            whole += sum[l].units * ((exact_units)1 << (-bits * l));
            continue;
        }
        const exact_units step = (exact_units)1 << (bits * l);
        exact_units rest = sum[l].units % step;
        rest += rest < 0 ? step : 0;
        whole += (sum[l].units - rest) / step;
        part += (int64_t)rest << (most - bits * l);
    }
    whole += part >> most;
    part &= ((int64_t)1 << most) - 1;
    const struct exact_sum units = {whole};
    return exact_value(&units) + ldexp((double)part, -80 - most);
}

double levels_sum(const struct levels *all, const struct exact_sum *sum, int bits)
{
    return levels_sum_bits(sum, all->count, bits + refined_dimensions(all->refined, 0));
}
