/* Statistics of a series over few rows. */
#include "advice/advice.h"
#include "base/message.h"

void advise_statistics(const struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++) {
        const struct case_series *const s = &c->series[k];
        const int64_t last = c->run.steps / s->every;
        const int64_t rows = last - (s->statistics_from + s->every - 1) / s->every + 1;
        if (s->statistics && rows < 2)
            warn("output.series.%s.statistics: %s counts from step %lld to the end of the run (a "
                 "smaller from, or more steps)",
                 s->name, rows < 1 ? "no row" : "one row alone", (long long)s->statistics_from);
    }
}
