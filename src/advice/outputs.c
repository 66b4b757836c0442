/* Outputs of which little is left: statistics over few rows, strides as long as the region. */
#include "advice/advice.h"
#include "base/message.h"
#include "case/keys.h"

/* Forces and pressures in N and Pa of a fluid whose density nobody gave. */
void advise_forces(const struct flow_case *c)
{
    const char *name = c->surfaces_count ? c->surfaces->name : NULL;
    for (int k = 0; k < c->fields_count && !name; k++)
        name = c->fields[k].of & 1u << FIELD_pressure ? c->fields[k].name : NULL;
    for (int k = 0; k < c->series_count && !name; k++)
        switch (c->series[k].kind) {
        case SERIES_KIND_probe:
        case SERIES_KIND_line:
        case SERIES_KIND_forces:
        case SERIES_KIND_surface:
        case SERIES_KIND_pressure_drop:
        case SERIES_KIND_outlet:
            name = c->series[k].name;
            break;
        default:
            break;
        }
    if (name && c->units.given && !c->units.density_given)
        warn(
            "density_default",
            "units.density is not given: forces and pressures, as in %s, are those of a fluid of 1 "
            "kg/m3 (for example density: 1000 kg/m3)",
            name);
}

void advise_statistics(const struct flow_case *c)
{
    for (int k = 0; k < c->series_count; k++) {
        const struct case_series *const s = &c->series[k];
        const int64_t last = c->run.steps / s->every;
        const int64_t rows = last - (s->statistics_from + s->every - 1) / s->every + 1;
        if (s->statistics && rows < 2)
            warn("statistics_short",
                 "output.series.%s.statistics: %s counts from step %lld to the end of the run (a "
                 "smaller from, or more steps)",
                 s->name, rows < 1 ? "no row" : "one row alone", (long long)s->statistics_from);
    }
}

/* Along an axis of few cells the values are often alike. */
void advise_strides(const struct flow_case *c)
{
    static const int few = 16;
    for (int k = 0; k < c->fields_count; k++) {
        const struct case_field *const f = &c->fields[k];
        for (int a = 0; a < 3; a++) {
            const int level = f->levels > 0 ? f->levels : 0;
            const int64_t cells = (int64_t)(f->region.hi[a] - f->region.lo[a])
                                  << case_halved(c, level, a);
            if (cells <= f->stride && cells >= few)
                warn("stride_long",
                     "output.fields.%s.stride is %d: one value is left of %lld along %s (a smaller "
                     "stride)",
                     f->name, f->stride, (long long)cells, key_axes[a]);
        }
    }
}
