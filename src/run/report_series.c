/* Series in report.json; see report_series.h. */
#include "run/report_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"
#include "case/columns.h"
#include "io/statistics.h"
#include "run/folder.h"

json_t *json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Strouhal number, frequency times length over velocity, in lattice units. A series of forces takes
 * its own references, others the fluid's; NaN without them. */
static double strouhal(const struct flow_case *c, const struct case_series *s, double frequency)
{
    const bool own = s->kind == SERIES_KIND_forces;
    const double length = own ? s->length : c->fluid.length;
    const double velocity = own ? s->velocity : c->fluid.velocity;
    return length > 0 && velocity > 0 ? frequency * length / velocity : NAN;
}

static json_t *column_json(const struct flow_case *c, const struct case_series *s,
                           const struct column_statistics *of)
{
    const double frequency = of->frequency / (double)s->every; /* per step */
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean", json_number(of->mean),
                     "min", json_number(of->min), "max", json_number(of->max), "rms",
                     json_number(of->rms), "deviation", json_number(of->deviation), "frequency",
                     json_number(frequency / c->units.dt), "amplitude", json_number(of->amplitude),
                     "strouhal", json_number(strouhal(c, s, frequency)));
}

/* Adds the statistics of all columns but step and time. */
static enum status add_columns(json_t *to, const struct flow_case *c, const struct case_series *s,
                               const struct series_rows *rows)
{
    const char *names[SERIES_COLUMNS + 1];
    const int columns = series_columns(s, c, names);
    const size_t width = (size_t)columns - 1;
    double *const value = calloc(rows->count + 1, sizeof *value);
    enum status status =
        value ? STATUS_OK : fail_machine("out of memory for the statistics of series %s", s->name);
    for (int k = 2; k < columns && !status; k++) {
        struct column_statistics found;
        for (size_t row = 0; row < rows->count; row++)
            value[row] = rows->value[row * width + (size_t)k - 1];
        status = statistics_make(value, rows->count, &found);
        if (!status)
            json_object_set_new(to, names[k], column_json(c, s, &found));
    }
    free(value);
    return status;
}

static enum status add_series(json_t *to, const char *dir, const struct flow_case *c,
                              const struct case_series *s)
{
    char path[FOLDER_PATH];
    const char *names[SERIES_COLUMNS + 1];
    const int columns = series_columns(s, c, names);
    struct series_rows rows;
    enum status status = folder_file(path, dir, RESULTS_series, s->name, 0);
    if (!status)
        status = series_rows_read(&rows, path, columns, s->statistics_from, s->every);
    if (status)
        return status;
    json_t *const found = json_object();
    status = add_columns(found, c, s, &rows);
    json_object_set_new(to, s->name,
                        json_pack("{s:I, s:I, s:I, s:o}", "first_step", (json_int_t)rows.first,
                                  "last_step", (json_int_t)rows.last, "rows",
                                  (json_int_t)rows.count, "columns", found));
    if (rows.count > 0)
        say("statistics of %s in report.json: %zu rows, steps %lld to %lld", s->name, rows.count,
            (long long)rows.first, (long long)rows.last);
    else
        warn("statistics_none",
             "there are no statistics of %s: the run has no row from step %lld on", s->name,
             (long long)s->statistics_from);
    series_rows_free(&rows);
    return status;
}

enum status report_statistics(json_t *report, const char *dir, const struct flow_case *c)
{
    json_t *all = NULL;
    enum status status = STATUS_OK;
    for (int i = 0; i < c->series_count && !status; i++) {
        if (!c->series[i].statistics)
            continue;
        if (!all)
            all = json_object();
        status = add_series(all, dir, c, &c->series[i]);
    }
    if (all)
        json_object_set_new(report, "statistics", all);
    return status;
}
