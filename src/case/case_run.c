/* Sections of a case: run, checkpoint, check. */
#include <math.h>

#include "case/sections.h"

/* run.duration in steps. */
static enum status steps_from_duration(const struct reader *r, const struct node *map,
                                       int64_t *steps)
{
    double duration = 0;
    const double most = keys_row("run.steps")->range.high;
    const struct node *n = value_find(map, "run.duration");
    const enum status s = value_number(r, map, "run.duration", &duration);
    if (s)
        return s;
    const double whole = round(duration);
    if (whole < 1 || whole > most)
        return fail_at(r->document, n->at, "run.duration is %g steps (1 to %.0f)", duration, most);
    *steps = (int64_t)whole;
    return STATUS_OK;
}

static enum status read_stop(const struct reader *r, const struct node *run, struct flow_case *c)
{
    const struct node *map;
    int of = 0;
    enum status s;
    if ((s = value_or_map(r, run, "run.stop", &map)) || !map)
        return s;
    if ((s = value_choice(r, map, "run.stop.of", &of)) ||
        (s = value_number(r, map, "run.stop.change", &c->run.stop.change)) ||
        (s = value_interval(r, map, "run.stop.every", &c->run.stop.every)))
        return s;
    c->run.stop.of = (enum stop_quantity)of;
    c->run.stop.given = true;
    return STATUS_OK;
}

enum status section_run(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "run");
    int64_t threads = 1;
    int isa = 0, transport = 0, exchange = 0, sparse = 0;
    enum status s;
    if (!map)
        return value_missing(r, NULL, "run", "");
    if ((s = value_one_of(r, map, "run.steps", "run.duration")) ||
        (s = value_integer(r, map, "run.steps", &c->run.steps)) ||
        (s = value_find(map, "run.duration") ? steps_from_duration(r, map, &c->run.steps)
                                             : STATUS_OK) ||
        (s = value_ranks(r, map, "run.ranks", c->run.ranks)) ||
        (s = value_integer(r, map, "run.threads", &threads)) ||
        (s = value_choice(r, map, "run.isa", &isa)) ||
        (s = value_choice(r, map, "run.transport", &transport)) ||
        (s = value_choice(r, map, "run.exchange", &exchange)) ||
        (s = value_choice(r, map, "run.sparse", &sparse)) ||
        (s = value_wall(r, map, "run.time_limit", &c->run.time_limit)) ||
        (s = read_stop(r, map, c)))
        return s;
    for (int a = 0; a < 3; a++)
        if (c->run.ranks[a] > c->cells[a])
            return fail_at(r->document, value_find(map, "run.ranks")->at,
                           "run.ranks: %d ranks along %s for %d cells (at most one a cell)",
                           c->run.ranks[a], key_axes[a], c->cells[a]);
    c->run.threads = (int)threads;
    c->run.isa = (enum isa)isa;
    c->run.transport = (enum transport)transport;
    c->run.exchange = (enum exchange)exchange;
    c->run.sparse = (enum sparse_use)sparse;
    return STATUS_OK;
}

enum status section_checkpoint(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "checkpoint");
    int64_t keep = 1;
    enum status s;
    if ((s = value_due(r, map, "checkpoint.every", &c->checkpoint.every, &c->checkpoint.seconds)) ||
        (s = value_integer(r, map, "checkpoint.keep", &keep)))
        return s;
    c->checkpoint.keep = (int)keep;
    return STATUS_OK;
}

enum status section_check(struct reader *r, struct flow_case *c)
{
    const struct node *map = node_get(r->document->root, "check");
    enum status s;
    if ((s = value_interval(r, map, "check.every", &c->check.every)) ||
        (s = value_number(r, map, "check.max_velocity", &c->check.max_velocity)))
        return s;
    return value_wall(r, map, "check.hang", &c->check.hang);
}
