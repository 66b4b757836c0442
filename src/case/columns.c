/* The columns of each kind of series; see columns.h. Their meanings: docs/formats.md. */
#include "case/columns.h"

#include <stddef.h>

enum {
    FORCES = 9,
    PERMEABILITIES = 3,
    STRESSES = 8,
    HEATS = 2,
    SCALARS = 5,
    DISPERSIONS = 10,
    MOST = 16
};

/* Names after step and time. */
static const char *const columns[][MOST] = {
#define X(name, ...) [SERIES_KIND_##name] = {__VA_ARGS__},
    SERIES_KIND_LIST(X)
#undef X
};

int series_coefficients(const struct case_series *s)
{
    return s->area > 0 ? s->length > 0 ? 6 : 3 : 0;
}

bool series_has_points(const struct case_series *s)
{
    return s->kind == SERIES_KIND_line || s->kind == SERIES_KIND_surface;
}

/* Does a body conduct the scalar? */
static bool conducts(const struct flow_case *c, int scalar)
{
    bool any = false;
    for (int k = 0; k < c->body_count; k++)
        any = any || case_body_conducts(&c->bodies[k], scalar);
    return any;
}

/* Has the series column k of its kind? */
static bool has_column(const struct case_series *s, const struct flow_case *c, int k)
{
    switch (s->kind) {
    case SERIES_KIND_flow:
        return s->of & (1u << k);
    case SERIES_KIND_forces:
        return k < FORCES + series_coefficients(s);
    case SERIES_KIND_permeability:
        return k < PERMEABILITIES || c->units.cell > 0;
    case SERIES_KIND_surface:
        return k < STRESSES || s->velocity > 0;
    case SERIES_KIND_scalar:
        return k < SCALARS || conducts(c, s->scalar);
    case SERIES_KIND_heat:
        return k < HEATS || s->difference > 0;
    case SERIES_KIND_dispersion:
        return k < DISPERSIONS || s->length > 0;
    default:
        return true;
    }
}

int series_columns(const struct case_series *s, const struct flow_case *c,
                   const char *names[static SERIES_COLUMNS + 1])
{
    int count = 0;
    names[count++] = "step";
    names[count++] = "time";
    for (int k = 0; columns[s->kind][k]; k++)
        if (has_column(s, c, k))
            names[count++] = columns[s->kind][k];
    const bool of_points = s->kind == SERIES_KIND_probe || s->kind == SERIES_KIND_line;
    for (int k = 0; of_points && k < c->scalar_count; k++)
        names[count++] = c->scalars[k].name;
    names[count] = NULL;
    return count;
}
