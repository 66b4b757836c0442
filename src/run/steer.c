/* Factors that the caller of a run sets; see steer.h. */
#include "run/steer.h"

#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "case/nearest.h"

static int find(const struct steering *s, const char *name)
{
    for (int k = 0; k < s->count; k++)
        if (strcmp(s->signal[k]->name, name) == 0)
            return k;
    return -1;
}

/* There are never more than the domain has time functions: it reported it. */
static void add(const struct case_signal *signal, void *to)
{
    struct steering *const s = to;
    if (find(s, signal->name) < 0 && s->count < SIGNALS) {
        s->factor[s->count] = signal->first;
        s->signal[s->count++] = signal;
    }
}

enum status steer_create(struct steering *s, const struct flow_case *c, struct state *state)
{
    enum status status = STATUS_OK;
    *s = (struct steering){.count = 0};
    case_steered(c, add, s);
    for (int k = 0; k < s->count && !status; k++) {
        char name[STATE_NAME];
        snprintf(name, sizeof name, "run/steer/%s", s->signal[k]->name);
        status = state_add_numbers(state, name, "factor that was set last", SAMPLE_float64, 1,
                                   &s->factor[k]);
    }
    return status;
}

static void give(const struct case_signal *signal, void *to)
{
    const struct steering *const s = to;
    const int k = find(s, signal->name);
    if (k >= 0)
        *signal->factor = s->factor[k];
}

void steer_apply(const struct steering *s, struct grid *g)
{
    for (int l = 0; l < g->levels && s->count; l++) {
        case_steered(g->level[l].c, give, (void *)s);
        g->level[l].solver.signal_step = -1; /* the time functions of this step are made anew */
    }
}

void steer_set(struct steering *s, const char *name, double factor)
{
    s->factor[find(s, name)] = factor;
}

enum status steer_known(const struct steering *s, const char *name, double factor)
{
    const int k = find(s, name);
    const char *known[SIGNALS + 1] = {NULL};
    for (int n = 0; n < s->count; n++)
        known[n] = s->signal[n]->name;
    if (k < 0 && !s->count)
        return fail_user("no value of this case can be set: none has `steer`");
    if (k < 0) {
        const char *const nearest = nearest_choice(known, name);
        return fail_user("no value of this case has a steer of the name %s (%s%s)", name,
                         nearest ? "did you mean " : "such as ", nearest ? nearest : known[0]);
    }
    if (!(factor >= s->signal[k]->least && factor <= s->signal[k]->most))
        return fail_user("%s cannot be set to %g: its range is %g to %g (steer.min and steer.max)",
                         name, factor, s->signal[k]->least, s->signal[k]->most);
    return STATUS_OK;
}

const double *steer_get(const struct steering *s, const char *name)
{
    const int k = find(s, name);
    return k < 0 ? NULL : &s->factor[k];
}
