/* Sections of a case: run, checkpoint, check. */
#include <math.h>

#include "case/record.h"
#include "case/sections.h"

/* run.duration in steps. */
static enum status steps_from_duration(struct map m, int64_t *steps)
{
    double duration = 0;
    struct quantity q;
    const double most = map_row(m, "steps")->range.high;
    const struct node *n = map_get(m, "duration");
    const enum status s = value_read(m, "duration", &duration);
    if (s)
        return s;
    const double whole = round(duration);
    const bool bare = !quantity_parse(n->text, &q) && q.bare;
    if (bare && m.r->c->units.given && whole != duration)
        return fail_at(m.r->document, n->at,
                       "run.duration: %s has no unit, and a number of steps is whole (for example "
                       "%s s)",
                       n->text, n->text);
    if (whole < 1 || whole > most)
        return fail_value(m.r, n, " is %g steps (1 to %.0f)", duration, most);
    *steps = (int64_t)whole;
    return STATUS_OK;
}

enum status run_read(struct map m, struct flow_case *c)
{
    enum status s;
    if ((s = value_one_of(m, "steps", "duration")) ||
        (map_get(m, "duration") && (s = steps_from_duration(m, &c->run.steps))) ||
        (s = record_read(m, 0, c)) || (s = stop_read(m, &c->run.stop)))
        return s;
    for (int a = 0; a < 3; a++)
        if (c->run.ranks[a] > c->cells[a])
            return fail_value(m.r, map_get(m, "ranks"),
                              ": %d ranks along %s for %d cells (at most one a cell)",
                              c->run.ranks[a], key_axes[a], c->cells[a]);
    for (int a = 0; a < 3; a++)
        if (c->run.exchange >> a & 1 && c->faces[2 * a].kind != FACE_periodic)
            return fail_value(m.r, map_get(m, "exchange"),
                              ": %s is not periodic, so it cannot exchange with itself (leave it "
                              "out: axes that are cut exchange anyway)",
                              key_axes[a]);
    char have[ISA_TEXT];
    if (c->run.isa != ISA_auto && !isa_built(c->run.isa))
        return fail_value(m.r, map_get(m, "isa"),
                          ": this program has no kernels for %s, only for %s; auto takes %s",
                          isa_name(c->run.isa), isa_list(have), isa_name(isa_best()));
    return STATUS_OK;
}
