/* The criterion of run.stop; see stop.h. */
#include "run/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "measure/permeability.h"
#include "run/schedule.h"

/* Layout of `kept`: number of values so far, change over the window, the last two changes from
 * value to value, then the values; value k is at k modulo `size`. */
enum { LOOKS, CHANGE, FROM_LAST, BEFORE_THAT, VALUES };

static enum status register_window(struct stop *s, struct state *state)
{
    const struct case_stop *const w = s->wanted;
    char definition[STATE_DEFINITION];
    snprintf(definition, sizeof definition,
             "%s every %lld steps over %lld: looks, change, last two changes, values", w->name,
             (long long)w->every, (long long)w->over);
    s->kept = calloc(VALUES + (size_t)s->size, sizeof *s->kept);
    if (!s->kept)
        return fail_machine("out of memory for what run.stop remembers");
    s->kept[CHANGE] = s->kept[FROM_LAST] = s->kept[BEFORE_THAT] = NAN;
    return state_add_numbers(state, "run/stop", definition, SAMPLE_float64, VALUES + s->size,
                             s->kept);
}

enum status stop_create(struct stop *s, const struct flow_case *c, struct grid *grid,
                        struct state *state)
{
    const struct case_stop *const w = &c->run.stop;
    const struct levels all = levels_of(grid);
    const MPI_Comm comm = grid->level->domain.comm;
    *s = (struct stop){.wanted = w};
    enum status status =
        state_add_numbers(state, "run/ended", "1: by run.stop", SAMPLE_int64, 1, &s->met);
    if (!status && w->given) {
        const int64_t intervals = (w->over + w->every - 1) / w->every;
        s->size = (int)intervals + (w->of == STOP_residual ? 0 : 1);
        status = register_window(s, state);
    }
    status = status_agree(comm, status);
    if (status || !w->given || w->of != STOP_residual)
        return status;
    status = residual_create(&s->residual, &all);
    if (!status)
        status = status_agree(comm, residual_register(&s->residual, state, "run/residual"));
    return status;
}

void stop_destroy(struct stop *s)
{
    residual_destroy(&s->residual);
    free(s->kept);
    s->kept = NULL;
}

static size_t looks(const struct stop *s)
{
    return (size_t)s->kept[LOOKS];
}

static void forget(struct stop *s)
{
    for (size_t k = 0; k < VALUES + (size_t)s->size; k++)
        s->kept[k] = 0;
    s->kept[CHANGE] = s->kept[FROM_LAST] = s->kept[BEFORE_THAT] = NAN;
}

/* Did the series that is watched measure something else in the case `before`? */
static bool is_other_series(const struct stop *s, const struct flow_case *c, const char *before)
{
    const char *was, *is;
    int old, new;
    if (!before || !s->kept ||
        (s->wanted->of != STOP_COLUMN && s->wanted->of != STOP_permeability) || looks(s) == 0)
        return false;
    const char *const name = c->series[s->wanted->series].name;
    return !case_series_text(before, name, &was, &old) ||
           !case_series_text(c->resolved, name, &is, &new) || old != new ||
           strncmp(was, is, (size_t)old) != 0;
}

void stop_resume(struct stop *s, const struct flow_case *c, const char *before, int64_t step)
{
    if (is_other_series(s, c, before)) {
        warn("stop_new", "run.stop starts anew: series %s measured something else before",
             c->series[s->wanted->series].name);
        forget(s);
    }
    if (s->met && !(s->kept && s->kept[CHANGE] < s->wanted->change))
        s->met = 0;
    if (s->met && step < c->run.steps)
        warn_at(
            step, "stop_still_met",
            "run.stop is still met at step %lld, and the run ends there: the change of %s in %lld "
            "steps is %.3g, below %.3g (to go on take a smaller run.stop.change, or remove "
            "run.stop)",
            (long long)step, s->wanted->name, (long long)s->wanted->over, s->kept[CHANGE],
            s->wanted->change);
}

bool stop_due(const struct stop *s, int64_t step)
{
    return s->kept && schedule_due(step, s->wanted->every);
}

/* The value before the last `back` ones. */
static double value_before(const struct stop *s, size_t back)
{
    return s->kept[VALUES + (looks(s) - 1 - back) % (size_t)s->size];
}

static double change_over_window(const struct stop *s)
{
    const double now = value_before(s, 0);
    double low = now, high = now;
    if (looks(s) < (size_t)s->size)
        return NAN;
    for (int k = 0; k < s->size; k++) {
        const double value = s->kept[VALUES + k];
        if (!isfinite(value))
            return NAN;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    if (s->wanted->of == STOP_residual)
        return high;
    if (low == high) /* a force is 0 until the flow reaches the body */
        return s->wanted->of == STOP_COLUMN && now == 0 ? NAN : 0;
    return (high - low) / fabs(now);
}

static double relative(double now, double before)
{
    return now == before ? 0 : fabs(now - before) / fabs(now);
}

static void add_value(struct stop *s, double value)
{
    double *const kept = s->kept;
    kept[BEFORE_THAT] = kept[FROM_LAST];
    kept[FROM_LAST] = looks(s) > 0 ? relative(value, value_before(s, 0)) : NAN;
    kept[VALUES + looks(s) % (size_t)s->size] = value;
    kept[LOOKS]++;
    kept[CHANGE] = change_over_window(s);
}

/* Gets the watched value, measuring it if need be. */
static enum status measure(struct stop *s, const struct flow_case *c, struct grid *grid,
                           const struct flow_sums *sums, double column, double *value)
{
    const struct case_series *const along = &c->series[s->wanted->series];
    const struct levels all = levels_of(grid);
    struct permeability k = {0};
    enum status status = STATUS_OK;
    switch (s->wanted->of) {
    case STOP_kinetic_energy:
        *value = sums->kinetic_energy;
        break;
    case STOP_enstrophy:
        *value = sums->enstrophy;
        break;
    case STOP_max_velocity:
        *value = sums->max_velocity;
        break;
    case STOP_permeability:
        status = permeability_measure(&all, c->fluid.viscosity, along->axis, along->length, &k);
        *value = k.value;
        break;
    case STOP_residual:
        status = residual_measure(&s->residual, value);
        break;
    case STOP_COLUMN:
        *value = column;
        break;
    }
    return status_agree(grid->level->domain.comm, status);
}

enum status stop_look(struct stop *s, const struct flow_case *c, struct grid *grid,
                      const struct flow_sums *sums, double column)
{
    const struct case_stop *const w = s->wanted;
    double value = NAN;
    const enum status status = measure(s, c, grid, sums, column, &value);
    if (status)
        return status;
    add_value(s, value);
    if (s->kept[CHANGE] < w->change) { /* false for NaN, not known yet */
        s->met = 1;
        say("steady at step %lld: in %lld steps a change of %.3g%s%s, below run.stop.change %.3g",
            (long long)grid->level->solver.step, (long long)w->over, s->kept[CHANGE],
            w->of == STOP_COLUMN ? " in " : "", w->of == STOP_COLUMN ? w->name : "", w->change);
    }
    return STATUS_OK;
}

double stop_change(const struct stop *s)
{
    return s->kept ? s->kept[CHANGE] : NAN;
}

bool stop_value(const struct stop *s, double *value)
{
    if (!s->kept || looks(s) == 0)
        return false;
    *value = value_before(s, 0);
    return true;
}

double stop_remaining(const struct stop *s)
{
    const double change = s->kept[FROM_LAST], ratio = change / s->kept[BEFORE_THAT];
    return ratio < 1 ? change * ratio / (1 - ratio) : NAN;
}
