/* Key run.stop: what ends a run before its last step. */
#include <string.h>

#include "case/columns.h"
#include "case/nearest.h"
#include "case/sections.h"

enum { EVERY = 1000 }; /* default steps between values */

static enum status read_column(struct map m, struct case_stop *stop)
{
    const char *text;
    enum status s = value_text(m, "of", &text);
    if (s)
        return s;
    if (strlen(text) >= sizeof stop->name)
        return value_wrong(m.r, map_get(m, "of"), map_row(m, "of"));
    strcpy(stop->name, text);
    stop->of = STOP_COLUMN;
    s = value_refuse(m, "every", "with a column, which is looked at in each row of its series");
    if (!s && !map_get(m, "over"))
        s = value_missing(m, "over", ", which a column needs,");
    if (s || (s = record_read(m, 0, stop)))
        return s;
    return value_read(m, "over", &stop->over);
}

static enum status read_number(struct map m, struct case_stop *stop)
{
    int of = 0;
    enum status s;
    stop->every = EVERY;
    if ((s = value_read(m, "of", &of)) || (s = record_read(m, STOP_EVERY, stop)))
        return s;
    stop->of = (enum stop_quantity)of;
    strcpy(stop->name, key_stops[of]);
    stop->over = stop->every;
    return value_read(m, "over", &stop->over);
}

enum status stop_read(struct map run, struct case_stop *stop)
{
    struct map m;
    const enum status s = value_or_map(run, "stop", &m);
    if (s || !m.node)
        return s;
    const struct node *const of = map_get(m, "of");
    const bool column = of && of->kind == NODE_SCALAR && strchr(of->text, '.');
    stop->given = true;
    return column ? read_column(m, stop) : read_number(m, stop);
}

/* Takes the first series of kind permeability. */
static enum status find_permeability(const struct reader *r, const struct node *stop,
                                     struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++)
        if (c->series[k].kind == SERIES_KIND_permeability) {
            c->run.stop.series = k;
            return STATUS_OK;
        }
    return fail_at(r->document, stop->key_at,
                   "run.stop.of: permeability needs a series of it, which says along which axis "
                   "(output.series: {k: {every: 500, of: permeability, axis: x}})");
}

/* Columns 0 and 1, step and time, are not accepted: they always change. */
static enum status find_column(const struct reader *r, const struct node *of, const char *name,
                               struct flow_case *c)
{
    char quoted[TEXT_QUOTE], known[320];
    const char *names[SERIES_COLUMNS + 1];
    const struct case_series *const series = &c->series[c->run.stop.series];
    const int count = series_columns(series, c, names);
    if (series_has_points(series))
        return fail_value(r, of,
                          ": %s is a %s, which has a value at each of its points (take a "
                          "series of: probe)",
                          series->name, key_series_kinds[series->kind]);
    for (int k = 2; k < count; k++)
        if (!strcmp(names[k], name))
            c->run.stop.column = k;
    if (c->run.stop.column)
        return STATUS_OK;
    quote_text(name, quoted);
    choice_text(names + 2, known, sizeof known);
    if (series->kind == SERIES_KIND_forces && !strncmp(name, "c_", 2))
        return fail_value(r, of,
                          ": series %s has no coefficient %s (it needs "
                          "output.series.%s.area; a length, too, for those of torques)",
                          series->name, quoted, series->name);
    const char *const near = nearest_choice(names + 2, name);
    return fail_value(r, of, ": series %s has no column %s (%s%s%s)", series->name, quoted,
                      near ? "did you mean " : "it has ", near ? near : known, near ? "?" : "");
}

static enum status find_series(const struct reader *r, const struct node *of, struct flow_case *c)
{
    char name[2 * CASE_NAME], quoted[TEXT_QUOTE];
    const char *names[CASE_ENTRIES + 1];
    strcpy(name, c->run.stop.name);
    char *const dot = strchr(name, '.');
    *dot = '\0';
    c->run.stop.series = -1;
    for (int k = 0; k < c->series_count; k++) {
        names[k] = c->series[k].name;
        if (!strcmp(names[k], name))
            c->run.stop.series = k;
    }
    names[c->series_count] = NULL;
    if (c->run.stop.series >= 0)
        return find_column(r, of, dot + 1, c);
    const char *const near = nearest_choice(names, name);
    quote_text(name, quoted);
    if (near)
        return fail_value(r, of, ": there is no series %s (did you mean %s?)", quoted, near);
    return fail_value(r, of, ": there is no series %s (%s%s)", quoted,
                      c->series_count ? "for example " : "output.series is empty",
                      c->series_count ? names[0] : "");
}

enum status stop_find_series(const struct reader *r, struct flow_case *c)
{
    struct case_stop *const stop = &c->run.stop;
    if (!stop->given)
        return STATUS_OK;
    const struct node *const map = node_get(node_get(r->document->root, "run"), "stop"),
                             *const over = node_get(map, "over");
    enum status s = STATUS_OK;
    if (stop->of == STOP_permeability)
        s = find_permeability(r, map, c);
    if (stop->of == STOP_COLUMN)
        s = find_series(r, node_get(map, "of"), c);
    if (s)
        return s;
    if (stop->of == STOP_COLUMN)
        stop->every = c->series[stop->series].every;
    if (stop->over < stop->every)
        return fail_value(r, over, ": %lld steps are less than the %lld between two checks",
                          (long long)stop->over, (long long)stop->every);
    if (stop->over / stop->every >= CASE_LOOKS)
        return fail_value(r, over,
                          ": there are %lld checks in %lld steps, and the results of all have "
                          "to be kept (at most %d; check less often)",
                          (long long)(stop->over / stop->every), (long long)stop->over, CASE_LOOKS);
    return STATUS_OK;
}

void watched_write(struct writer *w, const struct key *key, const void *from)
{
    (void)key;
    write_word(w, "of", ((const struct case_stop *)from)->name);
}

void stop_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_stop *const stop = &((const struct flow_case *)from)->run.stop;
    const bool column = stop->of == STOP_COLUMN;
    if (!stop->given) {
        write_word(w, "stop", "none");
        return;
    }
    write_open(w, "stop");
    record_write(w, key->path,
                 (column ? 0 : STOP_EVERY) | (column || stop->over != stop->every ? STOP_OVER : 0),
                 stop);
    write_close(w);
}
