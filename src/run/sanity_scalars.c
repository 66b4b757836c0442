/* Values of scalars that cannot be right; see sanity.h. */
#include <math.h>

#include "base/message.h"
#include "run/sanity.h"

/* Part of the largest value or difference, given or found, that values may lie beyond those given.
 * Where a flow is compressed by 1 %, a value's difference from the reference grows by 1 %. */
static const double most_beyond = 0.05;

/* The range of the values given; of initial values from elsewhere: as they were at the first look.
 */
static struct scalar_given range_of(struct sanity *s, const struct narrator *n, int k)
{
    const struct scalar_found *const found = &n->scalar[k];
    struct scalar_given g = scalar_given(s->c, k);
    if (!g.earlier)
        return g;
    if (!s->first[k].any)
        s->first[k] = (struct scalar_given){.any = true, .low = found->least, .high = found->most};
    g.low = fmin(g.low, s->first[k].low);
    g.high = fmax(g.high, s->first[k].high);
    return g;
}

static void warn_range(struct sanity *s, const struct narrator *n, int k)
{
    const struct case_scalar *const scalar = &s->c->scalars[k];
    const struct scalar_found *const found = &n->scalar[k];
    const struct scalar_given g = range_of(s, n, k);
    const double spread = fmax(g.high - g.low, found->most - found->least);
    const bool far = fmin(fabs(g.low), fabs(g.high)) > spread;
    const double room = most_beyond * fmax(spread, fmax(fabs(g.low), fabs(g.high)));
    const bool below = !g.opens_down && found->least < g.low - room;
    const bool above = !g.opens_up && found->most > g.high + room;
    char place[192];
    if (s->warned_range[k] || (!below && !above))
        return;
    s->warned_range[k] = true;
    const struct level_cell *const at = below ? &found->least_at : &found->most_at;
    narrate_place(n, at->level, at->cell, place, sizeof place);
    warn_at(
        s->solver->step, "scalar_outside",
        "scalars.%s: %.6g in cell %s at step %lld is outside of all values given, %.6g to %.6g: "
        "values and fluxes beside steep fronts are wrong (take %sa finer grid, or a larger "
        "diffusivity)",
        scalar->name, scalar->reference + (below ? found->least : found->most), place,
        (long long)s->solver->step, scalar->reference + g.low, scalar->reference + g.high,
        far                       ? "a reference near the values at inlets; then, if need be, "
        : scalar_limited(s->c, k) ? ""
                                  : "limiter: on, ");
}

/* A case whose values are all above 0 K means temperatures. */
static enum status judge_kelvin(struct sanity *s, const struct narrator *n, int k)
{
    const struct case_scalar *const scalar = &s->c->scalars[k];
    const struct scalar_found *const found = &n->scalar[k];
    const double least = scalar->reference + found->least;
    char place[192];
    if (scalar->kind != SCALAR_KIND_heat || least > 0 ||
        !(scalar->reference + range_of(s, n, k).low > 0))
        return STATUS_OK;
    narrate_place(n, found->least_at.level, found->least_at.cell, place, sizeof place);
    fail_user("scalars.%s is wrong: %.4g K in cell %s at step %lld (take %sa finer grid, a larger "
              "diffusivity, or smaller sources and fluxes that cool)",
              scalar->name, least, place, (long long)s->solver->step,
              scalar_limited(s->c, k) ? "" : "limiter: on, ");
    return STATUS_DIVERGED;
}

enum status sanity_scalars(struct sanity *s, const struct narrator *n)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < s->c->scalar_count && !status; k++) {
        if (scalar_has_gradient(&s->c->scalars[k]) || !n->scalar[k].finite)
            continue;
        warn_range(s, n, k);
        status = judge_kelvin(s, n, k);
    }
    return status;
}
