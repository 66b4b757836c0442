/* Sections of a case: run, checkpoint, check. */
#include <math.h>

#include "case/record.h"
#include "case/sections.h"

/* run.duration in steps. */
static enum status steps_from_duration(const struct reader *r, const struct node *map,
                                       int64_t *steps)
{
    double duration = 0;
    struct quantity q;
    const double most = keys_row("run.steps")->range.high;
    const struct node *n = value_find(map, "run.duration");
    const enum status s = value_read(r, map, "run.duration", &duration);
    if (s)
        return s;
    const double whole = round(duration);
    const bool bare = !quantity_parse(n->text, &q) && q.bare;
    if (bare && r->c->units.given && whole != duration)
        return fail_at(r->document, n->at,
                       "run.duration: %s has no unit, and a number of steps is whole (for example "
                       "%s s)",
                       n->text, n->text);
    if (whole < 1 || whole > most)
        return fail_value(r, n, " is %g steps (1 to %.0f)", duration, most);
    *steps = (int64_t)whole;
    return STATUS_OK;
}

enum status run_read(const struct reader *r, const struct node *map, struct flow_case *c)
{
    enum status s;
    if ((s = value_one_of(r, map, "run.steps", "run.duration")) ||
        (value_find(map, "run.duration") && (s = steps_from_duration(r, map, &c->run.steps))) ||
        (s = record_read(r, map, "run", 0, c)) || (s = stop_read(r, map, &c->run.stop)))
        return s;
    for (int a = 0; a < 3; a++)
        if (c->run.ranks[a] > c->cells[a])
            return fail_value(r, value_find(map, "run.ranks"),
                              ": %d ranks along %s for %d cells (at most one a cell)",
                              c->run.ranks[a], key_axes[a], c->cells[a]);
    return STATUS_OK;
}
